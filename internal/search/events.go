package search

import (
	"cmp"
	"slices"
)

// An events is the events that were found, in their order: the newest if only some are kept.
type events struct {
	kept   []Hit
	most   int // that are kept; 0 for all
	all    int // that were found
	longer int // of all, those with a word of the query in longer words only
}

// add adds others, and drops what cannot be among the newest, many at a time.
func (e *events) add(more *events) {
	e.kept, e.all, e.longer = append(e.kept, more.kept...), e.all+more.all, e.longer+more.longer
	if e.most > 0 && len(e.kept) > 8*e.most+1000 {
		e.sort()
		slices.Reverse(e.kept)
	}
}

// sort sorts them, the newest first, and of equal times the last one. What has a word of the query
// in longer words only comes after the others.
func (e *events) sort() {
	slices.Reverse(e.kept)
	slices.SortStableFunc(e.kept, func(a, b Hit) int {
		if a.longer == b.longer {
			return cmp.Compare(b.Event.at, a.Event.at)
		}
		if a.longer {
			return 1
		}
		return -1
	})
	if e.most > 0 && len(e.kept) > e.most {
		clear(e.kept[e.most:])
		e.kept = e.kept[:e.most]
	}
}

// list returns the events that are kept, the newest first, and how many there are. Those with a
// word of the query in longer words only count if there are no others.
func (e *events) list() (kept []Hit, all int) {
	e.sort()
	if e.longer == e.all {
		return e.kept, e.all
	}
	return slices.DeleteFunc(e.kept, func(h Hit) bool { return h.longer }), e.all - e.longer
}
