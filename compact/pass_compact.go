package compact

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
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
func (v *View) kindOf(rec int) jsonl.Kind { return v.Envelope.Replay().Session.Kind(rec) }

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

// whole reports that messages hold every group of which they hold a part, no call that waits
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

// MergeNotes puts what earlier answers said beside their tool calls in front of the last
// answer, and takes those answers and all earlier results out, as y-agent does where it
// is told to (spec/policies.md 3.10). If one of them said nothing, nothing is done. Results
// without a call stay.
var MergeNotes = Pass{
	Name:     "merge-notes",
	About:    "merge the notes beside earlier tool calls into the last answer, and drop the calls",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YBytes},
	run:      mergeNotes,
}

func mergeNotes(w *work) error {
	w.params = struct{}{}
	last := w.lastAnswer()
	if last < 0 {
		return nil
	}
	groups, of := w.groups()
	if of[last] >= 0 && w.open(&groups[of[last]]) {
		w.skip = "the last answer waits for results, and what it thought is signed for them"
		return nil
	}
	var notes []string
	var gone []int
	for i := range last {
		switch {
		case !w.Live(i) || of[i] < 0 || w.open(&groups[of[i]]): // what waits for its result goes on waiting
		case w.Messages[i].isResult():
			gone = append(gone, i)
		default:
			note, err := w.said(i)
			if err != nil {
				return err
			}
			note, _ = stripTags(note)
			if note = strings.TrimSpace(note); note == "" {
				w.skip = "an answer with calls says nothing beside them"
				return nil
			}
			notes = append(notes, note)
			gone = append(gone, i)
		}
	}
	if len(notes) == 0 {
		return nil
	}
	if !w.mayAll(Omit, gone) || !w.may(Replace, last) {
		w.skip = "what it would take out cannot be stored in this form"
		return nil
	}
	for _, i := range gone {
		w.omit(i, "its note is in the last answer")
	}
	return w.putNotes(last, notes)
}

// putNotes puts notes in front of what an answer says. Its thinking goes: it is signed
// for other words.
func (w *work) putNotes(last int, notes []string) error {
	text, err := w.said(last)
	if err != nil {
		return err
	}
	if text != "" {
		notes = append(notes, text)
	}
	all := strings.Join(notes, "\n\n")
	w.change(Change{Message: last, Block: -1, Action: Replace, Text: all, Why: fmt.Sprintf("the notes of %d earlier answers", len(notes))}, func(m *message) {
		m.Blocks = slices.DeleteFunc(m.Blocks, func(b block) bool { return b.Kind == textBlock || b.Kind == thinkingBlock })
		m.Blocks = slices.Insert(m.Blocks, 0, newText(all, w.length(all)))
	})
	return nil
}
