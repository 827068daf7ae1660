package replay_test

import (
	"path/filepath"
	"testing"

	"ctxtool/internal/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A witness records what it is told on one way through a session.
type witness struct {
	t        *testing.T
	requests map[int]int // cached messages of the request that each answer got
	did      map[replay.Operation]int
	last     int // messages after the last change
}

func (w *witness) Request(s replay.Step) error {
	w.requests[s.Record] = s.Envelope().Cached()
	return nil
}

func (w *witness) Changed(s replay.Step, c *replay.Change) error {
	w.did[c.Do]++
	if c.By.By != s.Record {
		w.t.Errorf("a change by %d in the step of %d", c.By.By, s.Record)
	}
	if takes := c.Do == replay.OpCut || c.Do == replay.OpReplace || c.Do == replay.OpRecompact; takes != (c.Removed != nil) {
		w.t.Errorf("operation %d names what it took: %v", c.Do, c.Removed != nil)
	}
	w.last = s.Envelope().Len()
	return nil
}

func (w *witness) Fork(from, to replay.Step) replay.Observer {
	if from.Requests() != to.Requests() || from.Envelope().Len() != to.Envelope().Len() {
		w.t.Error("a fork goes on from elsewhere")
	}
	next := *w
	return &next
}

// TestObservers: all observers of a walk of the tree get the same events, requests equal those
// of a replay to the point before the answer, and every operation occurs.
func TestObservers(t *testing.T) {
	names, err := filepath.Glob("../testdata/sessions/good/*.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	all := map[replay.Operation]int{}
	for _, name := range names {
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		r := replay.New(s, replay.Options{Lenient: true})
		var two [2]*witness
		for i := range two {
			two[i] = &witness{t: t, requests: map[int]int{}, did: map[replay.Operation]int{}}
		}
		for step, err := range r.WalkTree(s.Tree(), two[0], two[1]) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if w := step.Watch()[1].(*witness); w.did[replay.OpAppend] > 0 && w.last != step.Envelope().Len() {
				t.Errorf("%s: entry %s changed the context, and nobody was told", name, s.ID(step.Record))
			}
		}
		for rec, n := range two[0].requests {
			e := must.Get(r.At(sessionfmt.Before(rec)))
			if two[1].requests[rec] != n || e.Cached() != n || s.Kind(rec) != jsonl.Assistant {
				t.Errorf("%s: the request of %s had %d messages, or %d, or %d", name, s.ID(rec), n, two[1].requests[rec], e.Cached())
			}
		}
		for op, n := range two[0].did {
			if all[op] += n; two[1].did[op] != n {
				t.Errorf("%s: operation %d told %d and %d times", name, op, n, two[1].did[op])
			}
		}
		s.Close()
	}
	for op := replay.OpAppend; op <= replay.OpSet; op++ {
		if all[op] == 0 {
			t.Errorf("no session has operation %d", op)
		}
	}
}
