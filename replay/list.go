package replay

import (
	"iter"
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

const chunkSize = 256

// A pool holds the messages of all contexts of a walk, each once, by number. It only grows, so a
// copy of it is a snapshot.
type pool struct {
	chunks []*[chunkSize]Piece
	n      int32
	made   map[Piece]int32 // numbers of messages that several lists can get separately
}

func newPool() *pool { return &pool{made: map[Piece]int32{}} }

func (p *pool) at(number int32) *Piece { return &p.chunks[number/chunkSize][number%chunkSize] }

// add adds a message, and returns its number.
func (p *pool) add(m Piece) int32 {
	if p.n%chunkSize == 0 {
		p.chunks = append(p.chunks, new([chunkSize]Piece))
	}
	p.n++
	*p.at(p.n - 1) = m
	return p.n - 1
}

// intern is add for a message that may have been added before.
func (p *pool) intern(m Piece) int32 {
	number, ok := p.made[m]
	if !ok {
		number = p.add(m)
		p.made[m] = number
	}
	return number
}

// variant adds what an edit makes of a message. The message is found by intern from then on.
func (p *pool) variant(of int32, m Piece) int32 {
	if was := *p.at(of); was.edit < 0 {
		p.made[was] = of
	}
	return p.intern(m)
}

// A list holds messages in order, by number: a short head, and a body in chunks, of which a range
// is in use. Copying the struct makes a snapshot that stays valid while the owner changes the
// list: appending only writes beyond what a snapshot shows, set copies the chunk that it writes
// to, and the head is replaced as a whole. Only the owner's copy may be changed.
type list struct {
	pool   *pool
	head   []int32 // messages that a patch put before the body
	chunks []*[chunkSize]int32
	lo, hi int  // the range of the body in use
	n      int  // number of messages
	shown  int  // messages that a provider gets, system messages excluded
	tokens int  // tokens of all messages, if the machine counts
	mixed  bool // not in the order of the path, because a patch moved some
}

func (l *list) body(k int) *Piece { return l.pool.at(l.chunks[k/chunkSize][k%chunkSize]) }

// number returns the number of the message at an index.
func (l *list) number(i int) int32 {
	if i < len(l.head) {
		return l.head[i]
	}
	k := l.lo + i - len(l.head)
	return l.chunks[k/chunkSize][k%chunkSize]
}

func (l *list) at(i int) *Piece { return l.pool.at(l.number(i)) }

// push appends a message.
func (l *list) push(number int32) {
	if l.hi%chunkSize == 0 {
		l.chunks = append(l.chunks, new([chunkSize]int32))
	}
	l.chunks[l.hi/chunkSize][l.hi%chunkSize] = number
	l.hi++
	l.n++
	l.addSums(l.pool.at(number), 1)
}

// addSums adds a message to the sums, or with -1 subtracts it.
func (l *list) addSums(m *Piece, sign int) {
	if m.Sent() {
		l.shown += sign
	}
	l.tokens += sign * int(m.tokens)
}

func (l *list) set(i int, number int32) {
	l.addSums(l.at(i), -1)
	l.addSums(l.pool.at(number), 1)
	if i < len(l.head) {
		l.head = slices.Clone(l.head)
		l.head[i] = number
		return
	}
	k := l.lo + i - len(l.head)
	chunks := make([]*[chunkSize]int32, len(l.chunks), cap(l.chunks))
	copy(chunks, l.chunks)
	fresh := *chunks[k/chunkSize]
	fresh[k%chunkSize] = number
	chunks[k/chunkSize] = &fresh
	l.chunks = chunks
}

// cut puts one message in place of those before index first. System messages stay, before it.
// Its cost does not depend on the number of messages kept.
func (l *list) cut(first int, number int32) {
	var head []int32
	for i := range first {
		if old := l.at(i); old.kind == jsonl.System {
			head = append(head, l.number(i))
		} else {
			l.addSums(old, -1)
		}
	}
	head = append(head, number)
	l.addSums(l.pool.at(number), 1)
	if first < len(l.head) {
		head = append(head, l.head[first:]...)
	} else {
		l.lo += first - len(l.head)
	}
	l.head, l.mixed = head, true
	l.n = len(head) + l.hi - l.lo
}

// all yields the messages in order, omitted ones included.
func (l *list) all(yield func(i int, m *Piece) bool) {
	for i := range l.n {
		if !yield(i, l.at(i)) {
			return
		}
	}
}

// first returns the first n messages.
func (l *list) first(n int) iter.Seq[*Piece] {
	return func(yield func(*Piece) bool) {
		for i := 0; i < n && yield(l.at(i)); i++ {
		}
	}
}

// differs returns the indexes at which two lists of one machine have different messages,
// including those beyond the end of the shorter one. It skips shared chunks.
func (l *list) differs(was *list) iter.Seq[int] {
	return func(yield func(i int) bool) {
		n := min(was.n, l.n)
		aligned := len(was.head) == len(l.head) && was.lo == l.lo
		for i := 0; i < n; i++ {
			if k := l.lo + i - len(l.head); aligned && i >= len(l.head) && was.chunks[k/chunkSize] == l.chunks[k/chunkSize] {
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

// places maps records to the index of their first message in the body, which cut does not
// change. Messages that an op added belong to no record.
func (l *list) places() map[int32]int {
	places := make(map[int32]int, l.n)
	for k := l.lo; k < l.hi; k++ {
		m := l.body(k)
		if _, ok := places[m.rec]; !ok && m.op < 0 {
			places[m.rec] = k
		}
	}
	return places
}

// find returns the index in the list of a record's first message, -1 if it has none, given the
// list's places.
func (l *list) find(rec int32, places map[int32]int) int {
	for i, number := range l.head {
		if m := l.pool.at(number); m.rec == rec && m.op < 0 {
			return i
		}
	}
	if k, ok := places[rec]; ok && k >= l.lo {
		return len(l.head) + k - l.lo
	}
	return -1
}

// recent is find limited to the last most messages of the body.
func (l *list) recent(rec int32, most int) int {
	for k := l.hi - 1; k >= max(l.lo, l.hi-most); k-- {
		if m := l.body(k); m.rec != rec || m.op >= 0 {
			continue
		}
		for k > l.lo && l.body(k-1).rec == rec && l.body(k-1).op < 0 {
			k--
		}
		return len(l.head) + k - l.lo
	}
	return -1
}

// from returns the index of the message from that place of the path. If there is none, exact is
// false and i is the index of the first message from a later place, l.n without any.
func (l *list) from(pos int32) (i int, exact bool) {
	if !l.mixed {
		i = l.n
		for i > 0 && l.at(i-1).pos >= pos {
			i--
		}
		return i, i < l.n && l.at(i).pos == pos
	}
	later := l.n
	for i, m := range l.all {
		if m.pos == pos {
			return i, true
		}
		if m.pos > pos && i < later {
			later = i
		}
	}
	return later, false
}

// index returns the index of the message after the first n shown ones, l.n if there are fewer.
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
