package ledger_test

import (
	"bytes"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestMeter: counting on the way gives what counting each envelope
// by itself gives.
func TestMeter(t *testing.T) {
	n := 0
	for _, c := range corpus.All(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		defer s.Close()
		for _, rules := range []replay.Rules{replay.ByPi, replay.ByEnvelope} {
			r := replay.New(s, replay.Options{Rules: rules, Lenient: true})
			k := 0
			meter := ledger.New(r, ledger.Options{Counter: &tokens.Pi, Sizes: rules == replay.ByPi}).Meter()
			for a, err := range r.Walk(s.Leaf()) {
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				if added := s.Answers(a.Record) && a.Did == replay.Added; added && a.Answers() != a.Requests()-1 || !added && a.Answers() != -1 {
					t.Errorf("%s, rules %s, line %d: request %d of %d", c.Name, rules, s.Line(a.Record), a.Answers(), a.Requests())
				}
				after, size, err := meter.Count(a)
				must.Do(err)
				if k++; k%17 != 0 && a.Did != replay.Compacted && a.Did != replay.Patched && a.Did != replay.Edited {
					continue
				}
				want := must.Get(a.Envelope().Count(&tokens.Pi))
				if after != want {
					t.Fatalf("%s, rules %s, line %d: %+v on the way, %+v at once", c.Name, rules, s.Line(a.Record), after, want)
				}
				if want := must.Get(a.Envelope().Size()); size.Tokens != want.Tokens || size.Estimated != want.Estimated {
					t.Fatalf("%s, rules %s, line %d: %s on the way, %s at once", c.Name, rules, s.Line(a.Record), size, want)
				}
				n++
			}
		}
	}
	t.Logf("%d counts compared", n)
}
