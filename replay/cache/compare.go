package cache

import (
	"iter"
	"math"
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
)

// A Course replays the requests of a path as its caller wants them sent: with entries that the
// session only holds, or that only one request gets. Each walk of it has the given observer.
type Course func(r *replay.Replay, watch replay.Observer) iter.Seq2[replay.Step, error]

// Served is what an ideal cache, which keeps every prefix of every request, serves of a request.
type Served struct {
	Prompt int64   `json:"prompt"` // tokens of the whole request
	Read   int64   `json:"read"`   // of those, read from the cache
	Write  int64   `json:"write"`  // and written to it, or sent without it
	Cost   float64 `json:"cost"`   // of the prompt, in dollars; 0 without prices
}

// Plus adds another request.
func (s *Served) Plus(o Served) {
	s.Prompt += o.Prompt
	s.Read += o.Read
	s.Write += o.Write
	s.Cost += o.Cost
}

// A Comparison is a request of both courses.
type Comparison struct {
	Record  int // the answer
	Was, Is Served
	Priced  bool // the table has prices for its model
}

// Compare accounts for the answered requests of two courses of one path, whose answers are the
// same: those of was, and those of is, which replays a copy of its session. Both are counted,
// and scaled to the size that the provider recorded for the first, so the difference is that of
// the courses alone.
func Compare(was, is *replay.Replay, before, after Course, c *tokens.Counter) (all []Comparison, err error) {
	one := newAccountant(was, Options{Counter: c})
	if err := one.read(); err != nil {
		return nil, err
	}
	other := newAccountant(is, one.opt)
	other.digests = append(slices.Clip(one.digests), make([]replay.Digest, is.Session.Len()-len(one.digests))...)
	other.place = append(slices.Clip(one.place), slices.Repeat([]int32{-1}, len(other.digests)-len(one.place))...)
	other.sent, other.models, other.modelAt = slices.Clone(one.sent), slices.Clone(one.models), one.modelAt
	if err = one.follow(before); err == nil {
		err = other.follow(after)
	}
	if err != nil {
		return nil, err
	}
	sent := map[int32]bool{}
	for _, k := range one.replayed {
		sent[one.sent[k].rec] = true
	}
	one.estimateHidden(sent)
	other.hidden = one.hidden
	recorded := one.forget()
	other.forget()
	first, second := one.servedAll(), other.servedAll()
	for _, k := range one.replayed {
		a, okay := first[k]
		b, both := second[k]
		if !okay || !both {
			continue
		}
		next := Comparison{Record: int(one.sent[k].rec)}
		factor := 1.0
		if said := recorded[k].Prompt(); said > 0 && a.Prompt > 0 {
			factor = float64(said) / float64(a.Prompt)
		}
		m := &one.models[one.sent[k].model]
		next.Was, next.Is, next.Priced = m.priced(a, factor), m.priced(b, factor), m.model.Priced()
		all = append(all, next)
	}
	return all, nil
}

// Requests returns the requests of a course, without an account.
func Requests(r *replay.Replay, course Course, c *tokens.Counter) iter.Seq2[Request, error] {
	return requests(course(r, newRequestTracker(r, c, true)))
}

// follow inserts the requests of a course.
func (c *accountant) follow(course Course) error {
	stopped, err := c.requests(nil, requests(course(c.r, c.tracker(c.r, true))))
	if err == nil {
		err = stopped
	}
	c.trie.layOut()
	return err
}

// forget makes all requests counted ones, and returns what the provider recorded. A failed
// request without usage still used nothing.
func (c *accountant) forget() (recorded []Usage) {
	for k := range c.sent {
		s := &c.sent[k]
		recorded = append(recorded, s.usage)
		s.failed = s.failed && s.promptTokens() == 0
		s.usage, s.hasUsage = Usage{}, false
	}
	return recorded
}

// servedAll returns what a cache serves of each request that was not free, by its index.
func (c *accountant) servedAll() map[int32]Served {
	all := map[int32]Served{}
	for k := range c.sent {
		s := &c.sent[k]
		if s.prefix != noBeginning && !s.warms && !s.failed {
			kept, by := c.trie.kept(s.prefix, s.at)
			prompt := s.counted + c.hidden
			read := min(c.served(kept, by, s), prompt)
			all[int32(k)] = Served{Prompt: prompt, Read: read, Write: prompt - read}
		}
		c.use(k)
	}
	return all
}

// priced scales a request, and adds what its prompt costs.
func (m *seenModel) priced(s Served, factor float64) Served {
	scale := func(n int64) int64 { return int64(math.Round(factor * float64(n))) }
	s.Prompt, s.Read = scale(s.Prompt), scale(s.Read)
	s.Write = s.Prompt - s.Read
	long := int64(0)
	if m.long {
		long = s.Write
	}
	cost := m.model.Price(models.Usage{CacheRead: s.Read, CacheWrite: s.Write, CacheWrite1h: long})
	if cost.CacheWrite == 0 {
		cost = m.model.Price(models.Usage{CacheRead: s.Read, Input: s.Write})
	}
	s.Cost = cost.Total
	return s
}
