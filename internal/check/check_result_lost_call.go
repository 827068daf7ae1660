package check

import (
	"ctxtool/replay"
)

var resultLostCall = Check{
	Code:     "result-lost-call",
	Group:    "calls",
	Severity: Error,
	Title:    "a result that has lost its call in the context",
	About: "The file holds both, but an edit, a patch or a compaction has taken the call out of what is " +
		"sent, or its answer failed. Providers refuse such a request, and every later one.",
	Pi:   "It sends the result as it is, and the provider refuses it.",
	Help: "Omit the result with its call: `ctxtool edit SESSION POINT --omit` does both.",
	leaf: (*walk).resultLostCall,
}

func (w *walk) resultLostCall(e *replay.Envelope) error {
	r, err := w.request(e)
	if err != nil {
		return err
	}
	for _, rec := range r.results {
		if !holds(w.pairs().uncalled, rec) {
			w.add(rec, "it is in the next request, and its call is not")
		}
	}
	return nil
}
