package main

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"ctxtool/internal/check"
	pages "ctxtool/internal/report"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// TestFindingsAgree: where ls, a page and an index say how many findings a session has, it is the number of errors and
// warnings of check, and of the lens check.
func TestFindingsAgree(t *testing.T) {
	t.Parallel()
	root, said := corpus.Root(t), 0
	for _, name := range must.Get(filepath.Glob(filepath.Join(root, "testdata/sessions/*/*.jsonl"))) {
		var all struct{ Totals check.Totals }
		must.Do(json.Unmarshal(ranIn(root, "check", "--json", name).stdout.Bytes(), &all))
		want := all.Totals.Errors + all.Totals.Warnings
		if all.Totals.Unread > 0 {
			continue
		}
		var sum struct {
			Lenses struct{ Check stats.CheckPart }
		}
		must.Do(json.Unmarshal(ranIn(root, "stats", "--lens", "check", "--json", name).stdout.Bytes(), &sum))
		if got := sum.Lenses.Check.Errors + sum.Lenses.Check.Warnings; got != want {
			t.Errorf("%s: the lens check has %d findings, not %d", name, got, want)
		}
		var row stats.Summary
		must.Do(json.Unmarshal(ranIn(root, "ls", "--json", name).stdout.Bytes(), &row))
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		report := pages.New(replay.New(s, replay.Options{}), s.Leaf())
		e := &env{now: time.Now}
		report.Check = e.checker(name, sessionfmt.Options{})
		report.Begin(1 << 20)
		must.Do(report.Wait())
		for what, got := range map[string]int{"ls": row.Findings, "the page": report.Summary().Findings} {
			if got != 0 && got != want {
				t.Errorf("%s: %s has %d findings, not %d", name, what, got, want)
			}
			said += got
		}
		s.Close()
	}
	if said == 0 {
		t.Error("nothing says a number")
	}
}
