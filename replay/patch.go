package replay

import (
	"errors"
	"fmt"
	"math"

	"ctxtool/internal/read/ops"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// does returns the operation on a context that a patch op stands for.
func does(o *ops.Op) Operation {
	switch o.Name {
	case ops.Replace:
		return OpReplace
	case ops.Append:
		return OpAppend
	case ops.Compaction:
		return OpCut
	}
	return OpSet
}

// transform applies all ops of a context_transform. With --lenient it applies none if the
// reference code would reject the patch.
func (m *machine) transform(at Piece) Effect {
	line := m.line(int(at.rec))
	if m.err != nil {
		return Nothing
	}
	patch := line.Get("patch")
	if err := m.checkPatch(int(at.rec), line, patch); err != nil {
		if !m.r.Options.Lenient {
			m.fail(m.r.stopped(int(at.rec), m.before(), errors.New(err.Text)))
			return Nothing
		}
		m.r.addFinding(err.Code, int(at.rec), "%s: the whole patch is skipped", err.Text)
		return Nothing
	}
	k, did := int32(0), Patched
	if line.Get("transformerName").Is("compaction") {
		did = Compacted
	}
	for v := range patch.Elements {
		if o := ops.Find(v.Get("op")); o != nil {
			if o.Name == ops.Compaction {
				did = Compacted
			}
			at.op = k
			at.start, at.size = span(line, v)
			m.do(change{Change: Change{By: at.Origin(), Name: o.Name, Target: -1, Do: does(o)}, piece: at, op: o, v: v})
		}
		k++
	}
	return did
}

// before returns the id of the previous entry, for a hint.
func (m *machine) before() string {
	if m.pos > 0 {
		return sessionfmt.Quote(m.r.Session.ID(m.path.at(m.pos - 1)))
	}
	return "root"
}

// A brokenPatch is the error of a replay that stops at a patch.
type brokenPatch struct{ error }

func (b brokenPatch) Unwrap() error { return b.error }

// Stopped reports whether an error is a patch at which a replay stops, rather than a failure to
// read the file.
func Stopped(err error) bool { return err != nil && errors.As(err, new(brokenPatch)) }

// stopped returns the error of a replay that stops at a transform.
func (r *Replay) stopped(rec int, before string, err error) error {
	return &sessionfmt.Error{
		Pos: r.Session.Pos(rec),
		Err: brokenPatch{err},
		Hint: fmt.Sprintf("--lenient continues as the reference code does; --at %s is the last state before it",
			before),
	}
}

// checkPatch validates a transform's patch before any of it is applied. What the reference code accepts is only
// an error without --lenient.
func (m *machine) checkPatch(rec int, line, patch value) *ops.Fault {
	if f := ops.Schema(line.Get("schemaVersion")); f != nil {
		if !m.r.Options.Lenient {
			return f
		}
		m.r.addFinding(f.Code, rec, "%s: applied as if it were", f.Text)
	}
	if !patch.IsArray() {
		return &ops.NotArray
	}
	k := 0
	for v := range patch.Elements {
		if f := ops.Check(k, v); f != nil {
			if !f.Lenient || !m.r.Options.Lenient {
				return f
			}
			m.r.addFinding(f.Code, rec, "%s: ignored", f.Text)
		}
		if f := ops.Scope(k, v); f != nil {
			m.r.addFinding(f.Code, rec, "%s", f.Text)
		}
		k++
	}
	return nil
}

// applySummary puts a summary in place of the cached messages before an index. An index
// below 0 or missing counts as 0, a fraction is truncated, and one beyond the end keeps only
// the summary.
func applySummary(m *machine, s *state, c *change) {
	v, at := c.v, c.piece
	f, ok := v.Get("firstKeptMessageIndex").Float()
	if cached := s.msgs.shown; s == m.current() && ok && (f < 0 || f > float64(cached) || f != math.Trunc(f)) {
		m.r.addFinding("patch-index", int(at.rec), "op %d (compaction_apply): firstKeptMessageIndex is %s in a list "+
			"of %d messages: below 0 counts as 0, beyond the end keeps nothing, a fraction is truncated",
			at.op, v.Get("firstKeptMessageIndex"), cached)
	}
	first := s.msgs.index(int(max(0, min(f, float64(s.msgs.n)))))
	at.form, at.kind = opSummary, jsonl.CompactionMessage
	s.msgs.cut(first, m.pool.intern(at))
}

// patchMessage returns the message v in the op at.
func patchMessage(v, op value, at Piece) Piece {
	at.form = patchGiven
	at.kind = v.Get("role").RoleKind()
	if at.kind == jsonl.System { // an ordinary provider message here
		at.kind = jsonl.OtherMessage
	}
	start, size := span(op, v)
	at.start, at.size = at.start+start, size
	return at
}

func appendUncached(m *machine, s *state, c *change) {
	for el := range c.v.Get("messages").Elements {
		msg := patchMessage(el, c.v, c.piece)
		s.uncached = append(s.uncached, m.pool.intern(msg))
	}
}
