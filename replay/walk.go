package replay

import (
	"iter"
	"maps"
	"slices"

	"ctxtool/internal/base/work"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/rule"
)

// A Step is the effect of one entry.
type Step struct {
	Record int // record of the entry
	Did    Effect
	// Before and After are the numbers of cached messages of the request.
	Before, After int

	m *machine
}

// Watch returns the observers on the step's own branch, in the order in which the walk got
// them.
func (s Step) Watch() []Observer { return s.m.watch }

// Altered returns the place on the path of the last entry that changed messages sent before, -1 if
// there is none.
func (s Step) Altered() int { return s.m.altered }

// Changed returns the last change on the path that did more than append a message, nil if there is none.
func (s Step) Changed() *Change { return s.m.last }

// Place returns the place of the entry on the path.
func (s Step) Place() int { return s.m.path.len() - 1 }

// Requests returns the number of answers so far.
func (s Step) Requests() int { return s.m.request }

// Answers returns the number of the request that the entry answers, from 0; -1 if it answers none.
func (s Step) Answers() int {
	if s.Did != Added || !s.m.r.Session.Answers(s.Record) {
		return -1
	}
	return s.m.request - 1
}

// Leaf returns the last entry replayed, -1 before the first.
func (s Step) Leaf() int {
	if s.m.pos < 0 {
		return -1
	}
	return s.m.path.at(s.m.pos)
}

// ModelBy returns the last record that set the path's model, -1 for none.
func (s Step) ModelBy() int { return s.m.model }

// ThinkingBy returns the last record that set the thinking level, -1 for none.
func (s Step) ThinkingBy() int { return s.m.thinking }

// Envelope returns the envelope after the step. It is a snapshot, but has to be taken before
// the walk continues.
func (s Step) Envelope() *Envelope { return s.m.envelope() }

// An Effect is what a step did to the envelope.
type Effect uint8

// The effects of steps.
const (
	Nothing   Effect = iota
	Added            // a message was appended
	Edited           // an edit changed messages of the context
	Compacted        // a compaction replaced the history, as an entry or as a patch
	Patched          // a transform's patch was applied
	Settings         // the model or the thinking level changed
)

// String returns the name of the effect.
func (e Effect) String() string {
	return [...]string{"nothing", "added", "edited", "compacted", "patched", "settings"}[e]
}

// An Observer receives the requests of a walk. Where branches part, the walk forks it.
type Observer interface {
	// Request is called for each answer. The step's envelope is what its request got.
	Request(Step) error
	// Fork returns the observer for another branch, which continues from the state of from, at
	// to.
	Fork(from, to Step) Observer
}

// Walk replays the path to record leaf, step by step from the root. An error ends the walk. It
// is a *sessionfmt.Error with the entry at which the replay stopped, and comes with a step
// whose envelope is the one before that entry. Findings are added to r.Findings.
func (r *Replay) Walk(leaf int, watch ...Observer) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		path, found := r.Session.Path(leaf)
		r.Findings = append(r.Findings, found...)
		r.Along(path, watch...)(yield)
	}
}

// Along replays a path, given root first.
func (r *Replay) Along(path []int, watch ...Observer) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		w := r.Start(watch...)
		way := make([]int32, len(path)) // which halves the memory
		for i, rec := range path {
			way[i] = int32(rec)
		}
		path = nil
		w.m.path.own = way[:0]
		for _, rec := range way {
			if step, err := w.Next(int(rec)); !yield(step, err) || err != nil {
				return
			}
		}
	}
}

// WalkTree replays the whole tree, each entry once, parents before children. The machine forks at each branch.
// A step's envelope is that of its own path, as with Walk. An error ends its branch, and the walk continues
// with the next. Entries below a parent cycle are left out.
func (r *Replay) WalkTree(t *sessionfmt.Tree, watch ...Observer) iter.Seq2[Step, error] {
	return newMachine(r, watch...).tree(t)
}

// tree is WalkTree from the state of a machine.
func (m *machine) tree(t *sessionfmt.Tree) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		for _, root := range t.Roots {
			if up := m.r.Session.Parent(root); up >= 0 {
				continue // its parents form a cycle
			}
			if !m.fork().below(t, root, yield) {
				return
			}
		}
	}
}

// below visits a record and all entries below it. It continues with the largest child and forks
// for the others, so forks are few and short, and nest no deeper than the logarithm of their
// number.
func (m *machine) below(t *sessionfmt.Tree, rec int, yield func(Step, error) bool) bool {
	for {
		step, err := m.advance(rec)
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
			if c != on && !m.fork().below(t, c, yield) {
				return false
			}
		}
		rec = on
	}
}

// advance applies the next entry of the path, and returns its step.
func (m *machine) advance(rec int) (Step, error) {
	work.Step()
	m.path.push(rec)
	before := m.current().msgs.shown
	did, by := m.step(m.path.len()-1, rec)
	switch d := m.r.Session.Dialect(); {
	case d == nil:
		m.used |= rule.Of(by)
	case m.r.Session.Held(rec): // the agent has no rule for what is tried on its session, so pi's applies
		m.used |= rule.Of(rule.Unread)
	default:
		m.used = d.Rules.Then(m.used, m.r.Session.RulesOf(rec))
	}
	if m.err != nil {
		m.pos = m.path.len() - 2
	}
	return Step{Record: rec, Did: did, Before: before, After: m.current().msgs.shown, m: m}, m.err
}

// fork returns a copy of the machine for another branch.
func (m *machine) fork() *machine {
	next := *m
	next.path = m.path.fork()
	next.base = *m.base.fork()
	if m.cut != nil {
		next.cut = m.cut.fork()
	}
	next.version = nil
	next.edits = maps.Clone(m.edits)
	next.early, next.declared = slices.Clip(m.early), slices.Clip(m.declared)
	next.transforms = slices.Clip(m.transforms)
	next.prompt = m.prompt.Fork(Step{m: m}, Step{m: &next})
	next.watch = make([]Observer, len(m.watch))
	for i, o := range m.watch {
		next.watch[i] = o.Fork(Step{m: m}, Step{m: &next})
	}
	if m.cutter != nil {
		own := *m.cutter
		next.cutter = &own
	}
	return &next
}

// fork returns an independent copy of the state.
func (s *state) fork() *state {
	next := *s
	next.msgs.systems = slices.Clip(s.msgs.systems)
	next.uncached = slices.Clip(s.uncached)
	next.deltas = slices.Clip(s.deltas)
	return &next
}

// OnChange makes the walk call a function after each change of the context, by an entry or by an op of its patch.
func (w *Walk) OnChange(changed func(Step, *Change) error) { w.m.changed = changed }
