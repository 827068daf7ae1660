package stats

import (
	"bytes"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestWeighed: each message of the corpus takes what it takes alone, and comes in its place.
func TestWeighed(t *testing.T) {
	for _, session := range corpus.All(t) {
		s, err := sessionfmt.OpenReader(session.Name, bytes.NewReader(session.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		r := replay.New(s, replay.Options{Lenient: true})
		e, _, err := r.Reach(sessionfmt.After(s.Leaf()))
		if err != nil {
			t.Fatalf("%s: %v", session.Name, err)
		}
		l := r.NewReader()
		var want []replay.Piece
		for i := range e.Len() {
			if m := e.Piece(i); m.Sent() {
				want = append(want, m)
			}
		}
		n := 0
		for got, err := range weighedBy(&tokens.GSH, e) {
			if err != nil {
				t.Fatalf("%s: %v", session.Name, err)
			}
			msg, size, err := l.Message(want[n])
			must.Do(err)
			weight := l.Weigh(&tokens.GSH, msg)
			if got.Kind != want[n].Kind() || got.Origin != want[n].Origin() || got.Tokens != weight || got.Size != size || got.Bytes.Total() > size {
				t.Errorf("%s: message %d: %+v, want %+v of %d bytes", session.Name, n, got, weight, size)
			}
			n++
		}
		if n != len(want) {
			t.Errorf("%s: %d messages, want %d", session.Name, n, len(want))
		}
		s.Close()
	}
}
