package diff

import (
	"cmp"
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt"
)

// A Span is two points of one session and what lies between them: both envelopes, and what
// changed on the paths to them from their fork.
type Span struct {
	A, B *replay.Envelope
	// Stopped is the broken patch at which the replay stopped. A point after it stands for the
	// last entry before it.
	Stopped error

	to [2]course
}

// A course is what happened on the path to one side since both paths parted.
type course struct {
	only    []bool                          // by record, whether it is of that part
	gone    map[replay.Piece]*replay.Change // what patches have removed, and no compaction entry has restored
	cut     *replay.Change                  // the last compaction entry, which removed all others
	arrange *replay.Change                  // the last patch that rearranged all messages
	set     map[string]origin.Origin        // see histories

	last replay.Messages // after the last change
}

// removed returns what removed a message that the path had, nil for nothing.
func (c *course) removed(m replay.Piece) *replay.Change { return cmp.Or(c.gone[m.Identity()], c.cut) }

// Between replays to the points after records a and b, -1 for the empty session. It replays
// each entry once.
func Between(r *replay.Replay, a, b int) (*Span, error) {
	pathA, _ := r.Session.Path(a)
	pathB, _ := r.Session.Path(b)
	s, w, shared := &Span{}, r.Start(), 0
	for shared < min(len(pathA), len(pathB)) && pathA[shared] == pathB[shared] {
		if _, err := w.Next(pathA[shared]); err != nil {
			s.Stopped = err
		}
		shared++
	}
	for k, path := range [][]int{pathA[shared:], pathB[shared:]} {
		side, known := w.Fork(), len(r.Findings)
		s.to[k].only = make([]bool, r.Session.Len())
		err := s.to[k].follow(side, path)
		if s.Stopped = cmp.Or(err, s.Stopped); s.Stopped != nil && !replay.Stopped(s.Stopped) {
			return nil, s.Stopped
		}
		*[]**replay.Envelope{&s.A, &s.B}[k] = side.Step().Envelope()
		r.Findings = append(r.Findings[:known], slices.DeleteFunc(r.Findings[known:], func(f sessionfmt.Finding) bool {
			return slices.Contains(r.Findings[:known], f) // in a circle of parents both sides find it
		})...)
	}
	if s.Stopped != nil && s.A.Leaf == s.B.Leaf && a != b {
		return nil, s.Stopped // both points are after it
	}
	return s, nil
}

// follow replays the part of the path that the other side does not have.
func (c *course) follow(w *replay.Walk, path []int) error {
	c.gone = map[replay.Piece]*replay.Change{}
	for _, rec := range path {
		c.only[rec] = true
	}
	c.last = w.Step().Messages()
	w.OnChange(c.changed)
	for _, rec := range path {
		if _, err := w.Next(rec); err != nil {
			return err
		}
	}
	return nil
}

// changed records what a change removed. Of a compaction entry that is everything that no patch has
// removed and that is not in the context after it.
func (c *course) changed(step replay.Step, by *replay.Change) error {
	was, is := c.last, step.Messages()
	c.last = is
	switch by.Do {
	case replay.OpRecompact:
		c.cut = by
	case replay.OpReplace, replay.OpCut:
		if by.Do == replay.OpReplace {
			c.arrange = by
		}
		for _, i := range was.ListedWithout(is) {
			c.gone[was.Piece(int(i)).Identity()] = by
		}
	}
	for _, i := range is.ListedWithout(was) {
		delete(c.gone, is.Piece(int(i)).Identity())
	}
	return nil
}
