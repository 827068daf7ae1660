package cache

import (
	"cmp"
	"math"

	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
)

// Served is what an ideal cache serves of a request.
type Served = ledger.Served

// A Comparison is a request of both courses.
type Comparison struct {
	Record  int // the answer
	Was, Is Served
	Priced  bool // the table has prices for its model
}

// Compare accounts for the answered requests of two courses of one path, whose answers are the
// same. Both are counted, and scaled to the size that the provider recorded for the first, so the
// difference is that of the courses alone.
func Compare(was, is *ledger.Ledger) (all []Comparison, err error) {
	one, other := newAccountant(was, Options{}), newAccountant(is, Options{})
	sent := map[int32]bool{}
	for _, k := range was.Replayed {
		sent[was.Requests[k].Record] = true
	}
	one.insertAll()
	other.insertAll()
	one.estimateHidden(func(rec int32) bool { return sent[rec] })
	other.hidden = one.hidden
	first, second := one.servedAll(), other.servedAll()
	for _, k := range was.Replayed {
		a, okay := first[k]
		b, both := second[k]
		if !okay || !both {
			continue
		}
		q := &was.Requests[k]
		next := Comparison{Record: int(q.Record)}
		factor := 1.0
		if said := q.Size(); said > 0 && a.Prompt > 0 {
			factor = float64(said) / float64(a.Prompt)
		}
		m := &one.models[q.Model]
		next.Was, next.Is, next.Priced = m.priced(a, factor), m.priced(b, factor), m.Priced()
		all = append(all, next)
	}
	return all, cmp.Or(one.err, other.err)
}

// servedAll returns what a cache serves of each request that was not free, by its index. It knows
// no recorded sizes.
func (c *accountant) servedAll() map[int32]Served {
	all := map[int32]Served{}
	for k := range c.sent {
		s, q := c.sent[k], &c.l.Requests[k]
		if s == noBeginning || q.Free() {
			continue
		}
		if !q.Warms {
			kept, _ := c.trie.kept(s, q.At)
			prompt := c.trie.tokensOf(s) + c.hidden
			read := min(c.trie.tokensOf(kept)+c.hiddenOf(kept), prompt)
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
	cost := m.Price(models.Usage{CacheRead: s.Read, CacheWrite: s.Write, CacheWrite1h: long})
	if cost.CacheWrite == 0 {
		cost = m.Price(models.Usage{CacheRead: s.Read, Input: s.Write})
	}
	s.Cost = cost.Total
	return s
}
