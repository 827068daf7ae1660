package replay

import (
	"hash/maphash"
	"iter"
	"math"
	"slices"

	"ctxtool/internal/tokens"
	"ctxtool/sessionfmt"
)

// CacheOptions are what is asked of the account for a prompt cache.
type CacheOptions struct {
	Leaf     int  // record whose path is asked for
	All      bool // all branches, in the order of the file
	Collapse bool // later system messages go into the prompt in front
	Counter  *tokens.Counter

	// Requests, if set, is told all requests of the tree too, as RequestsOfTree gives
	// them, and no message is read again for it. Its error ends the account.
	Requests func(Request, error) error
}

// A CacheRow is one request, and what a provider's prompt cache could do for it and
// did. Tokens are those of the provider where it has recorded any, else counted ones.
type CacheRow struct {
	Record  int // the answer
	Request int // from 0 along its path, -1 behind a broken patch
	Model   ModelRef
	Prompt  int64 // tokens of the whole request
	// Shared is what it begins with of any earlier request that a cache still had.
	SharedMessages int
	SharedTokens   int64
	Break          *CacheBreak    // what ended it, nil where nothing did
	Expected       *CacheExpected // nil behind a broken patch
	Recorded       *CacheUsage    // nil where the answer has no usage
	Estimated      bool           // Prompt is counted: the provider has recorded nothing
	Unserved       *CacheAgain    // what the cache had, and the provider did not serve; nil for noise
	Outlived       int64          // milliseconds after which the cache served what its lifetime had ended; 0 for none
	Endless        bool           // nobody knows how long the cache lives: pauses are not judged
}

// Rebilled are the tokens that an earlier request had sent and that were billed again,
// not read from the cache: those that a break cost, and those that the provider did not
// serve.
func (r *CacheRow) Rebilled() (a CacheAgain) {
	if r.Break != nil {
		a = r.Break.Again
	}
	if r.Unserved != nil {
		a.plus(*r.Unserved)
	}
	return a
}

// answered reports whether the provider has recorded what the request had.
func (r *CacheRow) answered() bool { return r.Recorded != nil && r.Recorded.Prompt() > 0 }

// CacheExpected are the tokens that a provider reads and writes which caches every
// beginning of every request.
type CacheExpected struct {
	Read  int64 `json:"read"`
	Write int64 `json:"write"`
}

// CacheAgain are tokens that were billed once more, and the dollars that this cost
// beyond reading them from the cache.
type CacheAgain struct {
	Tokens int64   `json:"tokens"`
	Cost   float64 `json:"cost"`
}

// A CacheReport is the account of a session.
type CacheReport struct {
	Rows    []CacheRow
	Hidden  int64 // tokens of prompt and tools that the file does not hold
	Total   *CacheTotal
	Stopped error // the broken patch behind which requests have no expectation
}

// noise is how many tokens a provider may fall short without meaning anything
// (spec/pi-1.5.md 8).
const noise = 1024

