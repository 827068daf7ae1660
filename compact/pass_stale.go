package compact

import (
	"fmt"

	"ctxtool/replay/tokens"
)

// StaleResults puts a placeholder in the place of tool results that many requests have
// been made with.
var StaleResults = Pass{
	Name:     "stale-results",
	About:    "replace tool results older than so many requests",
	System:   "ctxtool",
	Defaults: Options{Counter: &tokens.GSH, Requests: 10},
	run:      staleResults,
}

func staleResults(w *work) error {
	w.params = struct {
		Requests int `json:"requests"`
	}{w.Requests}
	requests := 0 // that a message has been sent with
	for i := len(w.Messages) - 1; i >= 0; i-- {
		m := &w.Messages[i]
		if !w.Live(i) {
			continue
		}
		if m.isAssistant() {
			requests++
		}
		k := m.result()
		if k < 0 || requests <= w.Requests {
			continue
		}
		if t := tokens.GSH.Of(m.Blocks[k].Bytes); t > pruneAbove {
			w.replaceResult(i, fmt.Sprintf("[output elided after %d requests, was ~%d tokens]", w.Requests, t), fmt.Sprintf("%d requests have had it", requests))
		}
	}
	return nil
}
