package replay

import (
	"slices"

	"ctxtool/sessionfmt"
)

// causes tells which entry made a difference.
type causes struct {
	a, b *Envelope
	span *Span // nil for two sessions

	omits [2]map[message]int // the edits that leave messages out of a and of b
	cut   *Cause             // see compaction
}

func (c *causes) of(e *Envelope, o Origin) Cause {
	if o.Record < 0 {
		return Cause{Record: -1, Op: -1}
	}
	return newCause(e.r, o.By, Index(o.Op))
}

// came is what put a message into B.
func (c *causes) came(m *message) Cause {
	o := m.origin()
	if c.span == nil || c.span.onlyAt[1][o.By] {
		return c.of(c.b, o)
	}
	// Both paths have its entry: A had lost it, or B has it again.
	if took, ok := c.span.toA[m.itself()]; ok {
		return c.of(c.a, took.Origin)
	}
	if left := c.left(0, m); left >= 0 {
		return newCause(c.a.r, left, -1)
	}
	return c.compaction(c.of(c.b, o))
}

// gone is what took a message of A out of the request, and whether a summary stands
// for it now.
func (c *causes) gone(m *message) (by Cause, summary bool) {
	o := m.origin()
	if c.span == nil || c.span.onlyAt[0][o.By] {
		return c.of(c.a, o), false // its entry is not on B's path
	}
	if left := c.left(1, m); left >= 0 {
		return newCause(c.b.r, left, -1), false
	}
	took, ok := c.span.toB[m.itself()]
	if !ok {
		return c.compaction(c.of(c.a, o)), false
	}
	return c.of(c.b, took.Origin), took.summary
}

// left is the edit that leaves a message out of an envelope that still has it, -1
// where none does.
func (c *causes) left(side int, m *message) int {
	if c.omits[side] == nil {
		c.omits[side] = map[message]int{}
		for other := range [2]*Envelope{c.a, c.b}[side].messages {
			if other.flags&omitted != 0 {
				c.omits[side][other.itself()] = int(other.edit)
			}
		}
	}
	if edit, ok := c.omits[side][m.itself()]; ok {
		return edit
	}
	return -1
}

// edited is the edit that a message has got or lost.
func (c *causes) edited(was, is *message) Cause {
	for _, s := range []struct {
		e    *Envelope
		edit int32
	}{{c.b, is.edit}, {c.a, was.edit}} {
		if s.edit >= 0 && (c.span.onlyAt[0][int(s.edit)] || c.span.onlyAt[1][int(s.edit)]) {
			return newCause(s.e.r, int(s.edit), -1)
		}
	}
	return c.compaction(c.of(c.b, is.origin()))
}

// moved is what has put a message that both sides have elsewhere: its entry where only
// B's path has it, else the patch that arranged the messages last.
func (c *causes) moved(m *message) Cause {
	own := c.of(c.b, m.origin())
	if c.span == nil || c.span.onlyAt[1][own.Record] {
		return own
	}
	if by, ok := c.span.toB[message{}]; ok {
		return c.of(c.b, by.Origin)
	}
	if by, ok := c.span.toA[message{}]; ok {
		return c.of(c.a, by.Origin)
	}
	return c.compaction(own)
}

// compaction is the compaction in force of one side that the other has not, if there
// is one.
func (c *causes) compaction(other Cause) Cause {
	if c.cut == nil {
		c.cut = &Cause{}
		for k, e := range []*Envelope{c.a, c.b} {
			for m := range e.messages {
				if m.form == summary && c.span.onlyAt[k][int(m.rec)] {
					*c.cut = newCause(e.r, int(m.rec), -1)
				}
			}
		}
	}
	if c.cut.In == nil {
		return other
	}
	return *c.cut
}

// setting is what has set something else, by the records that set it on both sides,
// -1 for none.
func (c *causes) setting(a, b int) Cause {
	if b >= 0 && (c.span == nil || c.span.onlyAt[1][b]) {
		return newCause(c.b.r, b, -1)
	}
	if a >= 0 && (c.span == nil || c.span.onlyAt[0][a]) {
		return newCause(c.a.r, a, -1)
	}
	return Cause{Record: -1, Op: -1}
}

// model is what changed the model: of the entries that name the one that a side has
// now, one after the other, the first.
func (c *causes) model() (Cause, error) {
	by := c.setting(c.a.model, c.b.model)
	if by.In == nil || c.span == nil {
		return by, nil
	}
	side, e := 1, c.b
	if !c.span.onlyAt[1][by.Record] {
		side, e = 0, c.a
	}
	want, _, _, err := e.Model()
	if err != nil {
		return by, err
	}
	path, _ := e.r.Session.Path(by.Record)
	for _, rec := range slices.Backward(path) {
		if !c.span.onlyAt[side][rec] {
			break
		}
		if k := e.r.Session.Kind(rec); k != sessionfmt.ModelChange && k != sessionfmt.Assistant {
			continue
		}
		at := *e
		at.model = rec
		is, _, _, err := at.Model()
		if err != nil || is != want {
			return by, err
		}
		by = newCause(e.r, rec, -1)
	}
	return by, nil
}
