// Package cache says of each request what a provider's prompt cache could do for it, by what
// earlier requests began with, what it did, and why it could not do more.
package cache

import (
	"hash/maphash"
	"iter"
	"math"
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/origin"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// Options are what is asked of the account for a prompt cache.
type Options struct {
	Leaf     int  // record whose path is asked for
	All      bool // all branches, in the order of the file
	Collapse bool // later system messages go into the prompt in front
	Counter  *tokens.Counter

	// Requests, if set, is told all requests of the tree too, as RequestsOfTree gives
	// them, and no message is read again for it. Its error ends the account.
	Requests func(Request, error) error
}

// A Row is one request, and what a provider's prompt cache could do for it and
// did. Tokens are those of the provider where it has recorded any, else counted ones.
//
// It is a line of schema ctxtool/cache/2.
type Row struct {
	Schema    string       `json:"schema"`
	Record    int          `json:"-"`                   // the answer
	Request   origin.Index `json:"request,omitzero"`    // that the entry is the answer to, from 0 along its own path; absent after a broken patch, as are `shared`, `break` and `expected`
	Entry     string       `json:"entry"`               // id of the answer
	Model     string       `json:"model,omitempty"`     // `provider/id`
	Prompt    int64        `json:"prompt"`              // tokens of the whole request: `input`, `cacheRead` and `cacheWrite` of its usage; else counted, with what is hidden
	Shared    *shared      `json:"shared,omitempty"`    // the longest beginning that an earlier request of the same model had, on any branch, within the cache's lifetime
	Break     *Break       `json:"break,omitempty"`     // what ended it, where the request compared goes on otherwise; absent where this one only adds to it
	Expected  *Expected    `json:"expected,omitempty"`  // tokens that a cache reads and writes which keeps every beginning of every request; `read` is at least what the provider recorded as read
	Recorded  *Usage       `json:"recorded,omitempty"`  // `cacheRead`, `cacheWrite` and `cacheWrite1h` of the usage; absent without any
	Rebilled  Again        `json:"rebilled,omitzero"`   // billed again: tokens that an earlier request had sent, and that were not read from the cache; the sum of `break.again` and `unserved`
	Unserved  Again        `json:"unserved,omitzero"`   // by how much `recorded.read` falls short of `shared.tokens`: the cache had them and the provider did not serve them; absent up to 1,024 tokens, and before a cache has done anything at all
	Missed    *Missed      `json:"missed,omitempty"`    // the reason that the provider gives for not serving the request from its cache
	Outlived  int64        `json:"outlived,omitempty"`  // seconds of pause after which the provider read what the lifetime of its cache had ended; later pauses are judged by that
	Endless   bool         `json:"endless,omitempty"`   // the cache's lifetime is not known: pauses are not judged
	Estimated bool         `json:"estimated,omitempty"` // `prompt` is counted: no usage is recorded
}

// shared is what a request begins with that an earlier one began with.
type shared struct {
	Messages int   `json:"messages"`
	Tokens   int64 `json:"tokens"`
}

// A Missed is what a provider tells of a request that its cache did not serve.
type Missed struct {
	Reason string `json:"reason"`           // in the provider's words
	Tokens int64  `json:"tokens,omitempty"` // that it did not serve
}

// answered reports whether the provider has recorded what the request had.
func (r *Row) answered() bool { return r.Recorded != nil && r.Recorded.Prompt() > 0 }

// Expected are the tokens that a provider reads and writes which caches every
// beginning of every request.
type Expected struct {
	Read  int64 `json:"read"`
	Write int64 `json:"write"`
}

// Again are tokens that were billed once more, and the dollars that this cost
// beyond reading them from the cache.
type Again struct {
	Tokens int64   `json:"tokens"`
	Cost   float64 `json:"cost"`
}

// A Report is the account of a session.
type Report struct {
	Rows    []Row
	Total   *Total
	Stopped error // the broken patch after which requests have no expectation
}

// noise is how many tokens a provider may fall short without meaning anything
// (docs/session-format.md 10).
const noise = 1024

// A sending is a request as it was sent, and its answer.
type sending struct {
	rec       int32
	index     int32 // along its path
	whole     begin // all of it; nothing where it is not known
	model     int32
	cached    int32 // messages before the uncached ones
	ephemeral int32 // messages at the end that were sent this once
	messages  int32
	late      int32 // the first system message that is new in it, -1 for none; lateRec is its entry
	lateRec   int32
	known     bool // prompt and tools are in the file
	prompt    uint64
	tools     uint64
	front     int64 // counted tokens of prompt and tools
	counted   int64 // of all
	warms     bool  // no request: something that kept the cache of this node warm
	answer
}

// An accounting makes the account.
type accounting struct {
	r        *replay.Replay
	opt      Options
	lines    *sessionfmt.Reader
	trie     trie
	sent     []sending       // in the order of the file
	replayed []int32         // places of the requests in sent, as they were replayed
	place    []int32         // of each record in sent, -1 for none
	says     []replay.Saying // of each record that is a message for a provider
	models   []modelSeen
	modelAt  map[models.Ref]int32
	first    []int32 // see trie.firstSent; made when first asked for
	depth    []int32 // of records below their roots; made when first asked for
	hidden   int64
	active   bool // some answer has had to do with a cache
	last     int  // place of the request before, -1 for none
}

// Account accounts for the prompt cache: request by request, what a cache could have
// served by what earlier requests began with, and what the provider says it did. The
// requests of other branches count as they came in the file, whether or not they are
// asked for.
func Account(r *replay.Replay, opt Options) (*Report, error) {
	c := &accounting{r: r, opt: opt, lines: r.Session.NewReader(), trie: newTrie(), modelAt: map[models.Ref]int32{}, last: -1}
	if err := c.read(); err != nil {
		return nil, err
	}
	path, found := r.Session.Path(opt.Leaf)
	r.Findings = append(r.Findings, found...)
	stopped, err := c.requests(path)
	if err == nil {
		err = c.tell(path)
	}
	if err != nil {
		return nil, err
	}
	c.trie.layOut()
	c.systems()
	report := &Report{Stopped: stopped}
	onPath := map[int32]bool{}
	for _, rec := range path {
		onPath[int32(rec)] = true
	}
	c.hide(onPath)
	for k := range c.sent {
		s := &c.sent[k]
		if s.warms {
			c.use(k)
			continue
		}
		row, err := c.judge(k)
		if err != nil {
			return nil, err
		}
		if opt.All || onPath[s.rec] {
			report.Rows = append(report.Rows, row)
		}
	}
	report.Total = sumUp(report.Rows)
	report.Total.Hidden = c.hidden
	for i := range c.models {
		if m := &c.models[i]; m.seen > 0 {
			report.Total.Outlived = append(report.Total.Outlived, lifetime{m.ref.Name(), m.said() / 1000, m.seen / 1000})
		}
	}
	return report, nil
}

// requests replays, and puts each request in the trie. stopped is the first broken
// patch.
func (c *accounting) requests(path []int) (stopped, err error) {
	for q, err := range c.each(c.r, path, !c.opt.Collapse) {
		switch {
		case replay.Stopped(err):
			if stopped == nil || slices.Contains(path, q.Record) {
				stopped = err
			}
		case err != nil:
			return nil, err
		default:
			if err := c.put(&q); err != nil {
				return nil, err
			}
		}
	}
	c.warmed()
	return stopped, nil
}

// each replays all requests.
func (c *accounting) each(r *replay.Replay, path []int, inPlace bool) iter.Seq2[Request, error] {
	a := newAsking(r, c.opt.Counter, inPlace)
	a.prefix.says.plain = c.says
	if len(path) > 0 && r.Session.Parent(path[0]) >= 0 { // its parents go round in a circle
		return requests(r.Walk(c.opt.Leaf, a))
	}
	return requests(r.WalkTree(r.Session.Tree(), a))
}

// tell tells the requests to who asked for them.
func (c *accounting) tell(path []int) error {
	if c.opt.Requests == nil {
		return nil
	}
	quiet := *c.r // findings have been recorded once
	for q, err := range c.each(&quiet, path, false) {
		if err != nil && !replay.Stopped(err) {
			return err
		}
		if e := q.Before; e != nil && e.ModelBy >= 0 && c.place[e.ModelBy] >= 0 {
			e.NameModel(&c.sent[c.place[e.ModelBy]].ref)
		}
		if err := c.opt.Requests(q, err); err != nil {
			return err
		}
	}
	return nil
}

// put puts a request in the trie.
func (c *accounting) put(q *Request) error {
	s := &c.sent[c.place[q.Record]]
	s.index, s.known, s.prompt, s.tools = int32(q.Index), q.Known, q.Prompt, q.asked.tools
	s.front = int64(q.Counts.System + q.Counts.Tools)
	thinking, err := q.thinking()
	if err != nil {
		return err
	}
	// What stands before the messages: what is hidden, the prompt, the level.
	model := saltOf(uint64(s.model), 0)
	front := c.trie.addFront(-1, model, 0)
	front = c.trie.addFront(front, saltOf(model, q.Prompt), int(s.front))
	front = c.trie.addFront(front, saltOf(model, saltOf(q.Prompt, maphash.Bytes(seed, thinking))), int(s.front))

	sums := q.Prefix.sums
	if c.r.Rules == replay.ByEnvelope {
		if sums, err = q.Prefix.withEphemeral(q.Before); err != nil {
			return err
		}
	}
	s.cached, s.messages = int32(q.Prefix.Cached), int32(len(sums))
	s.ephemeral = s.messages - int32(q.Prefix.Len())
	s.whole = begin{front, c.trie.addAll(sums)}
	s.counted = c.trie.tokensOf(s.whole)
	c.replayed = append(c.replayed, c.place[q.Record])
	return nil
}

// systems finds the first system message in each request that none before it had after
// the same front, as they were replayed.
func (c *accounting) systems() {
	for _, k := range c.replayed {
		s := &c.sent[k]
		known := c.trie.fresh(s.whole) - piecesBefore
		for n := s.whole.node; n >= 0; n = c.trie.nodes[n].parent {
			if n = c.trie.nodes[n].system; n < 0 || c.trie.nodes[n].depth <= known {
				break
			}
			s.late, s.lateRec = c.trie.nodes[n].depth, int32(c.trie.pieces[n].Origin().Record)
		}
	}
}

// saltOf is a key made of two.
func saltOf(a, b uint64) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, n := range [2]uint64{a, b} {
		for range 8 {
			h.WriteByte(byte(n))
			n >>= 8
		}
	}
	return h.Sum64()
}

