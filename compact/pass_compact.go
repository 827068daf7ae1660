package compact

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// Compact replaces the history before the messages to keep with one summary, by the rules
// of one of the systems.
var Compact = Pass{
	Name:     "compact",
	About:    "summarise the history before what stays",
	System:   "gsh",
	Defaults: Options{Counter: &tokens.Pi, Style: StylePi, Keep: 20000, Retries: 1},
	reads:    "style keep",
	run:      compactHistory,
}

// A Style is the system whose rules a compaction follows.
type Style string

// The styles.
const (
	StyleGSH    Style = "gsh"     // one message replaces everything
	styleSWECLI Style = "swe-cli" // keeps the last messages
	styleYAgent Style = "y-agent" // the same, and merges an earlier summary
	StylePi     Style = "pi"      // keeps the last tokens, cut where pi would
)

// A cut is the range of messages that a compaction removes, and those among them to summarise.
type cut struct {
	Stretch
	History  []int  // number of messages before the turn that is cut
	Prefix   []int  // number of messages of that turn before the cut
	Why      string // why there is nothing to compact, empty if there is
	previous int    // index of the message that is an earlier summary, -1 for none
	what     string // description of the messages
}

func compactHistory(w *Work) {
	find := w.olderThan
	if w.Style == StylePi {
		find = w.piCut
	}
	c := find(w.Keep)
	if r := c.Stretch; c.Why == "" && r.Kept >= 0 && r.To < len(w.Messages) && !w.may(Summarise, r.To) {
		c.Why = "what stays cannot be named in this form"
	}
	if c.Why != "" {
		w.skip = c.Why
		return
	}
	text, asks, err := w.summaries(c)
	switch {
	case errors.Is(err, ErrNoAnswer):
		w.waits(asks...)
	case err != nil:
		w.err = err
	default:
		w.summarise(c.Stretch, text, c.what)
	}
}

// summaries requests the summaries of a cut, one of the history and one of the beginning of
// a turn that is cut, and joins the answers as pi does.
func (w *Work) summaries(c *cut) (text string, asks []Request, err error) {
	if c.previous >= 0 {
		text = w.earlier(c.previous)
	}
	if len(c.History) > 0 {
		asks = append(asks, Request{Style: w.Style, Part: historyPart, Messages: c.History, Previous: text})
	}
	if len(c.Prefix) > 0 {
		asks = append(asks, Request{Style: w.Style, Part: turnPrefixPart, Messages: c.Prefix})
	}
	text = cmp.Or(text, "No prior history.")
	for _, ask := range asks {
		part, err := w.summary(ask)
		switch {
		case err != nil:
			return "", asks, err
		case ask.Part == historyPart:
			text = part
		default:
			text += turnSeparator + part
		}
	}
	if w.Style == StylePi {
		text = w.withFiles(text, c)
	}
	return text, asks, w.texts.err
}

// olderThan returns the cut of a compaction that keeps the last messages, as many as Keep.
func (w *Work) olderThan(keep int) *cut {
	all := w.live()
	cached := len(all)
	for cached > 0 && !w.Messages[all[cached-1]].Cached {
		cached-- // no pass removes uncached messages
	}
	rest := len(all) - cached
	all = all[:cached]
	if w.Style == StyleGSH {
		keep = 0
	}
	end := w.safeEnd(all, max(0, keep))
	switch {
	case end <= 0:
		return &cut{Why: "nothing older than keep window"}
	case end == 1 && w.Messages[all[0]].isSummary():
		return &cut{Why: "nothing but a summary is left to summarise"}
	}
	c := &cut{Stretch: Stretch{From: all[0], To: all[end-1] + 1, Kept: -1, Messages: end}, History: all[:end],
		previous: -1, what: "the whole history"}
	if end < len(all) {
		c.To, c.Kept = all[end], w.Messages[all[end]].Origin.Record
	}
	if n := len(all) + rest - end; n > 0 {
		c.what = fmt.Sprintf("the history before the last %d messages", n)
	}
	for _, i := range c.History { // the last one counts
		if w.Messages[i].isSummary() {
			c.previous = i
		}
	}
	return c
}

// safeEnd returns the end of the messages in rows before the last keep ones, moved so that no result is kept
// without its call: the first group that it would split is kept whole. It is 0 or less if there are none
// (docs/policies.md 4.7).
func (w *Work) safeEnd(rows []int, retain int) int {
	end := len(rows) - retain
	if end <= 0 || end == len(rows) {
		return end
	}
	for k, i := range rows[:end] {
		if w.headOf(i) != i {
			continue
		}
		n := len(w.Messages[i].results) - 1
		for n >= 0 && !w.Live(w.Messages[i].results[n]) {
			n--
		}
		if n >= 0 && w.Messages[i].results[n] >= rows[end] && w.Messages[i].results[n] <= rows[len(rows)-1] {
			return k
		}
	}
	return end
}

func (v *View) kindOf(rec int) jsonl.Kind { return v.Envelope.Replay().Session.Kind(rec) }

// MergeNotes adds the texts of earlier answers with tool calls to the beginning of the last
// answer, and removes those answers and all earlier results, as y-agent does if configured
// (docs/policies.md 4.8). It does nothing if one of the answers has no text. Results without
// a call stay.
var MergeNotes = Pass{
	Name:     "merge-notes",
	About:    "merge the notes beside earlier tool calls into the last answer, and drop the calls",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YBytes},
	run:      mergeNotes,
}

func mergeNotes(w *Work) {
	last := w.lastAnswer()
	if last < 0 {
		return
	}
	groups, of := w.groups()
	if of[last] >= 0 && groups[of[last]].open() {
		w.skip = "the last answer waits for results, and what it thought is signed for them"
		return
	}
	var notes []string
	var gone []int
	for i := range last {
		switch {
		case !w.Live(i) || of[i] < 0 || groups[of[i]].open(): // keep calls without a result
		case w.Messages[i].isResult():
			gone = append(gone, i)
		default:
			note, _ := stripTags(w.said(i))
			if note = strings.TrimSpace(note); note == "" {
				w.skip = "an answer with calls says nothing beside them"
				return
			}
			notes = append(notes, note)
			gone = append(gone, i)
		}
	}
	if len(notes) == 0 {
		return
	}
	if !w.mayAll(Omit, gone) || !w.may(Replace, last) {
		w.skip = "what it would take out cannot be stored in this form"
		return
	}
	for _, i := range gone {
		w.Omit(i, "its note is in the last answer")
	}
	w.putNotes(last, notes)
}

// putNotes adds notes to the beginning of an answer. It drops the thinking, whose signature
// covers the original text.
func (w *Work) putNotes(last int, notes []string) {
	if text := w.said(last); text != "" {
		notes = append(notes, text)
	}
	all := strings.Join(notes, "\n\n")
	w.change(Change{Message: last, Block: -1, Action: Replace, Text: all,
		Why: fmt.Sprintf("the notes of %d earlier answers", len(notes))}, func(m *Message) {
		m.Blocks = slices.DeleteFunc(m.Blocks, func(b Block) bool {
			return b.Kind == jsonl.TextBlock ||
				b.Kind == jsonl.ThinkingBlock
		})
		m.Blocks = slices.Insert(m.Blocks, 0, newText(all, w.length(all)))
	})
}
