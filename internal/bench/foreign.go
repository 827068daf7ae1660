//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A teller writes a conversation as another agent records it.
type teller interface {
	begin()
	tell(m *jsonl.Message, usage *jsonl.Usage)
	end()
}

// makeForeign writes the conversation of a session of pi in the format of another agent, with
// what that records besides: Codex most things twice, Claude Code the results of tools.
func makeForeign(name, agent, from string) error {
	s, err := sessionfmt.Open(from, sessionfmt.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	var t teller = &chatTeller{w: w, form: chatForms[agent]}
	switch agent {
	case "codex":
		t = &codexTeller{w: w}
	case "claude":
		t = &claudeTeller{w: w, parent: "null"}
	}
	t.begin()
	r := s.NewReader()
	for i := range s.Len() {
		if kind := s.Kind(i); kind.IsTurn() {
			line, err := r.Line(i)
			if err != nil {
				return err
			}
			m := line.Get("message").Message()
			usage := m.Usage.Usage()
			t.tell(m, &usage)
		}
	}
	t.end()
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// text is that of a block, at least empty.
func text(b *jsonl.Block) string {
	if b.Text.IsString() {
		return string(b.Text.Value)
	}
	return `""`
}

const stamp = "2026-01-01T00:00:00.000Z"

// A codexTeller writes a rollout.
type codexTeller struct {
	w io.Writer
	n int // lines
}

func (t *codexTeller) line(typ, payload string) {
	fmt.Fprintf(t.w, `{"timestamp":"%s","ordinal":%d,"type":"%s","payload":%s}`+"\n", stamp, t.n, typ, payload)
	t.n++
}

// item writes an item, and the event that repeats it.
func (t *codexTeller) item(format string, args ...any) {
	payload := fmt.Sprintf(format, args...)
	t.line("response_item", payload)
	t.line("event_msg", `{"type":"item_completed","item":`+payload+`}`)
}

func (t *codexTeller) begin() {
	t.line("session_meta", `{"id":"00000000-0000-7000-8000-000000000000","timestamp":"`+stamp+`","cwd":"/project","cli_version":"0.169.0","base_instructions":{"text":"Be brief."}}`)
}

func (t *codexTeller) end() {}

func (t *codexTeller) tell(m *jsonl.Message, usage *jsonl.Usage) {
	if m.Kind == jsonl.User {
		t.line("turn_context", `{"cwd":"/project","approval_policy":"never","model":"gpt-5.5","summary":"none"}`)
	}
	for k := range m.Blocks {
		b := &m.Blocks[k]
		switch id := fmt.Sprintf("%d_%d", t.n, k); {
		case m.Kind == jsonl.ToolResult:
			t.item(`{"type":"function_call_output","id":"fco_%s","call_id":%s,"output":%s}`, id, m.CallID, text(b))
			return
		case b.Kind == jsonl.CallBlock:
			args := jsonl.AppendQuoted(nil, string(b.Args))
			t.item(`{"type":"function_call","id":"fc_%s","name":%s,"arguments":%s,"call_id":%s}`, id, b.Name, args, b.ID)
		case b.Kind == jsonl.ThinkingBlock:
			t.item(`{"type":"reasoning","id":"rs_%s","summary":[{"type":"summary_text","text":%s}]}`, id, text(b))
		case m.Kind == jsonl.User:
			t.item(`{"type":"message","id":"msg_%s","role":"user","content":[{"type":"input_text","text":%s}]}`, id, text(b))
		default:
			t.item(`{"type":"message","id":"msg_%s","role":"assistant","content":[{"type":"output_text","text":%s}]}`, id, text(b))
		}
	}
	if m.Kind == jsonl.Assistant {
		t.line("token_usage_record", fmt.Sprintf(`{"response_id":"resp_%d","usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"total_tokens":%d}}`,
			t.n, usage.Prompt(), usage.CacheRead, usage.Output, usage.Context()))
	}
}

// A claudeTeller writes a transcript.
type claudeTeller struct {
	w      io.Writer
	n      int    // lines
	parent string // a JSON value
}

func (t *claudeTeller) begin() {}
func (t *claudeTeller) end()   {}

// line writes a record. What follows the message is more.
func (t *claudeTeller) line(typ, message, more string) {
	id := fmt.Sprintf(`"%08x-0000-4000-8000-%012x"`, t.n, t.n)
	fmt.Fprintf(t.w, `{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/project","sessionId":"00000000-0000-4000-8000-000000000000","version":"2.1.199","gitBranch":"main","type":"%s","message":%s,"uuid":%s,"timestamp":"%s"%s}`+"\n",
		t.parent, typ, message, id, stamp, more)
	t.parent = id
	t.n++
}

func (t *claudeTeller) tell(m *jsonl.Message, usage *jsonl.Usage) {
	answer := t.n
	for k := range m.Blocks {
		b := &m.Blocks[k]
		said := fmt.Sprintf(`{"type":"text","text":%s}`, text(b))
		switch {
		case m.Kind == jsonl.ToolResult:
			t.line("user", fmt.Sprintf(`{"role":"user","content":[{"tool_use_id":%s,"type":"tool_result","content":%s}]}`, m.CallID, text(b)),
				fmt.Sprintf(`,"toolUseResult":{"stdout":%s,"stderr":"","interrupted":false}`, text(b)))
			return
		case m.Kind == jsonl.User:
			t.line("user", `{"role":"user","content":[`+said+`]}`, "")
			continue
		case b.Kind == jsonl.CallBlock:
			said = fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, b.ID, b.Name, b.Args)
		case b.Kind == jsonl.ThinkingBlock:
			said = fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":""}`, text(b))
		}
		t.line("assistant", fmt.Sprintf(`{"model":"claude-sonnet-4-5","id":"msg_%d","type":"message","role":"assistant","content":[%s],"stop_reason":"end_turn","usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d}}`,
			answer, said, usage.Input, usage.CacheWrite, usage.CacheRead, usage.Output), "")
	}
}
