package ledger

import (
	"iter"
	"math"

	"ctxtool/replay"
)

// A Sum adds up messages that a provider gets, and system messages, which it gets in place or as part of the
// prompt.
type Sum struct {
	Sent, Systems        int32
	Tokens, SystemTokens int64
	Stored               int64 // by how much pi's estimates exceed the tokens
}

func (s *Sum) plus(o Sum, sign int) {
	s.Sent += int32(sign) * o.Sent
	s.Systems += int32(sign) * o.Systems
	s.Tokens += int64(sign) * o.Tokens
	s.SystemTokens += int64(sign) * o.SystemTokens
	s.Stored += int64(sign) * o.Stored
}

// one returns the sum of one message.
func (l *Ledger) one(number int32, p replay.Piece) (s Sum) {
	switch {
	case p.Sent():
		s = Sum{Sent: 1, Tokens: int64(l.Measure(number, p).Tokens)}
	case p.System():
		s = Sum{Systems: 1, SystemTokens: int64(l.Measure(number, p).Tokens)}
	}
	if !p.Kind().IsTurn() {
		s.Stored = int64(l.stored[number])
	}
	return s
}

// sumOf adds up a range of a list. Shared blocks are only added up once.
func (l *Ledger) sumOf(m replay.Messages, from, to int) (sum Sum) {
	for i := from; i < to; {
		start, end, block := m.Block(i)
		if block == nil || start < from || end > to {
			sum.plus(l.one(m.Number(i), m.Piece(i)), 1)
			i++
			continue
		}
		sum.plus(l.block(m, start, end, block), 1)
		i = end
	}
	return sum
}

// block adds up a block of messages.
func (l *Ledger) block(m replay.Messages, from, to int, id any) Sum {
	sum, ok := l.blocks[id]
	if !ok {
		for i := from; i < to; i++ {
			sum.plus(l.one(m.Number(i), m.Piece(i)), 1)
		}
		l.blocks[id] = sum
	}
	return sum
}

// A View is the messages of a request as a cache sees them: those that a provider gets, including later system
// messages if these are sent in place, and the request-only messages at the end.
type View struct {
	l       *Ledger
	q       *Request
	InPlace bool
}

// View returns the messages of a request.
func (l *Ledger) View(k int32, inPlace bool) View { return View{l, &l.Requests[k], inPlace} }

// End returns the index after the last message, request-only ones included.
func (v *View) End() int { return v.q.Messages().Len() + len(v.l.logged[v.q.logged]) }

// number returns the number of the message at an index.
func (v *View) number(i int) int32 {
	if n := v.q.Messages().Len(); i >= n {
		return v.l.logged[v.q.logged][i-n]
	}
	return v.q.Messages().Number(i)
}

// Piece returns the message at an index.
func (v *View) Piece(i int) replay.Piece { return v.q.Messages().Numbered(v.number(i)) }

func (v *View) has(i int, p replay.Piece) bool {
	return p.Sent() || v.InPlace && i > int(v.q.lead) && p.System()
}

// Has reports whether the message at an index is one of the view.
func (v *View) Has(i int) bool { return v.has(i, v.Piece(i)) }

// of counts the messages of the view in a sum.
func (v *View) of(sum Sum) (n int, tokens int64) {
	if !v.InPlace {
		return int(sum.Sent), sum.Tokens
	}
	return int(sum.Sent + sum.Systems), sum.Tokens + sum.SystemTokens
}

// Until returns the number of messages before an index of the request's list, and their tokens.
func (v *View) Until(i int) (n int, tokens int64) {
	listed, lead := v.q.Messages().Listed(), int(v.q.lead)
	var sum Sum
	switch at := min(i, listed); {
	case at <= lead:
	case at > listed/2:
		sum = Sum{Sent: v.q.sent, Systems: v.q.systems, Tokens: int64(v.q.tokens), SystemTokens: v.q.systemTokens}
		sum.plus(v.l.sumOf(v.q.Messages(), at, listed), -1)
	default:
		sum = v.l.sumOf(v.q.Messages(), lead, at)
	}
	near := listed
	if n := v.q.Messages().Len(); i > (listed+n)/2 {
		sum.plus(v.q.loose, 1)
		near = n
	}
	for k := near; k < i; k++ {
		sum.plus(v.l.one(v.number(k), v.Piece(k)), 1)
	}
	for k := max(i, listed); k < near; k++ {
		sum.plus(v.l.one(v.number(k), v.Piece(k)), -1)
	}
	return v.of(sum)
}

// Total returns the number of all messages, and their tokens.
func (v *View) Total() (n int, tokens int64) { return v.Until(v.End()) }

// Cached returns the number of messages before the uncached ones.
func (v *View) Cached() int {
	n, _ := v.Until(v.q.Messages().Listed())
	return n
}

