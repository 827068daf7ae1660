package stats

import (
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestNoAllocation: reading a call allocates nothing, but for the list that it goes
// into.
func TestNoAllocation(t *testing.T) {
	l := &lensRun{Options: &Options{By: CostGroups}, Report: &Report{}}
	c := newCostReader(l)
	l.Calls = append(l.Calls, c.take, l.fitCall)
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
	if most := 30.0; n > most { // as the list grows
		t.Errorf("%v allocations for %d calls, want at most %v", n, calls, most)
	}
}
