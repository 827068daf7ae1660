// Package cache compares, for each request, what a provider's prompt cache could have served
// given earlier requests with what it did serve, and finds the cause of each difference.
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

// Options configure an account.
type Options struct {
	Leaf     int  // record whose path is reported
	All      bool // all branches, in file order
	Collapse bool // later system messages are merged into the prompt
	Counter  *tokens.Counter
	Model    models.Ref // if set, the model of all requests, with the recorded sizes

	// Requests, if set, receives all requests of the tree, as RequestsOfTree returns them,
	// without reading messages again. An error from it ends the account.
	Requests func(Request, error) error
}

// A Row is one request, with what a provider's prompt cache could do for it and what it did.
// Tokens are those that the provider recorded, or counted ones if it recorded none.
//
// It is a line of schema ctxtool/cache/2.
type Row struct {
	Schema    string       `json:"schema"`
	Record    int          `json:"-"`                   // the answer
	Request   origin.Index `json:"request,omitzero"`    // number of the request, from 0 along its own path; absent after a broken patch, as are `shared`, `break` and `expected`
	Entry     string       `json:"entry"`               // id of the answer
	Time      string       `json:"time,omitempty"`      // of the answer's entry, as it stands
	Model     string       `json:"model,omitempty"`     // `provider/id`
	Prompt    int64        `json:"prompt"`              // tokens of the whole request: `input`, `cacheRead` and `cacheWrite` of its usage; else counted, with what is hidden
	Shared    *shared      `json:"shared,omitempty"`    // the longest prefix that it shares with an earlier request of the same model, on any branch, within the cache's lifetime
	Break     *Break       `json:"break,omitempty"`     // what ended the shared prefix, if the earlier request continues differently; absent if this request only adds to it
	Expected  *Expected    `json:"expected,omitempty"`  // tokens that an ideal cache, which keeps every prefix of every request, reads and writes; `read` is at least what the provider recorded as read
	Recorded  *Usage       `json:"recorded,omitempty"`  // `cacheRead`, `cacheWrite` and `cacheWrite1h` of the usage; absent without any
	Rebilled  Rebilled     `json:"rebilled,omitzero"`   // tokens that an earlier request had sent and that were billed again instead of read from the cache; the sum of `break.again` and `unserved`
	Unserved  Rebilled     `json:"unserved,omitzero"`   // by how much `recorded.read` falls short of `shared.tokens`: cached, but not served by the provider; absent up to 1,024 tokens, and before the first use of a cache
	Missed    *Missed      `json:"missed,omitempty"`    // the reason that the provider gives for not serving the request from its cache
	Outlived  int64        `json:"outlived,omitempty"`  // seconds of a pause longer than the cache's lifetime after which the provider still read from the cache; later pauses are judged by it
	Endless   bool         `json:"endless,omitempty"`   // the cache's lifetime is unknown, so pauses are not judged
	Estimated bool         `json:"estimated,omitempty"` // `prompt` is counted: no usage is recorded

	basis basis
}

// shared is the prefix that a request shares with an earlier one.
type shared struct {
	Messages int   `json:"messages"`
	Tokens   int64 `json:"tokens"`
}

// A Missed is what a provider recorded about a request that its cache did not serve.
type Missed struct {
	Reason string `json:"reason"`           // in the provider's words
	Tokens int64  `json:"tokens,omitempty"` // that it did not serve
}

// answered reports whether the provider recorded the size of the request.
func (r *Row) answered() bool { return r.Recorded != nil && r.Recorded.Prompt() > 0 }

// Expected are the tokens read and written by an ideal cache, which keeps every prefix of every
// request.
type Expected struct {
	Read  int64 `json:"read"`
	Write int64 `json:"write"`
}

// Rebilled are tokens that were billed more than once, and what this cost in dollars beyond
// reading them from the cache.
type Rebilled struct {
	Tokens int64   `json:"tokens"`
	Cost   float64 `json:"cost"`
}

// A Report is the account of a session.
type Report struct {
	Rows    []Row
	Total   *Total
	Stopped error // the broken patch after which requests have no expectation
}

