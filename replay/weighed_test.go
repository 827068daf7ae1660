package replay

import (
	"bytes"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestWeighed: each message of the corpus takes what it takes alone, and comes in its
// place. An estimate is the same by what they were found to take.
func TestWeighed(t *testing.T) {
	for _, session := range corpus.All(t) {
		s, err := sessionfmt.OpenReader(session.Name, bytes.NewReader(session.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		r := New(s, Options{Lenient: true})
		e, _, err := r.Reach(sessionfmt.After(s.Leaf()))
		if err != nil {
			t.Fatalf("%s: %v", session.Name, err)
		}
		alone, _, err := e.estimateAfter(&tokens.GSH, -1)
		if err != nil {
			t.Fatalf("%s: %v", session.Name, err)
		}
		l := r.NewReader()
		var want []Piece
		for _, m := range e.state.msgs.all {
			if m.Sent() {
				want = append(want, *m)
			}
		}
		for i := e.Listed(); i < e.Len(); i++ {
			want = append(want, *e.Piece(i))
		}
		n := 0
		for got, err := range e.Weighed(&tokens.GSH) {
			if err != nil {
				t.Fatalf("%s: %v", session.Name, err)
			}
			msg, size, err := l.Message(&want[n])
			if err != nil {
				t.Fatalf("%s: %v", session.Name, err)
			}
			weight := l.weigher(&tokens.GSH).Message(msg)
			if got.Kind != want[n].kind || got.Origin != want[n].Origin() || got.Tokens != weight || got.Size != size ||
				got.Uncached != (n >= e.Cached()) || got.Bytes.Total() > size {
				t.Errorf("%s: message %d: %+v, want %+v of %d bytes", session.Name, n, got, weight, size)
			}
			n++
		}
		if n != len(want) {
			t.Errorf("%s: %d messages, want %d", session.Name, n, len(want))
		}
		if sum, _, err := e.estimateAfter(&tokens.GSH, -1); err != nil || sum != alone {
			t.Errorf("%s: the messages count %d, %v, want %d", session.Name, sum, err, alone)
		}
		s.Close()
	}
}
