package replay

import (
	"iter"
	"slices"
	"sort"

	"ctxtool/sessionfmt/jsonl"
)

const chunkSize = 256

// A pool holds the messages of all contexts of a walk, each once, by number. It only grows, so a
// copy of it is a snapshot.
type pool struct {
	chunks []*pooled
	n      int32
	others []Piece         // all but unedited messages of message entries
	made   map[Piece]int32 // numbers of messages that several lists can derive independently
}

// A pooled identifies an unedited message of a message entry. Nearly all messages are such, so the others are
// kept elsewhere: then rec is the complement of an index.
type pooled struct {
	rec, pos [chunkSize]int32
	kind     [chunkSize]jsonl.Kind
}

func (p *pool) at(number int32) Piece {
	c, k := p.chunks[number/chunkSize], number%chunkSize
	if c.rec[k] < 0 {
		return p.others[^c.rec[k]]
	}
	return Piece{rec: c.rec[k], pos: c.pos[k], edit: -1, op: -1, kind: c.kind[k]}
}

// add adds a message, and returns its number.
func (p *pool) add(m Piece) int32 {
	if p.n%chunkSize == 0 {
		p.chunks = append(p.chunks, new(pooled))
	}
	c, k := p.chunks[p.n/chunkSize], p.n%chunkSize
	c.rec[k], c.pos[k], c.kind[k] = m.rec, m.pos, m.kind
	if m != (Piece{rec: m.rec, pos: m.pos, edit: -1, op: -1, kind: m.kind}) {
		c.rec[k] = ^int32(len(p.others))
		p.others = append(p.others, m)
	}
	p.n++
	return p.n - 1
}

// intern is add for a message that may have been added before.
func (p *pool) intern(m Piece) int32 {
	number, ok := p.made[m]
	if !ok {
		number = p.add(m)
		p.keep(m, number)
	}
	return number
}

func (p *pool) keep(m Piece, number int32) {
	if p.made == nil {
		p.made = map[Piece]int32{}
	}
	p.made[m] = number
}

// variant adds the edited form of a message, which intern finds from then on.
func (p *pool) variant(of int32, m Piece) int32 {
	if was := p.at(of); was.edit < 0 {
		p.keep(was, of)
	}
	return p.intern(m)
}

// A list holds messages in order, by number: system messages that a cut left, then the messages that cuts put
// first (the last cut's first), then a range of a body. Copying the struct makes a snapshot that stays valid
// while the owner changes the list: appending only writes beyond what a snapshot shows, and set makes another
// body. Lists with a common beginning share bodies.
type list struct {
	pool    *pool
	systems []int32
	front   *body // in reverse order
	ahead   int   // messages of front
	body    *body
	lo, hi  int // the range of the body in use
	n       int // number of messages
	shown   int // messages that a provider gets, system messages excluded
}

// one returns 1 for a message that a provider gets, else 0.
func one(m Piece) int {
	if m.Sent() {
		return 1
	}
	return 0
}

// A body holds numbers of messages in chunks. It only grows.
type body struct {
	under  []*chunk // first chunks, which other bodies can share
	chunks []*chunk // further chunks
	n      int
	loose  int             // leading messages that are not in path order, because a patch replaced all messages
	places map[int32]int32 // first loose message by record, once an edit needs it
}

// aside is the number of chunks that a body derived from another may copy.
const aside = 16

// A chunk is a part of a body: n consecutive numbers from first on, or the first n of a list.
type chunk struct {
	first, n int32
	shown    int32   // number of messages that a provider gets
	numbers  []int32 // nil while the numbers are consecutive
}

func (c *chunk) number(k int) int32 {
	if c.numbers == nil {
		return c.first + int32(k)
	}
	return c.numbers[k]
}

// own returns a chunk of its own with the first n numbers of this one.
func (c *chunk) own(n int) *chunk {
	next := &chunk{first: c.first, n: min(c.n, int32(n)), shown: c.shown}
	if c.numbers != nil {
		next.numbers = slices.Clone(c.numbers[:next.n])
	}
	return next
}

// spell turns consecutive numbers into a list, any of which can be changed.
func (c *chunk) spell() {
	if c.numbers == nil {
		c.numbers = make([]int32, c.n)
		for k := range c.numbers {
			c.numbers[k] = c.first + int32(k)
		}
	}
}

// push adds a number.
func (c *chunk) push(number int32) {
	if c.n == 0 {
		c.first = number
	} else if number != c.first+c.n {
		c.spell()
	}
	if c.numbers != nil {
		if n := len(c.numbers); n == cap(c.numbers) {
			c.numbers = append(make([]int32, 0, min(chunkSize, max(8, 2*n))), c.numbers...)
		}
		c.numbers = append(c.numbers, number)
	}
	c.n++
}

