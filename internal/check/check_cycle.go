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
	for _, c := range circles(x.s.Len(), x.s.Parent) {
		x.add(c.first, "the way up from its parent comes back to it, through %d entries", c.size)
	}
}

// A circle is a circle of parents: its first entry in the file, and how many it has.
type circle struct{ first, size int }

// circles are those among n entries. One that is its own parent is none.
func circles(n int, parent func(i int) int) (all []circle) {
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
		c := circle{at, 1}
		for k := parent(at); k != at; k = parent(k) {
			c.first, c.size = min(c.first, k), c.size+1
		}
		all = append(all, c)
	}
	return all
}
