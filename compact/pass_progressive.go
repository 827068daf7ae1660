package compact

import (
	"errors"
	"fmt"
	"slices"

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

// growth is the number of tokens by which a context must have grown before y-agent prunes again.
const growth = 2000

const (
	sequenceFrom  = 4 // the minimum number of messages in a piece of work
	sequenceLooks = 3 // messages before it to search for the user's prompt that led to it

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
			left -= w.size(r.Messages, w.Counter) // request only the summaries that are needed
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
	known *int // index at which a run starts searching
	at    int  // index at which the search for the next one continues
	found []Request
	from  []int // index at which each was searched for
	stays int   // the first one that stays, -1 for none
}

// pieces prepares the search for the pieces of a context.
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

// done records where the next run must search.
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

// whole reports whether messages have all or nothing of each group, no call without a result, and no result of
// a call outside.
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
