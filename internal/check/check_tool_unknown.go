package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var toolUnknown = Check{
	Code:     "tool-unknown",
	Group:    "tools",
	Severity: Warning,
	Title:    "a call of a tool that the request did not have",
	About: "The envelope of the request holds the tools that the model was offered, and this one is not " +
		"among them. Found only where the session declares its tools.",
	Pi:   "It answers the call with an error.",
	Help: "Nothing, if it happens once. Else the prompt speaks of a tool that is no longer there.",
	step: (*walk).toolUnknown,
}

func (w *walk) toolUnknown(step replay.Step) error {
	calls, err := w.called(step)
	for _, c := range calls {
		if c.tool == nil {
			w.add(step.Record, "it calls %q, and the request had no such tool", sessionfmt.Quote(c.name))
		}
	}
	return err
}
