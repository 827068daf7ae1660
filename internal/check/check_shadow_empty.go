package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var shadowEmpty = Check{
	Code:     "shadow-empty",
	Group:    "compactions",
	Severity: Warning,
	Title:    "a compaction is the shadow of a patch that compacts nothing",
	About: "A compaction whose parent is a patch named `compaction` is taken for its shadow and skipped. " +
		"The patch has no `compaction_apply`, so nothing is compacted at all.",
	Pi:   "It applies the compaction: its context is smaller than that of the envelope rules.",
	Help: "Append a compaction that is right.",
	step: (*walk).shadowEmpty,
}

func (w *walk) shadowEmpty(step replay.Step) error {
	p, ok, err := w.pair(step)
	if ok && p.shadowed && p.op == nil {
		w.add(step.Record, "it is taken for the shadow of entry %s, whose patch compacts nothing", sessionfmt.Quote(w.s.ID(p.patch)))
	}
	return err
}
