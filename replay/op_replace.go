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
	stays := map[int]bool{}
	next := list{pool: m.pool, mixed: true}
	for i, msg := range s.msgs.all { // system messages are not cached messages
		if msg.kind == jsonl.System {
			next.push(s.msgs.number(i))
		}
	}
	systems := next.n
	for el := range c.v.Get("messages").Elements {
		h, same := m.digest(el), -1
		if all := had[h]; len(all) > 0 {
			same, had[h] = all[0], all[1:]
			next.push(s.msgs.number(same))
		} else {
			msg := patchMessage(el, c.v, c.piece)
			if next.n == systems {
				same = m.reframe(&s.msgs, el, &msg)
			}
			m.size(&msg)
			next.push(m.pool.intern(msg))
		}
		stays[same] = true
	}
	if was := s.msgs; s == m.current() {
		c.Removed = func(yield func(*Piece) bool) {
			for i, msg := range was.all {
				if msg.Sent() && !stays[i] && !yield(msg) {
					return
				}
			}
		}
	}
	s.msgs = next
	m.rebuilt(s)
}

// reframe makes msg, the first message el of the new list, the summary that l begins with, if an
// earlier op of the same patch made that and el has its text: a system's own frame takes the
// place of pi's. It returns the summary's index in l, -1 if el is another message.
func (m *machine) reframe(l *list, el value, msg *Piece) int {
	for i, was := range l.all {
		if was.kind == jsonl.System {
			continue
		}
		if was.form != opSummary || was.rec != msg.rec {
			break
		}
		summary, err := m.reader.Summary(was)
		m.fail(err)
		if summary == "" || !strings.Contains(el.Get("content").ContentText(), summary) {
			return -1
		}
		start, size := msg.start, msg.size
		*msg = *was
		msg.form, msg.start, msg.size = framedSummary, start, size
		return i
	}
	return -1
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