// Index returns the index of message n of the view, or the end if there are fewer. It searches from the
// beginning or end of the list, or from the end of the uncached messages, whichever is nearest, and skips
// blocks.
func (v *View) Index(n int) int {
	m := v.q.Messages()
	at, had := 0, 0 // start of the search
	for _, end := range []int{m.Listed(), m.Len()} {
		if all, _ := v.Until(end); max(n-all, all-n) <= n-had {
			at, had = end, all
		}
	}
	for at > 0 && had > n {
		if from, to, block := m.Block(at - 1); block != nil && to == at && from > int(v.q.lead) {
			if k, _ := v.of(v.l.block(m, from, to, block)); had-k >= n {
				had, at = had-k, from
				continue
			} else if k == to-from { // all are in the view
				had, at = n, at-(had-n)
				break
			}
		}
		if at--; v.has(at, v.Piece(at)) {
			had--
		}
	}
	for at < v.End() {
		if from, to, block := m.Block(at); block != nil && from == at && from > int(v.q.lead) {
			if k, _ := v.of(v.l.block(m, from, to, block)); had+k <= n {
				had, at = had+k, to
				continue
			} else if k == to-from {
				return at + n - had
			}
		}
		if v.has(at, v.Piece(at)) {
			if had == n {
				return at
			}
			had++
		}
		at++
	}
	return at
}

// Message returns the message at an index.
func (v *View) Message(i int) Message {
	p, number := v.Piece(i), v.number(i)
	return Message{p, v.l.Measure(number, p), number}
}

// Next returns the index of the first message of the view from an index of the list on, the end if
// there is none.
func (v *View) Next(i int) int {
	for i < v.End() && !v.Has(i) {
		i++
	}
	return i
}

// Content returns the hash of the message at an index.
func (v *View) Content(i int) uint64 {
	number := v.number(i)
	return v.l.Measure(number, v.q.Messages().Numbered(number)).Content
}

// Common returns the indexes at which the contents of two views first differ, from an index of each on. It
// skips what both share.
func (v *View) Common(o *View, i, j int) (int, int) {
	for i, j = v.Next(i), o.Next(j); i < v.End() && j < o.End(); i, j = v.Next(i), o.Next(j) {
		start, to, block := v.q.Messages().Block(i)
		if other, end, same := o.q.Messages().Block(j); block != nil && block == same && start == i && other == j &&
			min(i-int(v.q.lead), j-int(o.q.lead)) > 0 {
			i, j = to, end
			continue
		}
		if same := v.uncached(o, i, j); same > 0 {
			i, j = i+same, j+same
			continue
		}
		if v.Content(i) != o.Content(j) {
			break
		}
		i, j = i+1, j+1
	}
	return i, j
}

// uncached returns how many uncached messages two views have in common, from an index of each on.
func (v *View) uncached(o *View, i, j int) int {
	if i != v.q.Messages().Listed() || j != o.q.Messages().Listed() {
		return 0
	}
	return v.q.Messages().SameUncached(o.q.Messages())
}

// Added yields the messages of a request that the previous one lacks, with their indexes.
func (l *Ledger) Added(k int32) iter.Seq2[int, Message] {
	return func(yield func(int, Message) bool) {
		q := &l.Requests[k]
		v := View{l: l, q: q}
		for _, i := range q.Messages().ListedWithout(l.before(q)) {
			if !yield(int(i), v.Message(int(i))) {
				return
			}
		}
		for i := q.Messages().Listed() + q.Messages().SameUncached(l.before(q)); i < v.End(); i++ {
			if !yield(i, v.Message(i)) {
				return
			}
		}
	}
}

// before returns the messages of the request before one.
func (l *Ledger) before(q *Request) (was replay.Messages) {
	if q.Previous >= 0 {
		was = l.Requests[q.Previous].Messages()
	}
	return was
}

// A First finds the first request that had each message, in file order. Messages made by a patch or an edit are
// the same if their content is.
type First struct {
	number []int32
	made   map[uint64]int32
}

// First returns the first requests of all messages.
func (l *Ledger) First() *First {
	f := &First{make([]int32, 0, len(l.own)), map[uint64]int32{}}
	for _, k := range l.Replayed {
		for _, m := range l.Added(k) {
			if !m.Own() {
				if at, ok := f.made[m.Content]; !ok || k < at {
					f.made[m.Content] = k
				}
				continue
			}
			for int(m.Number) >= len(f.number) {
				f.number = append(f.number, math.MaxInt32)
			}
			f.number[m.Number] = min(f.number[m.Number], k)
		}
	}
	return f
}

// Of returns the first request that had a message.
func (f *First) Of(m *Message) int32 {
	if !m.Own() {
		return f.made[m.Content]
	}
	return f.number[m.Number]
}
