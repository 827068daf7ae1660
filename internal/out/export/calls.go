package export

import (
	"iter"
	"math"

	"ctxtool/internal/lens/cache"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/replay/weigh"
)

// A carried is what a request of the ledger carried, and what that cost. The requests are a tree: sums
// with below are those of a request and of all after it on its branches, so what a message was in is
// added up where it came and taken off where it went.
type carried struct {
	shares     weigh.Shares
	fresh      int64      // tokens that the request before it had not
	came, gone []int32    // numbers of messages
	rate       [2]float64 // dollars a counted token: of what the request before it had, and of what is fresh
	below      int64      // requests
	dollars    float64    // a token, of what requests had already
	last       int32      // row of the last request, of those on the path where there is one
	lastOnPath bool
}

// A life is what requests did with a message.
type life struct {
	set         bool
	onPath      bool // as first and last are
	first, last int32
	requests    int64
	dollars     float64
}

// number gives the requests of the ledger the numbers of their rows: the places of their calls. An answer of a
// sub-agent in the session's file answers a request too.
func (m *maker) number() {
	m.rows = make([]int32, len(m.Book.Requests))
	for k := range m.rows {
		m.rows[k] = -1
	}
	for i := range m.Calls {
		if k := m.Book.Answered(m.Calls[i].Record); k >= 0 {
			m.rows[k] = int32(i)
		}
	}
}

// requestRows makes the rows of the calls of models. Those of the account of the cache come in the
// same order.
func (m *maker) requestRows() {
	windows := m.windows()
	next, stop := iter.Pull(m.account.Bare)
	defer stop()
	for i := range m.Calls {
		c := &m.Calls[i]
		row := Request{
			Session: m.key, Request: int64(i), EntryID: m.Session.ID(c.Record), Line: int64(m.Session.Line(c.Record)),
			Kind:    c.Kind,
			CallKey: int64(c.Key), Copy: c.Copied, ResponseID: unless0(c.ResponseID), At: m.at(c.Record),
			Provider: c.Provider, Model: c.Model,
			StopReason: unless0(c.Stop), LatencyMS: m.since(m.Session.Parent(c.Record), c.Record),
			InputTokens: c.Usage.Input, CacheReadTokens: c.Usage.CacheRead, CacheWriteTokens: c.Usage.CacheWrite,
			CacheWrite1hTokens: c.Usage.CacheWrite1h, OutputTokens: c.Usage.Output,
			OnPath: m.onPath[c.Record], WindowNo: int64(windows[c.Record]), MissReason: unless0(c.Missed),
		}
		if c.Source != "" {
			row.CostUSD, row.CostSource = &c.Cost, &c.Source
		}
		if k := m.Book.Answered(c.Record); k >= 0 && m.rows[k] == int32(i) {
			m.answerRow(&row, k)
			for own := !m.Copied(c.Record); own; { // the account has no copies
				var r *cache.Row
				if r, own = next(); own && r.Record == c.Record {
					cacheRow(&row, r)
					break
				}
			}
		}
		m.out.Requests = append(m.out.Requests, row)
		m.added()
	}
}

// windows returns how many compactions each record has before it on its branch.
func (m *maker) windows() []int32 {
	n := make([]int32, m.Session.Len())
	for _, rec := range m.Compacts {
		n[rec] = 1
	}
	for rec := range n {
		if up := m.Session.Parent(rec); up >= 0 && up < rec {
			n[rec] += n[up]
		}
	}
	return n
}

// answerRow sets what the ledger has of request k.
func (m *maker) answerRow(row *Request, k int32) {
	q, one := &m.Book.Requests[k], &m.requests[k]
	row.WindowTokens = unless0(m.Book.Models[q.Model].ContextWindow)
	if !q.Known() {
		return
	}
	if q.Previous >= 0 {
		row.Previous = from0(m.rows[q.Previous])
	}
	prompt := &m.Book.Prompts[q.Prompt].Counts
	row.RequestNo, row.ContextTokens, row.EstimatedTokens = from0(q.Number), some(int64(q.Context)),
		some(int64(q.Estimated))
	if !prompt.NoSystem {
		row.SystemTokens = some(int64(prompt.System))
	}
	if !prompt.NoTools {
		row.ToolsTokens = some(int64(prompt.Tools))
	}
	row.UserTokens, row.AnswerTokens = from0(one.shares.User), from0(one.shares.Answers)
	row.ResultTokens, row.SummaryTokens = from0(one.shares.Results), from0(one.shares.Summaries)
	view := m.Book.View(k, false)
	sent, _ := view.Until(q.Messages().Len())
	row.KeptMessages, row.FreshTokens, row.Messages = from0(m.Book.Kept(q)), &one.fresh, from0(sent)
}

// cacheRow sets what the account of the cache has of a request.
func cacheRow(row *Request, r *cache.Row) {
	row.RebilledTokens, row.RebilledUSD, row.UnservedTokens = r.Rebilled.Tokens, r.Rebilled.Cost, r.Unserved.Tokens
	if r.Shared != nil {
		row.SharedTokens = &r.Shared.Tokens
	}
	if r.Expected != nil {
		row.CouldReadTokens = &r.Expected.Read
	}
	if b := r.Break; b != nil {
		row.BreakCause, row.BreakEntryID, row.BreakSection = some(string(b.Cause)), unless0(b.Entry),
			unless0(b.Section())
		row.PauseSeconds = unless0(b.Pause)
	}
}

