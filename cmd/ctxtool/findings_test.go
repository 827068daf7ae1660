package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ctxtool/internal/lens/check"
	pages "ctxtool/internal/out/report"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// TestFindingsAgree: where a page says how many findings a session has, it is the number of errors and
// warnings of check, and of the lens check. Where ls marks a session, check has findings that severe.
func TestFindingsAgree(t *testing.T) {
	t.Parallel()
	root, said, marked := corpus.Root(t), 0, 0
	for _, name := range must.Get(filepath.Glob(filepath.Join(root, "testdata/sessions/*/*.jsonl"))) {
		var all struct {
			Totals check.Totals
			Files  []struct{ Findings []struct{ Severity string } }
		}
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
		var row struct{ Found string }
		must.Do(json.Unmarshal(ranIn(root, "ls", "--json", name).stdout.Bytes(), &row))
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		report := pages.New(replay.New(s, replay.Options{}), s.Leaf())
		e := &env{machine: machine{now: time.Now}}
		report.Check = e.checker(name, sessionfmt.Options{})
		report.Begin(1 << 20)
		must.Do(report.Wait())
		got := report.Summary().Findings
		if got != 0 && got != want {
			t.Errorf("%s: the page has %d findings, not %d", name, got, want)
		}
		said += got
		if row.Found == "" {
			continue
		}
		if marked++; got == 0 || !slices.Contains(all.Files[0].Findings, struct{ Severity string }{row.Found}) {
			t.Errorf("%s: ls marks it with %q, the page has %d findings, and check %v", name, row.Found, got, all)
		}
		s.Close()
	}
	if said == 0 || marked == 0 {
		t.Errorf("pages have %d findings, and ls marks %d sessions", said, marked)
	}
}
