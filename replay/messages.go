package replay

import (
	"iter"
	"slices"
)

// Messages are the messages of a context in order, by number: those of its list, including omitted ones, then
// the uncached ones. They are a snapshot, which shares memory with the other snapshots of its walk.
type Messages struct {
	*version
	n int32 // length of the list
}

// A version is a list that has only grown since its first snapshot.
type version struct {
	list     list
	uncached []int32
}

// Messages returns the messages after the step.
func (s Step) Messages() Messages {
	m, now := s.m, s.m.current()
	if m.version == nil || !m.version.list.grew(&now.msgs) || !identical(m.version.uncached, now.uncached) {
		m.version = &version{uncached: slices.Clip(now.uncached)}
	}
	m.version.list = now.msgs
	return Messages{m.version, int32(now.msgs.n)}
}

// Logged returns the numbers of the request-only messages that the session logs for the request
// that the step answers.
func (s Step) Logged() (numbers []int32, err error) {
	if s.m.ephemeral < 0 {
		return nil, nil
	}
	line, err := s.m.r.Session.NewReader().Line(s.m.ephemeral)
	if err != nil {
		return nil, err
	}
	for _, p := range loggedMessages(line, s.m.ephemeral) {
		numbers = append(numbers, s.m.pool.intern(p))
	}
	return numbers, nil
}

// grew reports whether another list is this one after messages were appended.
func (l *list) grew(to *list) bool {
	return l.front == to.front && l.ahead == to.ahead && l.body == to.body && l.lo == to.lo && l.hi <= to.hi &&
		identical(l.systems, to.systems)
}

// identical reports whether two slices that only grow are the same.
func identical(a, b []int32) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// Known reports whether the snapshot was taken at all.
func (m Messages) Known() bool { return m.version != nil }

// Upto returns the snapshot in which the list had n messages, one of those between which it only grew.
func (m Messages) Upto(n int32) Messages { return Messages{m.version, n} }

// Listed returns the number of messages without the uncached ones.
func (m Messages) Listed() int { return int(m.n) }

// Len returns the number of messages.
func (m Messages) Len() int {
	if m.version == nil {
		return 0
	}
	return int(m.n) + len(m.uncached)
}

// Number returns the number of the message at an index. Within one walk, messages of one number
// are the same.
func (m Messages) Number(i int) int32 {
	if i < int(m.n) {
		return m.list.number(i)
	}
	return m.uncached[i-int(m.n)]
}

// Numbered returns the message with a number.
func (m Messages) Numbered(number int32) Piece { return m.list.pool.at(number) }

// Piece returns the message at an index.
func (m Messages) Piece(i int) Piece { return m.list.pool.at(m.Number(i)) }

// listed returns the list as it was.
func (m Messages) listed() (l list) {
	if m.version == nil {
		return l
	}
	l = m.list
	l.n = int(m.n)
	l.hi = l.lo + l.n - l.heads()
	return l
}

// Differs returns the indexes at which the lists of two snapshots have different messages,
// including those that only one of them has.
func (m Messages) Differs(was Messages) iter.Seq[int] {
	if m.version != nil && m.version == was.version {
		return func(yield func(int) bool) {
			for i := min(m.n, was.n); i < max(m.n, was.n) && yield(int(i)); i++ {
			}
		}
	}
	is, before := m.listed(), was.listed()
	return is.differs(&before)
}

// Same returns the number of leading messages that the lists of two snapshots share.
func (m Messages) Same(was Messages) int {
	if m.version == was.version {
		return int(min(m.n, was.n))
	}
	for i := range m.Differs(was) {
		return i
	}
	return m.Listed()
}

// Block returns the range of indexes around i whose messages are stored together, and an identity
// of that range; nil if it can still grow or has been cut.
func (m Messages) Block(i int) (from, to int, id any) {
	l := &m.list
	heads := l.heads()
	switch {
	case i < len(l.systems) || i >= int(m.n):
		return i, i + 1, nil
	case i < heads:
		k := (heads - 1 - i) / chunkSize * chunkSize
		from, to = heads-k-chunkSize, heads-k
		if from < len(l.systems) {
			return len(l.systems), to, nil
		}
		return from, to, l.front.chunk(k)
	}
	k := (l.lo + i - heads) / chunkSize * chunkSize
	from, to = k-l.lo+heads, k+chunkSize-l.lo+heads
	if from < heads || to > int(m.n) {
		return max(from, heads), min(to, int(m.n)), nil
	}
	return from, to, l.body.chunk(k)
}

// Sent returns the number of messages that a provider gets.
func (m Messages) Sent() (n int) {
	if m.version == nil {
		return 0
	}
	l := m.listed()
	for _, number := range m.uncached {
		n += one(l.pool.at(number))
	}
	return n + l.front.sum(l.pool, 0, l.ahead) + l.body.sum(l.pool, l.lo, l.hi)
}

