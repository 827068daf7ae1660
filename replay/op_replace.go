package replay

import (
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// replaceCached puts a new list in place of the cached messages. A message that equals
// an earlier one keeps its origin, and so does the summary of the same patch in another frame.
// Among equal messages the first is matched first.
func replaceCached(m *machine, s *state, c *Change) {
	like := map[jsonl.Kind]bool{}
	for el := range c.v.Get("messages").Elements {
		like[providerKind(el.Get("role").RoleKind())] = true
	}
	had := m.digests(&s.msgs, like)
	next := newList(m.pool)
	for i, msg := range s.msgs.all { // system messages are not cached messages
		if msg.kind == jsonl.System {
			next.push(s.msgs.number(i))
		}
	}
	systems := next.n
	for el := range c.v.Get("messages").Elements {
		h := m.digest(el)
		if all := had[h]; len(all) > 0 {
			next.push(s.msgs.number(all[0]))
			had[h] = all[1:]
		} else {
			msg := patchMessage(el, c.v, c.piece)
			if next.n == systems {
				m.reframe(&s.msgs, el, &msg)
			}
			next.push(m.pool.intern(msg))
		}
	}
	next.body.loose = next.n
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
			*msg = *was
			msg.form, msg.start, msg.size = framedSummary, start, size
		}
		return
	}
}

// Summary returns the exact summary in a message without its frame, empty if there is none.
func (l *Reader) Summary(m *Piece) (string, error) {
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
