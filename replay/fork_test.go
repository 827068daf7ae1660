package replay

import (
	"bytes"
	"slices"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestWalkTree: replaying the whole tree gives after every entry the envelope that
// replaying its path gives.
func TestWalkTree(t *testing.T) {
	compared := 0
	for _, c := range corpus.Sample(t) {
		if len(c.Data) > 1<<20 {
			continue
		}
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil || s.Size() > 1<<20 {
			continue
		}
		points := corpus.Points(s.Len(), 25, 3, func(rec int) int {
			switch k := s.Kind(rec); {
			case k == jsonl.Compaction || k == jsonl.ContextEdit || k == jsonl.Transform || s.Len() < 50:
				return -1 - rec // each by itself
			default:
				return int(k)
			}
		})
		for _, rules := range []Rules{ByPi, ByEnvelope} {
			for step, err := range New(s, Options{Rules: rules}).WalkTree(s.Tree()) {
				if err != nil {
					continue // its branch ends there, as Walk does
				}
				if _, ok := slices.BinarySearch(points, step.Record); ok || s.Len() <= 100 && corpus.Whole() {
					compared++
					same(t, c.Name, s, rules, step)
				}
			}
		}
		s.Close()
	}
	if compared < 1500 {
		t.Errorf("only %d envelopes compared", compared)
	}
	t.Logf("%d envelopes compared", compared)
}

// same compares a step with replaying its path.
func same(t *testing.T, name string, s *sessionfmt.Session, rules Rules, step Step) {
	t.Helper()
	tools, known, _, err := step.Tools()
	if err != nil {
		t.Fatal(err)
	}
	want, err := New(s, Options{Rules: rules}).At(sessionfmt.After(step.Record))
	if err != nil {
		t.Fatalf("%s: record %d: %v", name, step.Record, err)
	}
	got := step.Envelope()
	if got.TurnIndex != want.TurnIndex || got.RequestIndex != want.RequestIndex || got.Ephemerals != want.Ephemerals || len(got.Transforms) != len(want.Transforms) {
		t.Errorf("%s, %s: record %d: %+v, want %+v", name, rules, step.Record, got, want)
	}
	a := must.Get(got.Count(&tokens.Pi))
	b := must.Get(want.Count(&tokens.Pi))
	if a != b || got.Cached() != want.Cached() || got.Uncached() != want.Uncached() {
		t.Errorf("%s, %s: record %d: %+v and %d messages, want %+v and %d", name, rules, step.Record, a, got.Cached(), b, want.Cached())
	}
	p := must.Get(want.Prompt())
	have, _ := tools.Tools()
	if len(p.Tools) != len(have) || p.Known != known {
		t.Errorf("%s, %s: record %d: %d tools, known %v, want %d, %v", name, rules, step.Record, len(have), known, len(p.Tools), p.Known)
	}
}
