package check

import (
	"slices"

	"ctxtool/sessionfmt"
)

var leafMoved = Check{
	Code:     "leaf-moved",
	Group:    "tree",
	Severity: Warning,
	Title:    "a label or a usage entry has moved the leaf",
	About: "The last entry of the file is the place at which the conversation goes on. Here that is an " +
		"entry of bookkeeping that was hung on another branch than the one that was written to last. What " +
		"`ctxtool undo` appends is no such entry: it goes on before a compaction on purpose.",
	Pi: "It goes on at the branch of the bookkeeping entry.",
	Help: "In pi, choose the branch in the tree. Or append anything to the branch that is meant: `ctxtool " +
		"label FILE POINT` hangs a label on the leaf, never elsewhere.",
	file: findMovedLeaf,
}

// bookkeeping are the kinds of entries that say something about a session and are
// not what a conversation goes on with.
func bookkeeping(k sessionfmt.Kind) bool {
	switch k {
	case sessionfmt.Label, sessionfmt.UsageEntry, sessionfmt.SessionInfo, sessionfmt.CustomEntry:
		return true
	}
	return false
}

// findMovedLeaf finds a leaf that is bookkeeping on another branch than the one
// that was written to last.
func findMovedLeaf(x *subject) {
	leaf := x.s.Leaf()
	last := x.lastWritten()
	if leaf < 0 || last < 0 || last == leaf {
		return
	}
	path, _ := x.s.Path(leaf)
	if slices.Contains(path, last) || x.undone(path) {
		return
	}
	x.add(leaf, "the last entry is a %s on another branch than entry %s, which was written to last: the session goes on here",
		x.s.Kind(leaf), sessionfmt.Quote(x.s.ID(last)))
}

// undone says that the bookkeeping at the end of a path has moved the leaf on purpose:
// ctxtool undo takes a compaction back by going on before it.
func (x *subject) undone(path []int) bool {
	lines := x.s.NewReader()
	for k := len(path) - 1; k >= 0 && bookkeeping(x.s.Kind(path[k])); k-- {
		if x.s.Kind(path[k]) != sessionfmt.CustomEntry {
			continue
		}
		if line, err := lines.Line(path[k]); err == nil && line.Get("customType").Is("ctxtool.undo") {
			return true
		}
	}
	return false
}

// lastWritten is the last entry of the file that is no bookkeeping, -1 if there is
// none. One of ctxtool undo counts as written: it goes back on purpose.
func (x *subject) lastWritten() int {
	lines := x.s.NewReader()
	for i := x.s.Leaf(); i >= 0; i-- {
		k := x.s.Kind(i)
		if k.IsEntry() && !bookkeeping(k) {
			return i
		}
		if k == sessionfmt.CustomEntry {
			if line, err := lines.Line(i); err == nil && line.Get("customType").Is(sessionfmt.UndoType) {
				return i
			}
		}
	}
	return -1
}
