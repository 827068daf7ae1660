package replay

import (
	"slices"
	"sort"
)

// A trail is the path that a machine goes, root first. Machines that part share what
// they have in common.
type trail struct {
	above *trail // what it had when it parted from another; nil for the first
	from  int    // how long that is
	own   []int32
}

func (t *trail) len() int { return t.from + len(t.own) }

func (t *trail) at(pos int) int {
	for pos < t.from {
		t = t.above
	}
	return int(t.own[pos-t.from])
}

func (t *trail) push(rec int) { t.own = append(t.own, int32(rec)) }

// fork is the trail so far, to go on another way.
func (t *trail) fork() trail {
	above := *t // the other goes on behind it
	return trail{above: &above, from: t.len()}
}

// place is where a record stands before a place, -1 if it does not.
func (t *trail) place(rec, before int) int {
	for ; t != nil; t = t.above {
		part := t.own[:max(0, min(before-t.from, len(t.own)))]
		at := sort.Search(len(part), func(i int) bool { return int(part[i]) >= rec })
		if at >= len(part) || int(part[at]) != rec {
			at = slices.Index(part, int32(rec)) // parents may come after their children
		}
		if at >= 0 {
			return t.from + at
		}
	}
	return -1
}
