package replay

import (
	"iter"

	"ctxtool/sessionfmt"
)

const chunkSize = 256

// A list holds messages in order: a short head, and a body in chunks of which a
// stretch counts. Copying the struct makes a snapshot that stays as it is while
// the owner of the list goes on: appending touches only what no snapshot shows,
// set copies the chunk it writes to, and the head is replaced whole. Only one
// copy, the owner's, may be changed.
type list struct {
	head   []message // what a patch left in front of the body
	chunks []*[chunkSize]message
	lo, hi int  // the stretch of the body that counts
	n      int  // messages in all
	shown  int  // messages that a provider gets, of role system aside
	tokens int  // what all messages count for, where the machine counts
	mixed  bool // they are not in the order of the path: patches moved some
}

func (l *list) body(k int) *message { return &l.chunks[k/chunkSize][k%chunkSize] }

func (l *list) at(i int) *message {
	if i < len(l.head) {
		return &l.head[i]
	}
	return l.body(l.lo + i - len(l.head))
}

// push appends a message.
func (l *list) push(m message) {
	if l.hi%chunkSize == 0 {
		l.chunks = append(l.chunks, new([chunkSize]message))
	}
	*l.body(l.hi) = m
	l.hi++
	l.n++
	l.enter(&m, 1)
}

// enter adds a message to the sums, or with -1 takes it out of them.
func (l *list) enter(m *message, sign int) {
	if m.shown() {
		l.shown += sign
	}
	l.tokens += sign * int(m.tokens)
}

func (l *list) set(i int, m message) {
	l.enter(l.at(i), -1)
	l.enter(&m, 1)
	if i < len(l.head) {
		l.head = append([]message(nil), l.head...)
		l.head[i] = m
		return
	}
	k := l.lo + i - len(l.head)
	chunks := make([]*[chunkSize]message, len(l.chunks), cap(l.chunks))
	copy(chunks, l.chunks)
	fresh := *chunks[k/chunkSize]
	fresh[k%chunkSize] = m
	chunks[k/chunkSize] = &fresh
	l.chunks = chunks
}

// cut puts one message in the place of those before place first; system messages
// stay, in front of it. What it costs does not depend on what is kept.
func (l *list) cut(first int, m message) {
	var head []message
	for i := range first {
		if old := l.at(i); old.kind == sessionfmt.System {
			head = append(head, *old)
		} else {
			l.enter(old, -1)
		}
	}
	head = append(head, m)
	l.enter(&m, 1)
	if first < len(l.head) {
		head = append(head, l.head[first:]...)
	} else {
		l.lo += first - len(l.head)
	}
	l.head, l.mixed = head, true
	l.n = len(head) + l.hi - l.lo
}

// all goes through the messages in order, left-out ones included.
func (l *list) all(yield func(i int, m *message) bool) {
	for i := range l.n {
		if !yield(i, l.at(i)) {
			return
		}
	}
}

// first are the first n messages.
func (l *list) first(n int) iter.Seq[*message] {
	return func(yield func(*message) bool) {
		for i := 0; i < n && yield(l.at(i)); i++ {
		}
	}
}

// differs are the places at which two lists of one machine do not hold the same
// message, those behind the end of the shorter one included. Chunks that both have
// are passed over.
func (l *list) differs(was *list) iter.Seq[int] {
	return func(yield func(i int) bool) {
		n := min(was.n, l.n)
		aligned := len(was.head) == len(l.head) && was.lo == l.lo
		for i := 0; i < n; i++ {
			if k := l.lo + i - len(l.head); aligned && i >= len(l.head) && was.chunks[k/chunkSize] == l.chunks[k/chunkSize] {
				i += chunkSize - 1 - k%chunkSize
				continue
			}
			if was.at(i).place() != l.at(i).place() && !yield(i) {
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

// places maps records to where their first message stands in the body; cut does
// not move it. Messages that an op made are no record's own.
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

// find is the place in the list of a record's first message, -1 if there is
// none, given the list's places.
func (l *list) find(rec int32, places map[int32]int) int {
	for i := range l.head {
		if m := &l.head[i]; m.rec == rec && m.op < 0 {
			return i
		}
	}
	if k, ok := places[rec]; ok && k >= l.lo {
		return len(l.head) + k - l.lo
	}
	return -1
}

// recent is find among the last messages of the body, that many, -1 if it is not
// among them.
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

// from is the place of the message that came from that place of the path; where
// there is none, exact is false and it is the place of the first message that
// came from a later one, l.n without any.
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

// index is the place of the message that n shown ones come before, l.n when
// there are not so many.
func (l *list) index(n int) int {
	if n >= l.shown {
		return l.n
	}
	for i, m := range l.all {
		if m.shown() {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return l.n
}
