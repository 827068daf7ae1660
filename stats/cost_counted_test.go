package stats_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/stats"
)

// TestCounted: what an agent counted for the runs of a session stands beside what the session and its
// sub-agents cost here; the last count of a run is that of the run.
func TestCounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, lines ...string) string {
		name = filepath.Join(dir, name)
		must.Do(os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		return name
	}
	answer := func(id string, output int) string { // a million output tokens of the model are $5
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,"parentUuid":null,"sessionId":"s1","timestamp":"2026-01-01T00:00:01.000Z","message":{"id":%q,"role":"assistant","model":"claude-haiku-4-5","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":0,"output_tokens":%d}}}`, id, id, output)
	}
	state := func(start int, dollars float64) string {
		return fmt.Sprintf(`{"type":"cost-state","sessionId":"s1","startTime":%d,"totalCostUSD":%g}`, start, dollars)
	}
	main := write("s1.jsonl", answer("a1", 200_000), state(1, 0.5), state(1, 1.25), answer("a2", 200_000), state(2, 3))
	sub := write("s1/subagents/agent-a.jsonl", answer("a9", 100_000))
	plain := write("s2.jsonl", strings.ReplaceAll(answer("b1", 7), "s1", "s2"))
	for _, test := range []struct {
		about string
		files []string
		only  stats.Only
		want  string
	}{
		{"a session", []string{main}, stats.Only{}, "1 4.25 2.00"},
		{"with a sub-agent, and another session", []string{main, sub, plain}, stats.Only{}, "1 4.25 2.50"},
		{"without a count", []string{plain}, stats.Only{}, ""},
		{"some calls of it", []string{main}, stats.Only{Model: "haiku"}, ""},
	} {
		sum := &stats.Report{}
		o := &stats.Options{Lenses: lenses(t, "cost"), Only: test.only}
		for _, name := range test.files {
			o.Add(sum, must.Get(o.Read(name)))
		}
		o.Finish(sum)
		got := ""
		if c := sum.Cost.Counted; c != nil {
			got = fmt.Sprintf("%d %.2f %.2f", c.Sessions, c.Cost, c.Here)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.about, got, test.want)
		}
	}
}
