package sessionfmt_test

import (
	"fmt"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/samples"
	"ctxtool/sessionfmt"
)

// TestSamples: what a session is read as: each entry with its place, parent, kind and time, points, labels and
// findings.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		r := s.NewReader()
		for i := range s.Len() {
			at, known := s.Time(i)
			line, err := r.Line(i)
			lines = append(lines, fmt.Sprintf("%d %q at %d %d of %d %v %d %t answers %t orphan %t bare %t untimed %t shadowed %t %s %v", i,
				s.ID(i), s.Line(i), s.Offset(i), s.Parent(i), s.Kind(i), at, known, s.Answers(i), s.Orphan(i), s.Bare(i), s.Untimed(i),
				s.Shadowed(i), golden.Digest(string(line)), err))
		}
		for _, f := range s.Findings {
			lines = append(lines, fmt.Sprintf("%s %d %s %q", f.Code, f.Line, f.Entry, f.Text))
		}
		for _, name := range []string{"leaf", "root", "request:0", "request:-1", "request:2", "turn:0", "turn:-1", "nothing", "0"} {
			p, err := s.Point(name, s.Leaf())
			lines = append(lines, fmt.Sprintf("point %s: %v %d %v", name, p, s.LeafAt(p), err))
		}
		labels, err := s.Labels()
		last, known := s.LastActivity()
		path, found := s.Path(s.Leaf())
		return append(lines, fmt.Sprintf("agent %s by %q, leaf %d header %d size %d, labels %v %v, active %d %t, path %v %d, packed %t, "+
			"newer %q", s.Agent(), s.WrittenBy(), s.Leaf(), s.Header(), s.Size(), labels, err, last, known, path, len(found), s.Packed(),
			s.Newer()))
	})
}
