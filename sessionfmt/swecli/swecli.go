// Package swecli shows the sessions of SWE-CLI, and of OpenDev, which it became, as entries
// (docs/session-format.md 18).
package swecli

import (
	"math"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/sessionfmt/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Dialect is the format of SWE-CLI.
var Dialect = chat.Dialect(dialect.Dialect{
	Name:  "swe-cli",
	Sniff: sniff, Document: true,
	Store: dialect.Store{Folders: []string{".swecli/sessions", ".opendev/projects", ".opendev/sessions"}},
	File:  fileID, Base: base, Policy: "swe-cli",
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
}, chat.Format{About: about, Read: read})

// sniff reports whether a file begins with a session's own members, or with a message of
// the list that OpenDev keeps beside them.
func sniff(first jsonl.Value) bool {
	if _, ok := about(first); ok {
		return true
	}
	var f [6]jsonl.Value
	first.Fields(f[:], "role", "content", "timestamp", "tool_calls", "message_id", "type")
	if !f[0].IsString() || !f[1].IsString() || !f[2].IsString() || !f[3].IsArray() || f[4].Exists() || f[5].Exists() {
		return false
	}
	for call := range f[3].Elements {
		return call.Get("parameters").Exists()
	}
	return true
}

// about reads what a session has besides its messages.
func about(line jsonl.Value) (a chat.About, ok bool) {
	var f [5]jsonl.Value
	line.Fields(f[:], "id", "created_at", "updated_at", "working_directory", "role")
	ok = f[0].IsString() && f[1].IsString() && f[2].IsString() && !f[4].Exists()
	return chat.About{ID: f[0], CWD: f[3], Time: f[1]}, ok
}

// fileID is the id by the name of a session. The list of messages beside it is a part of it,
// as the events and the index of a folder are.
func fileID(name string) (id string, part bool) {
	base := filepath.Base(name)
	id, ext, _ := strings.Cut(base, ".")
	return id, !strings.HasPrefix(ext, "json") || strings.HasPrefix(ext, "jsonl") || id == "sessions-index"
}

// base is the list of messages beside a session, which wins over its own.
func base(first jsonl.Value) (b dialect.Base, ok bool) {
	a, ok := about(first)
	return dialect.Base{ID: a.ID.Text(), Upto: math.MaxInt64, Optional: true}, ok
}

// read reads a message: an answer holds the results of its calls.
func read(said []chat.Said, line jsonl.Value, native bool) []chat.Said {
	var f [9]jsonl.Value
	line.Fields(f[:], "role", "content", "timestamp", "tool_calls", "tool_results", "thinking_trace", "reasoning_content", "token_usage", "metadata")
	m := chat.Said{Time: f[2], Blocks: chat.Texts(f[1])}
	switch {
	case f[0].Is("user"):
		m.Kind = jsonl.User
	case f[0].Is("system"):
		if m.Kind = jsonl.System; strings.Contains(f[1].Beginning(80), "CONVERSATION ") || f[8].Get("type").IsString() {
			m.Kind, m.Type = jsonl.Custom, "compaction_summary"
		}
	case f[0].Is("assistant"):
		return answer(said, m, f, native)
	default:
		return said
	}
	if native && m.Kind != jsonl.System { // the prompt is not among the messages
		m.Native = object(jsonl.Field{Name: "role", Value: f[0]}, jsonl.Field{Name: "content", Value: f[1]})
	}
	return append(said, m)
}

// answer appends an answer and the results of its calls, which stand in a list of their own
// in some versions.
func answer(said []chat.Said, m chat.Said, f [9]jsonl.Value, native bool) []chat.Said {
	m.Kind, m.Usage = jsonl.Assistant, usage(f[7])
	text := m.Blocks
	m.Blocks = nil
	for _, thought := range f[5:7] {
		for _, b := range chat.Texts(thought) {
			m.Blocks = append(m.Blocks, chat.Thinking(b.Text.Value))
		}
	}
	m.Blocks = append(m.Blocks, text...)
	at := len(said)
	said = append(said, m)
	listed := slices.Collect(f[4].Elements)
	var calls []byte
	for call := range f[3].Elements {
		var c [5]jsonl.Value
		call.Fields(c[:], "id", "name", "parameters", "result", "error")
		said[at].Blocks = append(said[at].Blocks, jsonl.Block{Kind: jsonl.CallBlock, ID: c[0], Name: c[1], Args: c[2]})
		var beside jsonl.Value
		if len(listed) > 0 {
			beside, listed = listed[0], listed[1:]
		}
		if r, ok := result(c, beside, m.Time, native); ok {
			said = append(said, r)
		}
		if native {
			calls = append(append(calls, ','), sentCall(c)...)
		}
	}
	if native {
		if len(calls) > 0 {
			calls[0] = '['
			calls = append(calls, ']')
		}
		said[at].Native = object(jsonl.Field{Name: "role", Value: f[0]}, jsonl.Field{Name: "content", Value: f[1]}, jsonl.Field{Name: "tool_calls", Value: calls})
	}
	return said
}

// sentCall is a call as it is sent.
func sentCall(c [5]jsonl.Value) jsonl.Value {
	args := jsonl.AppendQuoted(nil, string(c[2].AppendMinified(nil)))
	return object(jsonl.Field{Name: "id", Value: c[0]}, jsonl.Field{Name: "type", Value: jsonl.Value(`"function"`)},
		jsonl.Field{Name: "function", Value: object(jsonl.Field{Name: "name", Value: c[1]}, jsonl.Field{Name: "arguments", Value: args})})
}

// object is an object of the fields that exist.
func object(fields ...jsonl.Field) jsonl.Value { return jsonl.Value("{}").AppendEdited(nil, fields...) }

// result is what a call returned. ok is false for a call that did not run.
func result(c [5]jsonl.Value, beside, time jsonl.Value, native bool) (r chat.Said, ok bool) {
	r = chat.Said{Kind: jsonl.ToolResult, Call: c[0], Tool: c[1], Time: time}
	out := c[3]
	if r.Failed = c[4].Truthy(); r.Failed {
		out = c[4]
	}
	if out.IsNull() {
		out = beside
		for _, name := range []string{"error", "output", "result", "content"} {
			if v := beside.Get(name); v.Truthy() {
				out, r.Failed = v, name == "error"
				break
			}
		}
	}
	if out.IsNull() {
		return r, false
	}
	r.Blocks = chat.Result(out)
	if native {
		r.Native = object(jsonl.Field{Name: "role", Value: jsonl.Value(`"tool"`)}, jsonl.Field{Name: "tool_call_id", Value: c[0]},
			jsonl.Field{Name: "content", Value: r.Blocks[0].Text.Value})
	}
	return r, true
}

// usage reads a usage, in the words of either of two APIs.
func usage(v jsonl.Value) *jsonl.Usage {
	if !v.IsObject() {
		return nil
	}
	var f [5]jsonl.Value
	v.Fields(f[:], "prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens")
	return &jsonl.Usage{Input: f[0].Int() + f[2].Int(), Output: f[1].Int() + f[3].Int(), Total: f[4].Int()}
}
