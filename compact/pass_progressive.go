package compact

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/activity"
	"ctxtool/replay/tokens"
)

// Progressive summarises finished pieces of work, the oldest first, as y-agent does
// (docs/policies.md 4.5), until the trigger or target of its layer is met. Each becomes one
// answer, at the index of its first message.
var Progressive = Pass{
	Name:     "progressive",
	About:    "summarise finished pieces of work one by one",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YBytes, MinTokens: growth, Retries: 2},
	reads:    "min-tokens",
	run:      progressive,
}

// growth is how many tokens a context must have grown by before y-agent prunes.
const growth = 2000

const (
	sequenceFrom  = 4 // the least messages of a piece of work
	sequenceLooks = 3 // messages before it to search for the user's that led to it

	progressivePrefix = "[Pruning Summary] "
)

func progressive(w *Work) {
	p := w.pieces()
	defer p.done()
	for total := 0; len(p.found) == 0 ||
		total < w.MinTokens; total += w.size(p.found[len(p.found)-1].Messages, &tokens.YBytes) {
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
		w.replaceMessage(r.Messages[0], progressivePrefix+text, fmt.Sprintf("a finished piece of work of %d messages",
			len(r.Messages)))
		left += w.size(r.Messages[:1], w.Counter)
		for _, i := range r.Messages[1:] {
			w.Omit(i, "summarised in the answer before it")
		}
	}
	if len(open) > 0 {
		w.waits(open...)
	}
}

// size returns the tokens of messages.
func (w *Work) size(messages []int, c *tokens.Counter) (n int) {
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
func (w *Work) pieces() *pieces {
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

// Superseded blanks reads of a file that has been read again, and results that only state
// that there is nothing, as y-agent does (docs/policies.md 4.9). A newer read supersedes an
// older one only if it did not fail and covers the same part.
var Superseded = Pass{
	Name:     "superseded",
	About:    "blank older reads of a file, and results that say nothing",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YScalars},
	reads:    "busy",
	run:      superseded,
}

const (
	supersededNotice = "[Superseded by a newer read of this file]"
	uselessNotice    = "[Uneventful result elided]"

	blankFrom  = 50   // the least tokens of a result that is worth a notice
	uselessMax = 200  // the most bytes of a result that states that there is nothing
	busySuffix = 8000 // tokens after a result above which keeping the cache saves more
)

// A read is the part of a file that a result shows, as the call gives it.
type read struct{ file, part string }

func superseded(w *Work) {
	known := recall[reads](w)
	all := w.newlyRead(known)
	if w.Busy { // later runs may have less after a message
		all = slices.Collect(w.backward)
	}
	after := 0 // tokens
	for _, i := range all {
		if w.Busy && after > busySuffix {
			break
		}
		if k := w.Messages[i].result(); k >= 0 && w.Messages[i].Call >= 0 {
			notice, why := w.notice(i, known)
			n := tokensOf(&tokens.YScalars, w.Messages[i].Blocks[k].length)
			if notice != "" && n >= blankFrom {
				after += n
				w.replaceResult(i, notice, why)
				continue
			}
		}
		after += w.Messages[i].Tokens(&tokens.YScalars)
	}
}

// reads are the results that show a file, by what they show.
type reads struct {
	shown map[int]read
	good  map[read][]int              // those that did not fail, in order
	open  map[string]map[string][]int // by file and part, those that no later one supersedes
}

// newlyRead adds the new results to those that are known, and returns them with those that they may
// supersede, the last one first.
func (w *Work) newlyRead(known *reads) (all []int) {
	if known.good == nil {
		*known = reads{map[int]read{}, map[read][]int{}, map[string]map[string][]int{}}
	}
	for i := range w.news {
		if !w.Live(i) || w.Messages[i].Call < 0 || w.Messages[i].result() < 0 {
			continue
		}
		all = append(all, i)
		r, seen := known.shown[i]
		if !seen {
			r = w.read(i)
			known.shown[i] = r
		}
		if r.file == "" {
			continue
		}
		parts := known.open[r.file]
		if parts == nil {
			parts = map[string][]int{}
			known.open[r.file] = parts
		}
		parts[r.part] = append(parts[r.part], i)
		at, had := slices.BinarySearch(known.good[r], i)
		if w.failed(i) {
			if had {
				known.good[r] = slices.Delete(known.good[r], at, at+1)
			}
			continue
		}
		if !had {
			known.good[r] = slices.Insert(known.good[r], at, i)
		}
		all = append(all, supersede(parts, r.part, i)...)
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(i int) bool { return !w.Live(i) })
	slices.Reverse(all)
	return all
}

// supersede takes out of the results of a file those that one of a part supersedes, and returns them.
func supersede(parts map[string][]int, part string, by int) (all []int) {
	take := func(part string) {
		n, _ := slices.BinarySearch(parts[part], by)
		all = append(all, parts[part][:n]...)
		if parts[part] = parts[part][n:]; len(parts[part]) == 0 {
			delete(parts, part)
		}
	}
	take(part)
	if part == "" {
		for other := range parts {
			take(other)
		}
	}
	return all
}

// last returns the last of the results that showed something and still do, -1 for none.
func (w *Work) last(good map[read][]int, r read) int {
	all := good[r]
	for len(all) > 0 && !w.Live(all[len(all)-1]) {
		all = all[:len(all)-1]
		good[r] = all
	}
	if len(all) == 0 {
		return -1
	}
	return all[len(all)-1]
}

// notice returns the text that replaces a result, and why; both empty if nothing does.
func (w *Work) notice(i int, known *reads) (notice, why string) {
	r := known.shown[i]
	switch {
	case r.file != "" && (w.last(known.good, read{file: r.file}) > i || w.last(known.good, r) > i):
		return supersededNotice, "read again later"
	case w.useless(i):
		return uselessNotice, "it reports that there is nothing"
	}
	return "", ""
}

// read returns the part of a file that the result of a message shows, the zero value for
// other tools.
func (w *Work) read(i int) (r read) {
	if tool, args, ok := w.callOf(i); ok {
		c := activity.New(tool, "", args)
		r.file, r.part = c.Reads()
	}
	return r
}

// useless reports whether the result of a message only states that there is nothing, and is
// long enough to be worth a notice.
func (w *Work) useless(i int) bool {
	k := w.Messages[i].result()
	if b := &w.Messages[i].Blocks[k]; b.Bytes > uselessMax || tokensOf(&tokens.YScalars, b.length) < blankFrom {
		return false
	}
	return containsAny(w.Text(i, k), "[]", "{}", `"results": []`, `"count": 0`, "no results", "No results",
		"no matches", "No matches", "nothing found")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}
