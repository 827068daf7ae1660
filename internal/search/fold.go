package search

import (
	"cmp"
	"slices"
)

// foldParts is in how many parts hits are folded, by their hashes, to save memory.
const foldParts = 8

// A place is where a hit is.
type place struct {
	key      uint64
	in, hits int32
}

// fold removes hits whose text an earlier one has, of forks, copies and repeated reads.
func (r *Results) fold() {
	var all []place
	for part := range uint64(foldParts) {
		all = all[:0]
		for i, s := range r.Sessions {
			for k := range s.found {
				if key := s.found[k].key; key%foldParts == part {
					all = append(all, place{key, int32(i), int32(k)})
				}
			}
		}
		r.mark(all)
	}
	for _, s := range r.Sessions {
		s.drop(func(f *found) bool { return f.copies == folded })
	}
	r.Sessions = slices.DeleteFunc(r.Sessions, func(s *Session) bool { return len(s.found) == 0 })
}

// mark marks the hits that are folded. Of equal times the first file has the original.
func (r *Results) mark(all []place) {
	at := func(p place) *found { return &r.Sessions[p.in].found[p.hits] }
	slices.SortFunc(all, func(a, b place) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return cmp.Or(cmp.Compare(at(a).time, at(b).time), cmp.Compare(a.in, b.in), cmp.Compare(at(a).at, at(b).at))
	})
	var first *found
	for _, p := range all {
		f := at(p)
		if first == nil || first.key != p.key {
			first = f
			r.Found++
			continue
		}
		first.copies++
		f.copies = folded
		r.Copies++
	}
}

// folded marks a hit that is folded into another.
const folded = -1

// drop removes hits, with the counts of their terms.
func (s *Session) drop(out func(f *found) bool) {
	n, terms := 0, len(s.counts)/max(1, len(s.found))
	for i := range s.found {
		if !out(&s.found[i]) {
			s.found[n] = s.found[i]
			copy(s.counts[n*terms:(n+1)*terms], s.counts[i*terms:])
			n++
		}
	}
	s.found, s.counts = slices.Clip(s.found[:n]), s.counts[:n*terms]
}
