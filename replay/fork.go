package replay

import (
	"iter"
	"maps"
	"slices"

	"ctxtool/sessionfmt"
)

// WalkTree replays the whole tree, each entry once, parents before children: where
// paths part, so does the machine. A step's envelope is that of its own path, as
// Walk would give it. An error ends the branch that it is on, and the walk goes on
// with the next; what is below a circle of parents is left out.
func (r *Replay) WalkTree(t *sessionfmt.Tree) iter.Seq2[Step, error] {
	return r.walkTree(t, func(*machine) {})
}

// walkTree is WalkTree with a machine for each root that is made ready first.
func (r *Replay) walkTree(t *sessionfmt.Tree, ready func(m *machine)) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		for _, root := range t.Roots {
			if up := r.Session.Parent(root); up >= 0 {
				continue // its parents go round in a circle
			}
			m := newMachine(r, nil)
			ready(m)
			if !r.below(t, m, root, yield) {
				return
			}
		}
	}
}

// below goes down from a record, which m is about to do. It goes on where most of
// the entries are, and forks for the other ways: so forks are few and short, and
// nest no deeper than the logarithm of their number.
func (r *Replay) below(t *sessionfmt.Tree, m *machine, rec int, yield func(Step, error) bool) bool {
	for {
		m.path.push(rec)
		step, err := m.does(m.path.len()-1, rec)
		if !yield(step, err) {
			return false
		}
		if err != nil {
			return true
		}
		on := -1
		for c := range t.Children(rec) {
			if on < 0 || t.Size(c) > t.Size(on) {
				on = c
			}
		}
		if on < 0 {
			return true
		}
		for c := range t.Children(rec) {
			if c != on && !r.below(t, m.fork(), c, yield) {
				return false
			}
		}
		rec = on
	}
}

// fork is a copy of a machine that goes another way.
func (m *machine) fork() *machine {
	next := *m
	next.path = m.path.fork()
	next.base = *m.base.fork()
	if m.cut != nil {
		next.cut = m.cut.fork()
	}
	next.edits = maps.Clone(m.edits)
	next.where = map[*state]map[int32]int{}
	next.transforms = slices.Clip(m.transforms)
	next.prompt = m.prompt.fork(m.now().deltas, next.now().deltas)
	if m.asked != nil {
		next.asked = m.asked.fork()
	}
	if m.cuts != nil {
		cuts := *m.cuts
		if cuts.patched != nil {
			cuts.patched = cuts.patched.fork()
		}
		next.cuts = &cuts
	}
	return &next
}

// fork is a copy of a state that goes its own way.
func (s *state) fork() *state {
	next := *s
	next.msgs.chunks = slices.Clone(s.msgs.chunks)
	if last := len(next.msgs.chunks) - 1; last >= 0 { // the others are full: nobody pushes there
		chunk := *next.msgs.chunks[last]
		next.msgs.chunks[last] = &chunk
	}
	next.uncached = slices.Clone(s.uncached)
	next.deltas = slices.Clone(s.deltas)
	return &next
}
