package check

import (
	"iter"
	"slices"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A walk is a replay of all branches, with what the checks remember on the way.
type walk struct {
	*subject
	lines  *sessionfmt.Reader
	active *replay.Envelope // at the leaf
	broken bool             // a patch stopped the replay of a branch

	tools toolset
	aimed aim
	next  *request // of the active path, once asked for
}

// replay replays all branches, each entry once. Where a patch stops that, it is
// replayed again as the reference code would, to see what comes after it.
func (x *subject) replay() {
	for _, c := range checks {
		if c.step != nil && x.opt.Choice[c.Code] {
			x.steps = append(x.steps, c)
		}
	}
	leaf := x.s.Leaf()
	x.report.Rules = replay.Auto.Decide(x.s, leaf).String()
	opt := replay.Options{Rules: replay.ByPi, Leaf: leaf, Models: x.opt.Models}
	if x.hasKind(sessionfmt.Transform) || x.hasKind(sessionfmt.Ephemeral) {
		opt.Rules = replay.ByEnvelope
	}
	w := x.walk(opt)
	if w != nil && w.broken {
		opt.Lenient = true
		w = x.walk(opt)
	}
	if w == nil || w.active == nil {
		return
	}
	for _, c := range checks {
		if c.leaf == nil || !x.opt.Choice[c.Code] {
			continue
		}
		x.check = c
		if err := c.leaf(w, w.active); err != nil {
			x.fails(err)
			return
		}
	}
}

// fails finds that the session cannot be read any more.
func (x *subject) fails(err error) {
	x.check = &unreadable
	x.addLine(0, "", "%s", reason(err))
}

// walk replays the branches by those options, and hands each step to the checks.
// It is nil where the session cannot be read any more.
func (x *subject) walk(opt replay.Options) *walk {
	w := &walk{subject: x, lines: x.s.NewReader(), aimed: aim{record: -1}}
	r := replay.New(x.s, opt)
	if len(x.tips()) > 1 && !w.follow(r.WalkTree(x.tree())) {
		return nil
	}
	// A walk of the tree leaves out what hangs on a circle of parents.
	if w.active == nil && !w.broken && !w.follow(r.Walk(x.s.Leaf())) {
		return nil
	}
	x.take(slices.DeleteFunc(r.Findings, func(f sessionfmt.Finding) bool {
		return f.Code == "kept-no-message" && opt.Rules == replay.ByPi // read alike by all who read it
	}))
	return w
}

// follow hands steps to the checks. It is false where the session cannot be read
// any more.
func (w *walk) follow(steps iter.Seq2[replay.Step, error]) bool {
	for step, err := range steps {
		if replay.Stopped(err) {
			w.broken = true
			continue
		}
		if err == nil {
			err = w.step(step)
		}
		if err != nil {
			w.fails(err)
			return false
		}
	}
	return true
}

// step hands a step to the checks.
func (w *walk) step(step replay.Step) error {
	if step.Record == w.s.Leaf() {
		w.active = step.Envelope()
	}
	for _, c := range w.steps {
		w.check = c
		if err := c.step(w, step); err != nil {
			return err
		}
	}
	return nil
}

// hasKind says that there are entries of a kind.
func (x *subject) hasKind(k sessionfmt.Kind) bool {
	for i := range x.s.Len() {
		if x.s.Kind(i) == k {
			return true
		}
	}
	return false
}
