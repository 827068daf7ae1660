package simulate

import (
	"fmt"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/samples"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// TestSamples: the runs of the recorded policy, of none, and of two that reduce, with a small window.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		o := Options{
			Contenders: contenders(t, Recorded, None, "gsh", "pi"), Rows: true, Changes: true, Regrets: true,
			Summaries: Summaries{Ratio: 0.1}, Replay: replay.Options{Lenient: true, Window: 3000},
		}
		r, err := o.Session(s)
		if err != nil {
			return []string{err.Error()}
		}
		for _, goal := range Goals {
			r.Decide(Goal(goal))
			lines = append(lines, fmt.Sprintf("for %s: %s, %q", goal, r.Best, r.Why))
		}
		for _, run := range r.Runs {
			lines = append(lines, fmt.Sprintf("%s: %d requests, %d read, failures %q, %s", run.Policy, run.Requests, run.Read,
				run.Failures(), golden.Digest(run)))
		}
		page, err := r.Page("title")
		return append(lines, fmt.Sprintf("page %s %v", golden.Digest(page), err))
	})
}
