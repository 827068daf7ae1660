package ledger_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// viewed are sessions whose requests have all kinds of messages, in lists short and long enough to share blocks.
func viewed(t *testing.T) []corpus.Session {
	all := slices.DeleteFunc(slices.Concat(corpus.Own(t), corpus.Generated(t)), func(c corpus.Session) bool {
		return strings.Contains(c.Name, "/bad/") || strings.HasPrefix(c.Name, "gen/") && !strings.HasSuffix(c.Name, "-0")
	})
	for name, shape := range map[string]gen.Shape{
		"edited":  {Entries: 1300, Tools: 0.6, Systems: 0.05, Edits: 0.02, Ephemerals: 0.1, Branch: 0.01},
		"patched": {Entries: 1300, Tools: 0.6, Transforms: 0.01, Systems: 0.02, CompactEvery: 900},
	} {
		shape.Text, shape.MaxText = 20, 100
		all = append(all, corpus.Session{Name: "long/" + name, Data: gen.Session(shape)})
	}
	return all
}

// TestViews compares what a view finds by sums and blocks with a walk over its messages one by one.
func TestViews(t *testing.T) {
	blocks := 0
	for _, c := range viewed(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		r := replay.New(s, replay.Options{Lenient: true})
		l := must.Get(ledger.Read(r, ledger.Options{Leaf: s.Leaf(), Counter: &tokens.Pi}))
		step := max(1, len(l.Replayed)/7)
		for at := len(l.Replayed) - 1; at >= 0; at -= step {
			k := l.Replayed[at]
			m := l.Requests[k].Messages()
			for i := 0; i < m.Len(); {
				_, to, id := m.Block(i)
				if i = max(to, i+1); id != nil {
					blocks++
				}
			}
			for _, inPlace := range []bool{false, true} {
				is := l.View(k, inPlace)
				compareView(t, c.Name, l, &is)
				others := []int32{k}
				if q := &l.Requests[k]; q.Previous >= 0 {
					others = append(others, q.Previous, l.Replayed[at/2])
				}
				for _, other := range others {
					was := l.View(other, inPlace)
					compareCommon(t, c.Name, &is, &was)
				}
			}
		}
		compareFirst(t, c.Name, l)
		s.Close()
	}
	if blocks < 15 {
		t.Errorf("only %d blocks", blocks)
	}
}

// compareView compares the sums and indexes of a view.
func compareView(t *testing.T, name string, l *ledger.Ledger, v *ledger.View) {
	t.Helper()
	n, sum := 0, int64(0)
	for i := range v.End() + 1 {
		if count, held := v.Until(i); count != n || held != sum {
			t.Fatalf("%s: until %d of %d: %d messages of %d tokens, want %d of %d", name, i, v.End(), count, held, n, sum)
		}
		next := i
		for next < v.End() && !v.Has(next) {
			next++
		}
		if got := v.Next(i); got != next {
			t.Fatalf("%s: next of %d is %d, want %d", name, i, got, next)
		}
		if i == v.End() || !v.Has(i) {
			continue
		}
		if got := v.Index(n); got != i {
			t.Fatalf("%s: message %d of the view is at %d of %d, want %d", name, n, got, v.End(), i)
		}
		m := v.Message(i)
		if m.Content != v.Content(i) || m.Measure != l.Measure(m.Number, m.Piece) || m.Content == 0 {
			t.Fatalf("%s: message %d: %+v", name, i, m)
		}
		if of := must.Get(l.Of(m.Piece)); m.Own() && of.Measure != m.Measure {
			t.Fatalf("%s: message %d: %+v by itself, want %+v", name, i, of.Measure, m.Measure)
		}
		n, sum = n+1, sum+int64(m.Tokens)
	}
	if all, held := v.Total(); all != n || held != sum || v.Index(n) != v.End() {
		t.Errorf("%s: %d messages of %d tokens, want %d of %d; the last ends at %d", name, all, held, n, sum, v.Index(n))
	}
}

// compareCommon compares where two views first differ.
func compareCommon(t *testing.T, name string, is, was *ledger.View) {
	t.Helper()
	for _, from := range []int{0, 1, is.End() / 2} {
		if from > min(is.End(), was.End()) {
			continue
		}
		i, j := is.Next(from), was.Next(from)
		for i < is.End() && j < was.End() && is.Content(i) == was.Content(j) {
			i, j = is.Next(i+1), was.Next(j+1)
		}
		if x, y := is.Common(was, from, from); x != i || y != j {
			t.Fatalf("%s: from %d they differ at %d and %d, want %d and %d of %d and %d", name, from, x, y, i, j, is.End(), was.End())
		}
	}
}

// compareFirst compares the first request of each message with a search through all requests.
func compareFirst(t *testing.T, name string, l *ledger.Ledger) {
	t.Helper()
	own, made := map[int32]int32{}, map[uint64]int32{}
	for k := range l.Requests {
		v := l.View(int32(k), true)
		for i := v.Next(0); i < v.End(); i = v.Next(i + 1) {
			m := v.Message(i)
			if _, ok := own[m.Number]; m.Own() && !ok {
				own[m.Number] = int32(k)
			}
			if _, ok := made[m.Content]; !m.Own() && !ok {
				made[m.Content] = int32(k)
			}
		}
	}
	first := l.First()
	for k := 0; k < len(l.Requests); k += max(1, len(l.Requests)/5) {
		v := l.View(int32(k), false)
		for i := v.Next(0); i < v.End(); i = v.Next(i + 1) {
			m := v.Message(i)
			want := own[m.Number]
			if !m.Own() {
				want = made[m.Content]
			}
			if got := first.Of(&m); got != want {
				t.Fatalf("%s: message %d of request %d was first in %d, want %d", name, i, k, got, want)
			}
		}
	}
}
