package ledger

import "ctxtool/replay"

// A Message is a message of a request without its text.
type Message struct {
	replay.Piece
	Measure
	Number int32 // the same for the same message in all requests
}

// Apart returns the messages that a request has and the one before it had not, and those that it no
// longer has, without system messages and those of one request alone. It costs as much as they differ.
func (l *Ledger) Apart(k int32) (fresh, gone []Message) {
	q := &l.Requests[k]
	was := l.before(q)
	return l.sent(q.Messages, q.Messages.Without(was)), l.sent(was, was.Without(q.Messages))
}

// sent returns the messages with those numbers that a provider gets.
func (l *Ledger) sent(m replay.Messages, numbers []int32) (all []Message) {
	for _, number := range numbers {
		if p := m.Numbered(number); p.Sent() {
			all = append(all, Message{p, l.Measure(number, p), number})
		}
	}
	return all
}

// Of returns a message of a context of the same session, such as that after the last request.
func (l *Ledger) Of(p replay.Piece) (Message, error) {
	m := Message{Piece: p.Place(), Number: -1, Measure: l.Measure(-1, p)}
	if m.Measure != (Measure{}) {
		return m, nil
	}
	var err error
	m.Measure, err = l.read(l.load, p)
	return m, err
}