// carry follows messages through the requests: what each had, when each came and went, and what it
// cost to carry it.
func (m *maker) carry() {
	m.requests = make([]carried, len(m.Book.Requests))
	for _, k := range m.Book.Replayed {
		m.differ(k)
	}
	for i := len(m.Book.Replayed) - 1; i >= 0; i-- {
		k := m.Book.Replayed[i]
		one, q := &m.requests[k], &m.Book.Requests[k]
		one.below++
		one.dollars += one.rate[0]
		if onPath := m.onPath[q.Record]; !one.lastOnPath {
			one.last, one.lastOnPath = max(one.last, m.rows[k]), onPath
		}
		if q.Previous < 0 {
			continue
		}
		up := &m.requests[q.Previous]
		up.below += one.below
		up.dollars += one.dollars
		if one.lastOnPath || !up.lastOnPath {
			up.last, up.lastOnPath = max(up.last, one.last), one.lastOnPath
		}
	}
	for _, k := range m.Book.Replayed {
		m.live(k)
	}
}

// differ records what a request has that the one before it had not, and the reverse.
func (m *maker) differ(k int32) {
	one, q := &m.requests[k], &m.Book.Requests[k]
	if q.Previous >= 0 {
		one.shares = m.requests[q.Previous].shares
	}
	came, gone := m.Book.Apart(k)
	for i := range came {
		p := &came[i]
		one.fresh += int64(p.Tokens)
		one.shares.Add(p.Kind(), int(p.Tokens))
		one.came = append(one.came, p.Number)
		m.meet(p)
	}
	for i := range gone {
		p := &gone[i]
		one.shares.Add(p.Kind(), -int(p.Tokens))
		one.gone = append(one.gone, p.Number)
	}
	all := m.Book.Counts(q)
	one.rate = m.rates(q, one.fresh, int64(all.Total)+m.account.Total.Hidden)
}

// meet makes place for a message, and tells whose it is.
func (m *maker) meet(p *ledger.Message) {
	for int(p.Number) >= len(m.messages) {
		m.messages = append(m.messages, life{first: math.MaxInt32, last: -1})
	}
	one := &m.messages[p.Number]
	if one.set {
		return
	}
	one.set = true
	if p.Own() {
		m.own[int32(p.Origin().Record)] = p.Number
	} else {
		m.made = append(m.made, *p)
	}
}

// rates returns what a request paid for a counted token of what the request before it had, and for
// one that is fresh: what the cache did not serve, as long as there is that much of it. Together
// they are the price of its input.
func (m *maker) rates(q *ledger.Request, fresh, counted int64) (rate [2]float64) {
	price := m.inputCost(q)
	size := q.Size()
	if size == 0 || counted <= 0 {
		return rate
	}
	whole := max(counted, size) // uncounted tokens belong to no message
	scale := float64(size) / float64(whole)
	if uncached := q.Usage().Input + q.Usage().CacheWrite; uncached > 0 && fresh > 0 {
		rate[1] = min(price.uncached/float64(uncached)*scale, price.uncached/float64(fresh))
	}
	if rest := whole - fresh; rest > 0 {
		rate[0] = (price.uncached + price.read - rate[1]*float64(fresh)) / float64(rest)
	} else {
		rate[1] = (price.uncached + price.read) / float64(fresh)
	}
	return rate
}

// An input is what the input of a request cost, US dollars.
type input struct{ uncached, read float64 }

// inputCost returns what the input of a request cost: as its answer records it, else by the table of
// prices, of which a recorded total is shared out.
func (m *maker) inputCost(q *ledger.Request) input {
	paid := float64(0)
	if at := m.rows[m.Book.Answered(int(q.Record))]; at >= 0 {
		c := &m.Calls[at]
		if c.Copied {
			return input{} // its session has paid
		}
		if u := &c.Usage.Cost; u.Known && u.Input+u.CacheRead+u.CacheWrite > 0 {
			return input{u.Input + u.CacheWrite, u.CacheRead}
		}
		paid = c.Cost
	}
	u := q.Usage()
	d := m.Book.Models[q.Model].Price(models.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		CacheWrite1h: u.CacheWrite1h,
	})
	if d.Total == 0 {
		return input{}
	}
	return input{(d.Input + d.CacheWrite) * paid / d.Total, d.CacheRead * paid / d.Total}
}

// live adds a request to the messages that came and went with it.
func (m *maker) live(k int32) {
	one, q := &m.requests[k], &m.Book.Requests[k]
	onPath := m.onPath[q.Record]
	for _, number := range one.came {
		p := &m.messages[number]
		p.requests += one.below
		tokens := m.tokens(q, number)
		p.dollars += tokens * (one.dollars - one.rate[0] + one.rate[1])
		p.first = min(p.first, m.rows[k])
		if onPath || !p.onPath {
			p.last, p.onPath = one.last, onPath
		}
	}
	for _, number := range one.gone {
		p := &m.messages[number]
		p.requests -= one.below
		p.dollars -= m.tokens(q, number) * one.dollars
		if onPath || !p.onPath {
			p.last = m.rows[q.Previous]
		}
	}
}

// tokens returns the tokens of a message by its number.
func (m *maker) tokens(q *ledger.Request, number int32) float64 {
	return float64(m.Book.Measure(number, q.Messages().Numbered(number)).Tokens)
}
