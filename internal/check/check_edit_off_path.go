package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var editOffPath = Check{
	Code:     "edit-off-path",
	Group:    "edits",
	Severity: Warning,
	Title:    "a context edit of an entry on another branch",
	About: "An edit acts on entries of its own path. Its target is on another branch, so nothing that " +
		"goes on from the edit has it.",
	Pi:   "The edit has no effect.",
	Help: "Append the edit to the branch of its target.",
	step: (*walk).editOffPath,
}

func (w *walk) editOffPath(step replay.Step) error {
	a, ok, err := w.aim(step)
	if ok && a.target >= 0 && !a.onPath && !w.ancestors().above(step.Record, a.target) { // an edit waits for what comes below it
		w.add(step.Record, "its target %s, on line %d, is on another branch", sessionfmt.Quote(a.id), w.s.Line(a.target))
	}
	return err
}
