package sessionfmt

import (
	"iter"
	"slices"
	"sync"
)

// A Tree is the whole of a session's tree, of which a path is one way. Every
// entry is in it once: one whose parent is not there is a root, and where parents
// form a cycle the first of the file is.
type Tree struct {
	Roots []int

	s           *Session
	first, next []int32        // children in the order of the file; -1 for none
	size, last  func() []int32 // of the subtree: entries, and the last of the file; once asked for
}

// Tree links the session's entries from the roots down.
func (s *Session) Tree() *Tree {
	n := len(s.records)
	t := &Tree{s: s, first: slices.Repeat([]int32{-1}, n), next: slices.Repeat([]int32{-1}, n)}
	for i := n - 1; i >= 0; i-- { // so that lists of children are in file order
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

// below appends the entries from some down, parents before children.
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

// cut makes roots of what no root leads to: the first entry of each parent cycle, or
// what hangs on one.
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

// unlink takes an entry from its parent's children.
func (t *Tree) unlink(i int) {
	at := &t.first[t.s.Parent(i)]
	for *at != int32(i) {
		at = &t.next[*at]
	}
	*at = t.next[i]
	t.next[i] = -1
}

// sum works out something of each subtree, from the leaves up: what an entry has of its
// own, joined with that of its children.
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

// Children are the entries whose parent is record i, in the order of the file.
func (t *Tree) Children(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for c := t.first[i]; c >= 0 && yield(int(c)); c = t.next[c] {
		}
	}
}

// Size is the number of entries at record i and below.
func (t *Tree) Size(i int) int { return int(t.size()[i]) }

// LastBelow is the record at i or below that stands last in the file.
func (t *Tree) LastBelow(i int) int { return int(t.last()[i]) }
