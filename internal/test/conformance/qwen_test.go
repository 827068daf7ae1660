package conformance

import (
	"fmt"
	"strings"
	"testing"
)

func TestQwen(t *testing.T) {
	t.Parallel()
	n := 0
	line := func(typ, id, parent, rest string) string {
		n++
		return fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":"s1","timestamp":"2026-01-01T00:00:%02d.000Z","type":%q,`+
			`"provenance":"p","cwd":"/work","version":"0.24.4",%s}`, id, parent, n, typ, rest)
	}
	user := func(id, parent, text string) string {
		return line("user", id, parent, fmt.Sprintf(`"message":{"role":"user","parts":[{"text":%q}]}`, text))
	}
	answer := func(id, parent, part string) string {
		return line("assistant", id, parent, `"model":"m","message":{"role":"model","parts":[`+part+
			`]},"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":3,"cachedContentTokenCount":10,"totalTokenCount":23}`)
	}
	counted := func(id, parent, more string) string {
		return line("system", id, parent, `"subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_response",`+
			`"response_id":"r","auth_type":"openai","model":"m","input_token_count":20,"output_token_count":3,`+
			`"cached_content_token_count":10`+more+`}}`)
	}
	lines := []string{
		line("system", "s1", `null`, `"subtype":"attribution_snapshot","systemPayload":{"snapshot":{}}`),
		user("u1", `"s1"`, "List the files."),
		answer("a1", `"u1"`, `{"functionCall":{"id":"c1","name":"ls","args":{}}}`),
		line("tool_result", "r1", `"a1"`, `"message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a.go and b.go"}}}]}`),
		answer("a2", `"r1"`, `{"text":"There are two."}`),
		user("u2", `"a2"`, "And now?"),
		answer("a3", `"u2"`, `{"text":"Nothing is left."}`),
	}
	odd := []string{
		user("u1", `null`, "Look."), counted("t1", `"u1"`, ""), counted("t2", `"t1"`, ""),
		answer("a1", `"t2"`, `{"text":"Hm.","thought":true},{"text":"Yes."}`),
		counted("t3", `"a1"`, `,"prompt_id":"compress-1"`),
		line("system", "c1", `"t3"`, `"subtype":"chat_compression","systemPayload":{"info":{"triggerReason":"auto"},"compressedHistory":[`+
			`{"role":"user","parts":[{"text":"Done so far."}]},{"role":"model","parts":[{"text":"Got it."}]},5,{"parts":7}]}`),
		line("user", "u2", `"c1"`, `"subtype":"mid_turn_user_message","message":{"role":"user","parts":[{"inlineData":{"data":"AA","mimeType":"image/png"}},{"text":""},3]}`),
		line("system", "d1", `"u2"`, `"subtype":"custom_title","systemPayload":{"customTitle":"Two"}`),
		line("system", "w1", `"u1"`, `"subtype":"rewind","systemPayload":{}`),
		answer("a2", `"w1"`, ``), user("u3", `null`, "Again."), counted("t4", `"u3"`, `,"subagent_name":"x"`), counted("t5", `"t4"`, ""),
	}
	Run(t, Agent{
		Name: "qwen", Lines: lines,
		Resume: []string{user("u3", `"a3"`, "Instead?")},
		Fork:   []string{line("system", "w1", `"a2"`, `"subtype":"rewind","systemPayload":{"truncatedCount":2}`), user("u3", `"w1"`, "Instead?")},
		Usage:  []string{"usageMetadata.promptTokenCount", "usageMetadata.candidatesTokenCount"},
		More:   []string{strings.Join(odd, "\n") + "\n"},
		Found: map[string]string{
			"glued lines":                 "5 glued hides 2/6/1, 6 bridged hides 3/9/1; -2",
			"a line glued to half of one": "5 malformed hides 1/2/0, 6 bridged hides 3/9/1; -2",
			"a malformed line":            "5 malformed, 6 bridged hides 3/9/1; -1",
			"a line twice":                "6 repeated; +0",
			"a dangling parent":           "6 bridged hides 4/13/2; +0",
			"a lost beginning":            "2 bridged; -1",
			"a parent cycle":              "1 bridged; +0",
			"its own parent":              "6 bridged hides 4/13/2; +0",
			"a call without a result":     "3 call-without-result, 4 bridged hides 2/5/1; -1",
			"no header":                   "1 bridged; +0",
			"a broken header":             "1 malformed, 2 bridged; +0",
			"two files":                   "8 repeated, 9 repeated, 10 repeated, 11 repeated, 12 repeated, 13 repeated, 14 repeated; +0",
		},
	})
}
