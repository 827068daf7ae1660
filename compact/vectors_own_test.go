package compact

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/replay"
)

// TestPolicyOwnFiles runs vectors of docs/policies.md 6 on files of the agents themselves, by
// the policies that their formats name.
func TestPolicyOwnFiles(t *testing.T) {
	const gsh = `{"id":"a","created_at":"2025-06-15T14:20:00.120Z","last_activity":"2025-06-15T14:20:00.120Z","message_count":0,"cwd":"/w","title":null}` + "\n"
	read := func(k int, result string) string {
		return fmt.Sprintf(`{"message_id":"a%d","role":"assistant","content":"","timestamp":"2026-01-05T10:00:02Z","tool_calls":[{"id":"c%[1]d","name":"read","arguments":{"path":"a.go"}}]}
{"message_id":"t%[1]d","role":"tool","content":%[2]q,"tool_call_id":"c%[1]d","timestamp":"2026-01-05T10:00:02Z"}
`, k, result)
	}
	var many strings.Builder
	for i := range 25 {
		fmt.Fprintf(&many, `{"role":"user","content":"message %d","timestamp":"2026-01-20 08:15:30","tool_calls":[]}`+"\n", i)
	}
	for _, test := range []struct {
		vector, text, policy, want string
		layer                      int // that is run
	}{
		{"T3", gsh + `{"role":"user","content":"q"}` + "\n" + `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"bash","input":{}}]}` + "\n" +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"` + strings.Repeat("A", 80000) + `"}]}` + "\n",
			"gsh", "1,0,30033", 0},
		{"T31", many.String(), "swe-cli", "S" + strings.Repeat("u", 20), 0},
		{"T24", `{"message_id":"u","role":"user","content":"q","timestamp":"2026-01-05T10:00:00Z"}` + "\n" + read(1, strings.Repeat("a", 300)) + read(2, strings.Repeat("b", 300)),
			"y-agent", "1,0,41,0,300", 0},
	} {
		v := viewed(t, []byte(test.text), replay.Options{})
		d := v.session().Dialect()
		p, err := FindPolicy(d.Policy)
		if err != nil || p.Name != test.policy {
			t.Fatalf("%s: policy %s, %v", test.vector, d.Policy, err)
		}
		l := p.Layers[test.layer]
		l.Options.Counter, l.Options.Summarize = p.Counter, func(Request) (string, error) { return "summary", nil }
		r := apply(t, l.Pass, v, l.Options)
		got := shape(r.View)
		if !strings.Contains(got, "S") {
			var sizes []string
			for _, text := range saidIn(t, r.View) {
				sizes = append(sizes, fmt.Sprint(len(text)))
			}
			got = strings.Join(sizes, ",")
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.vector, got, test.want)
		}
	}
}