// warmed finds the request that each warming keeps: the one before it on its path, if
// it is of the same model.
func (c *accounting) warmed() {
	for k := range c.sent {
		s := &c.sent[k]
		if !s.warms {
			continue
		}
		up := c.r.Session.Parent(int(s.rec))
		for steps := 0; up >= 0 && c.place[up] < 0 && steps < len(c.place); steps++ {
			up = c.r.Session.Parent(up)
		}
		if up < 0 || c.place[up] < 0 {
			continue
		}
		if of := &c.sent[c.place[up]]; of.model == s.model {
			s.whole, s.counted = of.whole, of.counted
			s.messages, s.cached, s.ephemeral, s.prompt, s.tools, s.front = of.messages, of.cached, of.ephemeral, of.prompt, of.tools, of.front
			s.rec, s.index = of.rec, of.index
		}
	}
}

// hide finds out how much the file does not hold of prompt and tools: what the first
// answered request was said to take, less what is counted of it.
func (c *accounting) hide(onPath map[int32]bool) {
	for k := range c.sent {
		s := &c.sent[k]
		if s.warms || s.whole == nothing || s.promptTokens() == 0 || !c.opt.All && !onPath[s.rec] {
			continue
		}
		if !s.known {
			c.hidden = max(0, s.promptTokens()-s.counted)
		}
		return
	}
}

