package prompt

import (
	"cmp"
	"hash/maphash"
	"math"
)

// A list holds the parts or the tools of a prompt in order. A change makes another list that shares most of its
// memory with the one before, so that all prompts of a session can be kept, and comparing two only visits what
// they do not share. It is a treap ordered by place.
type list[T any] struct {
	order *node[T]
	names map[string][]*entry[T] // index by name, of this list alone; nil until named is called
}

// An entry is an item of a list. It does not change.
type entry[T any] struct {
	item  T
	key   string // its name; contentKey for the text outside all sections
	at    place
	index int64 // see list.among
	sum   Sum
	rank  uint64
}

// A place orders the items of lists that derive from each other. minor is 0 except for sections whose names are
// integers, which are inserted in numeric order.
type place struct {
	major int64
	minor uint64
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.major, q.major), cmp.Compare(p.minor, q.minor))
}

// A node is the root of a treap: an entry, and the treaps before and after it. Nodes do not change.
type node[T any] struct {
	*entry[T]
	left, right *node[T]
	n           int32
	largest     int64 // index
	all         Sum
}

func newNode[T any](e *entry[T], left, right *node[T]) *node[T] {
	n := &node[T]{entry: e, left: left, right: right, n: 1, largest: e.index, all: e.sum}
	if left != nil {
		n.n, n.largest, n.all = n.n+left.n, max(n.largest, left.largest), left.all.plus(n.all)
	}
	if right != nil {
		n.n, n.largest, n.all = n.n+right.n, max(n.largest, right.largest), n.all.plus(right.all)
	}
	return n
}

// split returns what comes before a place, the entry there, and what comes after it.
func (n *node[T]) split(p place) (before *node[T], at *entry[T], after *node[T]) {
	if n == nil {
		return nil, nil, nil
	}
	switch c := p.compare(n.at); {
	case c < 0:
		before, at, after = n.left.split(p)
		return before, at, newNode(n.entry, after, n.right)
	case c > 0:
		before, at, after = n.right.split(p)
		return newNode(n.entry, n.left, before), at, after
	}
	return n.left, n.entry, n.right
}

// join returns the treap of one and of what comes after it.
func (n *node[T]) join(after *node[T]) *node[T] {
	switch {
	case n == nil:
		return after
	case after == nil:
		return n
	case n.rank > after.rank:
		return newNode(n.entry, n.left, n.right.join(after))
	}
	return newNode(after.entry, n.join(after.left), after.right)
}

// with returns the treap with an entry, which replaces the one at its place.
func (n *node[T]) with(e *entry[T]) *node[T] {
	if n == nil || e.rank > n.rank {
		before, _, after := n.split(e.at)
		return newNode(e, before, after)
	}
	switch c := e.at.compare(n.at); {
	case c < 0:
		return newNode(n.entry, n.left.with(e), n.right)
	case c > 0:
		return newNode(n.entry, n.left, n.right.with(e))
	}
	return newNode(e, n.left, n.right)
}

func (n *node[T]) each(yield func(e *entry[T]) bool) bool {
	return n == nil || n.left.each(yield) && yield(n.entry) && n.right.each(yield)
}

// differs reports the entries that only one of two treaps has, in order: both if they have the same place. Of a
// shared range it reports at most a first entry.
func differs[T any](was, is *node[T], report func(was, is *entry[T])) {
	switch {
	case was == is:
		if is != nil {
			report(is.first(), is.first())
		}
	case is == nil || was != nil && was.rank > is.rank:
		before, at, after := is.split(was.at)
		differs(was.left, before, report)
		report(was.entry, at)
		differs(was.right, after, report)
	default:
		before, at, after := was.split(is.at)
		differs(before, is.left, report)
		report(at, is.entry)
		differs(after, is.right, report)
	}
}

// differs reports the items of entries that differ; see Fold.PartsDiffer.
func (l *list[T]) differs(to *list[T], see func(at int, was, is *T)) {
	var shared *entry[T] // since the last difference
	begun := false
	differs(l.order, to.order, func(was, is *entry[T]) {
		if was == is {
			shared = cmp.Or(shared, is)
			return
		}
		if begun && shared != nil {
			see(0, &shared.item, &shared.item)
		}
		shared, begun = nil, true
		at, _, _ := l.before(cmp.Or(was, is).at)
		see(at, was.value(), is.value())
	})
}

