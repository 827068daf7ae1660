// Package swecli shows the sessions of SWE-CLI, and of OpenDev, which it became, as entries
// (docs/session-format.md 18).
package swecli

import (
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

var format = chat.Format{
	About: about, Read: read, Sums: true, Other: other,
	Make: map[jsonl.Kind]func(*chat.Format, *dialect.Source){jsonl.ContextEdit: makeEdit},
}

// Dialect is the format of SWE-CLI.
var Dialect = chat.Dialect(dialect.Dialect{
	Name: "swe-cli", Fields: reflect.TypeFor[lineFields](),
	Sniff: sniff, Document: func() dialect.Arranger { return chat.NewArranger(format) },
	New:   func() dialect.Arranger { return &arranger{messages: chat.NewArranger(format)} },
	Store: dialect.Store{Folders: []string{".swecli/sessions", ".opendev/projects", ".opendev/sessions"}},
	File:  fileID, Base: base, Policy: "swe-cli", Uncached: true,
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
}, format)

// sniff reports whether a file begins with a session's own members, with a message of the list
// that OpenDev keeps beside them, or with an event.
func sniff(first jsonl.Value) bool {
	if _, ok := about(first); ok || isEvent(first) {
		return true
	}
	f := first.All("role", "content", "timestamp", "tool_calls", "message_id", "type")
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
	if isEvent(line) {
		return aboutEvent(line)
	}
	f := line.All("id", "created_at", "updated_at", "working_directory", "role", "metadata")
	ok = f[0].IsString() && f[1].IsString() && f[2].IsString() && !f[4].Exists()
	return chat.About{ID: f[0], CWD: f[3], Time: f[1], Title: f[5].Get("title")}, ok
}

// fileID returns the id by the name of a session. The list of messages beside it is a part of it, as the events
// and the index of a folder are.
func fileID(name string) (id string, part bool) {
	base := filepath.Base(name)
	id, ext, _ := strings.Cut(base, ".")
	return id, !strings.HasPrefix(ext, "json") || strings.HasPrefix(ext, "jsonl") || id == "sessions-index"
}

// base returns the list of messages beside a session, which wins over its own.
func base(first jsonl.Value) (b dialect.Base, ok bool) {
	a, ok := about(first)
	if isEvent(first) {
		return b, false
	}
	return dialect.Base{ID: a.ID.Text(), Upto: math.MaxInt64, Optional: true, Beside: true}, ok
}

// A message is what is read of one.
type message struct {
	role, time, used, typ, note, listed jsonl.Value
	content, trace, reasoning           jsonl.String
}

// read reads a message: an answer holds the results of its calls.
func read(r *chat.Reader, line jsonl.Value) {
	var of message
	r.Reset(line)
	var f [9]jsonl.String
	of.read(r, f[:])
	m := chat.Said{Time: of.time}
	switch m.Kind = of.role.RoleKind(); m.Kind {
	case jsonl.User, jsonl.System, jsonl.Assistant:
	default:
		return
	}
	switch {
	case of.leftOut(r.Calls):
		m.Kind, m.Type = jsonl.CustomEntry, "not sent"
	case m.Kind == jsonl.Assistant:
		of.answer(r, m)
		return
	case of.summarizes(of.content.Beginning(beginning)):
		m.Kind, m.Type = jsonl.Custom, "compaction_summary"
	}
	if chat.HasText(of.content.Value) {
		m.Blocks = r.Keep(chat.Text(of.content))
	}
	if r.Native && m.Kind != jsonl.System { // the prompt is not among the messages
		m.Native = jsonl.Value("{}").With("role", of.role).With("content", of.content.Value)
	}
	r.Said = append(r.Said, m)
}

// read reads a message. That of an event is a member of it.
func (m *message) read(r *chat.Reader, f []jsonl.String) {
	for key := range r.Members {
		switch string(key) {
		case "data":
			m.read(r, f)
		case "tool_calls":
			for range r.Elements {
				r.Calls = append(r.Calls, readCall(r))
			}
		default:
			r.Field(key, f, "role", "content", "timestamp", "id", "thinking_trace", "reasoning_content", "token_usage",
				"metadata", "tool_results")
		}
	}
	m.role, m.content, m.time, r.ID, m.trace, m.reasoning = f[0].Value, f[1], f[2].Value, f[3].Value, f[4], f[5]
	m.used, m.listed, r.Stamp = f[6].Value, f[8].Value, m.time
	m.typ, m.note = f[7].Get("type"), f[7].Get("_thinking")
}

// beginning is how much of a text is looked at, bytes.
const beginning = 80

// leftOut reports whether a message is not sent: one without text and calls, which loading
// drops, or a note on thinking.
func (m *message) leftOut(calls []chat.Call) bool {
	if m.role.Is("user") && m.note.Exists() {
		return true
	}
	return len(calls) == 0 && len(m.content.Value) <= beginning+len(`""`) && strings.TrimSpace(m.content.Text()) == ""
}

// summarizes reports whether a message is a summary, by the frame of one of several versions.
func (m *message) summarizes(begins string) bool {
	if m.role.Is("user") {
		return strings.HasPrefix(begins, "[CONVERSATION SUMMARY]")
	}
	return strings.Contains(begins, "CONVERSATION HISTORY SUMMARY") || strings.Contains(begins, "CONVERSATION SUMMARY") ||
		strings.Contains(begins, "Previous Conversation Summary") || m.typ.IsString()
}

// answer adds an answer and the results of its calls, which stand in a list of their own in some
// versions.
func (m *message) answer(r *chat.Reader, said chat.Said) {
	for k := range r.Calls {
		c := &r.Calls[k]
		r.Own(jsonl.Block{Kind: jsonl.CallBlock, ID: c.ID, Name: c.Name, Args: c.Args})
	}
	said.Usage, said.Blocks = used(r, m.used), r.Spoken(m.content, m.trace, m.reasoning)
	if r.Native {
		content := m.content.Value
		if len(r.Calls) > 0 && !chat.HasText(content) {
			content = jsonl.Value("null")
		}
		one := jsonl.Value("{}").With("role", m.role).With("content", content)
		said.Native = one.With("tool_calls", sentCalls(r.Calls)).With("reasoning_content", m.reasoning.Value)
	}
	r.Said = append(r.Said, said)
	var beside []jsonl.Value
	if m.listed.IsArray() {
		beside = slices.Collect(m.listed.Elements)
	}
	for k := range r.Calls {
		var of jsonl.Value
		if k < len(beside) {
			of = beside[k]
		}
		returned(r, &r.Calls[k], of, m.time)
	}
}

func readCall(r *chat.Reader) (c chat.Call) {
	var f [5]jsonl.String
	r.Fields(f[:], "id", "name", "parameters", "result", "error")
	return chat.Call{ID: f[0].Value, Name: f[1].Value, Args: f[2].Value, Result: f[3], Failure: f[4].Value}
}

// sentCalls returns the calls of an answer as they are sent, absent for none.
func sentCalls(calls []chat.Call) jsonl.Value {
	var all []jsonl.Value
	for _, c := range calls {
		all = append(all, dialect.SentCall(c.ID, c.Name, c.Args.AppendMinified(nil)))
	}
	if all == nil {
		return nil
	}
	return dialect.List(all...)
}

// interrupted is the error of a call that has no result.
var interrupted = jsonl.Value(`"Error: Tool execution was interrupted or never completed."`).Spelled()

// none is the result of a call that needs none.
var none = jsonl.Value(`"No result available."`).Spelled()

// returned adds what is sent for a call: its error, its result, what the list beside the calls
// has, or that it was interrupted.
func returned(r *chat.Reader, c *chat.Call, beside, time jsonl.Value) {
	m := chat.Said{Kind: jsonl.ToolResult, Call: c.ID, Tool: c.Name, Time: time}
	failure, out := c.Failure, c.Result
	if out.IsNull() && !failure.Truthy() {
		out = beside.Spelled()
		for _, name := range []string{"error", "output", "result", "content"} {
			if v := beside.Get(name); v.Truthy() {
				out = v.Spelled()
				if name == "error" {
					failure = v
				}
				break
			}
		}
	}
	switch m.Failed = failure.Truthy(); {
	case m.Failed && failure.IsString():
		out = r.Join([]byte(`"Error: `), failure[1:])
	case m.Failed:
		out = chat.Quoted([]byte("Error: " + string(failure.AppendOneLine(nil))))
	case out.IsNull() && c.Name.Is("task_complete"):
		out = none
	case out.IsNull():
		out, m.Failed = interrupted, true
	}
	m.Blocks = r.Keep(chat.Result(out))
	if r.Native {
		one := jsonl.Value(`{"role":"tool"}`).With("tool_call_id", c.ID).With("name", c.Name)
		m.Native = one.With("content", m.Blocks[0].Text.Value)
	}
	r.Said = append(r.Said, m)
}

// usage reads a usage, in the words of either of two APIs.
func used(r *chat.Reader, v jsonl.Value) *jsonl.Usage {
	if !v.IsObject() {
		return nil
	}
	n := v.Ints("prompt_tokens", "input_tokens", "completion_tokens", "output_tokens", "total_tokens")
	return r.Used(jsonl.Usage{Input: n[0] + n[1], Output: n[2] + n[3], Total: n[4]})
}
