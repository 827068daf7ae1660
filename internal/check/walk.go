package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"slices"
)

// A walk is one replay of a branch, with what the checks remember on the way.
type walk struct {
	*subject
	r     *replay.Replay
	lines *sessionfmt.Reader
	path  []int
	pos   int  // of the step on the path
	fresh bool // no other branch has had the step

	ordered bool // the path is in the order of the file
	patch   int  // the last transform named compaction, -1 for none
	tools   toolset
	next    []sent // the messages of the next request, once asked for
}

// walkBudget is how many steps all replays of a session take together, for each
// of its entries: where many branches share a long beginning, not all of them
// are replayed.
const walkBudget = 4

// replay replays the branches, the active one first, and checks each entry once.
func (x *subject) replay() {
	tips := x.tips()
	budget := walkBudget*x.s.Len() + 1000
	checked := make(bits, x.s.Len()/64+1)
	done := 0
	for k, tip := range tips {
		path, found := x.s.Path(tip)
		if k == 0 {
			x.take(found)
		}
		if budget -= len(path); budget < 0 && k > 0 {
			break
		}
		done++
		x.branch(tip, path, checked, k == 0)
	}
	if len(tips) > 1 {
		x.report.Branches = &Branches{All: len(tips), Replayed: done}
	}
}

// branch replays one branch. Where a patch stops the replay that is found, and
// the replay made again as the reference code would, to see what comes after it.
func (x *subject) branch(tip int, path []int, checked bits, active bool) {
	opt := replay.Options{Leaf: tip, Models: x.opt.Models}
	w := &walk{subject: x, path: path, lines: x.s.NewReader(), ordered: slices.IsSorted(path)}
	w.r = replay.New(x.s, opt)
	if active {
		x.report.Rules = w.r.Rules.String()
	}
	end, err := w.steps(checked)
	if err != nil {
		opt.Lenient = true
		strict := w.r
		w.r = replay.New(x.s, opt)
		w.tools = toolset{}
		if end, err = w.steps(checked); err != nil {
			x.take(strict.Findings)
			x.check = &unreadable
			x.addLine(0, "", "the replay fails: %s", reason(err))
			return
		}
	}
	x.take(slices.DeleteFunc(w.r.Findings, func(f sessionfmt.Finding) bool {
		return f.Code == "kept-no-message" && w.r.Rules == replay.ByPi // read alike by all who read it
	}))
	if !active || end == nil {
		return
	}
	for _, c := range checks {
		if c.leaf == nil || !x.opt.Choice[c.Code] {
			continue
		}
		x.check = c
		if err := c.leaf(w, end); err != nil {
			x.check = &unreadable
			x.addLine(0, "", "%s", reason(err))
		}
	}
}

// steps walks the branch, and hands each step to the checks. The envelope is the
// one at its end.
func (w *walk) steps(checked bits) (end *replay.Envelope, err error) {
	tip := -1
	if len(w.path) > 0 {
		tip = w.path[len(w.path)-1]
	}
	w.pos, w.patch = -1, -1
	for step, err := range w.r.Walk(tip) {
		if err != nil {
			return nil, err
		}
		w.pos++
		rec := step.Record
		w.fresh = !checked.has(rec)
		if rec == tip {
			end = step.Envelope()
		}
		if w.s.Kind(rec) == sessionfmt.Transform {
			line, err := w.lines.Line(rec)
			if err != nil {
				return nil, err
			}
			if line.Get("transformerName").Is("compaction") {
				w.patch = rec
			}
		}
		for _, c := range checks {
			if c.step == nil || !w.opt.Choice[c.Code] {
				continue
			}
			w.check = c
			if err := c.step(w, step); err != nil {
				return nil, err
			}
		}
		checked.set(rec)
	}
	return end, nil
}
