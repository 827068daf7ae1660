package replay

import (
	"slices"
	"sort"
)

// A trail is the path that a machine goes, root first. Machines that part share
// what they have in common: a copy costs nothing until its own part is copied again.
type trail struct{ shared, own []int }

func (t *trail) len() int { return len(t.shared) + len(t.own) }

func (t *trail) at(pos int) int {
	if pos < len(t.shared) {
		return t.shared[pos]
	}
	return t.own[pos-len(t.shared)]
}

func (t *trail) push(rec int) { t.own = append(t.own, rec) }

// fork is the trail so far, to go on another way.
func (t *trail) fork() trail {
	if len(t.shared) == 0 {
		return trail{shared: slices.Clip(t.own)}
	}
	return trail{shared: slices.Concat(t.shared, t.own)}
}

// place is where a record stands before a place, -1 if it does not.
func (t *trail) place(rec, before int) int {
	shared := t.shared[:min(before, len(t.shared))]
	own := t.own[:max(0, before-len(t.shared))]
	for k, part := range [][]int{shared, own} {
		at := sort.SearchInts(part, rec)
		if at >= len(part) || part[at] != rec {
			at = slices.Index(part, rec) // parents may come after their children
		}
		if at >= 0 {
			return at + k*len(shared)
		}
	}
	return -1
}
