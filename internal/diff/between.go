package diff

import (
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt"
)

// A Span is two points of one session and what lies between them: both envelopes, and what
// removed messages on the paths to them from their fork.
type Span struct {
	A, B *replay.Envelope
	// Stopped is the broken patch at which the replay stopped. A point after it stands for the
	// last entry before it.
	Stopped error

	toA    removals  // removals on A's path only
	toB    removals  // removals on B's path only
	onlyAt [2]onPath // records on only one of the paths
}

// removals are what removed messages from the request, and moved others.
type removals struct {
	by      map[replay.Piece]removal // what patches have removed, and no compaction entry has restored
	cut     removal                  // the last compaction entry, which removed all others
	arrange removal                  // the last patch that rearranged all messages
}

// A removal is the entry and op that removed a message, and whether it put a summary in place.
type removal struct {
	origin.Origin
	summary, known bool
}

// of returns what removed a message that the path had.
func (r *removals) of(m replay.Piece) removal {
	if by, ok := r.by[m.Identity()]; ok {
		return by
	}
	return r.cut
}

type onPath map[int]bool

// Between replays to the points after records a and b, -1 for the empty session. It replays
// each entry once if one path extends the other.
func Between(r *replay.Replay, a, b int) (*Span, error) {
	pathA, _ := r.Session.Path(a)
	pathB, _ := r.Session.Path(b)
	shared := 0
	for shared < min(len(pathA), len(pathB)) && pathA[shared] == pathB[shared] {
		shared++
	}
	s := &Span{onlyAt: [2]onPath{records(pathA[shared:]), records(pathB[shared:])}}
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
			for _, f := range r.Findings { // both replays report those of the common path
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
		return nil, err // both points are after it
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

// span replays a path and tracks removals after its first entries. The envelopes are those
// after record first, and at the end.
func span(r *replay.Replay, path []int, first int) (there, end *replay.Envelope, took removals, err error) {
	if there, err = r.At(sessionfmt.After(-1)); err != nil {
		return nil, nil, took, err
	}
	end = there
	took.by = map[replay.Piece]removal{}
	pos := 0
	var was replay.Messages
	for step, fault := range r.Along(path, func(step replay.Step, c *replay.Change) error {
		if pos >= first {
			is := step.Messages()
			took.add(c, was, is)
			was = is
		}
		return nil
	}) {
		if pos++; fault != nil {
			err = fault
		}
		if pos == first || pos == len(path) || fault != nil {
			end, was = step.Envelope(), step.Messages()
		}
		if pos <= first { // or the replay stopped earlier
			there = end
		}
	}
	return there, end, took, err
}

// add records what a change removed. Of a compaction entry that is everything that no patch has
// removed and that is not in the context after it.
func (r *removals) add(c *replay.Change, was, is replay.Messages) {
	by := removal{c.By, c.Do != replay.OpReplace, true}
	switch c.Do {
	case replay.OpRecompact:
		r.cut = by
	case replay.OpReplace:
		r.arrange = by
	case replay.OpCut:
	default:
		return
	}
	if c.Do != replay.OpRecompact {
		for _, i := range was.ListedWithout(is) {
			r.by[was.Piece(int(i)).Identity()] = by
		}
	}
	for _, i := range is.ListedWithout(was) {
		delete(r.by, is.Piece(int(i)).Identity())
	}
}
