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
	About:    "An edit acts on entries above it. Its target is not among them.",
	Pi:       "The edit has no effect.",
	Help:     "Append the edit to the branch of its target.",
	step:     (*walk).editOffPath,
}

func (w *walk) editOffPath(step replay.Step) error {
	a, ok, err := w.aim(step)
	if ok && a.target >= 0 && !a.onPath {
		w.add(step.Record, "its target %s, on line %d, is not above it", sessionfmt.Quote(a.id), w.s.Line(a.target))
	}
	return err
}
