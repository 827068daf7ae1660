package sessionfmt_test

import (
	"bytes"
	"fmt"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/samples"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
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
		lines = append(lines, aside(t, s)...)
		labels, err := s.Labels()
		last, known := s.LastActivity()
		path, found := s.Path(s.Leaf())
		return append(lines, fmt.Sprintf("agent %s by %q, leaf %d header %d size %d, labels %v %v, active %d %t, path %v %d, packed %t, "+
			"newer %q", s.Agent(), s.WrittenBy(), s.Leaf(), s.Header(), s.Size(), labels, err, last, known, path, len(found), s.Packed(),
			s.Newer()))
	})
}

// aside describes what a session has besides its entries: the requests and calls that are recorded beside them, by what
// rules it was read, and what its agent counted. It checks that all ways to read an entry agree.
func aside(t *testing.T, s *sessionfmt.Session) (lines []string) {
	r, again := s.NewReader(), s.NewReader()
	var m jsonl.Message
	for i := range s.Len() {
		line, err := r.Line(i)
		if err != nil {
			continue
		}
		stamp := must.Get(again.Timestamp(i))
		if want := line.First("timestamp"); string(stamp) != string(want) {
			t.Errorf("%s, record %d: the time is %s, want %s", s.Name, i, stamp, want)
		}
		if !s.Kind(i).IsTurn() {
			continue
		}
		raw := line.Get("message")
		want := raw.Message()
		if size, err := again.Message(i, &m); err != nil || size != len(raw) || fmt.Sprint(m) != fmt.Sprint(*want) {
			t.Errorf("%s, record %d: %v of %d bytes, want\n%v of %d: %v", s.Name, i, m, size, *want, len(raw), err)
		}
		if own := must.Get(again.Raw(i)); s.Dialect() == nil && !bytes.Equal(bytes.TrimSpace(own), line) && len(own) < s.LineSize(i) {
			t.Errorf("%s, record %d: %d bytes, of the line %d", s.Name, i, len(own), s.LineSize(i))
		}
	}
	sizes, ruled := []int{}, 0
	origins := s.Origins(must.Get(s.HeaderLine()))
	copied := ""
	for i := range s.Len() {
		if sizes = append(sizes, s.LineSize(i)); s.RulesOf(i) != 0 {
			ruled++
		}
		if from, ok := origins.Copied(i); ok {
			copied += fmt.Sprintf(" %d of %q", i, from)
		}
	}
	sketches, err := s.Sketches()
	for i := range s.Len() {
		if k := sketches[i]; k != nil {
			lines = append(lines, fmt.Sprintf("sketch of %d: %d sent, %s", i, k.Sent.Len(), golden.Digest(k)))
		}
	}
	for q, err := range s.Requests {
		lines = append(lines, fmt.Sprintf("recorded: %s %v", golden.Digest(q), err))
	}
	for c, err := range s.AsideCalls(jsonl.Pick{Record: []string{"usage", "model"}}) {
		lines = append(lines, fmt.Sprintf("aside: %v %s %s %v", c.Kind, c.Timestamp, golden.Digest(fmt.Sprint(c.Record, c.Call)), err))
	}
	sure := "pi's"
	if c := s.Reading().Certainty; c != nil {
		sure = fmt.Sprint(c.Messages)
	}
	dollars, before, counted := s.Counted()
	return append(lines, fmt.Sprintf("reading %s, %d by rules, sizes %s, sketches %d %v, recorded %t, counted %g %t %t, copied%s, bases %d, own lines %v, "+
		"aside %t, owner %q, own size %d", sure, ruled, golden.Digest(sizes), len(sketches), err, s.HasRecorded(), dollars, before,
		counted, copied, len(s.Bases()), s.OwnLines(), s.HasAside(), s.Owner(), s.OwnSize()))
}