// use reports that the provider has seen a request.
func (c *accounting) use(k int) {
	s := &c.sent[k]
	if s.whole == nothing || s.failed && s.promptTokens() == 0 {
		return
	}
	m := &c.models[s.model]
	if s.usage.CacheWrite > 0 {
		m.long = s.usage.CacheWrite1h > 0
	}
	until := int64(forever)
	if life := m.lifetime(); life > 0 {
		until = s.at + life
	}
	c.trie.use(s.whole, useOf{request: int32(k), until: until})
	if n := s.promptTokens(); n > 0 {
		c.trie.recorded[s.whole] = n
	}
}

// judge is the row of a request, which is then in the cache for those that follow.
func (c *accounting) judge(k int) (row Row, err error) {
	s := &c.sent[k]
	row = Row{
		Schema: "ctxtool/cache/2", Record: int(s.rec), Request: origin.Index(s.index), Entry: c.r.Session.ID(int(s.rec)),
		Model: s.ref.Name(), Prompt: s.promptTokens(),
	}
	if s.hasUsage {
		row.Recorded = &s.usage
		row.Missed = s.missed
	}
	seen := c.active || s.usage.CacheRead+s.usage.CacheWrite > 0
	defer func() { c.active = seen }()
	if s.whole == nothing {
		return row, nil
	}
	row.Endless, row.Shared = c.models[s.model].lifetime() == 0, &shared{}
	if row.Estimated = row.Prompt == 0; row.Estimated {
		row.Prompt = s.counted + c.hidden
	}
	kept, by := c.trie.kept(s.whole, s.at)
	known, compared := c.trie.kept(s.whole, math.MinInt64)
	had, read := min(c.served(known, compared, s), row.Prompt), min(s.usage.CacheRead, row.Prompt)
	row.Shared.Tokens = min(c.served(kept, by, s), row.Prompt)
	if kept != known && read > row.Shared.Tokens && read+noise >= had {
		pause := s.at - c.sent[compared].at
		row.Outlived, c.models[s.model].seen = pause/1000, max(c.models[s.model].seen, pause)
		kept, row.Shared.Tokens = known, had
	}
	row.Shared.Messages = c.messagesOf(kept)
	served := max(row.Shared.Tokens, read) // nothing before it has been billed again but what is unserved
	row.Expected = &Expected{served, row.Prompt - served}
	if row.Break, err = c.broken(k, kept, known, compared); err != nil {
		return row, err
	}
	if b := row.Break; b != nil && !row.Estimated {
		from := had
		if b.Cause == CausePause {
			from = row.Shared.Tokens
		}
		b.Again.Tokens = max(0, min(b.Again.Tokens-max(0, read-from), row.Prompt-served))
		if read > from && b.Again.Tokens <= noise {
			b.Again.Tokens = 0 // the provider has read on after it
		}
	}
	if b := row.Break; b != nil {
		b.Again.Cost = c.dollars(s, row.Prompt, b.Again.Tokens)
		row.Rebilled = b.Again
		if b.Record >= 0 {
			b.Entry = c.r.Session.ID(b.Record)
		}
	}
	if short := row.Shared.Tokens - read; !row.Estimated && seen && short > noise {
		row.Unserved = Again{short, c.dollars(s, row.Prompt, short)}
		row.Rebilled.plus(row.Unserved)
	}
	c.use(k)
	c.last = k
	return row, nil
}

// served is what a provider counts of a beginning: what it said of a request that was
// just that; else its part of the request that used it, or of the one at hand.
func (c *accounting) served(n begin, by int32, s *sending) int64 {
	if n == nothing {
		return 0
	}
	if said := c.trie.recorded[n]; said > 0 {
		return said
	}
	of := &c.sent[by]
	if of.promptTokens() == 0 {
		of = s
	}
	return of.scaled(c.trie.tokensOf(n)+c.hidden, c.hidden)
}

// scaled turns counted tokens into those of the request's provider.
func (s *sending) scaled(counted, hidden int64) int64 {
	whole := s.counted + hidden
	if said := s.promptTokens(); said > 0 && whole > 0 {
		return int64(math.Round(float64(counted) * float64(said) / float64(whole)))
	}
	return counted
}