// noise is how many tokens a provider may fall short without significance
// (docs/session-format.md 10).
const noise = 1024

// A sentRequest is a request as it was sent, with its answer.
type sentRequest struct {
	rec       int32
	index     int32     // its number on its path
	prefix    beginning // the whole request; noBeginning if unknown
	model     int32
	cached    int32 // messages before the uncached ones
	ephemeral int32 // messages at the end that only this request had
	messages  int32
	late      int32 // the first new system message, -1 for none; lateRec is its entry
	lateRec   int32
	known     bool // the file records prompt and tools
	prompt    uint64
	tools     uint64
	thinking  uint64
	front     int64 // counted tokens of prompt and tools
	counted   int64 // of all
	life      int64 // milliseconds that the cache keeps it after its last use; 0 if unknown
	warms     bool  // not a request: an entry that kept the cache of this prefix warm
	answer
}

// An accountant builds the account.
type accountant struct {
	r        *replay.Replay
	opt      Options
	lines    *sessionfmt.Reader
	trie     trie
	sent     []sentRequest   // in file order
	replayed []int32         // indexes into sent, in the order of the replay
	place    []int32         // index into sent by record, -1 for none
	digests  []replay.Digest // by record, of messages that a provider gets
	models   []seenModel
	modelAt  map[models.Ref]int32
	sections map[uint64][]section // by sentRequest.prompt
	first    []int32              // see trie.firstSent; built on first use
	depth    []int32              // of records below their roots; built on first use
	hidden   int64
	active   bool // an answer has used a cache
	last     int  // index of the previous request, -1 for none
}

