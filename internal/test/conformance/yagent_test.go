package conformance

import (
	"fmt"
	"strings"
	"testing"
)

// oddYAgent are lines that are odd in each of their members.
var oddYAgent = []string{
	`{"message_id": "m", "role": "user", "content": "ü\u00fc", "timestamp": "2026-01-01T00:00:00.000Z"}`,
	`{"message_id":"a","role":"assistant","content":"\tü","tool_calls":[{"id":"c1","name":"n","arguments":"{}"}],"metadata":{"reasoning_content":"\n","model":"m","input_tokens":5,"output_tokens":1,"context_tokens_used":3,"cost_usd":0.5}}`,
	`{"message_id":"b","role":"tool","content":"\"","tool_call_id":"c1"}`, `{"role":"tool","content":""}`, `{"role":"assistant","content":3,"metadata":{"model":7,"input_tokens":2}}`,
	`{"role":"system","content":"s"}`, `{"role":"system","content":"s","metadata":{"type":"note"}}`,
}

func TestYAgent(t *testing.T) {
	t.Parallel()
	n := 0
	say := func(id, role, text, more string) string {
		n++
		return fmt.Sprintf(`{"role":%q,"content":%q,"timestamp":"2026-01-01T00:00:0%dZ","message_id":%q%s}`, role, text, n, id, more)
	}
	const used = `,"metadata":{"input_tokens":5,"output_tokens":1}`
	Run(t, Agent{
		Name: "y-agent",
		Lines: []string{
			say("m0", "system", "Be brief.", ""),
			say("m1", "user", "List the files.", ""),
			say("m2", "assistant", "", `,"tool_calls":[{"id":"c1","name":"ls","arguments":{}}]`+used),
			say("m3", "tool", "a.go and b.go", `,"tool_call_id":"c1"`),
			say("m4", "assistant", "There are two.", used),
			say("m5", "user", "And now?", ""),
			say("m6", "assistant", "Nothing is left.", used),
		},
		Resume: []string{say("m7", "user", "Instead?", "")},
		Usage:  []string{"metadata.input_tokens", "metadata.output_tokens"},
		More:   []string{strings.Join(oddYAgent, "\n")},
		Found: map[string]string{
			"two files":       "8 time-backward; +7",
			"no header":       "+0",
			"a broken header": "1 malformed; +0",
		},
	})
}
