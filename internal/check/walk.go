package check

import (
	"errors"
	"iter"
	"slices"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A walk is a replay of all branches, with the state of the checks.
type walk struct {
	*subject
	lines  *sessionfmt.Reader
	active *replay.Envelope // at the leaf
	broken bool             // a patch stopped the replay of a branch
	err    error            // the error that ended reading

	steps []func(*walk) // the functions of the chosen groups that check steps
	step  replay.Step
	tools toolset

	named map[int]bool // see namedCompaction
	next  *request     // of the active path; see request
}

// replay replays all branches, each entry once. If a patch stops the replay, the session is
// replayed again leniently, to check the entries after it.
func (x *subject) replay() {
	leaf := x.s.Leaf()
	x.report.Rules = replay.Auto.Decide(x.s, leaf).String()
	opt := replay.Options{Rules: replay.ByPi, Leaf: leaf, Models: x.opt.Models}
	if x.transformed() {
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
	for c := range x.chosen {
		if c.leaf == nil {
			continue
		}
		if c.leaf(w); w.err != nil {
			x.fails(w.err)
			return
		}
	}
}

// fails adds the finding that the session cannot be read.
func (x *subject) fails(err error) {
	x.check = Find("unreadable")
	pos := sessionfmt.Pos{}
	if at, ok := errors.AsType[*sessionfmt.Error](err); ok {
		pos, err = at.Pos, at.Err
	}
	x.addAt(pos, "%s", err)
}

// walk replays the branches with these options, and calls the checks with each step. It
// returns nil after an error of reading.
func (x *subject) walk(opt replay.Options) *walk {
	w := &walk{subject: x, lines: x.s.NewReader(), tools: newToolset()}
	if c := x.s.Reading().Certainty; c != nil {
		w.tools.absent = c.Tools == "absent"
	}
	for _, g := range Groups {
		if g.step != nil && x.opt.Choice.any(func(c *Check) bool { return c.Group == g.Name }) {
			w.steps = append(w.steps, g.step)
		}
	}
	r := replay.New(x.s, opt)
	var watch []replay.Observer
	for c := range x.chosen {
		if c.watch != nil {
			watch = append(watch, c.watch(w, r))
		}
	}
	branched := slices.ContainsFunc(x.leaves(), func(i int) bool { return i != x.s.Leaf() })
	if branched && !w.follow(r.WalkTree(x.tree(), watch...)) {
		return nil
	}
	// A walk of the tree skips the descendants of a parent cycle.
	if w.active == nil && !w.broken && !w.follow(r.Walk(x.s.Leaf(), watch...)) {
		return nil
	}
	x.take(slices.DeleteFunc(r.Findings, func(f sessionfmt.Finding) bool {
		return f.Code == "kept-no-message" && opt.Rules == replay.ByPi // every reader treats it alike
	}))
	return w
}

// follow calls the checks with the steps. It returns false after an error of reading.
func (w *walk) follow(steps iter.Seq2[replay.Step, error]) bool {
	for step, err := range steps {
		if replay.Stopped(err) {
			w.broken = true
			continue
		}
		if w.err = err; err == nil {
			w.visit(step)
		}
		if w.err != nil {
			w.fails(w.err)
			return false
		}
	}
	return true
}

// visit calls the checks with a step.
func (w *walk) visit(step replay.Step) {
	if step.Record == w.s.Leaf() {
		w.active = step.Envelope()
	}
	w.step = step
	for _, look := range w.steps {
		if look(w); w.err != nil {
			return
		}
	}
}

// found adds a finding at the step's record if its check is chosen.
func (w *walk) found(code, format string, args ...any) {
	if w.check = Find(code); w.opt.Choice.has(code) {
		w.add(w.step.Record, format, args...)
	}
}

// line returns the line of a record. An error of reading ends the walk.
func (w *walk) line(rec int) (line jsonl.Value, ok bool) {
	line, w.err = w.lines.Line(rec)
	return line, w.err == nil
}

// transformed reports whether the session has entries of the envelope rules.
func (x *subject) transformed() bool {
	for i := range x.s.Len() {
		if k := x.s.Kind(i); k == jsonl.Transform || k == jsonl.Ephemeral {
			return true
		}
	}
	return false
}
