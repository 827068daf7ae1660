package conformance

import (
	"fmt"
	"testing"
)

func TestOpenClaw(t *testing.T) {
	t.Parallel()
	row := func(id, parent, message string) string {
		return fmt.Sprintf(`{"table":"transcript_events","session_id":"s1","event_json":{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z","message":%s}}`, id, parent, message)
	}
	answer := func(id, parent, block string) string {
		return row(id, parent, fmt.Sprintf(`{"role":"assistant","content":[%s],"usage":{"input":10,"output":1,"cacheRead":2,"cacheWrite":3},"stopReason":"stop"}`, block))
	}
	const usage = "event_json.message.usage."
	Run(t, Agent{
		Name: "openclaw",
		Lines: []string{
			`{"table":"session_windows","session_id":"s1","session_key":"agent:main:main","created_at":1767225600000}`,
			row("u1", `null`, `{"role":"user","content":"List the files."}`),
			answer("a1", `"u1"`, `{"type":"toolCall","id":"c1","name":"ls","arguments":{}}`),
			row("r1", `"a1"`, `{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"a.go and b.go"}]}`),
			answer("a2", `"r1"`, `{"type":"text","text":"There are two."}`),
			row("u2", `"a2"`, `{"role":"user","content":"And now?"}`),
			answer("a3", `"u2"`, `{"type":"text","text":"Nothing is left."}`),
		},
		Resume: []string{row("u3", `"a3"`, `{"role":"user","content":"Instead?"}`)},
		Fork:   []string{row("u3", `"a2"`, `{"role":"user","content":"Instead?"}`)},
		Usage:  []string{usage + "input", usage + "output", usage + "cacheRead", usage + "cacheWrite"},
		Found: map[string]string{
			"glued lines":                 "2 several-roots, 5 glued hides 5/15/2, 6 orphan; -5",
			"a line glued to half of one": "2 several-roots, 5 malformed hides 1/2/0, 6 orphan; -5",
			"a malformed line":            "2 several-roots, 5 malformed, 6 orphan; -4",
			"a line twice":                "+0",
			"a lost beginning":            "2 orphan; -1",
			"a call without a result":     "2 several-roots, 3 call-without-result, 4 orphan; -3",
			"unknown types":               "5 unknown-type, 5 several-roots, 6 unknown-type, 6 several-roots, 7 several-roots; +0",
			"two files":                   "8 second-header, 9 several-roots, 10 call-without-result; +0",
		},
	})
}
