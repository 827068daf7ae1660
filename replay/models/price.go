package models

import (
	"hash/maphash"
	"sync"

	"ctxtool/sessionfmt/jsonl"
)

// Usage is what one provider call used, in tokens. The prompt is Input,
// CacheRead and CacheWrite together.
type Usage struct {
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64
	// CacheWrite1h is the part of CacheWrite kept for one hour, not a further
	// amount.
	CacheWrite1h int64
}

// Dollars is what one provider call cost, in dollars.
type Dollars struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	// Total is the sum of the others.
	Total float64 `json:"total"`
}

const (
	// perRate is how many tokens one rate is for.
	perRate = 1_000_000
	// longWrite is the price of a token written for one hour, in input rates.
	longWrite = 2
)

// Price returns what a call with this usage costs by the table. The length of
// the whole prompt picks the tier, and the tier prices the whole call, output
// too. Cache writes kept for one hour cost twice the input rate. A one-hour
// part outside 0..CacheWrite is brought to the nearer bound.
func (m Model) Price(u Usage) Dollars {
	r := m.Cost.at(u.Input + u.CacheRead + u.CacheWrite)
	long := min(max(u.CacheWrite1h, 0), max(u.CacheWrite, 0))
	d := Dollars{
		Input:      price(r.Input, u.Input),
		Output:     price(r.Output, u.Output),
		CacheRead:  price(r.CacheRead, u.CacheRead),
		CacheWrite: price(r.CacheWrite, u.CacheWrite-long) + price(longWrite*r.Input, long),
	}
	d.Total = d.Input + d.Output + d.CacheRead + d.CacheWrite
	return d
}

// Paid returns what a call cost in US dollars (docs/figures.md, "Cost"): as recorded, else by the
// table. ok is false where neither tells.
func (m Model) Paid(u *jsonl.Usage) (dollars float64, recorded, ok bool) {
	switch {
	case u.Cost.Known:
		return u.Cost.Total, true, true
	case !m.Priced():
		return 0, false, false
	}
	used := Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		CacheWrite1h: u.CacheWrite1h}
	return m.Price(used).Total, false, true
}

// price divides before it multiplies, as the session writers do, so that a
// recomputed price equals a recorded one to the last bit. The outer conversion
// keeps the compiler from fusing the product with a sum that follows, which
// would make the bits depend on the machine.
func price(rate float64, tokens int64) float64 {
	return float64(rate / perRate * float64(tokens))
}

// at returns the rates for a prompt of this many tokens: those of the highest
// bound it exceeds.
func (c Cost) at(prompt int64) Rates {
	rates, bound := c.Rates, int64(-1)
	for _, t := range c.Tiers {
		if prompt > t.InputTokensAbove && t.InputTokensAbove > bound {
			rates, bound = t.Rates, t.InputTokensAbove
		}
	}
	return rates
}

// Priced returns the model with the prices of an answer: the one that was asked, as pi has it, or
// if that has none, as a router's, the one that answered. known reports whether the table has
// either.
func (t *Table) Priced(provider, asked, answered string) (m Model, known bool) {
	names := [3]string{provider, asked, answered}
	if was, ok := t.priced.Load(names); ok {
		was := was.(pricedModel)
		return was.Model, was.known
	}
	defer func() { t.priced.Store(names, pricedModel{m, known}) }()
	for _, id := range []string{asked, answered} {
		found, _, ok := t.Lookup(provider, id)
		known = known || ok
		if ok && !m.Priced() {
			m = found
		}
	}
	return m, known
}

type pricedModel struct {
	Model
	known bool
}

// Paid returns what a call cost in dollars, as Model.Paid, by the prices of its models: see Priced.
func (t *Table) Paid(u *jsonl.Usage, provider, asked, answered jsonl.Value) (dollars float64, recorded bool) {
	var m Model
	if !u.Cost.Known {
		m, _ = t.Priced(provider.Text(), asked.Text(), answered.Text())
	}
	dollars, recorded, _ = m.Paid(u)
	return dollars, recorded
}

// callSeed is the seed of all keys in a process, shared by workers.
var callSeed = sync.OnceValue(maphash.MakeSeed)

// CallKey identifies a call of a model by 64 bits: by the provider's response id, or without one by
// the entry's id and time and its usage, byte for byte. Forks, clones, imports and copies preserve
// all of these. It uses and returns the memory of buf.
func CallKey(buf []byte, response, id, stamp, usage jsonl.Value) (uint64, []byte) {
	buf = buf[:0]
	if len(response) > len(`""`) && response.IsString() {
		buf = append(append(buf, 'r'), response...)
	} else {
		buf = append(append(buf, 'e'), id...)
		buf = append(append(buf, 0), stamp...)
		buf = append(append(buf, 0), usage...)
	}
	return maphash.Bytes(callSeed(), buf), buf
}
