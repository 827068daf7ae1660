package qwen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/read/dialect/qwen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestComposed holds messages to what the program makes of lines, by the model that is asked.
func TestComposed(t *testing.T) {
	const (
		say    = `{"role":"user","parts":[{"text":"Say."}]}`
		call   = `{"role":"model","parts":[{"functionCall":{"id":"c1","name":"ls","args":{"a":1}}},{"functionCall":{"id":"c2","name":"ls","args":{}}}]}`
		done   = `{"role":"user","parts":[{"functionResponse":{"id":"c1","response":{"output":"one"}}}]}`
		failed = `{"role":"user","parts":[{"functionResponse":{"id":"c2","response":{"error":"no"}}}]}`
		shown  = `{"role":"user","parts":[{"functionResponse":{"id":"c1","response":{"output":"a"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AA","displayName":"a.png"}}]}}]}`
		think  = `{"role":"model","parts":[{"text":"Hm.","thought":true},{"text":"Yes."}]}`
	)
	sent := func(id, args string) string {
		return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"ls","arguments":%q}}`, id, args)
	}
	both := `{"role":"assistant","content":null,"tool_calls":[` + sent("c1", `{"a":1}`) + `,` + sent("c2", "{}") + `]}`
	first := `{"role":"assistant","content":null,"tool_calls":[` + sent("c1", `{"a":1}`) + `]}`
	user := `{"role":"user","content":[{"type":"text","text":"Say."}]}`
	one := `{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"one"}]}`
	two := `{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"no"}]}`
	yes := `{"role":"assistant","content":"Yes.","reasoning_content":"Hm.`
	for _, c := range []struct {
		name, model string
		lines, want []string
	}{
		{"prompts in a row are one", "m", []string{say, say},
			[]string{`{"role":"user","content":[{"type":"text","text":"Say."},{"type":"text","text":"Say."}]}`}},
		{"results stand in their order", "m", []string{say, call, failed, done}, []string{user, both, two, one}},
		{"a call without a result is not sent", "m", []string{say, call, done, say}, []string{user, first, one, user}},
		{"nor is an answer of nothing else", "m", []string{say, call, say}, []string{user, user}},
		{"nor a result without a call, or one that is repeated", "m", []string{say, call, done, failed, done, say, done},
			[]string{user, both, one, two, user}},
		{"answers in a row are one", "m", []string{say, think, think},
			[]string{user, `{"role":"assistant","content":"Yes.Yes.","reasoning_content":"Hm.Hm."}`}},
		{"thoughts of Qwen 3 stand twice", "qwen3-max", []string{say, think}, []string{user, yes + `","reasoning":"Hm."}`}},
		{"DeepSeek gets texts, and thoughts in each answer", "deepseek-v4", []string{say, call, done, failed},
			[]string{`{"role":"user","content":"Say."}`, strings.TrimSuffix(both, "}") + `,"reasoning_content":""}`,
				`{"role":"tool","tool_call_id":"c1","content":"one"}`, `{"role":"tool","tool_call_id":"c2","content":"no"}`}},
		{"pictures of a result follow it", "gpt-5", []string{say, call, shown}, []string{user, first,
			`{"role":"tool","tool_call_id":"c1","content":"a"}`,
			`{"role":"user","content":[{"type":"text","text":"(attached media from previous tool call)"},` +
				`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]}`}},
	} {
		var b strings.Builder
		parent := "null"
		add := func(id, rest string) {
			fmt.Fprintf(&b, `{"uuid":%q,"parentUuid":%s,"sessionId":"s","provenance":"p",%s}`+"\n", id, parent, rest)
			parent = strconv.Quote(id)
		}
		for k, m := range c.lines {
			add(fmt.Sprintf("u%d", k), `"type":"user","message":`+m)
		}
		add("t", fmt.Sprintf(`"type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":`+
			`"qwen-code.api_response","auth_type":"openai","model":%q}}`, c.model))
		add("last", fmt.Sprintf(`"type":"assistant","model":%q,"message":{"role":"model","parts":[{"text":"End."}]}`, c.model))
		name := filepath.Join(t.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(name, []byte(b.String()), 0o600))
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		at := sessionfmt.Before(s.Len() - 1)
		var got []string
		for m, err := range must.Get(replay.New(s, replay.Options{}).At(at)).Native() {
			must.Do(err)
			got = append(got, string(m))
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		s.Close()
	}
}

// TestSniff recognises a session by its first line, which older versions write without a provenance.
func TestSniff(t *testing.T) {
	const id = `{"uuid":"u","parentUuid":null,"sessionId":"s","type":"system"`
	for line, is := range map[string]bool{
		id + `,"subtype":"at_command","systemPayload":{"filesRead":["a.png"]}}`: true,
		id + `,"subtype":"at_command"}`:                                         false,
		id + `,"systemPayload":{}}`:                                             false,
	} {
		if qwen.Dialect.Sniff(jsonl.Value(line)) != is {
			t.Errorf("%s: it is a session: want %t", line, is)
		}
	}
}
