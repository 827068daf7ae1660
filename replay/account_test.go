package replay_test

import (
	"bytes"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/internal/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestAccountsAreCounts: counting on the way gives what counting each envelope
// by itself gives.
func TestAccountsAreCounts(t *testing.T) {
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
			for a, err := range r.Accounts(s.Leaf(), &tokens.Pi) {
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				if added := s.Answers(a.Record) && a.Did == replay.Added; added && a.Request != a.Answers-1 || !added && a.Request != -1 {
					t.Errorf("%s, rules %s, line %d: request %d of %d", c.Name, rules, s.Line(a.Record), a.Request, a.Answers)
				}
				if k++; k%17 != 0 && a.Did != replay.Compacted && a.Did != replay.Patched && a.Did != replay.Edited {
					continue
				}
				want := must.Get(a.Envelope().Count(&tokens.Pi))
				if a.After != want {
					t.Fatalf("%s, rules %s, line %d: %+v on the way, %+v at once", c.Name, rules, s.Line(a.Record), a.After, want)
				}
				n++
			}
		}
	}
	t.Logf("%d counts compared", n)
}

// TestAccountingGoesOn: the accounts of a path that has grown since, as a session's does
// that is appended to, are those of the whole path.
func TestAccountingGoesOn(t *testing.T) {
	for _, c := range corpus.Small(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		defer s.Close()
		for _, rules := range []replay.Rules{replay.ByPi, replay.ByEnvelope} {
			path, circles := s.Path(s.Leaf())
			if len(circles) > 0 || len(path) > 0 && s.Parent(path[0]) >= 0 {
				continue // paths to its entries go other ways
			}
			walk := replay.New(s, replay.Options{Rules: rules}).Start(&tokens.Pi)
			k := 0
			for want, wantErr := range replay.New(s, replay.Options{Rules: rules}).Accounts(s.Leaf(), &tokens.Pi) {
				n := 0
				for a, err := range walk.Along(path[k]) {
					if n++; (err == nil) != (wantErr == nil) || err == nil && (a.Record != want.Record || a.Before != want.Before || a.After != want.After || a.Request != want.Request) {
						t.Fatalf("%s, rules %s, line %d: %+v, %v, at once %+v, %v", c.Name, rules, s.Line(path[k]), a, err, want, wantErr)
					}
				}
				if k++; n != 1 || wantErr == nil && len(walk.Unreached) > 0 {
					t.Fatalf("%s, rules %s: %d accounts of entry %d", c.Name, rules, n, k)
				}
			}
		}
	}
}
