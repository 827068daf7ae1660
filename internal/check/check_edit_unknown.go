package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var editUnknown = Check{
	Code:     "edit-unknown",
	Group:    "edits",
	Severity: Warning,
	Title:    "a context edit of an entry that is not in the file",
	About:    "The target does not exist.",
	Pi:       "The edit has no effect.",
	Help:     "Nothing has to be done; an edit of the right entry takes its place.",
	step:     (*walk).editUnknown,
}

// An aim is what a context edit aims at.
type aim struct {
	record  int // of the edit
	id      string
	target  int // record, -1 where there is none of that id
	onPath  bool
	omits   bool // its replacement is null
	content bool // its replacement has content
}

// aim reads the context edit of a step, once for all checks.
func (w *walk) aim(step replay.Step) (a aim, ok bool, err error) {
	if w.s.Kind(step.Record) != sessionfmt.ContextEdit {
		return a, false, nil
	}
	if w.aimed.record == step.Record {
		return w.aimed, true, nil
	}
	line, err := w.lines.Line(step.Record)
	if err != nil {
		return a, false, err
	}
	a.record, a.id = step.Record, line.Get("targetId").Text()
	a.target = w.s.Find(a.id)
	a.onPath = a.target >= 0 && a.target != step.Record && w.ancestors().above(a.target, step.Record)
	r := line.Get("replacement")
	a.omits = r.Exists() && r.IsNull()
	a.content = r.Get("content").Exists()
	w.aimed = a
	return a, true, nil
}

func (w *walk) editUnknown(step replay.Step) error {
	a, ok, err := w.aim(step)
	if ok && a.target < 0 {
		w.add(step.Record, "its target %q is not in the file", sessionfmt.Quote(a.id))
	}
	return err
}
