package compact

import (
	"errors"
	"fmt"

	"ctxtool/replay/tokens"
)

// Progressive summarises finished pieces of work, the oldest first, as y-agent does
// (spec/policies.md 3.7). Each becomes one answer in the place of its first message.
var Progressive = Pass{
	Name:     "progressive",
	About:    "summarise finished pieces of work one by one",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YBytes, MinTokens: growth, Retries: 2},
	run:      progressive,
}

// growth is how many tokens y-agent wants before it prunes.
const growth = 2000

const (
	sequenceFrom  = 4 // messages that a piece of work has at least
	sequenceLooks = 3 // messages before it among which the user's may be that led to it

	progressivePrefix = "[Pruning Summary] "
)

func progressive(w *work) error {
	w.params = struct {
		MinTokens int `json:"min_tokens"`
	}{w.MinTokens}
	found := sequences(w.View)
	event := yPruning{Strategy: "progressive"}
	for _, r := range found {
		for _, i := range r.Messages {
			event.TokensBefore += w.Messages[i].Tokens(&tokens.YBytes)
		}
	}
	event.TokensAfter = event.TokensBefore
	switch {
	case len(found) == 0:
		w.skip, event.Skipped = "no finished piece of work", true
	case event.TokensBefore < w.MinTokens:
		w.skip, event.Skipped = "the candidates have fewer tokens than are worth a run", true
	case w.Summarize == nil:
		w.waits(found...)
		event.Skipped = true
	}
	var open []Request
	for _, r := range found {
		if event.Skipped {
			break
		}
		if !w.may(Replace, r.Messages[0]) || !w.mayAll(Omit, r.Messages[1:]) {
			continue
		}
		text, err := w.summary(r)
		switch {
		case errors.Is(err, ErrMovedOn):
			return err
		case errors.Is(err, ErrNoAnswer):
			open = append(open, r)
			continue
		case err != nil: // it stays as it is, and the others are tried
			w.skip = err.Error()
			continue
		}
		for _, i := range r.Messages {
			event.TokensAfter -= w.Messages[i].Tokens(&tokens.YBytes)
		}
		event.TokensAfter += tokensOf(&tokens.YBytes, w.length(text))
		event.MessagesPruned += len(r.Messages)
		event.SummaryInserted = true
		w.replaceMessage(r.Messages[0], progressivePrefix+text, fmt.Sprintf("a finished piece of work of %d messages", len(r.Messages)))
		for _, i := range r.Messages[1:] {
			w.omit(i, "summarised in the answer before it")
		}
	}
	if len(open) > 0 {
		w.waits(open...)
	}
	event.TokensSaved = max(0, event.TokensBefore-event.TokensAfter)
	w.events = append(w.events, event)
	return nil
}

// sequences are the finished pieces of work of a context, as requests for summaries:
// answers each followed by results, up to an answer that is not, or the user. What is
// still going on is none, nor what would part calls from results.
func sequences(v *View) (all []Request) {
	rows := v.live()
	groups, of := v.groups()
	start := -1 // of the sequence at hand, in rows
	end := func(n int) {
		from := start
		if start = -1; from < 0 || n-from < sequenceFrom || !v.whole(rows[from:n], groups, of) {
			return
		}
		r := Request{Style: styleYAgent, Part: sequencePart, Messages: rows[from:n:n], Before: -1, After: -1}
		for k := max(0, from-sequenceLooks); k < from && r.Before < 0; k++ {
			if v.Messages[rows[k]].isUser() {
				r.Before = rows[k]
			}
		}
		if v.Messages[rows[n]].isAssistant() {
			r.After = rows[n]
		}
		all = append(all, r)
	}
	for n, i := range rows {
		switch m := &v.Messages[i]; {
		case m.isUser():
			end(n)
		case m.isResult():
		case n+1 < len(rows) && v.Messages[rows[n+1]].isResult():
			if start < 0 {
				start = n
			}
		default:
			end(n)
		}
	}
	return all
}

// whole says that messages hold every group of which they hold a part, no call that waits
// for its result, and no result of a call that is elsewhere.
func (v *View) whole(messages []int, groups []group, of []int) bool {
	in := map[int]bool{}
	for _, i := range messages {
		in[i] = true
	}
	for _, i := range messages {
		switch {
		case of[i] < 0:
			continue
		case v.open(&groups[of[i]]):
			return false
		}
		for _, k := range groups[of[i]].all() {
			if !in[k] {
				return false
			}
		}
	}
	return true
}
