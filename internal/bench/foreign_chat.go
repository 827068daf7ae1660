//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// A chatForm is how an agent records a conversation that is messages in order, after members
// of the session itself.
type chatForm struct {
	begin, end string
	document   bool // one JSON document, indented
	say        func(m *said) []string
}

// chatForms are the forms by the name of the preset.
var chatForms = map[string]chatForm{
	"gsh":     {begin: `{"id":"s1","created_at":"` + stamp + `","last_activity":"` + stamp + `","message_count":0,"cwd":"/project","title":null}` + "\n", say: sayGsh},
	"swe-cli": {begin: "{\n  \"id\": \"s1\",\n  \"created_at\": \"2026-01-20 08:15:30.000412\",\n  \"updated_at\": \"2026-01-20 08:16:02.118200\",\n  \"messages\": [\n", end: "\n  ],\n  \"working_directory\": \"/project\"\n}\n", document: true, say: saySweCLI},
	"opendev": {say: saySweCLI},
	"y-agent": {say: sayYAgent},
	"gemini": {begin: `{"sessionId":"s1","projectHash":"h","startTime":"` + stamp + `","lastUpdated":"` + stamp + `","kind":"main"}` + "\n", say: func(m *said) []string {
		if whole := sayGemini(m); len(m.calls) > 0 { // it is written again with its calls
			return append(sayGemini(&said{n: m.n, text: m.text, usage: m.usage}), whole...)
		}
		return sayGemini(m)
	}},
	"gemini-document": {begin: "{\n  \"sessionId\": \"s1\",\n  \"projectHash\": \"h\",\n  \"startTime\": \"" + stamp + "\",\n  \"messages\": [\n", end: "\n  ]\n}\n", document: true, say: sayGemini},
}

// A said is a prompt, or an answer with its calls and their results. All texts are JSON.
type said struct {
	n       int // of the message, from 0
	prompt  bool
	text    string
	thought string
	calls   []*called
	usage   jsonl.Usage
}

type called struct{ id, name, args, result string }

// A chatTeller writes a conversation in a form. It holds an answer until it has its results.
type chatTeller struct {
	w    io.Writer
	form chatForm
	held *said
	n    int
}

func (t *chatTeller) begin() { io.WriteString(t.w, t.form.begin) }

func (t *chatTeller) tell(m *jsonl.Message, usage *jsonl.Usage) {
	if m.Kind == jsonl.ToolResult {
		for _, c := range t.held.calls {
			if c.id == string(m.CallID) && len(m.Blocks) > 0 {
				c.result = text(&m.Blocks[0])
			}
		}
		return
	}
	t.flush()
	t.held = &said{n: t.n, prompt: m.Kind == jsonl.User, text: `""`, usage: *usage}
	for k := range m.Blocks {
		switch b := &m.Blocks[k]; b.Kind {
		case jsonl.CallBlock:
			t.held.calls = append(t.held.calls, &called{string(b.ID), string(b.Name), string(b.Args), "null"})
		case jsonl.ThinkingBlock:
			t.held.thought = text(b)
		default:
			t.held.text = text(b)
		}
	}
}

// flush writes the message that is held.
func (t *chatTeller) flush() {
	if t.held == nil {
		return
	}
	for _, line := range t.form.say(t.held) {
		var out bytes.Buffer
		switch {
		case !t.form.document:
			out.WriteString(line + "\n")
		default:
			if t.n > 0 {
				out.WriteString(",\n")
			}
			out.WriteString("    ")
			json.Indent(&out, []byte(line), "    ", "  ")
		}
		out.WriteTo(t.w)
		t.n++
	}
	t.held = nil
}

func (t *chatTeller) end() {
	t.flush()
	io.WriteString(t.w, t.form.end)
}

// each joins what is made of each call.
func (m *said) each(sep, format string, args func(c *called) []any) string {
	var all []string
	for _, c := range m.calls {
		all = append(all, fmt.Sprintf(format, args(c)...))
	}
	return strings.Join(all, sep)
}

