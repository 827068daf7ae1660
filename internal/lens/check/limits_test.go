package check

import (
	"os"
	"path/filepath"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// TestUsageGone: a usage that can no longer be read is a finding, and not left out.
func TestUsageGone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(os.WriteFile(name, must.Get(os.ReadFile("../../../testdata/sessions/bad/usage-size.jsonl")), 0o644))
	x := newSubject(name, Options{Choice: must.Get(Choose([]string{"usage-size"}, nil))})
	s := must.Get(sessionfmt.Open(name, x.opening()))
	defer s.Close()
	must.Do(os.Truncate(name, 0))
	x.run(s)
	if got := x.report.Findings; len(got) != 1 || got[0].Code != "unreadable" {
		t.Errorf("%+v", got)
	}
}
