package check

var cycle = Check{
	Code:     "cycle",
	Group:    "tree",
	Severity: Error,
	Title:    "parents go round in a circle",
	About:    "Following the parents from one of these entries leads back to it.",
	Pi:       "It hangs, or dies out of memory, as soon as the circle is on the path.",
	Help: "`ctxtool repair` breaks the circle at its first entry in the file, which gets the entry before " +
		"it as its parent, or becomes a root.",
	file: findCycles,
}

// findCycles finds every circle of parents, on the active path or not. An entry
// that is its own parent is found by reading.
func findCycles(x *subject) {
	n := x.s.Len()
	seen := make([]int32, n) // the walk that came by, from 1
	for i := range n {
		at, walk := i, int32(i+1)
		for at >= 0 && seen[at] == 0 {
			seen[at] = walk
			at = x.s.Parent(at)
		}
		if at < 0 || seen[at] != walk || x.s.Parent(at) == at {
			continue
		}
		first, size := at, 1
		for k := x.s.Parent(at); k != at; k = x.s.Parent(k) {
			first, size = min(first, k), size+1
		}
		x.add(first, "the way up from its parent comes back to it, through %d entries", size)
	}
}

// endless says that the active path has no end for pi: a circle of parents, or an
// entry that is its own.
func (x *subject) endless() bool {
	leaf := x.s.Leaf()
	path, _ := x.s.Path(leaf)
	return leaf >= 0 && (len(path) == 0 || x.s.Parent(path[0]) >= 0)
}
