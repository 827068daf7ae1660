package check

import (
	"slices"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// findCycles finds every parent cycle, on the active path or not. Reading finds entries that
// are their own parents.
func (x *subject) findCycles() {
	for _, c := range cycles(x.s.Len(), x.s.Parent) {
		x.add(c.first, "a parent cycle of %d entries begins here", c.size)
	}
}

// A cycle is a parent cycle: its first entry in the file, and the number of its entries.
type cycle struct{ first, size int }

// cycles returns the parent cycles among n entries, except entries that are their own
// parents.
func cycles(n int, parent func(i int) int) (all []cycle) {
	seen := make([]int32, n) // the number of the walk that visited an entry, from 1
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

// findRoots finds the roots that are not on the path to the leaf. An entry whose parent is
// lost is an orphan, not a root, and a sub-agent that writes into the file of its session has one of its own.
func (x *subject) findRoots() {
	var roots []int
	for i := range x.s.Len() {
		if x.s.Kind(i).IsEntry() && x.s.Parent(i) < 0 && !x.s.Orphan(i) && !x.s.Shadowed(i) &&
			!x.s.Delegated(i) {
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

// findMovedLeaf finds a leaf that is bookkeeping on another branch than the last other entry.
// ctxtool undo moves the leaf on purpose: it undoes a compaction by appending before it.
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
	x.add(leaf, "the last entry is a %s on another branch than entry %s, which was written to last: the session "+
		"goes on here", x.s.Kind(leaf), sessionfmt.Quote(x.s.ID(last)))
}

// bookkeeping reports whether entries of a kind describe a session and do not continue its
// conversation.
func bookkeeping(k jsonl.Kind) bool {
	switch k {
	case jsonl.Label, jsonl.UsageEntry, jsonl.SessionInfo, jsonl.CustomEntry:
		return true
	}
	return false
}

// lastWritten returns the last entry of the file that is not bookkeeping, or is from ctxtool
// undo; -1 if there is none.
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

// An ancestry answers in constant time which entries are ancestors of which.
type ancestry struct {
	tree  *sessionfmt.Tree
	enter []int32 // the place of each record in preorder
	order []int32 // the records by that place
}

// newAncestry returns the ancestry of the session's entries.
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

// above reports whether record top is an ancestor of record below, or the same record.
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

// leaves returns the entries without children, in the order of the file.
func (x *subject) leaves() (leaves []int) {
	for i, inner := range x.s.Inner() {
		if !inner && x.s.Kind(i).IsEntry() && !x.s.Shadowed(i) {
			leaves = append(leaves, i)
		}
	}
	return leaves
}