// Without returns the numbers of the messages that another snapshot of the walk lacks, in order. It skips what
// both share, so that it costs as much as they differ.
func (m Messages) Without(other Messages) (numbers []int32) {
	for _, i := range m.without(other, m.Len()) {
		numbers = append(numbers, m.Number(int(i)))
	}
	return numbers
}

// ListedWithout is Without for the lists alone, and returns indexes.
func (m Messages) ListedWithout(other Messages) (at []int32) {
	if m.version == other.version {
		for i := other.n; i < m.n; i++ {
			at = append(at, i)
		}
		return at
	}
	return m.without(other, m.Listed())
}

// without returns the indexes, before end, of the messages that another snapshot lacks.
func (m Messages) without(other Messages, end int) (at []int32) {
	apart, has := m.apart(other)
	for _, s := range apart {
		for i := s.From; i < min(s.To, end); i++ {
			if number := m.Number(i); has[number] > 0 {
				has[number]--
				continue
			}
			at = append(at, int32(i))
		}
	}
	return at
}

// SameUncached returns the number of leading uncached messages that another snapshot has too, if one of the two
// has all of the other's.
func (m Messages) SameUncached(other Messages) int {
	if m.version == nil || other.version == nil {
		return 0
	}
	n := min(len(m.uncached), len(other.uncached))
	a, b := m.uncached[:n], other.uncached[:n]
	if identical(a, b) || slices.Equal(a, b) {
		return n
	}
	return 0
}

// apart returns the messages that another snapshot does not store in the same place, and the numbers of
// occurrences of those that only the other stores there.
func (m Messages) apart(other Messages) (ranges []Stretch, has map[int32]int) {
	next := 0
	pass := func(to int) {
		for ; next < to; next++ {
			if has == nil {
				has = map[int32]int{}
			}
			has[other.Number(next)]++
		}
	}
	for _, s := range m.Stretches(other) {
		if s.At < 0 {
			ranges = append(ranges, s)
			continue
		}
		pass(s.At)
		next += s.To - s.From
	}
	if ranges != nil { // otherwise the counts are not needed
		pass(other.Len())
	}
	return ranges, has
}

// A Stretch is a range of the messages of a snapshot, and the index at which another one has the
// same, -1 if it does not store them in the same place.
type Stretch struct{ From, To, At int }

// Stretches returns the messages in order, compared with those of another snapshot of the walk. It
// skips what both store together.
func (m Messages) Stretches(other Messages) (all []Stretch) {
	add := func(from, to, at int) {
		if from < to {
			all = append(all, Stretch{from, to, at})
		}
	}
	if m.version == nil {
		return nil
	}
	n := m.Listed()
	if m.version == other.version {
		same := min(n, other.Listed())
		add(0, same, 0)
		add(same, n, -1)
	} else {
		l, was := m.listed(), other.listed()
		same := min(len(l.systems), len(was.systems))
		if !identical(l.systems[:same], was.systems[:same]) {
			same = 0
		}
		add(0, same, 0)
		add(same, len(l.systems), -1)
		heads, before := l.heads(), was.heads()
		for _, r := range slices.Backward(l.front.compared(was.front, 0, l.ahead, 0, was.ahead)) {
			add(heads-r.To, heads-r.From, r.with(before-r.To))
		}
		for _, r := range l.body.compared(was.body, l.lo, l.hi, was.lo, was.hi) {
			add(heads+r.From-l.lo, heads+r.To-l.lo, r.with(before+r.From-was.lo))
		}
	}
	same := m.SameUncached(other)
	add(n, n+same, other.Listed())
	add(n+same, m.Len(), -1)
	return all
}

// with returns an index for a range that another body has too.
func (s Stretch) with(at int) int {
	if s.At < 0 {
		return -1
	}
	return at
}

// compared compares a range of a body with that of another one, by place.
func (b *body) compared(was *body, lo, hi, from, to int) (all []Stretch) {
	for k := lo; k < hi; {
		end, at := hi, -1
		if k < from {
			end = min(from, hi)
		} else if k < to {
			is, had := b.chunk(k), was.chunk(k)
			end = min(to, hi, (k/chunkSize+1)*chunkSize)
			if is == had {
				at = k
			} else {
				same := func(k int) bool { return is.number(k%chunkSize) == had.number(k%chunkSize) }
				n := 1
				for n < end-k && same(k+n) == same(k) {
					n++
				}
				end = k + n
				if same(k) {
					at = k
				}
			}
		}
		if last := len(all) - 1; last >= 0 && (all[last].At < 0) == (at < 0) {
			all[last].To = end
		} else {
			all = append(all, Stretch{k, end, at})
		}
		k = end
	}
	return all
}
