package check

import (
	"errors"
	"iter"
	"slices"

	"ctxtool/internal/read/ops"
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
	sends *outgoing    // likewise; see outgoing
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
	w := &walk{subject: x, lines: x.s.NewReader(),
		tools: toolset{byName: map[string]*tool{}, bySpec: map[string]*tool{}}}
	if c := x.s.Reading().Certainty; c != nil {
		w.tools.absent = c.Tools == "absent"
	}
	for _, g := range Groups() {
		if steps[g.Name] != nil && x.opt.Choice.any(func(c *Check) bool { return c.Group == g.Name }) {
			w.steps = append(w.steps, steps[g.Name])
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
	if w.active != nil {
		if _, err := w.active.Reading(); err != nil { // which finds the fields that nothing reads
			x.fails(err)
			return nil
		}
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

// edit checks the context edit of the step against its target. An edit whose target follows
// it is not checked.
func (w *walk) edit() {
	rec := w.step.Record
	if w.s.Kind(rec) != jsonl.ContextEdit {
		return
	}
	line, ok := w.line(rec)
	if !ok {
		return
	}
	id, replacement := line.Get("targetId").Text(), line.Get("replacement")
	target, name := w.s.Find(id), sessionfmt.Quote(id)
	if target < 0 {
		w.found("edit-unknown", "its target %q is not in the file", name)
		return
	}
	if up := w.ancestors(); target == rec || !up.above(target, rec) {
		if !up.above(rec, target) {
			w.found("edit-off-path", "its target %s, on line %d, is on another branch", name, w.s.Line(target))
		}
		return
	}
	k, content := w.s.Kind(target), replacement.Get("content").Exists()
	switch usable := content || replacement.Exists() && replacement.IsNull(); {
	case !givesMessage(k):
		w.found("edit-no-effect", "its target %s is a %s, which is no part of the context", name, k)
		return
	case usable && w.step.Did == replay.Nothing:
		w.found("edit-summarised", "its target %s was no longer in the context", name)
	}
	if content && !k.Replaceable() {
		w.found("edit-no-effect", "its target %s is a %s, whose content no edit replaces", name, k)
	}
}

// givesMessage reports whether entries of a kind add a message to the context.
func givesMessage(k jsonl.Kind) bool {
	switch k {
	case jsonl.CustomMessage, jsonl.BranchSummary, jsonl.Compaction:
		return true
	}
	return k.IsMessage() && k != jsonl.NoMessage
}

// shadow checks the compaction of the step against the patch named compaction before it on
// the path. It repeats the patch if there are only labels between the two.
func (w *walk) shadow() {
	rec := w.step.Record
	if w.s.Kind(rec) != jsonl.Compaction {
		return
	}
	named := w.namedCompaction()
	if len(named) == 0 || w.err != nil {
		return
	}
	up, shadowed := w.s.Parent(rec), true
	for steps := 0; up >= 0 && !named[up] && steps < w.s.Len(); steps++ { // a cycle of parents has no end
		shadowed = shadowed && w.s.Kind(up) == jsonl.Label
		up = w.s.Parent(up)
	}
	if !named[up] {
		return
	}
	line, ok := w.line(rec)
	summary := line.Get("summary").Text()
	if ok {
		line, ok = w.line(up)
	}
	if !ok {
		return
	}
	op, applies := ops.Compacts(line)
	patch, same := sessionfmt.Quote(w.s.ID(up)), op.Get("summary").Text() == summary
	switch {
	case !shadowed && applies && same:
		w.found("shadow-broken",
			"it repeats the patch of entry %s, but other entries stand between the two: both are applied", patch)
	case shadowed && !applies:
		w.found("shadow-empty", "it is taken for the shadow of entry %s, whose patch compacts nothing", patch)
	case shadowed && !same:
		w.found("shadow-differs", "its summary is not that of the patch it shadows, entry %s", patch)
	}
}

// namedCompaction returns the transforms whose name makes a later compaction their shadow.
func (w *walk) namedCompaction() map[int]bool {
	if w.named != nil {
		return w.named
	}
	w.named = map[int]bool{}
	for i := range w.s.Len() {
		if w.s.Kind(i) == jsonl.Transform && w.err == nil {
			if line, _ := w.line(i); line.Get("transformerName").Is("compaction") {
				w.named[i] = true
			}
		}
	}
	return w.named
}
