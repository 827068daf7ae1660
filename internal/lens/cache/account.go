// Package cache compares, for each request, what a provider's prompt cache could have served
// given earlier requests with what it did serve, and finds the cause of each difference.
package cache

import (
	"cmp"
	"hash/maphash"
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Options configure an account.
type Options struct {
	Leaf    int             // record whose path is reported
	All     bool            // all branches, in file order
	Broken  bool            // Rows are only those with something billed again
	InPlace *models.InPlace // what stands in place in all requests; nil for what pi sends to each model
	// Copied reports whether a record was copied from another session: its request is not reported. Nil where none was.
	Copied func(rec int) bool
}

// A Report is the account of a session.
type Report struct {
	Total   *Total
	Worst   *Row  // the request with the most expensive tokens that were billed again, nil for none
	Stopped error // the broken patch after which requests have no expectation

	account *accountant
}

// An accountant builds the account.
type accountant struct {
	l      *ledger.Ledger
	opt    Options
	lines  *sessionfmt.Reader
	texts  *replay.Reader
	err    error // the first of reading
	trie   trie
	sent   []beginning     // the whole of each request, by index; noBeginning if unknown
	warmed map[int32]int32 // the requests that cache warmings keep
	models []seenModel     // by the index of the model
	fresh  *ledger.First   // built on first use
	hidden int64
	onPath []bool           // by record
	breaks map[int]*Break   // by request, once they are found
	active bool             // an answer has used a cache
	last   int              // index of the previous request, -1 for none
	level  askedLevel       // the last one
	left   map[int32]uint64 // by request; see removed
	patch  int              // the patch that was asked for an op last, -1 for none
	ops    []jsonl.Value    // of that
	// what is recorded of requests, by the records of their answers; nil before it is read
	sketches map[int]*dialect.Sketch
}

// Account returns, request by request, what a cache could have served from the prefixes of
// earlier requests and what the provider recorded. Requests of other branches count in file
// order, even if they are not reported.
func Account(l *ledger.Ledger, opt Options) (*Report, error) {
	c := newAccountant(l, opt)
	path, _ := l.Replay.Session.Path(opt.Leaf)
	report := &Report{account: c}
	for _, rec := range path {
		c.onPath[rec] = true
	}
	for _, stop := range l.Stopped {
		if report.Stopped == nil || c.onPath[stop.Record] {
			report.Stopped = stop.Err
		}
	}
	c.insertAll()
	c.estimateHidden(c.reported)
	billed := slices.ContainsFunc(l.Requests, func(q ledger.Request) bool {
		return !q.Warms && c.reported(q.Record) && c.answered(&q)
	})
	report.Total = total(func(yield func(*Row) bool) {
		c.rows(func(row *Row) bool {
			if worst := report.Worst; row.Rebilled.Tokens > 0 && (worst == nil ||
				row.Rebilled.Cost > worst.Rebilled.Cost) {
				one := *row
				report.Worst = &one
			}
			return yield(row)
		})
	}, billed)
	if report.Worst != nil {
		c.complete(report.Worst)
	}
	if c.err != nil {
		return nil, c.err
	}
	report.Total.Of = "path"
	if opt.All {
		report.Total.Of = "file"
	}
	report.Total.Hidden, report.Total.Reading = c.hidden, l.Replay.Session.Reading()
	report.Total.Rules = c.rules()
	for i := range c.models {
		if m := &c.models[i]; m.seen > 0 {
			outlived := lifetime{m.Ref.Name(), m.tableLifetime() / 1000, m.seen / 1000}
			report.Total.Outlived = append(report.Total.Outlived, outlived)
		}
	}
	return report, nil
}

// reported reports whether a request is reported, by its answer.
func (c *accountant) reported(rec int32) bool {
	return (c.opt.All || c.onPath[rec]) && (c.opt.Copied == nil || !c.opt.Copied(int(rec)))
}

// rules returns the rules of the models of reported requests.
func (c *accountant) rules() (all []Rule) {
	if c.l.Replay.Session.Dialect() != nil || c.opt.InPlace != nil {
		return nil
	}
	type setting struct {
		prompt int32
		level  uint64
	}
	first := map[int32]setting{}
	at := map[int32]int{}
	for k := range c.l.Requests {
		q := &c.l.Requests[k]
		if q.Warms || c.sent[k] == noBeginning || !c.reported(q.Record) {
			continue
		}
		cached, now := c.cached(q), setting{q.Prompt, maphash.Bytes(seed, c.l.Thinking(q))}
		if was, seen := first[cached]; seen {
			all[at[cached]].Changed = all[at[cached]].Changed || was != now
			continue
		}
		first[cached], at[cached] = now, len(all)
		all = append(all, ruleOf(&c.models[q.Model]))
	}
	return all
}

// Rows yields the requests, in the order of the file, as they are worked out.
func (r *Report) Rows(yield func(*Row) bool) {
	for row := range r.Bare {
		if r.account.opt.Broken && row.Rebilled.Tokens == 0 {
			continue
		}
		one := *row
		r.account.complete(&one)
		if !yield(&one) {
			return
		}
	}
}

// Bare yields the rows without what only their entries say: times, and reasons of providers. Each is valid until the
// next one.
func (r *Report) Bare(yield func(*Row) bool) { r.account.rows(yield) }

// Endless returns the models of reported requests whose caches have no known lifetime.
func (r *Report) Endless() (models []string) {
	c := r.account
	for k := range c.l.Requests {
		q := &c.l.Requests[k]
		m := &c.models[q.Model]
		if c.reported(q.Record) && !q.Warms && q.Known() && m.lifetime() == 0 &&
			!slices.Contains(models, m.Ref.Name()) {
			models = append(models, m.Ref.Name())
		}
	}
	return models
}

// Err returns the first error of reading the session for Rows.
func (r *Report) Err() error { return r.account.err }

// complete adds to a row what its entry says besides the usage.
func (c *accountant) complete(row *Row) {
	_, stamp, missed, err := c.l.Recorded(&c.l.Requests[c.l.Answered(row.Record)])
	c.err = cmp.Or(c.err, err)
	row.Time = stamp.Text()
	if row.Recorded != nil && missed.IsObject() {
		row.Missed = &Missed{missed.Get("type").Text(), missed.Get("cache_missed_input_tokens").Int()}
	}
}

// rows yields the requests in the order of the file, without the times of their entries, in the same memory.
func (c *accountant) rows(yield func(*Row) bool) {
	c.reset()
	var row Row
	for k := range c.sent {
		if c.l.Requests[k].Warms {
			c.use(k)
		} else if row = c.row(k); c.reported(int32(row.Record)) && !yield(&row) {
			return
		}
	}
}

// reset makes the cache empty.
func (c *accountant) reset() {
	clear(c.trie.uses)
	for i := range c.trie.nodes {
		c.trie.nodes[i].last = -1
	}
	clear(c.trie.recorded)
	for i := range c.models {
		c.models[i].long, c.models[i].seen = false, 0
	}
	c.active, c.last = false, -1
}

func newAccountant(l *ledger.Ledger, opt Options) *accountant {
	s := l.Replay.Session
	c := &accountant{
		l: l, opt: opt, lines: s.NewReader(), texts: l.Replay.NewReader(),
		sent:   slices.Repeat([]beginning{noBeginning}, len(l.Requests)),
		warmed: map[int32]int32{}, onPath: make([]bool, s.Len()), last: -1, patch: -1,
		level: askedLevel{model: -1}, left: map[int32]uint64{},
		breaks: map[int]*Break{},
	}
	for i := range l.Models {
		m := seenModel{Model: &l.Models[i], observed: &observed{}}
		switch {
		case opt.InPlace != nil:
			m.inPlace = *opt.InPlace
		case s.Dialect() == nil: // only pi sends a system message in its place
			m.inPlace = m.Interface.InPlace()
		}
		if first := int(m.Cached); first < i {
			m.observed = c.models[first].observed
		}
		c.models = append(c.models, m)
	}
	c.trie = newTrie(l, func(k int32) bool { return c.inPlace(&l.Requests[k]).System })
	return c
}

// inPlace returns what stands in place in a request.
func (c *accountant) inPlace(q *ledger.Request) *models.InPlace { return &c.models[q.Model].inPlace }

// view returns the messages of a request as the cache sees them.
func (c *accountant) view(k int32) ledger.View { return c.trie.view(k) }

// promptOf returns the prompt before a request's messages.
func (c *accountant) promptOf(q *ledger.Request) *ledger.Prompt {
	if c.inPlace(q).System {
		return &c.l.Prompts[q.Front]
	}
	return &c.l.Prompts[q.Prompt]
}

// listed returns a hash of the prompt before a request's messages, and of the tools in its list.
func (c *accountant) listed(k int32, q *ledger.Request) uint64 {
	p, current := c.promptOf(q), &c.l.Prompts[q.Prompt]
	switch c.inPlace(q).Tools {
	case models.Changed:
		return p.Text
	case models.Added:
		if left := c.removed(k, q); left != 0 {
			return ledger.Mix(p.Text, left)
		}
		return p.Text
	}
	if p.Tools == current.Tools {
		return p.Text
	}
	return ledger.Mix(p.Text, current.Tools)
}

// removed returns a hash of the tools that were left when one was last removed before a request, 0 for none: then
// they are all in the list.
func (c *accountant) removed(k int32, q *ledger.Request) (left uint64) {
	if q.Previous < 0 {
		return 0
	}
	left = c.left[q.Previous]
	was, is := &c.l.Prompts[c.l.Requests[q.Previous].Prompt], &c.l.Prompts[q.Prompt]
	gone := false
	was.ToolsDiffer(&is.State, func(_ int, old, _ *prompt.Tool) { gone = gone || old != nil })
	if gone {
		left = ledger.Mix(is.Tools, 1)
	}
	if left != 0 {
		c.left[k] = left
	}
	return left
}

// front returns the tokens of prompt and tools of a request.
func (c *accountant) front(q *ledger.Request) int64 {
	n := c.promptOf(q).Counts
	return int64(n.System + n.Tools)
}

// insertAll inserts each request into the trie, and finds the request that each cache warming
// keeps: the previous one on its path, if it has the same model.
func (c *accountant) insertAll() {
	for _, k := range c.l.Replayed {
		c.insert(k)
	}
	c.trie.layOut()
	s := c.l.Replay.Session
	for k := range c.sent {
		q := &c.l.Requests[k]
		if !q.Warms {
			continue
		}
		up := s.Parent(int(q.Record))
		for steps := 0; up >= 0 && c.l.Answered(up) < 0 && steps < s.Len(); steps++ {
			up = s.Parent(up)
		}
		if of := c.l.Answered(up); of >= 0 && c.cached(&c.l.Requests[of]) == c.cached(q) {
			c.sent[k], c.warmed[int32(k)] = c.sent[of], of
		}
	}
}

// cached identifies the cache that serves a request.
func (c *accountant) cached(q *ledger.Request) int32 { return c.models[q.Model].Cached }

// insert adds a request to the trie.
func (c *accountant) insert(k int32) {
	q := &c.l.Requests[k]
	size := int(c.front(q))
	// Before the messages: what the file does not record, the prompt, the thinking level.
	model := ledger.Mix(uint64(c.cached(q)), 0)
	front := c.trie.addFront(-1, model, 0)
	text := c.listed(k, q)
	front = c.trie.addFront(front, ledger.Mix(model, text), size)
	front = c.trie.addFront(front, ledger.Mix(model, ledger.Mix(text, c.thinking(q))), size)
	last := int32(-1)
	if q.Previous >= 0 {
		last = c.sent[q.Previous].node
	}
	c.sent[k] = beginning{front, c.trie.add(k, last)}
}

// thinking returns a hash of the thinking level that the model is asked for, one for all where levels stand in
// place.
func (c *accountant) thinking(q *ledger.Request) uint64 {
	if c.inPlace(q).Level {
		return 0
	}
	level := c.l.Thinking(q)
	if c.l.Replay.Session.Dialect() != nil {
		return maphash.Bytes(seed, level)
	}
	if last := &c.level; last.model != q.Model || last.level != string(level) {
		*last = askedLevel{q.Model, string(level), maphash.String(seed, c.models[q.Model].Clamp(level.Text()))}
	}
	return c.level.hash
}

// An askedLevel is the hash of what a model is asked for by a level of the session, as raw JSON.
type askedLevel struct {
	model int32
	level string
	hash  uint64
}

var seed = maphash.MakeSeed()

// estimateHidden estimates how much of prompt and tools the file does not record: the recorded
// size of the first answered request, minus what is counted of it.
func (c *accountant) estimateHidden(reported func(rec int32) bool) {
	for k := range c.sent {
		s, q := c.sent[k], &c.l.Requests[k]
		if q.Warms || s == noBeginning || q.Size() == 0 || !reported(q.Record) {
			continue
		}
		if !c.promptOf(q).Known {
			c.hidden = max(0, q.Size()-c.trie.tokensOf(s))
		}
		return
	}
}

// use records that the provider has seen a request.
func (c *accountant) use(k int) {
	s, q := c.sent[k], &c.l.Requests[k]
	if s == noBeginning || q.Free() {
		return
	}
	m := &c.models[q.Model]
	if u := q.Usage(); u.CacheWrite > 0 {
		m.long = u.CacheWrite1h > 0
	}
	until := int64(forever)
	if life := m.lifetime(); life > 0 {
		until = q.At + life
	}
	c.trie.use(s, use{request: int32(k), until: until})
	if q.Size() > 0 {
		c.record(int32(k))
	}
}

// record makes the recorded size of a request that of its prefix.
func (c *accountant) record(k int32) {
	at := c.sent[k]
	if at.node >= 0 {
		if n := &c.trie.nodes[at.node]; n.last < 0 || c.sent[n.last] == at {
			n.last = k
			return
		}
	}
	c.trie.recorded[at] = k
}

// recorded returns the last recorded size of a request that was exactly a prefix, 0 for none.
func (c *accountant) recorded(at beginning) int64 {
	if at.node >= 0 {
		if last := c.trie.nodes[at.node].last; last >= 0 && c.sent[last] == at {
			return c.l.Requests[last].Size()
		}
	}
	if k, ok := c.trie.recorded[at]; ok {
		return c.l.Requests[k].Size()
	}
	return 0
}