// Account returns, request by request, what a cache could have served from the prefixes of
// earlier requests and what the provider recorded. Requests of other branches count in file
// order, even if they are not reported.
func Account(r *replay.Replay, opt Options) (*Report, error) {
	c := newAccountant(r, opt)
	if err := c.read(); err != nil {
		return nil, err
	}
	path, found := r.Session.Path(opt.Leaf)
	r.Findings = append(r.Findings, found...)
	stopped, err := c.requests(path, c.each(r, path, !opt.Collapse))
	if err == nil {
		err = c.report(path)
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
	c.estimateHidden(onPath)
	for row, err := range c.rows {
		if err != nil {
			return nil, err
		}
		if opt.All || onPath[int32(row.Record)] {
			report.Rows = append(report.Rows, row)
		}
	}
	report.Total = total(report.Rows)
	report.Total.Hidden, report.Total.Reading = c.hidden, r.Session.Reading()
	for i := range c.models {
		if m := &c.models[i]; m.seen > 0 {
			report.Total.Outlived = append(report.Total.Outlived, lifetime{m.ref.Name(), m.tableLifetime() / 1000, m.seen / 1000})
		}
	}
	return report, nil
}

func newAccountant(r *replay.Replay, opt Options) *accountant {
	return &accountant{r: r, opt: opt, lines: r.Session.NewReader(), trie: newTrie(), modelAt: map[models.Ref]int32{}, sections: map[uint64][]section{}, last: -1}
}

// rows yields the rows of all requests in file order.
func (c *accountant) rows(yield func(Row, error) bool) {
	for k := range c.sent {
		if c.sent[k].warms {
			c.use(k)
			continue
		}
		row, err := c.row(k)
		if !yield(row, err) || err != nil {
			return
		}
	}
}

// requests inserts each request into the trie. stopped is the first
// broken patch.
func (c *accountant) requests(path []int, all iter.Seq2[Request, error]) (stopped, err error) {
	for q, err := range all {
		switch {
		case replay.Stopped(err):
			if stopped == nil || slices.Contains(path, q.Record) {
				stopped = err
			}
		case err != nil:
			return nil, err
		default:
			if err := c.insert(&q); err != nil {
				return nil, err
			}
		}
	}
	c.linkWarmings()
	return stopped, nil
}

// each replays all requests.
func (c *accountant) each(r *replay.Replay, path []int, inPlace bool) iter.Seq2[Request, error] {
	a := c.tracker(r, inPlace)
	if len(path) > 0 && r.Session.Parent(path[0]) >= 0 { // its parents form a cycle
		return requests(r.Walk(c.opt.Leaf, a))
	}
	return requests(r.WalkTree(r.Session.Tree(), a))
}

// tracker returns a tracker that reads no message again.
func (c *accountant) tracker(r *replay.Replay, inPlace bool) *requestTracker {
	a := newRequestTracker(r, c.opt.Counter, inPlace)
	a.prefix.digests.plain = c.digests
	return a
}

// report passes the requests to Options.Requests.
func (c *accountant) report(path []int) error {
	if c.opt.Requests == nil {
		return nil
	}
	quiet := *c.r // findings have been reported already
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

// insert adds a request to the trie.
func (c *accountant) insert(q *Request) error {
	s := &c.sent[c.place[q.Record]]
	s.index, s.known, s.prompt, s.tools = int32(q.Index), q.Known, q.Prompt, q.asked.tools
	s.front = int64(q.Counts.System + q.Counts.Tools)
	c.notePrompt(q)
	thinking, err := q.thinking()
	if err != nil {
		return err
	}
	// Before the messages: what the file does not record, the prompt, the thinking level.
	model := mixKeys(uint64(s.model), 0)
	front := c.trie.addFront(-1, model, 0)
	front = c.trie.addFront(front, mixKeys(model, q.Prompt), int(s.front))
	s.thinking = maphash.Bytes(seed, thinking)
	front = c.trie.addFront(front, mixKeys(model, mixKeys(q.Prompt, s.thinking)), int(s.front))

	sums := q.Prefix.sums
	if c.r.Rules.Patched() {
		if sums, err = q.Prefix.withEphemeral(q.Before); err != nil {
			return err
		}
	}
	s.cached, s.messages = int32(q.Prefix.Cached), int32(len(sums))
	s.ephemeral = s.messages - int32(q.Prefix.Len())
	s.prefix = beginning{front, c.trie.addAll(sums)}
	s.counted = c.trie.tokensOf(s.prefix)
	c.replayed = append(c.replayed, c.place[q.Record])
	return nil
}

// systems finds, in each request, the first system message that no earlier request had after
// the same front, in the order of the replay.
func (c *accountant) systems() {
	for _, k := range c.replayed {
		s := &c.sent[k]
		known := c.trie.insert(s.prefix) - piecesBefore
		for n := s.prefix.node; n >= 0; n = c.trie.nodes[n].parent {
			if n = c.trie.nodes[n].system; n < 0 || c.trie.nodes[n].depth <= known {
				break
			}
			s.late, s.lateRec = c.trie.nodes[n].depth, int32(c.trie.pieces[n].Origin().Record)
		}
	}
}

// mixKeys combines two keys.
func mixKeys(a, b uint64) uint64 {
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

// linkWarmings finds the request that each cache warming keeps: the previous one on its path,
// if it has the same model.
func (c *accountant) linkWarmings() {
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
			s.prefix, s.counted = of.prefix, of.counted
			s.messages, s.cached, s.ephemeral, s.prompt, s.tools, s.front = of.messages, of.cached, of.ephemeral, of.prompt, of.tools, of.front
			s.rec, s.index = of.rec, of.index
		}
	}
}

// estimateHidden estimates how much of prompt and tools the file does not record: the recorded
// size of the first answered request, minus what is counted of it.
func (c *accountant) estimateHidden(onPath map[int32]bool) {
	for k := range c.sent {
		s := &c.sent[k]
		if s.warms || s.prefix == noBeginning || s.promptTokens() == 0 || !c.opt.All && !onPath[s.rec] {
			continue
		}
		if !s.known {
			c.hidden = max(0, s.promptTokens()-s.counted)
		}
		return
	}
}

// use records that the provider has seen a request.
func (c *accountant) use(k int) {
	s := &c.sent[k]
	if s.prefix == noBeginning || s.failed && s.promptTokens() == 0 {
		return
	}
	m := &c.models[s.model]
	if s.wrote {
		m.long = s.long
	}
	until := int64(forever)
	if s.life = m.lifetime(); s.life > 0 {
		until = s.at + s.life
	}
	c.trie.use(s.prefix, use{request: int32(k), until: until})
	if n := s.promptTokens(); n > 0 {
		c.trie.recorded[s.prefix] = n
	}
}

// row returns the row of a request, and adds the request to the cache for later ones.
func (c *accountant) row(k int) (row Row, err error) {
	s := &c.sent[k]
	row = Row{
		Schema: "ctxtool/cache/2", Record: int(s.rec), Request: origin.Index(s.index), Entry: c.r.Session.ID(int(s.rec)),
		Time: s.time, Model: s.ref.Name(), Prompt: s.promptTokens(),
	}
	row.basis = basis{
		model: &c.models[s.model], ref: s.ref, long: c.models[s.model].long, counted: s.counted + c.hidden, hidden: c.hidden,
		output: s.output, thinking: s.thinking, unbilled: s.failed && s.promptTokens() == 0,
	}
	if s.hasUsage {
		row.Recorded = &s.usage
		row.Missed = s.missed
	}
	seen := c.active || s.usage.CacheRead+s.usage.CacheWrite > 0
	defer func() { c.active = seen }()
	if s.prefix == noBeginning {
		return row, nil
	}
	row.Endless, row.Shared = c.models[s.model].lifetime() == 0, &shared{}
	if row.Estimated = row.Prompt == 0; row.Estimated {
		row.Prompt = s.counted + c.hidden
	}
	kept, by := c.trie.kept(s.prefix, s.at)
	known, compared := c.trie.kept(s.prefix, math.MinInt64)
	had, read := min(c.served(known, compared, s), row.Prompt), min(s.usage.CacheRead, row.Prompt)
	row.Shared.Tokens = min(c.served(kept, by, s), row.Prompt)
	if kept != known && read > row.Shared.Tokens && read+noise >= had {
		pause := s.at - c.sent[compared].at
		row.Outlived, c.models[s.model].seen = pause/1000, max(c.models[s.model].seen, pause)
		kept, row.Shared.Tokens = known, had
	}
	if row.Shared.Messages = c.messagesOf(kept); row.Shared.Messages == 0 && c.hidden > 0 && read > 0 {
		row.Shared.Tokens = min(row.Shared.Tokens, read) // the provider knows how long a prompt is that the file does not have
	}
	served := max(row.Shared.Tokens, read) // before it only unserved tokens were billed again
	row.Expected = &Expected{served, row.Prompt - served}
	if row.Break, err = c.broken(k, kept, known, compared); err != nil {
		return row, err
	}
	if b := row.Break; b != nil && !row.Estimated {
		from := had
		if b.Cause == CausePause {
			from = row.Shared.Tokens
		}
		b.Rebilled.Tokens = max(0, min(b.Rebilled.Tokens-max(0, read-from), row.Prompt-served))
		if read > from && b.Rebilled.Tokens <= noise {
			b.Rebilled.Tokens = 0 // the provider read beyond it
		}
	}
	if b := row.Break; b != nil {
		b.Rebilled.Cost = c.models[s.model].dollars(&s.answer, row.Prompt, b.Rebilled.Tokens)
		row.Rebilled = b.Rebilled
		if b.Record >= 0 {
			b.Entry = c.r.Session.ID(b.Record)
		}
	}
	if short := row.Shared.Tokens - read; !row.Estimated && seen && short > noise {
		row.Unserved = Rebilled{short, c.models[s.model].dollars(&s.answer, row.Prompt, short)}
		row.Rebilled.plus(row.Unserved)
	}
	c.use(k)
	c.last = k
	return row, nil
}

// served returns the size of a prefix in the provider's tokens: as recorded for a request that
// was exactly this prefix, else its share of the request that used it, or of the current one.
func (c *accountant) served(n beginning, by int32, s *sentRequest) int64 {
	if n == noBeginning {
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

// scaled converts counted tokens to those of the request's provider.
func (s *sentRequest) scaled(counted, hidden int64) int64 {
	whole := s.counted + hidden
	if said := s.promptTokens(); said > 0 && whole > 0 {
		return int64(math.Round(float64(counted) * float64(said) / float64(whole)))
	}
	return counted
}
