package conformance

import (
	"fmt"
	"testing"
)

func TestClaude(t *testing.T) {
	t.Parallel()
	n := 0
	line := func(typ, id, parent, message string) string {
		n++
		return fmt.Sprintf(`{"parentUuid":%s,"type":%q,"message":%s,"uuid":%q,"sessionId":"s1","cwd":"/work","version":"2.1.12","timestamp":"2026-01-01T00:00:%02d.000Z"}`, parent, typ, message, id, n)
	}
	answer := func(id, parent, block string) string {
		return line("assistant", id, parent, fmt.Sprintf(`{"id":"m%s","role":"assistant","model":"claude-opus-4-5","stop_reason":"end_turn","content":[%s],"usage":{"input_tokens":10,"output_tokens":1}}`, id, block))
	}
	Run(t, Agent{
		Name: "claude",
		Lines: []string{
			`{"type":"file-history-snapshot","messageId":"u1"}`,
			line("user", "u1", `null`, `{"role":"user","content":"List the files."}`),
			answer("a1", `"u1"`, `{"type":"tool_use","id":"c1","name":"Bash","input":{}}`),
			line("user", "r1", `"a1"`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a.go and b.go"}]}`),
			answer("a2", `"r1"`, `{"type":"text","text":"There are two."}`),
			line("user", "u2", `"a2"`, `{"role":"user","content":"And now?"}`),
			answer("a3", `"u2"`, `{"type":"text","text":"Nothing is left."}`),
		},
		Resume: []string{line("user", "u3", `"a3"`, `{"role":"user","content":"Instead?"}`)},
		Fork:   []string{line("user", "u3", `"a2"`, `{"role":"user","content":"Instead?"}`)},
		Usage:  []string{"message.usage.input_tokens", "message.usage.output_tokens", "message.usage.cache_read_input_tokens", "message.usage.cache_creation_input_tokens"},
		Once:   "message.id",
		Found: map[string]string{
			"glued lines":                  "5 glued hides 2/6/1, 6 bridged hides 3/10/1; -2",
			"a line glued to half of one":  "5 malformed hides 1/2/0, 6 bridged hides 3/10/1; -2",
			"a malformed line":             "5 malformed, 6 bridged hides 3/10/1; -1",
			"a line twice":                 "6 repeated; +0",
			"a dangling parent":            "6 bridged hides 4/14/2; +0",
			"a lost beginning":             "2 incomplete; -1",
			"a parent cycle":               "2 incomplete; +0",
			"its own parent":               "6 bridged hides 4/14/2; +0",
			"a call without a result":      "3 call-without-result, 4 bridged hides 2/6/1; -1",
			"a result without its call":    "+0",
			"no header":                    "+0",
			"a broken header":              "1 malformed; +0",
			"a newer version":              "+0",
			"a newer version, and a field": "2 too-new, 2 unread-field, 3 unread-field; +0",
			"two files":                    "9 repeated, 10 repeated, 11 repeated, 12 repeated, 13 repeated, 14 repeated; +0",
		},
	})
}
