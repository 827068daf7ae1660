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
	var f [6]jsonl.Value
	line.Fields(f[:], "id", "created_at", "updated_at", "working_directory", "role", "metadata")
	ok = f[0].IsString() && f[1].IsString() && f[2].IsString() && !f[4].Exists()
	return chat.About{ID: f[0], CWD: f[3], Time: f[1], Title: f[5].Get("title")}, ok
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

// beginning is how much of a text is looked at, bytes.
const beginning = 80

// read reads a message: an answer holds the results of its calls.
func read(said []chat.Said, line jsonl.Value, native bool) []chat.Said {
	var f [9]jsonl.Value
	line.Fields(f[:], "role", "content", "timestamp", "tool_calls", "tool_results", "thinking_trace", "reasoning_content", "token_usage", "metadata")
	m := chat.Said{Time: f[2], Blocks: chat.Texts(f[1])}
	switch {
	case f[0].Is("user"):
		m.Kind = jsonl.User
	case f[0].Is("system"):
		m.Kind = jsonl.System
	case f[0].Is("assistant"):
		m.Kind = jsonl.Assistant
	default:
		return said
	}
	begins := f[1].Beginning(beginning)
	switch {
	case leftOut(begins, f):
		m.Kind, m.Type = jsonl.CustomEntry, "not sent"
		return append(said, m)
	case m.Kind == jsonl.Assistant:
		return answer(said, m, f, native)
	case summarizes(begins, f):
		m.Kind, m.Type = jsonl.Custom, "compaction_summary"
	}
	if native && m.Kind != jsonl.System { // the prompt is not among the messages
		m.Native = object(jsonl.Field{Name: "role", Value: f[0]}, jsonl.Field{Name: "content", Value: f[1]})
	}
	return append(said, m)
}

// leftOut reports whether a message is not sent: one without text and calls, which loading
// drops, or a note on thinking.
func leftOut(begins string, f [9]jsonl.Value) bool {
	if f[0].Is("user") && f[8].Get("_thinking").Exists() {
		return true
	}
	for range f[3].Elements {
		return false
	}
	return strings.TrimSpace(begins) == "" && len(f[1]) <= beginning+len(`""`)
}

// summarizes reports whether a message is a summary, by the frame of one of several versions.
func summarizes(begins string, f [9]jsonl.Value) bool {
	if f[0].Is("user") {
		return strings.HasPrefix(begins, "[CONVERSATION SUMMARY]")
	}
	return strings.Contains(begins, "CONVERSATION HISTORY SUMMARY") || strings.Contains(begins, "CONVERSATION SUMMARY") ||
		strings.Contains(begins, "Previous Conversation Summary") || f[8].Get("type").IsString()
}

// answer appends an answer and the results of its calls, which stand in a list of their own
// in some versions.
func answer(said []chat.Said, m chat.Said, f [9]jsonl.Value, native bool) []chat.Said {
	m.Usage = usage(f[7])
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
		said = append(said, result(c, beside, m.Time, native))
		if native {
			calls = append(append(calls, ','), sentCall(c)...)
		}
	}
	if native {
		content := f[1]
		if len(calls) > 0 {
			calls[0] = '['
			if calls = append(calls, ']'); len(text) == 0 {
				content = jsonl.Value("null")
			}
		}
		said[at].Native = object(jsonl.Field{Name: "role", Value: f[0]}, jsonl.Field{Name: "content", Value: content},
			jsonl.Field{Name: "tool_calls", Value: calls}, jsonl.Field{Name: "reasoning_content", Value: f[6]})
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

// interrupted is the error of a call that has no result.
const interrupted = `"Error: Tool execution was interrupted or never completed."`

// result is what is sent for a call: its error, its result, what the list beside the calls has,
// or that it was interrupted.
func result(c [5]jsonl.Value, beside, time jsonl.Value, native bool) chat.Said {
	r := chat.Said{Kind: jsonl.ToolResult, Call: c[0], Tool: c[1], Time: time}
	failure, out := c[4], c[3]
	if out.IsNull() && !failure.Truthy() {
		out = beside
		for _, name := range []string{"error", "output", "result", "content"} {
			if v := beside.Get(name); v.Truthy() {
				if out = v; name == "error" {
					failure = v
				}
				break
			}
		}
	}
	switch r.Failed = failure.Truthy(); {
	case r.Failed && failure.IsString():
		out = append(jsonl.Value(`"Error: `), failure[1:]...)
	case r.Failed:
		out = jsonl.AppendQuoted(nil, "Error: "+string(failure))
	case out.IsNull() && c[1].Is("task_complete"):
		out = jsonl.Value(`"No result available."`)
	case out.IsNull():
		out, r.Failed = jsonl.Value(interrupted), true
	}
	r.Blocks = chat.Result(out)
	if native {
		r.Native = object(jsonl.Field{Name: "role", Value: jsonl.Value(`"tool"`)}, jsonl.Field{Name: "tool_call_id", Value: c[0]},
			jsonl.Field{Name: "name", Value: c[1]}, jsonl.Field{Name: "content", Value: r.Blocks[0].Text.Value})
	}
	return r
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
