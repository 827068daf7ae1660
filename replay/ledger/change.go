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
	Gone  []Message // that the request no longer has
	Fresh []Message // that the one before did not have
}

// Change returns how the messages of a request differ from those of the one before it.
func (l *Ledger) Change(k int32) (c Change) {
	q := &l.Requests[k]
	v, was := l.View(k, false), l.before(q)
	c.Same, _ = v.Until(int(q.Kept))
	return Change{c.Same, l.sent(q.Messages, was), l.sent(was, q.Messages)}
}

// sent returns the messages that a provider gets of those that another snapshot has and this one
// does not.
func (l *Ledger) sent(is, other replay.Messages) (all []Message) {
	for _, number := range other.Without(is) {
		if p := other.Numbered(number); p.Sent() {
			all = append(all, Message{*p, l.Measure(number, p), number})
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
