// Package yagent shows the transcripts of y-agent as entries (docs/session-format.md 19).
package yagent

import (
	"path/filepath"
	"strings"

	"ctxtool/sessionfmt/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Dialect is the format of y-agent.
var Dialect = chat.Dialect(dialect.Dialect{
	Name: "y-agent", Sniff: sniff, File: fileID, Display: ".display.jsonl", Policy: "y-agent",
	Pick:      jsonl.Pick{As: jsonl.Names{ID: "message_id", Parent: "parent_message_id", Message: "message"}},
	Certainty: dialect.Certainty{Messages: "rule", System: "rule", Tools: "absent"},
}, chat.Format{About: func(jsonl.Value) (a chat.About, ok bool) { return a, false }, Read: read})

// sniff reports whether a file begins with a message of a transcript.
func sniff(first jsonl.Value) bool {
	var f [5]jsonl.Value
	first.Fields(f[:], "role", "content", "timestamp", "message_id", "type")
	return f[0].IsString() && f[1].IsString() && f[2].IsString() && !f[4].Exists()
}

// fileID is the id by the name of a transcript. The history for display is a part of it.
func fileID(name string) (id string, part bool) {
	base := filepath.Base(name)
	id, _, _ = strings.Cut(base, ".")
	return id, strings.Contains(base, ".display.")
}

func read(said []chat.Said, line jsonl.Value, native bool) []chat.Said {
	var f [6]jsonl.Value
	line.Fields(f[:], "role", "content", "timestamp", "tool_calls", "tool_call_id", "metadata")
	m := chat.Said{Time: f[2], Blocks: chat.Texts(f[1])}
	switch {
	case f[0].Is("user"):
		m.Kind = jsonl.User
	case f[0].Is("tool"):
		m.Kind, m.Call, m.Untold = jsonl.ToolResult, f[4], true
	case f[0].Is("system"):
		if m.Kind = jsonl.System; f[5].Get("type").IsString() {
			m.Kind, m.Type = jsonl.Custom, f[5].Get("type").Text()
		}
	case f[0].Is("assistant"):
		m.Kind, m.Model = jsonl.Assistant, f[5].Get("model")
		if thought := f[5].Get("reasoning_content"); len(thought) > len(`""`) && thought.IsString() {
			m.Blocks = append([]jsonl.Block{chat.Thinking(thought)}, m.Blocks...)
		}
		for call := range f[3].Elements {
			var c [3]jsonl.Value
			call.Fields(c[:], "id", "name", "arguments")
			m.Blocks = append(m.Blocks, jsonl.Block{Kind: jsonl.CallBlock, ID: c[0], Name: c[1], Args: c[2]})
		}
	default:
		return said
	}
	if native && m.Kind != jsonl.System { // the prompt is not among the messages
		m.Native = line.AppendEdited(nil, jsonl.Field{Name: "message_id"}, jsonl.Field{Name: "timestamp"}, jsonl.Field{Name: "metadata"})
	}
	if m.Kind == jsonl.Assistant {
		return usage(append(said, m), f[5])
	}
	return append(said, m)
}

// usage adds the usage that the answer at the end of a turn has. Its sums are of all requests of
// the turn; if there were several, the size of the last one is the answer's own.
func usage(said []chat.Said, metadata jsonl.Value) []chat.Said {
	var f [4]jsonl.Value
	metadata.Fields(f[:], "input_tokens", "output_tokens", "cost_usd", "context_tokens_used")
	if !f[0].IsNumber() {
		return said
	}
	turn := &jsonl.Usage{Input: f[0].Int(), Output: f[1].Int()}
	turn.Cost.Total, turn.Cost.Known = f[2].Float()
	answer := &said[len(said)-1]
	answer.Usage = turn
	if last := f[3].Int(); last > 0 && last != turn.Input {
		answer.Usage = &jsonl.Usage{Input: last}
		said = append(said, chat.Said{Kind: jsonl.ChildUsage, Time: answer.Time, Usage: turn})
	}
	return said
}
