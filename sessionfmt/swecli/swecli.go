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
}, chat.Format{About: about, Read: read, Sums: true})

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

// A call is a call of an answer, with what it returned.
type call struct{ id, name, args, result, failure jsonl.Value }

// read reads a message: an answer holds the results of its calls.
func read(r *chat.Reader, line jsonl.Value) {
	var role, content, time, trace, reasoning, used, typ, listed jsonl.Value
	var few [8]call
	calls := few[:0]
	for key := range r.Reset(line).Members {
		switch string(key) {
		case "role":
			role = r.Value()
		case "content":
			content = r.Value()
		case "timestamp":
			time = r.Value()
		case "thinking_trace":
			trace = r.Value()
		case "reasoning_content":
			reasoning = r.Value()
		case "token_usage":
			used = r.Value()
		case "metadata":
			typ = r.Value().Get("type")
		case "tool_results":
			listed = r.Value()
		case "tool_calls":
			for range r.Elements {
				calls = append(calls, readCall(r))
			}
		}
	}
	m := chat.Said{Time: time}
	switch {
	case role.Is("user"):
		m.Kind = jsonl.User
	case role.Is("system"):
		if m.Kind = jsonl.System; strings.Contains(content.Beginning(80), "CONVERSATION ") || typ.IsString() {
			m.Kind, m.Type = jsonl.Custom, "compaction_summary"
		}
	case role.Is("assistant"):
		for _, c := range calls {
			r.Own(jsonl.Block{Kind: jsonl.CallBlock, ID: c.id, Name: c.name, Args: c.args})
		}
		m.Kind, m.Usage, m.Blocks = jsonl.Assistant, usage(r, used), r.Spoken(content, trace, reasoning)
	default:
		return
	}
	if m.Kind != jsonl.Assistant && chat.HasText(content) {
		m.Blocks = r.Keep(chat.Text(content))
	}
	if r.Native && m.Kind != jsonl.System { // the prompt is not among the messages
		m.Native = object(jsonl.Field{Name: "role", Value: role}, jsonl.Field{Name: "content", Value: content}, jsonl.Field{Name: "tool_calls", Value: sentCalls(m.Kind, calls)})
	}
	if r.Said = append(r.Said, m); m.Kind == jsonl.Assistant {
		results(r, calls, listed, time)
	}
}

func readCall(r *chat.Reader) (c call) {
	for key := range r.Members {
		switch string(key) {
		case "id":
			c.id = r.Value()
		case "name":
			c.name = r.Value()
		case "parameters":
			c.args = r.Value()
		case "result":
			c.result = r.Value()
		case "error":
			c.failure = r.Value()
		}
	}
	return c
}

// sentCalls are the calls of an answer as they are sent, absent for none.
func sentCalls(kind jsonl.Kind, calls []call) (list jsonl.Value) {
	if kind != jsonl.Assistant || len(calls) == 0 {
		return nil
	}
	for _, c := range calls {
		list = append(append(list, ','), sentCall(c)...)
	}
	list[0] = '['
	return append(list, ']')
}

// sentCall is a call as it is sent.
func sentCall(c call) jsonl.Value {
	args := jsonl.AppendQuoted(nil, string(c.args.AppendMinified(nil)))
	return object(jsonl.Field{Name: "id", Value: c.id}, jsonl.Field{Name: "type", Value: jsonl.Value(`"function"`)},
		jsonl.Field{Name: "function", Value: object(jsonl.Field{Name: "name", Value: c.name}, jsonl.Field{Name: "arguments", Value: args})})
}

// object is an object of the fields that exist.
func object(fields ...jsonl.Field) jsonl.Value { return jsonl.Value("{}").AppendEdited(nil, fields...) }

// results appends what the calls of an answer returned, which stands in a list of its own in
// some versions. A call that did not run returned nothing.
func results(r *chat.Reader, calls []call, listed, time jsonl.Value) {
	var beside []jsonl.Value
	if listed.IsArray() {
		beside = slices.Collect(listed.Elements)
	}
	for k, c := range calls {
		m := chat.Said{Kind: jsonl.ToolResult, Call: c.id, Tool: c.name, Time: time}
		out := c.result
		if m.Failed = c.failure.Truthy(); m.Failed {
			out = c.failure
		}
		if out.IsNull() && k < len(beside) {
			out, m.Failed = listedResult(beside[k])
		}
		if out.IsNull() {
			continue
		}
		m.Blocks = r.Keep(chat.Result(out))
		if r.Native {
			m.Native = object(jsonl.Field{Name: "role", Value: jsonl.Value(`"tool"`)}, jsonl.Field{Name: "tool_call_id", Value: c.id},
				jsonl.Field{Name: "content", Value: m.Blocks[0].Text.Value})
		}
		r.Said = append(r.Said, m)
	}
}

// listedResult is what a result in a list says.
func listedResult(v jsonl.Value) (out jsonl.Value, failed bool) {
	for _, name := range []string{"error", "output", "result", "content"} {
		if out := v.Get(name); out.Truthy() {
			return out, name == "error"
		}
	}
	return v, false
}

// usage reads a usage, in the words of either of two APIs.
func usage(r *chat.Reader, v jsonl.Value) *jsonl.Usage {
	if !v.IsObject() {
		return nil
	}
	var f [5]jsonl.Value
	v.Fields(f[:], "prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens")
	return r.Used(jsonl.Usage{Input: f[0].Int() + f[2].Int(), Output: f[1].Int() + f[3].Int(), Total: f[4].Int()})
}
