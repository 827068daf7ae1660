package check

import (
	"ctxtool/replay"
)

var callLostResult = Check{
	Code:     "call-lost-result",
	Group:    "calls",
	Severity: Error,
	Title:    "a call that has lost its result in the context",
	About: "The file holds both, but an edit, a patch or a compaction has taken the result out of what is " +
		"sent.",
	Pi:   "It sends `No result provided` as an error in place of the result.",
	Help: "Omit the call with its result: `ctxtool edit SESSION POINT --omit` does both.",
	leaf: (*walk).callLostResult,
}

func (w *walk) callLostResult(e *replay.Envelope) error {
	r, err := w.request(e)
	if err != nil {
		return err
	}
	for _, rec := range r.calls {
		if !holds(w.pairs().unanswered, rec) {
			w.add(rec, "its call is in the next request, and the result is not")
		}
	}
	return nil
}
