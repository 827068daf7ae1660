package stats

import (
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestNoAllocation: reading a call allocates nothing, but for the list that it goes
// into, in pieces.
func TestNoAllocation(t *testing.T) {
	l := &lensRun{Options: &Options{By: CostGroups()}, Report: &Report{}}
	c := newCostLook(l)
	l.Calls = append(l.Calls, c.take, l.fit)
	usage := jsonl.Value(`{"input":4,"output":474,"cacheRead":1270,"cacheWrite":830,"totalTokens":2578,"cost":{"input":0.000012,"output":0.0015,"total":0.002187}}`)
	p := &jsonl.Picked{
		Kind: jsonl.Assistant, ID: jsonl.Value(`"0a1b2c3d"`), Timestamp: jsonl.Value(`"2026-01-01T00:00:01.000Z"`),
		Record:  make([]jsonl.Value, len(callPick.Record)),
		Message: []jsonl.Value{usage, jsonl.Value(`"p"`), jsonl.Value(`"m"`), nil, nil, nil},
	}
	const calls = 10_000
	n := testing.AllocsPerRun(1, func() {
		for range calls {
			l.call(p)
		}
	})
	if pieces := float64(2*calls/lastPiece + 8); n > pieces {
		t.Errorf("%v allocations for %d calls, want at most %v", n, calls, pieces)
	}
}

// TestOnceOnly: the set has each key once, also 0 and those that collide, and is not
// larger than it says.
func TestOnceOnly(t *testing.T) {
	o := newOnceOnly(0)
	const n = 200_000
	key := func(i uint64) uint64 { return i * i << 44 * (i & 1) } // many with the same place
	seen := map[uint64]bool{}
	for i := range uint64(n) {
		if k := max(key(i), 1); o.first(key(i)) == seen[k] {
			t.Fatalf("key %d: seen before: %v, and the set says otherwise", i, seen[k])
		} else {
			seen[k] = true
		}
	}
	if o.n != len(seen) || 8*len(o.slots) > 16*len(seen) {
		t.Errorf("%d keys in %d slots, want %d", o.n, len(o.slots), len(seen))
	}
}
