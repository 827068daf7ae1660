package diff

import (
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt"
)

// A Span is two points of one session and what lies between them: the envelopes, and
// what took messages out on the ways to them from where their paths part.
type Span struct {
	A, B *replay.Envelope
	// Stopped is the broken patch that the replay did not come past. A point after it
	// stands for the last entry before it.
	Stopped error

	fork   int       // the last record of both paths, -1 for none
	toA    removals  // what only A's path did
	toB    removals  // what only B's path did
	onlyAt [2]onPath // records that only one of the paths has
}

// removals are what took each message out of the request last; of the zero message, the
// patch that arranged all of them last.
type removals map[replay.Piece]removal

// A taker is the entry and op that took a message out, and whether it put a summary
// there.
type removal struct {
	origin.Origin
	summary bool
}

type onPath map[int]bool

// Between replays to the points after records a and b, -1 for the empty session:
// each entry once where one path continues from the other.
func Between(r *replay.Replay, a, b int) (*Span, error) {
	pathA, _ := r.Session.Path(a)
	pathB, _ := r.Session.Path(b)
	shared := 0
	for shared < min(len(pathA), len(pathB)) && pathA[shared] == pathB[shared] {
		shared++
	}
	s := &Span{fork: -1, onlyAt: [2]onPath{records(pathA[shared:]), records(pathB[shared:])}}
	if shared > 0 {
		s.fork = pathA[shared-1]
	}
	var err error
	switch {
	case shared == len(pathA):
		s.A, s.B, s.toB, err = span(r, pathB, shared)
	case shared == len(pathB):
		s.B, s.A, s.toA, err = span(r, pathA, shared)
	default:
		if _, s.A, s.toA, err = span(r, pathA, shared); err == nil || replay.Stopped(err) {
			s.Stopped = err
			known := r.Findings
			r.Findings = nil
			if _, s.B, s.toB, err = span(r, pathB, shared); err == nil {
				err = s.Stopped
			}
			for _, f := range r.Findings { // what both paths have is found on both
				if !slices.Contains(known, f) {
					known = append(known, f)
				}
			}
			r.Findings = known
		}
	}
	if err != nil && !replay.Stopped(err) {
		return nil, err
	}
	s.Stopped = err
	if s.Stopped != nil && s.A.Leaf == s.B.Leaf && a != b {
		return nil, err // both points lie after it
	}
	return s, nil
}

func records(path []int) onPath {
	on := onPath{}
	for _, rec := range path {
		on[rec] = true
	}
	return on
}

// span goes a path, and records what takes messages out after the first so many
// entries. The envelopes are those there and at the end.
func span(r *replay.Replay, path []int, first int) (there, end *replay.Envelope, took removals, err error) {
	if there, err = r.At(sessionfmt.After(-1)); err != nil {
		return nil, nil, nil, err
	}
	end = there
	watch := &removalTracker{on: first == 0, removed: removals{}}
	pos := 0
	for step, fault := range r.Along(path, watch) {
		if pos++; fault != nil {
			err = fault
		}
		if pos == first || pos == len(path) || fault != nil {
			end = step.Envelope()
		}
		if pos <= first { // or the replay stopped before
			there = end
		}
		watch.on = pos >= first
	}
	return there, end, watch.removed, err
}

// A taking records what takes messages out.
type removalTracker struct {
	replay.NopObserver
	on      bool
	removed removals
}

// Changed records what a change took out.
func (t *removalTracker) Changed(_ replay.Step, c *replay.Change) error {
	if !t.on || c.Removed == nil {
		return nil
	}
	arranged := c.Do == replay.OpReplace
	by := removal{c.By, !arranged}
	for m := range c.Removed {
		t.removed[m.Identity()] = by
	}
	if arranged {
		t.removed[replay.Piece{}] = by
	}
	return nil
}
