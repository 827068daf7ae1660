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
	tip   int   // record
	path  []int // to it, where some check looks up it
	pos   int   // of the step on the path
	fresh bool  // no other branch has had the step

	ordered bool // the path is in the order of the file
	patch   int  // the last transform named compaction, -1 for none
	tools   toolset
	next    *request // once asked for
}

// The branches beside the active one are replayed as long as that takes no more
// steps together than the file has entries, or than small files always may: where
// many branches share a long beginning, not all of them are.
const smallBudget = 200_000

// replay replays the branches, the active one first.
func (x *subject) replay() {
	for _, c := range checks {
		if c.step != nil && x.opt.Choice[c.Code] {
			x.steps = append(x.steps, c)
		}
	}
	for i := range x.s.Len() {
		k := x.s.Kind(i)
		x.patched = x.patched || k == sessionfmt.Transform || k == sessionfmt.Ephemeral
		x.looksUp = x.looksUp || k == sessionfmt.Transform || k == sessionfmt.ContextEdit
	}
	tips := x.tips()
	checked := make(bits, x.s.Len()/64+1)
	budget := max(x.s.Len(), smallBudget)
	done := 0
	for k, tip := range tips {
		if k > 0 {
			budget -= x.depth(tip, budget)
		}
		if budget < 0 {
			break
		}
		done++
		x.branch(tip, checked, k == 0)
	}
	if len(tips) > 1 {
		x.report.Branches = &Branches{All: len(tips), Replayed: done}
	}
}

// depth is how many entries there are on the way up from a record, or a little more
// than most, if there are more than that.
func (x *subject) depth(tip, most int) (n int) {
	for i := tip; i >= 0 && n <= most; i = x.s.Parent(i) {
		n++
	}
	return n
}

// branch replays one branch. Where a patch stops the replay that is found, and
// the replay made again as the reference code would, to see what comes after it.
func (x *subject) branch(tip int, checked bits, active bool) {
	opt := replay.Options{Leaf: tip, Models: x.opt.Models}
	if !x.patched {
		opt.Rules = replay.ByPi
	}
	w := &walk{subject: x, tip: tip, lines: x.s.NewReader()}
	if x.looksUp {
		w.path, _ = x.s.Path(tip)
		w.ordered = slices.IsSorted(w.path)
	}
	w.r = replay.New(x.s, opt)
	if active {
		x.report.Rules = w.r.Rules.String()
	}
	end, err := w.through(checked)
	if err != nil {
		opt.Lenient = true
		strict := w.r
		w.r = replay.New(x.s, opt)
		w.tools = toolset{}
		if end, err = w.through(checked); err != nil {
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
	if x.report.has("edit-no-replacement") {
		x.throws = w.throws(end)
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

// throws says that the edit in force of a message in the context has no
// replacement (spec/pi-1.5.md 4.5).
func (w *walk) throws(end *replay.Envelope) bool {
	lacks := map[int]bool{} // by target
	for _, rec := range w.path {
		if w.s.Kind(rec) != sessionfmt.ContextEdit {
			continue
		}
		line, err := w.lines.Line(rec)
		if err != nil {
			return false
		}
		lacks[w.s.FindValue(line.Get("targetId"))] = !line.Get("replacement").Exists()
	}
	for m, err := range end.Sources(func(replay.Message) bool { return false }) {
		if err != nil {
			return false
		}
		if rec := m.Origin.Record; lacks[rec] && replaceable(w.s.Kind(rec)) {
			return true
		}
	}
	return false
}

// through walks the branch, and hands each step to the checks. The envelope is the
// one at its end.
func (w *walk) through(checked bits) (end *replay.Envelope, err error) {
	w.pos, w.patch = -1, -1
	for step, err := range w.r.Walk(w.tip) {
		if err != nil {
			return nil, err
		}
		w.pos++
		rec := step.Record
		w.fresh = !checked.has(rec)
		if rec == w.tip {
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
		for _, c := range w.subject.steps {
			w.check = c
			if err := c.step(w, step); err != nil {
				return nil, err
			}
		}
		checked.set(rec)
	}
	return end, nil
}
