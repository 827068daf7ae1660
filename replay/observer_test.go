package replay_test

import (
	"path/filepath"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// requests holds the cached messages of the request that each answer got.
type requests map[int]int

func (q requests) Request(s replay.Step) error {
	q[s.Record] = s.Envelope().Cached()
	return nil
}

func (q requests) Fork(_, _ replay.Step) replay.Observer { return q }

// TestObservers: the requests of a walk of the tree equal those of a replay to the point before
// the answer. A walk reports all changes, by the entry of the step, and every operation occurs.
func TestObservers(t *testing.T) {
	names, err := filepath.Glob("../testdata/sessions/good/*.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	did := map[replay.Operation]int{}
	for _, name := range names {
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		r := replay.New(s, replay.Options{Lenient: true})
		all := requests{}
		for _, err := range r.WalkTree(s.Tree(), all) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for rec, n := range all {
			if e := must.Get(r.At(sessionfmt.Before(rec))); e.Cached() != n || s.Kind(rec) != jsonl.Assistant {
				t.Errorf("%s: the request of %s had %d messages, or %d", name, s.ID(rec), n, e.Cached())
			}
		}
		path, _ := s.Path(s.Leaf())
		last := 0 // messages after the last change
		w := r.Start()
		w.OnChange(func(step replay.Step, c *replay.Change) error {
			if did[c.Do]++; c.By.By != step.Record {
				t.Errorf("%s: a change by %d in the step of %d", name, c.By.By, step.Record)
			}
			last = step.Envelope().Len()
			return nil
		})
		for _, rec := range path {
			step, err := w.Next(rec)
			if err != nil || last != step.Envelope().Len() {
				t.Errorf("%s: entry %s changed the context without a report: %v", name, s.ID(step.Record), err)
			}
		}
		s.Close()
	}
	for op := replay.OpAppend; op <= replay.OpChoose; op++ {
		if did[op] == 0 {
			t.Errorf("no session has operation %d", op)
		}
	}
}
