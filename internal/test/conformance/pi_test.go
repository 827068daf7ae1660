package conformance

import (
	"fmt"
	"testing"
)

// TestPi holds pi's sessions to what those of all agents are held to.
func TestPi(t *testing.T) {
	t.Parallel()
	line := func(id, parent, message string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z","message":%s}`, id, parent, message)
	}
	answer := func(id, parent, block, stop string) string {
		return line(id, parent, fmt.Sprintf(`{"role":"assistant","content":[%s],"model":"m","usage":{"input":10,"output":1,"cacheRead":2,"cacheWrite":3},"stopReason":%q}`, block, stop))
	}
	Run(t, Agent{
		Name: "pi",
		Lines: []string{
			`{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/work"}`,
			line("u1", `null`, `{"role":"user","content":"List the files."}`),
			answer("a1", `"u1"`, `{"type":"toolCall","id":"c1","name":"bash","arguments":{}}`, "toolUse"),
			line("r1", `"a1"`, `{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"a.go and b.go"}]}`),
			answer("a2", `"r1"`, `{"type":"text","text":"There are two."}`, "stop"),
			line("u2", `"a2"`, `{"role":"user","content":"And now?"}`),
			answer("a3", `"u2"`, `{"type":"text","text":"Nothing is left."}`, "stop"),
		},
		Resume: []string{line("u3", `"a3"`, `{"role":"user","content":"Instead?"}`)},
		Fork:   []string{line("u3", `"a2"`, `{"role":"user","content":"Instead?"}`)},
		Usage:  []string{"message.usage.input", "message.usage.output", "message.usage.cacheRead", "message.usage.cacheWrite"},
		Found: map[string]string{
			"glued lines":                 "5 glued hides 5/16/2, 6 orphan hides 3/10/1; -5",
			"a line glued to half of one": "5 malformed hides 1/2/0, 6 orphan hides 3/10/1; -5",
			"NUL bytes":                   "5 malformed, 6 orphan hides 3/10/1, 8 malformed; -4",
			"a malformed line":            "5 malformed hides 3/10/1, 6 orphan hides 3/10/1; -4",
			"lines that are not objects":  "5 scalar-line, 6 scalar-line, 7 falsy-line; +0",
			"a byte order mark":           "1 bom hides 6/20/3; +0",
			"a line twice":                "6 duplicate-id; +0",
			"a lost beginning":            "2 orphan; -1",
			"a call without a result":     "3 call-without-result, 4 orphan hides 2/6/1; -3",
			"no header":                   "no-header hides 6/20/3; +0",
			"a broken header":             "no-header hides 6/20/3, 1 malformed; +0",
			"unknown types":               "5 missing-id, 5 several-roots, 5 unknown-type, 6 missing-id, 6 several-roots, 6 unknown-type, 7 missing-id, 7 several-roots, 7 unknown-type; +0",
			"two files":                   "3 forward-parent, 4 forward-parent, 5 forward-parent, 6 forward-parent, 7 forward-parent, 8 second-header, 9 duplicate-id, 10 duplicate-id, 11 duplicate-id, 12 duplicate-id, 13 duplicate-id, 14 duplicate-id hides -1/-4/-1; +0",
		},
	})
}
