package compact

import (
	"fmt"

	"ctxtool/replay/tokens"
)

// Prune puts a placeholder in the place of old tool results, as gsh does: the latest
// ones stay, as many as are behind a window of tokens (spec/policies.md 1.4).
var Prune = Pass{
	Name:     "prune",
	About:    "replace old tool results beyond a window of recent ones",
	System:   "gsh",
	Defaults: Options{Counter: &tokens.GSH, Protect: 40000},
	run:      prune,
}

// pruneAbove is the size that a result has to be over to be worth a placeholder, tokens.
const pruneAbove = 100

func prune(w *work) error {
	w.params = struct {
		Protect int `json:"protect"`
	}{w.Protect}
	seen := 0
	for i := len(w.Messages) - 1; i >= 0; i-- {
		k := w.Messages[i].result()
		if !w.Live(i) || k < 0 {
			continue
		}
		t := tokens.GSH.Of(w.Messages[i].Blocks[k].Bytes)
		if seen > w.Protect && t > pruneAbove {
			w.replaceResult(i, fmt.Sprintf("[output pruned, was ~%d tokens]", t), fmt.Sprintf("behind %d tokens of later results", seen))
		}
		seen += t
	}
	return nil
}