func sayGsh(m *said) []string {
	if m.prompt {
		return []string{`{"role":"user","content":` + m.text + `}`}
	}
	if len(m.calls) == 0 {
		return []string{`{"role":"assistant","content":` + m.text + `}`}
	}
	uses := m.each("", `,{"type":"tool_use","id":%s,"name":%s,"input":%s}`, func(c *called) []any { return []any{c.id, c.name, c.args} })
	results := m.each(",", `{"type":"tool_result","tool_use_id":%s,"content":%s}`, func(c *called) []any { return []any{c.id, c.result} })
	return []string{
		`{"role":"assistant","content":[{"type":"text","text":` + m.text + `}` + uses + `]}`,
		`{"role":"user","content":[` + results + `]}`,
	}
}

func saySweCLI(m *said) []string {
	const format = `{"role": "%s", "content": %s, "timestamp": "2026-01-20 08:15:31.000412", "metadata": {}, "tool_calls": [%s], "tokens": null%s}`
	if m.prompt {
		return []string{fmt.Sprintf(format, "user", m.text, "", "")}
	}
	calls := m.each(", ", `{"id": %s, "name": %s, "parameters": %s, "result": %s, "result_summary": null, "timestamp": "2026-01-20 08:15:59.700001", "approved": true, "error": null}`,
		func(c *called) []any { return []any{c.id, c.name, c.args, c.result} })
	more := ""
	if m.thought != "" {
		more = `, "reasoning_content": ` + m.thought
	}
	more += fmt.Sprintf(`, "token_usage": {"prompt_tokens": %d, "completion_tokens": %d, "total_tokens": %d}`, m.usage.Prompt(), m.usage.Output, m.usage.Context())
	return []string{fmt.Sprintf(format, "assistant", m.text, calls, more)}
}

func sayYAgent(m *said) []string {
	const format = `{"message_id": "m-%d", "role": "%s", "content": %s, "timestamp": "` + stamp + `"%s, "metadata": {%s}}`
	if m.prompt {
		return []string{fmt.Sprintf(format, m.n, "user", m.text, "", "")}
	}
	calls, thought := "", ""
	if len(m.calls) > 0 {
		calls = `, "tool_calls": [` + m.each(", ", `{"id": %s, "name": %s, "arguments": %s}`, func(c *called) []any { return []any{c.id, c.name, c.args} }) + `]`
	}
	if m.thought != "" {
		thought = `"reasoning_content": ` + m.thought
	}
	lines := []string{fmt.Sprintf(format, m.n, "assistant", m.text, calls, thought)}
	for k, c := range m.calls {
		lines = append(lines, fmt.Sprintf(format, m.n+1+k, "tool", c.result, `, "tool_call_id": `+c.id, ""))
	}
	return lines
}

func sayGemini(m *said) []string {
	if m.prompt {
		return []string{fmt.Sprintf(`{"id":"m-%d","timestamp":"%s","type":"user","content":[{"text":%s}]}`, m.n, stamp, m.text)}
	}
	more := ""
	if m.thought != "" {
		more = `,"thoughts":[{"subject":"Plan","description":` + m.thought + `}]`
	}
	if len(m.calls) > 0 {
		more += `,"toolCalls":[` + m.each(",", `{"id":%s,"name":%s,"args":%s,"status":"success","timestamp":"%s","result":[{"functionResponse":{"id":%s,"name":%s,"response":{"output":%s}}}]}`,
			func(c *called) []any { return []any{c.id, c.name, c.args, stamp, c.id, c.name, c.result} }) + `]`
	}
	return []string{fmt.Sprintf(`{"id":"m-%d","timestamp":"%s","type":"gemini","content":%s,"tokens":{"input":%d,"output":%d,"cached":%d,"thoughts":0,"tool":0,"total":%d},"model":"gemini-2.5-pro"%s}`,
		m.n, stamp, m.text, m.usage.Prompt(), m.usage.Output, m.usage.CacheRead, m.usage.Context(), more)}
}