// A sending is a request as it was sent, and its answer.
type sending struct {
	rec       int32
	index     int32 // along its path
	node      int32 // in the trie, -1 where it is not known
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

// A cacheWalk makes the account.
type cacheWalk struct {
	r      *Replay
	opt    CacheOptions
	lines  *sessionfmt.Reader
	trie   cacheTrie
	sent   []sending // in the order of the file
	place  []int32   // of each record in sent, -1 for none
	says   []saying  // of each record that is a message for a provider
	models []cacheModel
	first  map[piece]int32 // see cacheTrie.firstSent; made when first asked for
	depth  []int32         // of records below their roots; made when first asked for
	hidden int64
	active bool // some answer has had to do with a cache
	last   int  // place of the request before, -1 for none
}

// Cache accounts for the prompt cache: request by request, what a cache could have
// served by what earlier requests began with, and what the provider says it did. The
// requests of other branches count as they came in the file, whether or not they are
// asked for.
func (r *Replay) Cache(opt CacheOptions) (*CacheReport, error) {
	c := &cacheWalk{r: r, opt: opt, lines: r.Session.NewReader(), trie: cacheTrie{byKey: map[uint64]int32{}}, last: -1}
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
	report := &CacheReport{Stopped: stopped}
	onPath := map[int32]bool{}
	for _, rec := range path {
		onPath[int32(rec)] = true
	}
	c.hide(onPath)
	report.Hidden = c.hidden
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
	for i := range c.models {
		if m := &c.models[i]; m.seen > 0 {
			report.Total.Outlived = append(report.Total.Outlived, CacheLifetime{m.ref, m.said(), m.seen})
		}
	}
	return report, nil
}

// requests replays, and puts each request in the trie. stopped is the first broken
// patch.
func (c *cacheWalk) requests(path []int) (stopped, err error) {
	for q, err := range c.each(c.r, path, !c.opt.Collapse) {
		switch {
		case Stopped(err):
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
func (c *cacheWalk) each(r *Replay, path []int, inPlace bool) iter.Seq2[Request, error] {
	ready := func(m *machine) {
		m.asked = newAsking(r, c.opt.Counter)
		m.asked.prefix.inPlace = inPlace
		m.asked.prefix.says.plain = c.says
	}
	if len(path) > 0 && r.Session.Parent(path[0]) >= 0 { // its parents go round in a circle
		return requests(r.walk(c.opt.Leaf, ready))
	}
	return requests(r.walkTree(r.Session.Tree(), ready))
}

// tell tells the requests to who asked for them.
func (c *cacheWalk) tell(path []int) error {
	if c.opt.Requests == nil {
		return nil
	}
	quiet := *c.r // findings have been taken down once
	for q, err := range c.each(&quiet, path, false) {
		if err != nil && !Stopped(err) {
			return err
		}
		if e := q.Before; e != nil && e.model >= 0 && c.place[e.model] >= 0 {
			e.named = &c.sent[c.place[e.model]].ref
		}
		if err := c.opt.Requests(q, err); err != nil {
			return err
		}
	}
	return nil
}

// put puts a request in the trie.
func (c *cacheWalk) put(q *Request) error {
	s := &c.sent[c.place[q.Record]]
	a := q.Step.m.asked
	s.index, s.known, s.prompt, s.tools = int32(q.Index), q.Known, q.Prompt, a.tools
	s.front = int64(q.Counts.System + q.Counts.Tools)
	thinking, err := q.thinking()
	if err != nil {
		return err
	}
	// What stands before the messages: what is hidden, the prompt, the level.
	model := saltOf(uint64(s.model), 0)
	none := piece{-1, -1, -1, 0}
	node := c.trie.add(-1, model, 0, none)
	node = c.trie.add(node, saltOf(model, q.Prompt), int(s.front), none)
	salt := saltOf(model, saltOf(q.Prompt, maphash.Bytes(digestSeed, thinking)))
	node = c.trie.add(node, salt, int(s.front), none)

	sums := q.Prefix.sums
	if c.r.Rules == ByEnvelope {
		if sums, err = q.Prefix.withEphemeral(q.Before); err != nil {
			return err
		}
	}
	s.cached, s.messages = int32(q.Prefix.Cached), int32(len(sums))
	s.ephemeral = s.messages - int32(q.Prefix.Len())
	known := int32(len(c.trie.nodes))
	s.node = c.trie.addAll(node, salt, sums)
	s.counted = c.trie.tokensOf(s.node)
	for n := s.node; n >= known; n = c.trie.nodes[n].parent {
		at := c.trie.nodes[n].depth - piecesBefore
		if at >= 0 && sums[at].place.inList() {
			s.late, s.lateRec = at, sums[at].place.rec
		}
	}
	return nil
}

// saltOf is a key made of two.
func saltOf(a, b uint64) uint64 {
	var h maphash.Hash
	h.SetSeed(digestSeed)
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
func (c *cacheWalk) warmed() {
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
			s.node, s.counted = of.node, of.counted
			s.messages, s.cached, s.ephemeral, s.prompt, s.tools, s.front = of.messages, of.cached, of.ephemeral, of.prompt, of.tools, of.front
			s.rec, s.index = of.rec, of.index
		}
	}
}

// hide finds out how much the file does not hold of prompt and tools: what the first
// answered request was said to take, less what is counted of it.
func (c *cacheWalk) hide(onPath map[int32]bool) {
	for k := range c.sent {
		s := &c.sent[k]
		if s.warms || s.node < 0 || s.promptTokens() == 0 || !c.opt.All && !onPath[s.rec] {
			continue
		}
		if !s.known {
			c.hidden = max(0, s.promptTokens()-s.counted)
		}
		return
	}
}

// use says that the provider has seen a request.
func (c *cacheWalk) use(k int) {
	s := &c.sent[k]
	if s.node < 0 || s.failed && s.promptTokens() == 0 {
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
	c.trie.use(s.node, cacheUse{request: int32(k), until: until})
	if n := s.promptTokens(); n > 0 {
		c.trie.nodes[s.node].recorded = n
	}
}

// judge is the row of a request, which is then in the cache for those that follow.
func (c *cacheWalk) judge(k int) (row CacheRow, err error) {
	s := &c.sent[k]
	row = CacheRow{Record: int(s.rec), Request: int(s.index), Model: s.ref, Prompt: s.promptTokens()}
	if s.hasUsage {
		row.Recorded = &s.usage
	}
	seen := c.active || s.usage.CacheRead+s.usage.CacheWrite > 0
	defer func() { c.active = seen }()
	if s.node < 0 {
		return row, nil
	}
	row.Endless = c.models[s.model].lifetime() == 0
	if row.Estimated = row.Prompt == 0; row.Estimated {
		row.Prompt = s.counted + c.hidden
	}
	kept, by := c.trie.kept(s.node, s.at)
	known, compared := c.trie.kept(s.node, math.MinInt64)
	had, read := min(c.served(known, compared, s), row.Prompt), min(s.usage.CacheRead, row.Prompt)
	row.SharedTokens = min(c.served(kept, by, s), row.Prompt)
	if kept != known && read > row.SharedTokens && read+noise >= had {
		row.Outlived = s.at - c.sent[compared].at
		c.models[s.model].seen = max(c.models[s.model].seen, row.Outlived)
		kept, row.SharedTokens = known, had
	}
	if kept >= 0 {
		row.SharedMessages = max(0, int(c.trie.nodes[kept].depth)-piecesBefore+1)
	}
	served := max(row.SharedTokens, read) // nothing before it has been billed again but what is unserved
	row.Expected = &CacheExpected{served, row.Prompt - served}
	if row.Break, err = c.broken(k, kept, known, compared); err != nil {
		return row, err
	}
	if b := row.Break; b != nil && !row.Estimated {
		from := had
		if b.Cause == CausePause {
			from = row.SharedTokens
		}
		b.Again.Tokens = max(0, min(b.Again.Tokens-max(0, read-from), row.Prompt-served))
		if read > from && b.Again.Tokens <= noise {
			b.Again.Tokens = 0 // the provider has read on behind it
		}
	}
	if row.Break != nil {
		row.Break.Again.Cost = c.dollars(s, row.Prompt, row.Break.Again.Tokens)
	}
	if short := row.SharedTokens - read; !row.Estimated && seen && short > noise {
		row.Unserved = &CacheAgain{short, c.dollars(s, row.Prompt, short)}
	}
	c.use(k)
	c.last = k
	return row, nil
}

// served is what a provider counts of a beginning: what it said of a request that was
// just that; else its part of the request that used it, or of the one at hand.
func (c *cacheWalk) served(n, by int32, s *sending) int64 {
	if n < 0 {
		return 0
	}
	if said := c.trie.nodes[n].recorded; said > 0 {
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
