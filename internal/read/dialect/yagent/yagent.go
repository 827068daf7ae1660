// Package yagent shows the transcripts of y-agent as entries (docs/session-format.md 19).
package yagent

import (
	"path/filepath"
	"reflect"
	"strings"

	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Dialect is the format of y-agent.
var Dialect = chat.Dialect(dialect.Dialect{
	Name: "y-agent", Sniff: sniff, File: fileID, Display: ".display.jsonl", Policy: "y-agent", Uncached: true,
	Fields:    reflect.TypeFor[lineFields](),
	Pick:      jsonl.Pick{As: jsonl.Names{ID: "message_id", Parent: "parent_message_id", Message: "message"}},
	Certainty: dialect.Certainty{Messages: "rule", System: "rule", Tools: "absent"},
}, chat.Format{About: func(jsonl.Value) (a chat.About, ok bool) { return a, false }, Read: read, Sums: true})

// sniff reports whether a file begins with a message of a transcript. Other agents, such as Hermes, have messages
// without an id.
func sniff(first jsonl.Value) bool {
	f := first.All("role", "content", "timestamp", "message_id", "type")
	return f[0].IsString() && f[1].IsString() && f[2].IsString() && f[3].IsString() && !f[4].Exists()
}

// fileID returns the id by the name of a transcript. The history for display is a part of it.
func fileID(name string) (id string, part bool) {
	base := filepath.Base(name)
	id, _, _ = strings.Cut(base, ".")
	return id, strings.Contains(base, ".display.")
}

func read(r *chat.Reader, line jsonl.Value) {
	var f [5]jsonl.String
	var more [7]jsonl.String // metadata
	for key := range r.Reset(line).Members {
		switch string(key) {
		case "tool_calls":
			for range r.Elements {
				call(r)
			}
		case "metadata":
			r.Fields(more[:], "type", "reasoning_content", "model", "input_tokens", "output_tokens", "cost_usd",
				"context_tokens_used")
		default:
			r.Field(key, f[:], "role", "content", "timestamp", "message_id", "tool_call_id")
		}
	}
	role, content, typ, used := f[0], f[1], more[0], turn{more[3].Value, more[4].Value, more[5].Value, more[6].Value}
	r.Stamp, r.ID = f[2].Value, f[3].Value
	m := chat.Said{Time: r.Stamp, Model: more[2].Value}
	switch {
	case role.Is("user"):
		m.Kind = jsonl.User
	case role.Is("tool"):
		m.Kind, m.Call, m.Untold = jsonl.ToolResult, f[4].Value, true
	case role.Is("system"):
		m.Kind = jsonl.System
		if typ.IsString() {
			m.Kind, m.Type = jsonl.Custom, typ.Text()
		}
	case role.Is("assistant"):
		m.Kind, m.Blocks = jsonl.Assistant, r.Spoken(content, more[1])
	default:
		return
	}
	if m.Kind != jsonl.Assistant && chat.HasText(content.Value) {
		m.Blocks = r.Keep(chat.Text(content))
	}
	if r.Native && m.Kind != jsonl.System { // the prompt is not among the messages
		m.Native = line.AppendEdited(nil, jsonl.Field{Name: "message_id"}, jsonl.Field{Name: "timestamp"},
			jsonl.Field{Name: "metadata"})
	}
	r.Said = append(r.Said, m)
	if m.Kind == jsonl.Assistant {
		used.add(r)
	}
}

// call reads a call of an answer.
func call(r *chat.Reader) {
	var f [3]jsonl.String
	r.Fields(f[:], "id", "name", "arguments")
	r.Own(jsonl.Block{Kind: jsonl.CallBlock, ID: f[0].Value, Name: f[1].Value, Args: f[2].Value})
}

// A turn is what an answer at its end has of it: sums of all its requests, and the size of the
// last one.
type turn struct{ input, output, cost, last jsonl.Value }

// add adds the usage to the answer. If there were several requests, the size of the last one is
// the answer's own.
func (t *turn) add(r *chat.Reader) {
	if !t.input.IsNumber() {
		return
	}
	all := jsonl.Usage{Input: t.input.Int(), Output: t.output.Int()}
	all.Cost.Total, all.Cost.Known = t.cost.Float()
	answer := &r.Said[len(r.Said)-1]
	if last := t.last.Int(); last > 0 && last != all.Input {
		answer.Usage = &jsonl.Usage{Input: last}
		r.Said = append(r.Said, chat.Said{Kind: jsonl.ChildUsage, Time: answer.Time, Usage: r.Used(all)})
		return
	}
	answer.Usage = r.Used(all)
}
