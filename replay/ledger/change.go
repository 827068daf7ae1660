package ledger

import "ctxtool/replay"

// A Message is a message of a request without its text.
type Message struct {
	replay.Piece
	Measure
	Number int32 // the same for the same message in all requests
}

// A Change is how the messages that a request got differ from those that the one before it got,
// without system messages and those of one request alone.
type Change struct {
	Same  int       // leading messages that both have
	Gone  []Message // the others of the request before
	Fresh []Message // the others of the request
}

// Change returns how the messages of a request differ from those of the one before it.
func (l *Ledger) Change(k int32) (c Change) {
	q := &l.Requests[k]
	v := l.View(k, false)
	c.Same, _ = v.Until(int(q.Kept))
	c.Fresh = v.rest(int(q.Kept))
	if q.Previous >= 0 {
		before := l.View(q.Previous, false)
		c.Gone = before.rest(int(q.Kept))
	}
	return c
}

// Apart returns the messages that only a request has of it and the one before it, and those that
// only that one has. It costs as much as they differ.
func (l *Ledger) Apart(k int32) (fresh, gone []Message) {
	q := &l.Requests[k]
	was := l.before(q)
	return l.sent(q.Messages, q.Messages.Without(was)), l.sent(was, was.Without(q.Messages))
}

// sent returns the messages with those numbers that a provider gets.
func (l *Ledger) sent(m replay.Messages, numbers []int32) (all []Message) {
	for _, number := range numbers {
		if p := m.Numbered(number); p.Sent() {
			all = append(all, Message{*p, l.Measure(number, p), number})
		}
	}
	return all
}

// rest returns the messages from an index of the list on, without request-only ones.
func (v *View) rest(from int) (all []Message) {
	for i, m := range v.From(from) {
		if i < v.q.Messages.Len() {
			all = append(all, m)
		}
	}
	return all
}

// Of returns a message of a context of the same session, such as that after the last request.
func (l *Ledger) Of(p *replay.Piece) (Message, error) {
	m := Message{Piece: p.Place(), Number: -1, Measure: l.Measure(-1, p)}
	if m.Measure != (Measure{}) {
		return m, nil
	}
	var err error
	m.Measure, err = l.read(l.load, p)
	return m, err
}