// value returns the item, nil for no entry.
func (e *entry[T]) value() *T {
	if e == nil {
		return nil
	}
	return &e.item
}

func (n *node[T]) first() *entry[T] {
	for n.left != nil {
		n = n.left
	}
	return n.entry
}

func (n *node[T]) last() *entry[T] {
	for n.right != nil {
		n = n.right
	}
	return n.entry
}

// before returns the number of items before a place, their sum, and the last of them.
func (l *list[T]) before(p place) (n int, sum Sum, last *entry[T]) {
	for at := l.order; at != nil; {
		if at.at.compare(p) >= 0 {
			at = at.left
			continue
		}
		if at.left != nil {
			n, sum = n+int(at.left.n), sum.plus(at.left.all)
		}
		n, sum, last = n+1, sum.plus(at.sum), at.entry
		at = at.right
	}
	return n, sum, last
}

// among returns the place of a new item with that index: after those before all others, and after those of
// lower indexes with which the list begins.
func (l *list[T]) among(index int64) place {
	at := place{minor: uint64(index) + 1}
	n := l.order
	switch {
	case n == nil:
		return at
	case n.largest < index:
		at.major = n.last().at.major
		return at
	}
	for n.left != nil && n.left.largest >= index || n.index < index {
		if n.left != nil && n.left.largest >= index {
			n = n.left
		} else {
			n = n.right
		}
	}
	if _, _, last := l.before(n.at); last != nil {
		at.major = last.at.major
	} else if at.major = n.at.major; n.at.minor == 0 {
		at.major--
	}
	return at
}

// named returns the entries of a key, in order.
func (l *list[T]) named(key string) []*entry[T] {
	if l.names == nil {
		l.names = map[string][]*entry[T]{}
		l.order.each(func(e *entry[T]) bool {
			l.names[e.key] = append(l.names[e.key], e)
			return true
		})
	}
	return l.names[key]
}

// find returns the first entry of a key, nil if there is none.
func (l *list[T]) find(key string) *entry[T] {
	if all := l.named(key); len(all) > 0 {
		return all[0]
	}
	return nil
}

// put adds an item, or sets the one at its place, which is the first of its key.
func (l *list[T]) put(e *entry[T]) {
	if first := l.find(e.key); first != nil && first.at == e.at {
		l.names[e.key][0] = e
	} else {
		l.names[e.key] = append(l.names[e.key], e)
	}
	e.rank = maphash.Comparable(seed, e.at)
	l.order = l.order.with(e)
}

// remove removes the first of the items of a key.
func (l *list[T]) remove(key string) {
	all := l.named(key)
	before, _, after := l.order.split(all[0].at)
	l.order, l.names[key] = before.join(after), all[1:]
}

// removeAll removes the items of a key.
func (l *list[T]) removeAll(key string) {
	for range l.named(key) {
		l.remove(key)
	}
}

// kept returns a list that can be kept.
func (l *list[T]) kept() list[T] { return list[T]{order: l.order} }

// end returns the place after all others.
func (l *list[T]) end() place {
	if l.order == nil {
		return place{}
	}
	return place{l.order.last().at.major + 1, 0}
}

// front returns the place before all others.
func (l *list[T]) front() place {
	if l.order == nil {
		return place{}
	}
	return place{l.order.first().at.major - 1, 0}
}

// items returns all items.
func (l *list[T]) items() (all []T) {
	if l.order == nil {
		return nil
	}
	all = make([]T, 0, l.order.n)
	l.order.each(func(e *entry[T]) bool {
		all = append(all, e.item)
		return true
	})
	return all
}

func (l *list[T]) sum() Sum {
	if l.order == nil {
		return Sum{}
	}
	return l.order.all
}

// Indexes of entries whose name is not an integer; see Fold.section.
const (
	beforeAll = math.MinInt64
	afterAll  = math.MaxInt64
)
