package ledger

import (
	"iter"

	"ctxtool/replay"
)

// A Message is a message of a request without its text.
type Message struct {
	replay.Piece
	Measure
	Number int32 // equal for the same message in all requests
}

// Apart returns the messages that a request has and the previous one lacks, and those that it no longer has,
// without system messages and request-only ones. It costs as much as they differ.
func (l *Ledger) Apart(k int32) (fresh, gone []Message) {
	q := &l.Requests[k]
	is, was := q.Messages(), l.before(q)
	return l.sent(is, is.Without(was)), l.sent(was, was.Without(is))
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

// Since returns the changes between the answer to request from and request k, the last one first. If from is
// not on the path of k, they are the changes since both paths parted, and below is the first record after that,
// else -1.
func (l *Ledger) Since(of, k int32) (changes iter.Seq[*replay.Change], below int) {
	q, e := &l.Requests[k], &l.Requests[of]
	rec, other, place, at := int(q.Record), int(e.Record), q.Place, e.Place
	for below = rec; rec != other && place >= 0; {
		if place >= at {
			below, rec, place = rec, l.Replay.Session.Parent(rec), place-1
		} else {
			other, at = l.Replay.Session.Parent(other), at-1
		}
	}
	if rec == int(e.Record) {
		below = -1
	}
	return func(yield func(*replay.Change) bool) {
		for c := q.Changed; c != nil && c.Place > place && yield(c); c = c.Before {
		}
	}, below
}
