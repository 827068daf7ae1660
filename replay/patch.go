package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ctxtool/internal/ops"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// does returns what a patch operation does to a context.
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

// A brokenPatch is the reason that a replay stops.
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

// checkPatch validates a transform's patch before any of it is applied. What the reference code
// accepts is a fault only without --lenient.
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

// replaceCached puts a new list in place of the cached messages. A message that equals
// an earlier one keeps its origin, and so does the summary of the same patch in another frame.
// Among equal messages the first is matched first. Prompts that an entry of another agent keeps are
// taken from where they are stored, and what it puts after them is new.
func replaceCached(m *machine, s *state, c *change) {
	next := newList(m.pool)
	next.systems = s.msgs.declarations() // are not cached messages
	next.n = len(next.systems)
	messages := slices.Collect(c.v.Get("messages").Elements)
	kept, ok := m.r.Session.Kept(int(c.piece.rec))
	if ok {
		m.prompts.hi = min(m.prompts.hi, kept.To)
		m.prompts.n = m.prompts.hi
	}
	before := len(messages) // those that may equal an earlier one
	if kept.Count() > 0 {
		next.share(&m.prompts, kept.From)
		before = kept.Before()
	}
	had := m.digests(s.msgs.apart(&next), messages[:before])
	for k := range messages {
		put := (*list).push
		if k < before && kept.Count() > 0 {
			put, k = (*list).prepend, before-1-k
		}
		el := messages[k]
		if k < before {
			h := m.digest(el)
			if all := had[h]; len(all) > 0 {
				put(&next, all[0])
				had[h] = all[1:]
				continue
			}
		}
		msg := patchMessage(el, c.v, c.piece)
		if k == 0 {
			m.reframe(&s.msgs, el, &msg)
		}
		put(&next, m.pool.intern(msg))
	}
	if kept.Count() == 0 {
		next.body.loose = next.hi
	}
	s.msgs = next
}

// reframe makes msg, the first message el of the new list, the summary that l begins with, if an
// earlier op of the same patch made that and el has its text: a system's own frame takes the
// place of pi's.
func (m *machine) reframe(l *list, el value, msg *Piece) {
	for _, was := range l.all {
		if was.kind == jsonl.System {
			continue
		}
		if was.form != opSummary || was.rec != msg.rec {
			break
		}
		summary, err := m.reader.Summary(was)
		m.fail(err)
		if summary != "" && strings.Contains(el.Get("content").ContentText(), summary) {
			start, size := msg.start, msg.size
			*msg = was
			msg.form, msg.start, msg.size = framedSummary, start, size
		}
		return
	}
}

// Summary returns the exact summary in a message without its frame, empty if there is none.
func (l *Reader) Summary(m Piece) (string, error) {
	if m.form != framedSummary {
		v, err := l.Agent(m)
		return v.Get("summary").Exact(), err
	}
	line, err := l.lines.Line(int(m.rec))
	if err != nil {
		return "", err
	}
	k := int32(0)
	for op := range line.Get("patch").Elements {
		if k == m.op {
			return op.Get("summary").Exact(), nil
		}
		k++
	}
	return "", nil
}
