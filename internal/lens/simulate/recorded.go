package simulate

import (
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/lens/cache"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A past is the recorded path as the account of its cache sees it.
type past struct {
	l        *ledger.Ledger
	rows     []*cache.Row
	total    *cache.Total
	requests []recordedRequest
}

// A recordedRequest is what the account does not have of a request.
type recordedRequest struct {
	tokens   Tokens
	messages int

	kept, keptTokens int   // leading messages that the request before had too
	again            int   // tokens of others that it had
	prompt           int32 // number in the ledger

	added   []added        // messages that stand for others, or have come back
	removed []replay.Piece // messages that the request before had
}

// An added is a message that a request has besides those that entries append.
type added struct {
	replay.Piece
	tokens int
}

// plain reports whether the message is that of its entry, as the entry has it.
func plain(p replay.Piece) bool {
	_, cut := p.Edit()
	return p.Origin().Op < 0 && !p.Summary() && !cut && p.Origin().By == p.Origin().Record
}

// acts reports whether a request lacks messages of the one before, or has others in their place.
func (q *recordedRequest) acts() bool { return len(q.added)+len(q.removed) > 0 }

// read accounts for the recorded path.
func (o *Options) read(r *replay.Replay, leaf int) (*past, error) {
	l, err := ledger.Read(r, ledger.Options{Leaf: leaf, Counter: &tokens.Pi, Model: o.Replay.Model})
	if err != nil {
		return nil, err
	}
	report, err := cache.Account(l, cache.Options{Leaf: leaf})
	if err != nil {
		return nil, err
	}
	if report.Stopped != nil {
		return nil, report.Stopped
	}
	p := &past{l: l, rows: slices.Collect(report.Rows), total: report.Total, requests: requestsOf(l, leaf)}
	for i := range min(len(p.rows), len(p.requests)) {
		_, hidden := p.rows[i].Counted()
		p.requests[i].tokens.Hidden = hidden
		p.requests[i].tokens.Total += hidden
	}
	return p, nil
}

// billed returns what the requests of the path cost, and what of them was served.
func (p *past) billed() *Billed {
	b := &Billed{}
	for _, row := range p.rows {
		dollars, recorded, _ := p.l.Paid(&p.l.Requests[p.l.Answered(row.Record)])
		one := Billed{Cost: dollars}
		if recorded {
			one.Recorded = dollars
		}
		if u := row.Recorded; u != nil {
			one.Prompt, one.Read = u.Prompt(), u.CacheRead
		}
		b.plus(&one)
	}
	return b
}

// requestsOf returns what the requests of the path to a leaf had, and what they no longer had.
func requestsOf(l *ledger.Ledger, leaf int) (all []recordedRequest) {
	path, _ := l.Replay.Session.Path(leaf)
	on := make(map[int32]bool, len(path))
	for _, rec := range path {
		on[l.Answered(rec)] = true
	}
	lacked := map[int]bool{} // records whose messages a request has lacked
	var shares weigh.Shares
	for _, k := range l.Replayed {
		if !on[k] {
			continue
		}
		q, v := &l.Requests[k], l.View(k, false)
		one := recordedRequest{prompt: q.Prompt}
		kept, keptTokens := v.Until(l.Kept(q))
		messages, tokens := v.Until(q.Messages().Len())
		one.messages, one.kept, one.keptTokens, one.again = messages, kept, int(keptTokens), int(tokens-keptTokens)
		fresh, gone := l.Apart(k)
		for i := range gone {
			p := &gone[i]
			shares.Add(p.Kind(), -int(p.Tokens))
			one.removed = append(one.removed, p.Piece)
		}
		for i := range fresh {
			p := &fresh[i]
			n := int(p.Tokens)
			shares.Add(p.Kind(), n)
			one.again -= n
			if !plain(p.Piece) || lacked[p.Origin().Record] {
				one.added = append(one.added, added{p.Piece, n})
			}
		}
		for i := range gone {
			lacked[gone[i].Origin().Record] = true
		}
		n := l.Counts(q)
		one.tokens = Tokens{System: n.System, Tools: n.Tools, Shares: shares}
		one.tokens.Total = int64(n.System + n.Tools + shares.Total())
		all = append(all, one)
	}
	return all
}

// difference returns what a recorded request has in place of messages of the one before, and
// which it lacks, as changes of the policy. compacts reports whether there is a summary.
func (w *walk) difference(k int, q *recordedRequest) (all []Change, compacts bool, err error) {
	summary := -1
	changed := map[int]bool{} // records
	for i := range q.added {
		p := &q.added[i]
		rec := p.Origin().Record
		message, known := w.byRecord[rec]
		if plain(p.Piece) {
			if known {
				w.removals.Restore(message)
			}
			continue
		}
		c, err := w.stand(p)
		if err != nil {
			return nil, false, err
		}
		if c.Action == string(compact.Summarise) {
			if summary < 0 {
				summary = len(all)
			}
		} else if known {
			w.removals.Remove(message, k, false)
		}
		all, changed[rec] = append(all, c), true
	}
	for _, p := range q.removed {
		rec := p.Origin().Record
		message, known := w.byRecord[rec]
		if !w.removals.Withdraw(p) && known {
			w.removals.Remove(message, k, false)
		}
		switch {
		case changed[rec]:
		case summary < 0:
			all = append(all, w.changeOf(rec, string(compact.Omit)))
		case known:
			c := &all[summary]
			c.Gone = append(c.Gone, message)
			c.Was += w.path.Size(message)
		}
	}
	return all, summary >= 0, nil
}

// stand returns the change that puts a text in place of messages.
func (w *walk) stand(p *added) (c Change, err error) {
	m, _, err := w.load.Message(p.Piece)
	if err != nil {
		return c, err
	}
	text := m.Text("\n")
	w.removals.Stand(p.Place(), text)
	action := string(compact.Replace)
	if p.Kind() == jsonl.CompactionMessage || p.Origin().Op >= 0 && strings.TrimSpace(text) != "" {
		action = string(compact.Summarise)
	}
	c = w.changeOf(p.Origin().Record, action)
	c.Now = p.tokens
	if w.Options.Changes {
		c.Text = text
	}
	return c, nil
}

// changeOf returns a recorded change of a record.
func (w *walk) changeOf(rec int, action string) Change {
	c := Change{Pass: Recorded, Action: action, Message: -1}
	if rec < w.s.Len() {
		c.Entry, c.Line = sessionfmt.Quote(w.s.ID(rec)), w.s.Line(rec)
	}
	if i, ok := w.byRecord[rec]; ok {
		c.Message = i
		if action != string(compact.Summarise) {
			c.Was = w.path.Size(i)
		}
	}
	return c
}

// recorded takes the figures of the recorded path from the account of its cache.
func (w *walk) recorded() error {
	w.load = w.past.l.Replay.NewReader()
	w.run.Billed = w.past.billed()
	for k, row := range w.rows {
		was := &w.past.requests[k]
		changes, compacts, err := w.difference(k, was)
		if err != nil {
			return err
		}
		w.add(&Request{Request: k, Tokens: was.tokens, Messages: was.messages, Window: w.windows[k], Changes: changes},
			row, compacts)
	}
	return nil
}
