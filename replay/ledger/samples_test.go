package ledger_test

import (
	"fmt"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/samples"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestSamples: the figures of each request, and the hash of those by another counter.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		r := replay.New(s, replay.Options{Lenient: true})
		for _, counter := range []*tokens.Counter{&tokens.Pi, must.Get(tokens.Find("cl100k"))} {
			l := must.Get(ledger.Read(r, ledger.Options{Leaf: s.Leaf(), Counter: counter}))
			rows := []string{fmt.Sprintf("replayed %v, levels %q, stops %d", l.Replayed, l.Levels, len(l.Stopped))}
			for k := range l.Requests {
				rows = append(rows, figures(l, int32(k)))
			}
			lines = append(lines, fmt.Sprintf("by %s: %d requests, %d prompts, %d models, %s", counter.Name, len(l.Requests),
				len(l.Prompts), len(l.Models), golden.Digest(rows)))
			if counter == &tokens.Pi {
				lines = append(lines, rows...)
			}
		}
		return lines
	})
}

// figures returns what a ledger says of a request.
func figures(l *ledger.Ledger, k int32) string {
	q := &l.Requests[k]
	added, fresh, gone := 0, 0, 0
	for _, m := range l.Added(k) {
		added += int(m.Tokens)
	}
	in, out := l.Apart(k)
	for _, m := range in {
		fresh += int(m.Tokens)
	}
	for _, m := range out {
		gone += int(m.Tokens)
	}
	counts := l.Counts(q)
	dollars, recorded, ok := l.Paid(q)
	asked, _ := l.Asked(q)
	changes, below := l.Since(max(0, k-1), k)
	since := 0
	for range changes {
		since++
	}
	view, before := l.View(k, true), l.View(max(0, k-1), true)
	n, held := view.Total()
	same, _ := view.Common(&before, 0, 0)
	_, stamp, missed, _ := l.Recorded(q)
	return fmt.Sprintf("%d %s of %d number %d place %d: kept %d added %d fresh %d gone %d, %d+%d+%d=%d, context %d "+
		"estimated %d size %d, paid %.6f %t %t, model %s %d by %d, level %d %s, since %d below %d, view %d %d %d same %d, "+
		"at %d %q %s, usage %v, failed %t billed %t warms %t",
		k, l.Replay.Session.ID(int(q.Record)), q.Previous, q.Number, q.Place, l.Kept(q), added, fresh, gone, counts.System,
		counts.Tools, counts.Messages, counts.Total, q.Context, q.Estimated, q.Size(), dollars, recorded, ok, asked.ID,
		q.Model, q.ModelBy, q.Level, l.Thinking(q).Text(), since, below, n, held, view.Cached(), same, q.At, stamp.Text(),
		missed.Text(), q.Usage(), q.Failed, q.Billed, q.Warms)
}
