package replay

import (
	"math/rand/v2"
	"testing"
)

// TestRecent: looking at the last messages finds what looking at all of them does, where
// it is among them.
func TestRecent(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		l := list{pool: newPool()}
		for rec := int32(0); rec < 6; rec++ {
			for range rnd.IntN(4) { // a record of several messages
				l.push(l.pool.add(Piece{rec: rec, op: -1}))
			}
			if rnd.IntN(3) == 0 {
				l.push(l.pool.add(Piece{rec: rec, op: 0})) // what an op of it made
			}
		}
		l.lo = rnd.IntN(l.hi + 1)
		l.n = l.hi - l.lo
		for rec := int32(0); rec < 7; rec++ {
			if got, want := l.recent(rec, l.n), l.find(rec, l.places()); got != want {
				t.Fatalf("record %d of %+v: at %d, want %d", rec, l, got, want)
			}
		}
	}
}
