package sessionfmt_test

import (
	"runtime"
	"strings"
	"testing"

	"ctxtool/sessionfmt"
)

// TestLaw10ManyFindings: a file that is broken from end to end costs no memory
// for each broken line.
func TestLaw10ManyFindings(t *testing.T) {
	data := headerLine + userA + strings.Repeat("null\nbroken\n", 300_000)
	s := opened(t, data)
	last := s.Findings[len(s.Findings)-1]
	if len(s.Findings) != sessionfmt.MaxFindings+1 || last.Code != "more" || last.Text != "599000 more findings, not listed" {
		t.Errorf("%d findings, the last %+v", len(s.Findings), last)
	}
	if s.Coverage.Skipped != 600_000 {
		t.Errorf("%d lines skipped", s.Coverage.Skipped)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 64<<20 {
		t.Errorf("%d MB are in use", m.HeapAlloc>>20)
	}
}
