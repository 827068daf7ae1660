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

// TestCountedForks: the count of a fork goes on where that of its session was, so that copied calls are in both: they
// are left out of the fork's. A count that began later has none of them.
func TestCountedForks(t *testing.T) {
	t.Parallel()
	answer := func(session, id string, output int) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,"parentUuid":null,"sessionId":%q,"timestamp":"2026-01-01T00:00:01.000Z","message":{"id":%q,"role":"assistant","model":"claude-haiku-4-5","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":0,"output_tokens":%d}},"requestId":"r"}`, id, session, id, output)
	}
	state := func(session string, start int64, dollars float64) string {
		return fmt.Sprintf(`{"type":"cost-state","sessionId":%q,"startTime":%d,"totalCostUSD":%g}`, session, start, dollars)
	}
	const before, after = 1767225600000, 1767225602000 // a second before the first answer, and after it
	for _, test := range []struct {
		about string
		start int64
		total float64 // of the fork
		want  string
	}{
		{"it goes on", before, 2, "2 cost 2.00 here 2.00 copied 1.00"},
		{"it begins again", after, 1, "2 cost 2.00 here 2.00 copied 0.00"},
	} {
		dir := t.TempDir()
		o := &stats.Options{Lenses: lenses(t, "cost")}
		sum := &stats.Report{}
		for name, lines := range map[string][]string{
			"s1.jsonl": {answer("s1", "a1", 200_000), state("s1", before, 1)},
			"s2.jsonl": {answer("s2", "a1", 200_000), answer("s2", "a2", 200_000), state("s2", test.start, test.total)},
		} {
			must.Do(os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		}
		for _, name := range []string{"s1.jsonl", "s2.jsonl"} {
			o.Add(sum, must.Get(o.Read(filepath.Join(dir, name))))
		}
		o.Finish(sum)
		c := sum.Cost.Counted
		if got := fmt.Sprintf("%d cost %.2f here %.2f copied %.2f", c.Sessions, c.Cost, c.Here, c.Copied); got != test.want {
			t.Errorf("%s: %s, want %s", test.about, got, test.want)
		}
	}
}