func newList(p *pool) list {
	var both [2]body
	return list{pool: p, front: &both[0], body: &both[1]}
}

// declarations returns the numbers of the system messages.
func (l *list) declarations() []int32 {
	all := slices.Clip(l.systems)
	if l.n-l.shown == len(all) { // all others are shown
		return all
	}
	for i := len(l.systems); i < l.n; i++ {
		if l.at(i).kind == jsonl.System {
			all = append(all, l.number(i))
		}
	}
	return all
}

// share reuses the messages of another list that only grew, from an index on, for a list that has only system
// messages.
func (l *list) share(of *list, from int) {
	l.body, l.lo, l.hi = of.body, min(from, of.hi), of.hi
	l.n += l.hi - l.lo
	l.shown += l.body.sum(l.pool, l.lo, l.hi)
}

// apart returns the numbers of the messages that another list does not store in the same place.
func (l *list) apart(other *list) (numbers []int32) {
	m := Messages{&version{list: *l}, int32(l.n)}
	for _, s := range m.Stretches(Messages{&version{list: *other}, int32(other.n)}) {
		for i := s.From; i < s.To && s.At < 0; i++ {
			numbers = append(numbers, l.number(i))
		}
	}
	return numbers
}

// chunk returns the chunk that holds a place.
func (b *body) chunk(k int) *chunk {
	if k /= chunkSize; k < len(b.under) {
		return b.under[k]
	}
	return b.chunks[k-len(b.under)]
}

func (b *body) number(k int) int32 { return b.chunk(k).number(k % chunkSize) }

// own returns a body of its own with the first n messages, which can grow, and whose message k can be changed.
func (b *body) own(p *pool, n, k int) *body {
	under := slices.Clip(b.under[:min(k/chunkSize, n/chunkSize, len(b.under))])
	next := &body{under: under, n: n, loose: b.loose, places: b.places}
	next.chunks = make([]*chunk, 0, (n+chunkSize-1)/chunkSize-len(under))
	for at := len(under) * chunkSize; at < n; at += chunkSize {
		c := b.chunk(at)
		if at/chunkSize == k/chunkSize || n-at < chunkSize {
			c = c.own(n - at)
		}
		next.chunks = append(next.chunks, c)
	}
	if at := n / chunkSize * chunkSize; at < n && n < b.n {
		next.chunk(at).shown = int32(next.sum(p, at, n))
	}
	return next
}

// push returns a body with a message after the first n: the same body, unless it already has another message
// there.
func (b *body) push(p *pool, n int, number int32) *body {
	if n < b.n {
		if b.number(n) == number {
			return b
		}
		b = b.own(p, n, n)
	}
	if n%chunkSize == 0 {
		if len(b.chunks) >= aside {
			b.under, b.chunks = slices.Concat(b.under, b.chunks), nil
		}
		b.chunks = append(b.chunks, new(chunk))
	}
	c := b.chunk(n)
	c.push(number)
	c.shown += int32(one(p.at(number)))
	b.n++
	return b
}

// heads returns the number of messages before the body.
func (l *list) heads() int { return len(l.systems) + l.ahead }

// number returns the number of the message at an index.
func (l *list) number(i int) int32 {
	if i -= l.heads(); i >= 0 {
		return l.body.number(l.lo + i)
	}
	if i += l.ahead; i >= 0 {
		return l.front.number(l.ahead - 1 - i)
	}
	return l.systems[i+len(l.systems)]
}

func (l *list) at(i int) Piece { return l.pool.at(l.number(i)) }

// push appends a message.
func (l *list) push(number int32) {
	l.body = l.body.push(l.pool, l.hi, number)
	l.hi++
	l.n++
	l.shown += one(l.pool.at(number))
}

// prepend puts a message before all but system messages.
func (l *list) prepend(number int32) {
	l.front = l.front.push(l.pool, l.ahead, number)
	l.ahead++
	l.n++
	l.shown += one(l.pool.at(number))
}

func (l *list) set(i int, number int32) {
	was, is := l.at(i), l.pool.at(number)
	l.shown -= one(was)
	l.shown += one(is)
	at, k := &l.body, l.lo+i-l.heads()
	n := l.hi
	if k < l.lo {
		at, k, n = &l.front, l.heads()-1-i, l.ahead
	}
	if k >= n {
		l.systems = slices.Clone(l.systems)
		l.systems[i] = number
		return
	}
	*at = (*at).own(l.pool, n, k)
	c := (*at).chunk(k)
	c.spell()
	c.numbers[k%chunkSize] = number
	c.shown += int32(one(is) - one(was))
}

