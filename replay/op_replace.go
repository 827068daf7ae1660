package replay

import (
	"ctxtool/sessionfmt/jsonl"
	"slices"
	"strings"
)

// replaceCached replaces the cached messages by a new list. A message that equals an earlier one keeps its
// origin, and so does the summary of the same patch in another frame. Among equal messages the first is matched
// first. Prompts that an entry of another agent keeps are taken from where they are stored; what follows them
// is new.
func replaceCached(m *machine, s *state, c *change) {
	next := newList(m.pool)
	next.systems = s.msgs.declarations() // system messages are not cached messages
	next.n = len(next.systems)
	messages := slices.Collect(c.v.Get("messages").Elements)
	kept, ok := m.r.Session.Kept(int(c.piece.rec))
	if ok {
		m.prompts.hi = min(m.prompts.hi, kept.To)
		m.prompts.n = m.prompts.hi
	}
	before := len(messages) // new messages that may equal an earlier one
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

// reframe turns msg, the first message el of the new list, into the summary with which l begins, if an earlier
// op of the same patch made that and el has its text: a system's own frame then replaces pi's.
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
