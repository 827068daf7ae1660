package replay

import "ctxtool/sessionfmt"

// A Cut is what a compaction entry did to the history, and whether a patch could
// have done it: one with a compaction_apply in it, right before the entry.
type Cut struct {
	Record int
	Above  int // the cut before it on its path, as an index of the list; -1 for none
	// Index is the patch's firstKeptMessageIndex: where in the cached messages of
	// the request the first kept one stands.
	Index int
	// Why says why no patch leaves the same envelope after every later entry. It is
	// empty where one does.
	Why string
	// Revives says that the entry would mean something else if the compactions
	// before it were patches: it brings back what they cut.
	Revives bool
	// Direct says that nothing but labels lies between the entry and the compaction
	// before it.
	Direct bool
}

// Cuts are the compactions of the whole file that count by the envelope rules: all
// but those that only repeat a transform. What stands behind a patch at which a
// replay stops, or below a cycle of parents, is not among them. One before another
// on a path comes before it. Each entry is replayed once: where paths part, so does
// the machine.
func (r *Replay) Cuts() ([]Cut, error) {
	quiet := *r // findings are for who replays
	quiet.Rules = ByEnvelope
	w := newWays(r.Session)
	for _, root := range w.roots {
		m := newMachine(&quiet, nil)
		m.cuts = &cutter{list: &w.cuts, last: -1}
		if err := w.below(m, root); err != nil {
			return nil, err
		}
	}
	return w.cuts, nil
}

// ways are the paths to all compactions of a file.
type ways struct {
	roots       []int
	first, next []uint32 // of each record: the first one below it on a way, and the one beside it, plus 1
	cuts        []Cut
}

func newWays(s *sessionfmt.Session) *ways {
	w := &ways{first: make([]uint32, s.Len()), next: make([]uint32, s.Len())}
	seen := make([]bool, s.Len())
	for i := range s.Len() {
		if s.Kind(i) != sessionfmt.Compaction || seen[i] {
			continue
		}
		seen[i] = true
		for rec, more := i, true; more; {
			up := s.Parent(rec)
			if up < 0 {
				w.roots = append(w.roots, rec)
				break
			}
			w.next[rec], w.first[up] = w.first[up], uint32(rec+1)
			more, seen[up], rec = !seen[up], true, up
		}
	}
	return w
}

// below goes down from a record, which m is about to do.
func (w *ways) below(m *machine, rec int) error {
	for {
		m.path.push(rec)
		if _, err := m.step(m.path.len()-1, rec); err != nil {
			if Stopped(err) {
				return nil
			}
			return err
		}
		first := int(w.first[rec]) - 1
		if first < 0 {
			return nil
		}
		for i := int(w.next[first]) - 1; i >= 0; i = int(w.next[i]) - 1 {
			if err := w.below(m.fork(), i); err != nil {
				return err
			}
		}
		rec = first
	}
}
