package conformance

import (
	"fmt"
	"strings"
	"testing"
)

// TestOpenCode: of version 1, where messages are rows and their parts too, rows that lack what they
// should have, and some that do not; of version 2 all.
func TestOpenCode(t *testing.T) {
	t.Parallel()
	for agent, version := range map[string]string{"opencode": "1.18.33", "kilo": "7.7.9"} {
		Run(t, Agent{Name: agent, More: []string{strings.Join([]string{
			`{"table":"session","id":"s1","directory":"/w/a","path":"a","version":"` + version + `"}`,
			`{"table":"message","id":"m1","session_id":"s1"}`,
			`{"table":"message","id":"m2","session_id":"s1","data":{"role":"assistant"}}`,
			`{"table":"part","id":"p2","message_id":"m2","data":{"type":"tool","callID":"c1","state":{"status":"completed"}}}`,
			`{"table":"message","id":"m3","session_id":"s1","data":{"summary":true,"finish":"stop"}}`,
			`{"table":"message","id":"m4","session_id":"s1","data":{"role":"user","editorContext":{"openTabs":5}}}`,
			`{"table":"part","id":"p4","message_id":"m4","data":{"type":"text","text":"List the files."}}`,
		}, "\n") + "\n"}})
	}
	n := 0
	row := func(typ, data string) string {
		n++
		return fmt.Sprintf(`{"table":"session_message","id":"m%d","session_id":"s1","type":%q,"seq":%[1]d,"time_created":176722560000%[1]d,"data":%[3]s}`, n, typ, data)
	}
	answer := func(part string) string {
		return row("assistant", fmt.Sprintf(`{"model":{"id":"m"},"content":[%s],"tokens":{"input":5,"output":2,"reasoning":1,"cache":{"read":10,"write":3}}}`, part))
	}
	Run(t, Agent{
		Name: "opencode2",
		Lines: []string{
			`{"table":"session","id":"s1","directory":"/w","version":"2.0.1"}`,
			row("user", `{"text":"List the files."}`),
			answer(`{"type":"tool","id":"c1","name":"ls","state":{"status":"completed","input":{},"content":[{"type":"text","text":"a.go and b.go"}]}}`),
			row("idle", `{}`),
			answer(`{"type":"text","text":"There are two."}`),
			row("user", `{"text":"And now?"}`),
			answer(`{"type":"text","text":"Nothing is left."}`),
		},
		Resume: []string{row("user", `{"text":"Instead?"}`)},
		Usage:  []string{"data.tokens.input", "data.tokens.output", "data.tokens.reasoning", "data.tokens.cache.read", "data.tokens.cache.write"},
		Found:  map[string]string{"a call without a result": "+0", "two files": "8 second-header; +6"},
	})
}
