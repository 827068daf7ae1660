package compact

import (
	"errors"
	"fmt"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// Compact puts one summary in the place of the history before what stays, by the rules
// of one of the systems.
var Compact = Pass{
	Name:     "compact",
	About:    "summarise the history before what stays",
	System:   "gsh",
	Defaults: Options{Counter: &tokens.GSH, Style: StyleGSH, Retries: 1},
	run:      compactHistory,
}

// A Style is whose way a history is compacted in.
type Style string

// The styles.
const (
	StyleGSH    Style = "gsh"     // everything becomes one message
	styleSWECLI Style = "swe-cli" // all but the last messages
	styleYAgent Style = "y-agent" // the same, and an earlier summary is merged
	StylePi     Style = "pi"      // all but the last tokens, cut where pi would
)

// frame is what a summary stands in within the context, where the style has a frame.
func (s Style) frame(summary string) string {
	if s == StyleGSH {
		return "[Context compacted - previous conversation summary]\n\n" + summary
	}
	return summary
}

func compactHistory(w *work) error {
	w.params = struct {
		Style Style `json:"style"`
		Keep  int   `json:"keep"`
	}{w.Style, w.Keep}
	w.system = string(w.Style)
	if w.Style == StylePi {
		return compactPi(w)
	}
	r, rows := w.rangeOf()
	switch {
	case len(rows) == 0:
		w.skip = "nothing older than keep window"
		return nil
	case len(rows) == 1 && w.Messages[rows[0]].isSummary():
		w.skip = "nothing but a summary is left to summarise"
		return nil
	case !w.mayKeep(r):
		w.skip = "what stays cannot be named in this form"
		return nil
	}
	previous, err := w.previous(rows)
	if err != nil {
		return err
	}
	ask := Request{Style: w.Style, Part: historyPart, Messages: rows, Before: -1, After: -1, Previous: previous}
	if w.Summarize == nil {
		w.waits(ask)
		return nil
	}
	text, err := w.summary(ask)
	if errors.Is(err, ErrNoAnswer) {
		w.waits(ask)
		return nil
	}
	if err != nil {
		return err
	}
	why := "the whole history"
	if n := len(w.live()); n > len(rows) {
		why = fmt.Sprintf("the history before the last %d messages", n-len(rows))
	}
	w.summarise(r, text, w.Style.frame(text), why)
	return nil
}

// rangeOf is what a compaction that keeps so many messages takes out, and the messages
// of the request in it.
func (w *work) rangeOf() (r stretch, rows []int) {
	all := w.live()
	cached := len(all)
	for cached > 0 && !w.Messages[all[cached-1]].Cached {
		cached-- // nothing takes those out
	}
	all = all[:cached]
	keep := max(0, w.Keep)
	if w.Style == StyleGSH {
		keep = 0
	}
	_, end := w.safeRange(all, 0, keep)
	if end <= 0 {
		return r, nil
	}
	r = stretch{From: all[0], To: all[end-1] + 1, Kept: -1, Messages: end}
	if end < len(all) {
		r.To, r.Kept = all[end], w.Messages[all[end]].Origin.Record
	}
	return r, all[:end]
}

// safeRange is the range of messages before the last so many, given by their places in
// rows, that leaves no result without its call: the first group that it would part stays
// whole. end is start or less where there is none (spec/policies.md 3.9).
func (w *work) safeRange(rows []int, start, retain int) (from, end int) {
	end = len(rows) - retain
	place := map[int]int{}
	for k, i := range rows {
		place[i] = k
	}
	groups, _ := w.groups()
	for _, g := range groups {
		k, ok := place[g.call]
		if !ok || k >= end {
			continue
		}
		if n := len(g.results); n > 0 && place[g.results[n-1]] >= end {
			return start, k
		}
	}
	return start, end
}

// kindOf is what an entry is.
func (v *View) kindOf(rec int) sessionfmt.Kind { return v.Envelope.Replay().Session.Kind(rec) }
