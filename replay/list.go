package replay

const chunkSize = 256

// A list holds messages in order. Copying the struct makes a snapshot that stays
// as it is while the owner of the list goes on: appending touches only what no
// snapshot shows, and set copies the chunk it writes to. Only one copy, the
// owner's, may be changed.
type list struct {
	chunks []*[chunkSize]message
	n      int
	shown  int  // messages that a provider gets, of role system aside
	mixed  bool // they are not in the order of the path: patches moved some
}

func (l *list) at(i int) *message { return &l.chunks[i/chunkSize][i%chunkSize] }

func (l *list) push(m message) {
	if l.n%chunkSize == 0 {
		l.chunks = append(l.chunks, new([chunkSize]message))
	}
	*l.at(l.n) = m
	l.n++
	if m.shown() {
		l.shown++
	}
}

func (l *list) set(i int, m message) {
	if l.at(i).shown() {
		l.shown--
	}
	if m.shown() {
		l.shown++
	}
	chunks := make([]*[chunkSize]message, len(l.chunks), cap(l.chunks))
	copy(chunks, l.chunks)
	fresh := *chunks[i/chunkSize]
	fresh[i%chunkSize] = m
	chunks[i/chunkSize] = &fresh
	l.chunks = chunks
}

// all goes through the messages in order, left-out ones included.
func (l *list) all(yield func(i int, m *message) bool) {
	for i := range l.n {
		if !yield(i, l.at(i)) {
			return
		}
	}
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
