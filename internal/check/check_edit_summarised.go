package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var editSummarised = Check{
	Code:     "edit-summarised",
	Group:    "edits",
	Severity: Warning,
	Title:    "a context edit of a message that was already summarised",
	About:    "A compaction had taken the message out of the context before the edit came.",
	Pi:       "The edit has no effect, on the messages or on the summary.",
	Help:     "Nothing has to be done.",
	step:     (*walk).editSummarised,
}

func (w *walk) editSummarised(step replay.Step) error {
	a, ok, err := w.aim(step)
	if ok && a.onPath && (a.omits || a.content) && step.Did == replay.Nothing && givesMessage(w.s.Kind(a.target)) {
		w.add(step.Record, "its target %s was no longer in the context", sessionfmt.Quote(a.id))
	}
	return err
}

// givesMessage says that entries of a kind put a message into the context.
func givesMessage(k sessionfmt.Kind) bool {
	switch k {
	case sessionfmt.CustomMessage, sessionfmt.BranchSummary, sessionfmt.Compaction:
		return true
	}
	return k.IsMessage() && k != sessionfmt.NoMessage
}
