package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var shadowDiffers = Check{
	Code:     "shadow-differs",
	Group:    "compactions",
	Severity: Warning,
	Title:    "a compaction and the patch it shadows say different things",
	About: "The two are one event for two kinds of readers, but their summaries differ: those readers see " +
		"different contexts.",
	Pi:   "It shows the summary of the compaction; the envelope rules show that of the patch.",
	Help: "Append a compaction that is right.",
	step: (*walk).shadowDiffers,
}

func (w *walk) shadowDiffers(step replay.Step) error {
	p, ok, err := w.pair(step)
	if ok && p.shadowed && p.op != nil && p.op.Get("summary").Text() != p.summary {
		w.add(step.Record, "its summary is not that of the patch it shadows, entry %s", sessionfmt.Quote(w.s.ID(p.patch)))
	}
	return err
}