// sum counts the messages from index from to before another that a provider gets.
func (b *body) sum(p *pool, from, to int) (all int) {
	for k := from; k < to; k++ {
		if c := b.chunk(k); k%chunkSize == 0 && k+chunkSize <= to {
			all += int(c.shown)
			k += chunkSize - 1
		} else {
			all += one(p.at(b.number(k)))
		}
	}
	return all
}

// drop removes the messages before index first, except leading system messages. It visits only a few of the
// removed ones.
func (l *list) drop(first int) {
	ahead := max(0, l.heads()-first)
	lo := l.lo + max(0, first-l.heads())
	l.shown -= l.front.sum(l.pool, ahead, l.ahead) + l.body.sum(l.pool, l.lo, lo)
	l.ahead, l.lo = ahead, lo
	l.n = l.heads() + l.hi - l.lo
}

// cut replaces the messages before index first by one message. System messages stay, before it. Its cost does
// not depend on the number of kept messages.
func (l *list) cut(first int, number int32) {
	var systems []int32
	for i := len(l.systems); i < first; i++ {
		if l.at(i).kind == jsonl.System {
			systems = append(systems, l.number(i))
		}
	}
	l.drop(first)
	l.systems = append(l.systems, systems...)
	l.n += len(systems)
	l.prepend(number)
}

// all yields the messages in order, omitted ones included.
func (l *list) all(yield func(i int, m Piece) bool) {
	for i := range l.n {
		if !yield(i, l.at(i)) {
			return
		}
	}
}

// differs returns the indexes at which two lists of one machine differ, including those beyond the end of the
// shorter one. It skips shared chunks.
func (l *list) differs(was *list) iter.Seq[int] {
	return func(yield func(i int) bool) {
		n := min(was.n, l.n)
		heads := max(was.heads(), l.heads())
		aligned := was.lo-was.heads() == l.lo-l.heads()
		for i := 0; i < n; i++ {
			if k := l.lo + i - l.heads(); aligned && i >= heads && was.body.chunk(k) == l.body.chunk(k) {
				i += chunkSize - 1 - k%chunkSize
				continue
			}
			if was.number(i) != l.number(i) && was.at(i).Place() != l.at(i).Place() && !yield(i) {
				return
			}
		}
		for i := n; i < max(was.n, l.n); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// sorted returns the index from which the list is in path order.
func (l *list) sorted() int { return l.heads() + max(0, min(l.hi, l.body.loose)-l.lo) }

// place returns the index of the first message of a record, -1 if it has none, given the record's
// place on the path. Messages that an op added belong to no record.
func (l *list) place(rec, pos int32) int {
	for i := range l.heads() {
		if m := l.at(i); m.rec == rec && m.op < 0 {
			return i
		}
	}
	if l.body.loose > 0 {
		if k, ok := l.body.loosePlaces(l.pool)[rec]; ok && int(k) >= l.lo {
			return l.heads() + int(k) - l.lo
		}
	}
	if i := l.later(pos); i < l.n && l.at(i).rec == rec {
		return i
	}
	return -1
}

// loosePlaces maps records to their first message among the loose ones.
func (b *body) loosePlaces(p *pool) map[int32]int32 {
	if b.places == nil {
		b.places = map[int32]int32{}
		for k := range b.loose {
			m := p.at(b.number(k))
			if _, ok := b.places[m.rec]; !ok && m.op < 0 {
				b.places[m.rec] = int32(k)
			}
		}
	}
	return b.places
}

// later returns the index of the first message from a place of the path on, among those in path order.
func (l *list) later(pos int32) int {
	from := l.sorted()
	return from + sort.Search(l.n-from, func(i int) bool { return l.at(from+i).pos >= pos })
}

// from returns the index of the message from that place of the path. If there is none, exact is
// false and i is the index of the first message from a later place, l.n without any.
func (l *list) from(pos int32) (i int, exact bool) {
	after := l.n
	for i := range l.sorted() {
		if m := l.at(i); m.pos == pos {
			return i, true
		} else if m.pos > pos {
			after = min(after, i)
		}
	}
	i = l.later(pos)
	if i < l.n && l.at(i).pos == pos {
		return i, true
	}
	return min(after, i), false
}

// index returns the index of the message after the first n shown ones; l.n if there are fewer.
func (l *list) index(n int) int {
	if n >= l.shown {
		return l.n
	}
	for i, m := range l.all {
		if m.Sent() {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return l.n
}
