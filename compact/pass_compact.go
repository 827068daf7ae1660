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
	Defaults: Options{Counter: &tokens.GSH, Style: StyleGSH, Retries: 1},
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

// A cut is the messages that a compaction removes, and those of them to be summarised.
type cut struct {
	stretch
	History  []int  // messages before the turn that is cut
	Prefix   []int  // messages of that turn before the cut
	Why      string // why there is nothing to compact, empty if there is
	previous int    // the message that is an earlier summary, -1 for none
	what     string // a description of the messages
}

func compactHistory(w *work) {
	find := w.olderThan
	if w.Style == StylePi {
		find = w.piCut
	}
	c := find(w.Keep)
	if c.Why == "" && !w.mayKeep(c.stretch) {
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
		w.summarise(c.stretch, text, c.what)
	}
}

// summaries requests the summaries of a cut, one of the history and one of the beginning of
// a turn that is cut, and joins the answers as pi does.
func (w *work) summaries(c *cut) (text string, asks []Request, err error) {
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
func (w *work) olderThan(keep int) *cut {
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
	c := &cut{stretch: stretch{From: all[0], To: all[end-1] + 1, Kept: -1, Messages: end}, History: all[:end], previous: -1, what: "the whole history"}
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

// safeEnd returns the end of the messages in rows before the last so many, moved so that no
// result is kept without its call: the first group that it would split is kept whole. It is
// 0 or less if there are none (docs/policies.md 4.7).
func (w *work) safeEnd(rows []int, retain int) int {
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

// Progressive summarises finished pieces of work, the oldest first, as y-agent does
// (docs/policies.md 4.5), until the trigger or target of its layer is met. Each becomes one
// answer, at the index of its first message.
var Progressive = Pass{
	Name:     "progressive",
	About:    "summarise finished pieces of work one by one",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YBytes, MinTokens: growth, Retries: 2},
	reads:    "minTokens",
	run:      progressive,
}

// growth is how many tokens a context must have grown by before y-agent prunes.
const growth = 2000

const (
	sequenceFrom  = 4 // the least messages of a piece of work
	sequenceLooks = 3 // messages before it to search for the user's that led to it

	progressivePrefix = "[Pruning Summary] "
)

func progressive(w *work) {
	p := w.pieces()
	defer p.done()
	for total := 0; len(p.found) == 0 || total < w.MinTokens; total += w.size(p.found[len(p.found)-1].Messages, &tokens.YBytes) {
		if p.next(w.View) {
			continue
		}
		if p.stay(0); len(p.found) == 0 {
			w.skip = "no finished piece of work"
		} else {
			w.skip = notWorth
		}
		return
	}
	var open []Request
	left := w.was.tokens
	for k := 0; k < len(p.found); k++ {
		if w.enough != nil && w.enough(left) {
			p.stay(k)
			break
		}
		if k+1 == len(p.found) {
			p.next(w.View) // before this one is changed
		}
		r := p.found[k]
		if !w.may(Replace, r.Messages[0]) || !w.mayAll(Omit, r.Messages[1:]) {
			p.stay(k)
			continue
		}
		text, err := w.summary(r)
		switch {
		case errors.Is(err, ErrMovedOn):
			w.err = err
			return
		case errors.Is(err, ErrNoAnswer):
			open = append(open, r)
			left -= w.size(r.Messages, w.Counter) // request no more summaries than may be needed
			p.stay(k)
			continue
		case err != nil: // skip this one, and try the others
			w.skip = err.Error()
			p.stay(k)
			continue
		}
		left -= w.size(r.Messages, w.Counter)
		w.replaceMessage(r.Messages[0], progressivePrefix+text, fmt.Sprintf("a finished piece of work of %d messages", len(r.Messages)))
		left += w.size(r.Messages[:1], w.Counter)
		for _, i := range r.Messages[1:] {
			w.omit(i, "summarised in the answer before it")
		}
	}
	if len(open) > 0 {
		w.waits(open...)
	}
}

// size returns the tokens of messages.
func (w *work) size(messages []int, c *tokens.Counter) (n int) {
	for _, i := range messages {
		n += w.Messages[i].Tokens(c)
	}
	return n
}

// Pieces are the finished pieces of work of a context, the oldest first, as requests for summaries.
type pieces struct {
	known *int // where a run begins to look: before it there is none
	at    int  // where to look for the next one
	found []Request
	from  []int // where each was looked for
	stays int   // the first one that stays, -1 for none
}

// pieces returns those of a context, none of them found yet.
func (w *work) pieces() *pieces {
	known := recall[int](w)
	for _, i := range w.changed {
		if m := &w.Messages[i]; i < *known && (m.Removed || m.Heads) {
			*known = w.turnOf(i)
		}
	}
	return &pieces{known: known, at: *known, stays: -1}
}

// next finds the next piece, and reports whether there is one.
func (p *pieces) next(v *View) bool {
	r, end := v.piece(p.at)
	if r != nil {
		p.found, p.from = append(p.found, *r), append(p.from, p.at)
	}
	p.at = end
	return r != nil
}

// stay records that a piece was not summarised.
func (p *pieces) stay(k int) {
	if p.stays < 0 && k < len(p.found) {
		p.stays = k
	}
}

// done records where the next run has to look.
func (p *pieces) done() {
	if *p.known = p.at; p.stays >= 0 {
		*p.known = p.from[p.stays]
	}
}

// piece returns the first finished piece of work from a message on, and the message that ends it:
// answers each followed by results, up to an answer that is not, or the user's message. It omits
// unfinished work, and sequences that would separate calls from results. Without one it returns
// nil, and the last message that could have ended one.
func (v *View) piece(from int) (*Request, int) {
	var rows []int
	last := from
	for i := from; i < len(v.Messages); i++ {
		m := &v.Messages[i]
		switch {
		case !v.Live(i):
		case m.isResult():
			if len(rows) > 0 {
				rows = append(rows, i)
			}
		case !m.isUser() && v.followed(i):
			rows = append(rows, i)
		default:
			if len(rows) >= sequenceFrom && v.whole(rows) {
				return v.request(rows, i), i
			}
			rows, last = nil, i
		}
	}
	return nil, last
}

// followed reports whether a result follows a message.
func (v *View) followed(i int) bool {
	for i++; i < len(v.Messages); i++ {
		if v.Live(i) {
			return v.Messages[i].isResult()
		}
	}
	return false
}

// request returns the request for a summary of a piece of work that a message ends.
func (v *View) request(piece []int, end int) *Request {
	r := &Request{Style: styleYAgent, Part: sequencePart, Messages: piece}
	looks := sequenceLooks
	for i := piece[0] - 1; i >= 0 && looks > 0; i-- {
		if !v.Live(i) {
			continue
		}
		if looks--; v.Messages[i].isUser() {
			r.Before = []int{i}
		}
	}
	if v.Messages[end].isAssistant() {
		r.After = []int{end}
	}
	return r
}

// whole reports whether messages have all or nothing of each group, no call without a result,
// and no result of a call that is elsewhere.
func (v *View) whole(messages []int) bool {
	for _, i := range messages {
		switch call := v.headOf(i); {
		case call < 0:
		case call != i:
			if _, in := slices.BinarySearch(messages, call); !in {
				return false
			}
		default:
			g := v.group(call)
			if g.open() || len(g.results) > 0 && g.results[len(g.results)-1] > messages[len(messages)-1] {
				return false
			}
		}
	}
	return true
}

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

func mergeNotes(w *work) {
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
		w.omit(i, "its note is in the last answer")
	}
	w.putNotes(last, notes)
}

// putNotes adds notes to the beginning of an answer. It drops the thinking, whose signature
// covers the original text.
func (w *work) putNotes(last int, notes []string) {
	if text := w.said(last); text != "" {
		notes = append(notes, text)
	}
	all := strings.Join(notes, "\n\n")
	w.change(Change{Message: last, Block: -1, Action: Replace, Text: all, Why: fmt.Sprintf("the notes of %d earlier answers", len(notes))}, func(m *message) {
		m.Blocks = slices.DeleteFunc(m.Blocks, func(b block) bool { return b.Kind == jsonl.TextBlock || b.Kind == jsonl.ThinkingBlock })
		m.Blocks = slices.Insert(m.Blocks, 0, newText(all, w.length(all)))
	})
}
