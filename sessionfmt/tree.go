package sessionfmt

import (
	"iter"
	"slices"
	"sync"
)

// A Tree is the whole tree of a session. It has every entry once. An entry whose parent is missing is a root,
// as is the first entry in the file of each parent cycle.
type Tree struct {
	Roots []int

	s           *Session
	first, next []int32        // children in file order; -1 for none
	size, last  func() []int32 // by subtree: number of entries, and the last in the file; computed on first use
}

// Tree builds the tree of the session's entries.
func (s *Session) Tree() *Tree {
	n := len(s.records)
	t := &Tree{s: s, first: slices.Repeat([]int32{-1}, n), next: slices.Repeat([]int32{-1}, n)}
	for i := n - 1; i >= 0; i-- { // backwards, so that lists of children are in file order
		switch p := s.Parent(i); {
		case !s.records[i].kind.IsEntry():
		case p < 0 || p == i || !s.records[p].kind.IsEntry():
			t.Roots = append(t.Roots, i)
		default:
			t.next[i], t.first[p] = t.first[p], int32(i)
		}
	}
	slices.Reverse(t.Roots)
	if s.forward {
		t.cut()
	}
	t.size = sync.OnceValue(func() []int32 {
		return t.sum(func(int32) int32 { return 1 }, func(a, b int32) int32 { return a + b })
	})
	t.last = sync.OnceValue(func() []int32 {
		return t.sum(func(i int32) int32 { return i }, func(a, b int32) int32 { return max(a, b) })
	})
	return t
}

// Inner reports, by record, whether it has a child.
func (s *Session) Inner() []bool {
	inner := make([]bool, s.Len())
	for i := range inner {
		if up := s.Parent(i); up >= 0 && up != i {
			inner[up] = true
		}
	}
	return inner
}

// below appends the subtrees of roots, parents before children.
func (t *Tree) below(order []int32, roots ...int) []int32 {
	for _, r := range roots {
		from := len(order)
		order = append(order, int32(r))
		for k := from; k < len(order); k++ {
			for c := range t.Children(int(order[k])) {
				order = append(order, int32(c))
			}
		}
	}
	return order
}

// cut turns entries that no root reaches into roots: the first entry of each parent cycle, and of trees below
// one.
func (t *Tree) cut() {
	seen := make([]bool, len(t.first))
	var order []int32
	reach := func(roots ...int) {
		order = t.below(order[:0], roots...)
		for _, i := range order {
			seen[i] = true
		}
	}
	reach(t.Roots...)
	for i := range seen {
		if !seen[i] && t.s.records[i].kind.IsEntry() {
			t.unlink(i)
			t.Roots = append(t.Roots, i)
			reach(i)
		}
	}
	slices.Sort(t.Roots)
}

// unlink removes an entry from its parent's children.
func (t *Tree) unlink(i int) {
	at := &t.first[t.s.Parent(i)]
	for *at != int32(i) {
		at = &t.next[*at]
	}
	*at = t.next[i]
	t.next[i] = -1
}

// sum computes a value for each subtree, from the leaves up: an entry's own, joined with those of its children.
func (t *Tree) sum(own func(i int32) int32, join func(a, b int32) int32) []int32 {
	sums := make([]int32, len(t.first))
	for _, i := range slices.Backward(t.below(make([]int32, 0, len(t.first)), t.Roots...)) {
		sums[i] = own(i)
		for c := range t.Children(int(i)) {
			sums[i] = join(sums[i], sums[c])
		}
	}
	return sums
}

// Children returns the entries whose parent is record i, in file order.
func (t *Tree) Children(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for c := t.first[i]; c >= 0 && yield(int(c)); c = t.next[c] {
		}
	}
}

// Size returns the number of entries in the subtree of record i.
func (t *Tree) Size(i int) int { return int(t.size()[i]) }

// LastBelow returns the last record, in file order, of the subtree of record i.
func (t *Tree) LastBelow(i int) int { return int(t.last()[i]) }
