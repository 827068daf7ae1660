package sessionfmt

import (
	"iter"
	"slices"
)

// A Tree is the whole of a session's tree, of which a path is one way. Every
// entry is in it once: one whose parent is not there is a root, and where parents
// go round in a circle the first of the file is.
type Tree struct {
	Roots []int

	s           *Session
	first, next []int32 // children in the order of the file; -1 for none
	size, tip   []int32 // of the subtree: entries, and the last of the file
}

// Tree links the session's entries from the roots down.
func (s *Session) Tree() *Tree {
	n := len(s.records)
	t := &Tree{s: s, first: filled(n), next: filled(n), size: make([]int32, n), tip: make([]int32, n)}
	for i := n - 1; i >= 0; i-- { // so that lists of children are in file order
		switch p := s.Parent(i); {
		case !s.records[i].kind.IsEntry():
		case p < 0 || p == i:
			t.Roots = append(t.Roots, i)
		default:
			t.next[i], t.first[p] = t.first[p], int32(i)
		}
	}
	slices.Reverse(t.Roots)
	t.sum(t.order())
	return t
}

func filled(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = -1
	}
	return list
}

// order lists the entries, parents before children. It makes roots of what no
// root leads to.
func (t *Tree) order() []int32 {
	n := len(t.s.records)
	order := make([]int32, 0, n)
	seen := make([]bool, n)
	visit := func(root int) {
		from := len(order)
		order = append(order, int32(root))
		seen[root] = true
		for k := from; k < len(order); k++ {
			for c := range t.Children(int(order[k])) {
				if !seen[c] {
					seen[c] = true
					order = append(order, int32(c))
				}
			}
		}
	}
	for _, r := range t.Roots {
		visit(r)
	}
	for i := range n {
		if !seen[i] && t.s.records[i].kind.IsEntry() {
			t.unlink(i)
			t.Roots = append(t.Roots, i)
			visit(i)
		}
	}
	slices.Sort(t.Roots)
	return order
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

// sum works out sizes and tips from the leaves up.
func (t *Tree) sum(order []int32) {
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		t.size[i]++
		t.tip[i] = max(t.tip[i], i)
		for c := range t.Children(int(i)) {
			t.size[i] += t.size[c]
			t.tip[i] = max(t.tip[i], t.tip[c])
		}
	}
}

// Children are the entries whose parent is record i, in the order of the file.
func (t *Tree) Children(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for c := t.first[i]; c >= 0 && yield(int(c)); c = t.next[c] {
		}
	}
}

// Size is the number of entries at record i and below.
func (t *Tree) Size(i int) int { return int(t.size[i]) }

// Tip is the record at i or below that stands last in the file.
func (t *Tree) Tip(i int) int { return int(t.tip[i]) }
