// Package cache compares, for each request, what a provider's prompt cache could have served
// given earlier requests with what it did serve, and finds the cause of each difference.
package cache

import (
	"hash/maphash"
	"iter"
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/models"
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

// A Report is the account of a session.
type Report struct {
	Rows    []Row
	Total   *Total
	Stopped error // the broken patch after which requests have no expectation
}

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
	err      error // the first of reading
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
	report.Rows = make([]Row, 0, min(len(c.sent), len(path)))
	for k := range c.sent {
		if c.sent[k].warms {
			c.use(k)
		} else if row := c.row(k); opt.All || onPath[int32(row.Record)] {
			report.Rows = append(report.Rows, row)
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	report.Total = total(report.Rows)
	if report.Total.Of = "path"; opt.All {
		report.Total.Of = "file"
	}
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
