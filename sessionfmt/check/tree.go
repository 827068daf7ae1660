package check

import (
	"slices"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// findCycles finds every cycle of parents, on the active path or not. An entry
// that is its own parent is found by reading.
func (x *subject) findCycles() {
	for _, c := range cycles(x.s.Len(), x.s.Parent) {
		x.add(c.first, "the way up from its parent comes back to it, through %d entries", c.size)
	}
}

// A cycle is a cycle of parents: its first entry in the file, and how many it has.
type cycle struct{ first, size int }

// cycles are those among n entries. One that is its own parent is none.
func cycles(n int, parent func(i int) int) (all []cycle) {
	seen := make([]int32, n) // the walk that came by, from 1
	for i := range n {
		at, walk := i, int32(i+1)
		for at >= 0 && seen[at] == 0 {
			seen[at] = walk
			at = parent(at)
		}
		if at < 0 || seen[at] != walk || parent(at) == at {
			continue
		}
		c := cycle{at, 1}
		for k := parent(at); k != at; k = parent(k) {
			c.first, c.size = min(c.first, k), c.size+1
		}
		all = append(all, c)
	}
	return all
}

// findRoots finds the roots that do not lead to the leaf. An entry whose parent is
// lost is an orphan, and no root.
func (x *subject) findRoots() {
	var roots []int
	for i := range x.s.Len() {
		if x.s.Kind(i).IsEntry() && x.s.Parent(i) < 0 && !x.s.Orphan(i) && !x.s.Shadowed(i) {
			roots = append(roots, i)
		}
	}
	if len(roots) < 2 {
		return
	}
	path, _ := x.s.Path(x.s.Leaf())
	tree := x.tree()
	for _, root := range roots {
		if len(path) == 0 || root != path[0] {
			below := "nothing is below it"
			if n := tree.Size(root) - 1; n > 0 {
				below = plural(n, "entry is", "entries are") + " below it"
			}
			x.add(root, "one of %d roots, and not the one that leads to the leaf: %s", len(roots), below)
		}
	}
}

// findMovedLeaf finds a leaf that is bookkeeping on another branch than the one
// that was written to last. Bookkeeping of ctxtool undo moves it on purpose: it
// takes a compaction back by going on before it.
func (x *subject) findMovedLeaf() {
	leaf, last := x.s.Leaf(), x.lastWritten()
	if leaf < 0 || last < 0 || last == leaf {
		return
	}
	path, _ := x.s.Path(leaf)
	if slices.Contains(path, last) {
		return
	}
	lines := x.s.NewReader()
	for _, i := range slices.Backward(path) {
		if !bookkeeping(x.s.Kind(i)) {
			break
		}
		if x.undoes(lines, i) {
			return
		}
	}
	x.add(leaf, "the last entry is a %s on another branch than entry %s, which was written to last: the session goes on here",
		x.s.Kind(leaf), sessionfmt.Quote(x.s.ID(last)))
}

// bookkeeping reports whether entries of a kind say something about a session and
// are not what a conversation goes on with.
func bookkeeping(k jsonl.Kind) bool {
	switch k {
	case jsonl.Label, jsonl.UsageEntry, jsonl.SessionInfo, jsonl.CustomEntry:
		return true
	}
	return false
}

// lastWritten is the last entry of the file that is no bookkeeping, or that of
// ctxtool undo; -1 if there is none.
func (x *subject) lastWritten() int {
	lines, i := x.s.NewReader(), x.s.Leaf()
	for i >= 0 && (!x.s.Kind(i).IsEntry() || bookkeeping(x.s.Kind(i))) && !x.undoes(lines, i) {
		i--
	}
	return i
}

// undoes reports whether an entry is one of ctxtool undo.
func (x *subject) undoes(lines *sessionfmt.Reader, i int) bool {
	if x.s.Kind(i) != jsonl.CustomEntry {
		return false
	}
	line, err := lines.Line(i)
	return err == nil && line.Get("customType").Is(sessionfmt.UndoType)
}

// An ancestry answers who stands above whom in the tree, each at once.
type ancestry struct {
	tree  *sessionfmt.Tree
	enter []int32 // the place of each record on a way through the tree, parents first
	order []int32 // the records by that place
}

// newAncestry makes the ancestry of the session's entries.
func (x *subject) newAncestry() *ancestry {
	a := &ancestry{tree: x.tree(), enter: make([]int32, x.s.Len())}
	stack := slices.Clone(a.tree.Roots)
	slices.Reverse(stack)
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		a.enter[i] = int32(len(a.order))
		a.order = append(a.order, int32(i))
		for c := range a.tree.Children(i) {
			stack = append(stack, c)
		}
	}
	return a
}

// above reports whether record top stands above record below, or is it.
func (a *ancestry) above(top, below int) bool {
	at := a.enter[below] - a.enter[top]
	return at >= 0 && int(at) < a.tree.Size(top)
}

// parentsFirst visits the records, parents before children.
func (x *subject) parentsFirst(visit func(i int)) {
	for i := range x.s.Len() {
		if x.s.Parent(i) >= i {
			for _, i := range x.ancestors().order {
				visit(int(i))
			}
			return
		}
	}
	for i := range x.s.Len() {
		visit(i)
	}
}

// tips are the entries below which there is none, in the order of the file.
func (x *subject) tips() (tips []int) {
	inner := make([]bool, x.s.Len()) // those that have others below them
	for i := range x.s.Len() {
		if p := x.s.Parent(i); p >= 0 && p != i {
			inner[p] = true
		}
	}
	for i := range x.s.Len() {
		if !inner[i] && x.s.Kind(i).IsEntry() && !x.s.Shadowed(i) {
			tips = append(tips, i)
		}
	}
	return tips
}
