// Package models describes models: context window, maximum answer, prices, and prompt cache
// lifetime.
//
// Builtin is the table in the binary, with one line per model, keyed by provider and id. It is
// unpacked on first use. Table.Lookup finds a Model, Model.Price is the cost of a call, and
// Table.With corrects the table or adds to it.
//
// Table.Lookup finds a model that is not in the table under its exact name by fixed rules, and
// reports which rule matched. It never substitutes another model, since a wrong window is worse
// than none.
package models

import (
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// Model is a line of the table: one model at one provider. The JSON names are those of the public catalogue
// files, so that their lines decode into it.
type Model struct {
	Provider      string `json:"provider"`      // as session files spell it
	ID            string `json:"id"`            // as session files spell it
	ContextWindow int64  `json:"contextWindow"` // most tokens of a request with its answer
	MaxTokens     int64  `json:"maxTokens"`     // the most tokens of one answer
	Cost          Cost   `json:"cost"`          // dollars per million tokens
	// lifetime of a cached prompt after its last use; absent if unknown
	PromptCache PromptCache `json:"promptCache,omitzero"`
	Takes       Takes       `json:"-"` // what its requests may have
	Interface   Interface   `json:"-"` // how the provider offers it
}

// Takes lists what requests of a model may have: text and image; reasoning, if it can think; and LEVEL=NAME,
// the provider's name for a thinking level, empty for a level that the model lacks. If it is empty, the table
// does not know.
type Takes string

// Has reports whether a word is among them.
func (t Takes) Has(word string) bool {
	return strings.Contains(" "+string(t)+" ", " "+word+" ")
}

// Level returns the provider's name for a thinking level. named reports whether the table gives a name, even an
// empty one.
func (t Takes) Level(level string) (name string, named bool) {
	_, rest, named := strings.Cut(" "+string(t), " "+level+"=")
	name, _, _ = strings.Cut(rest, " ")
	return name, named
}

// Rates are prices in dollars per million tokens. The table cannot tell a price of zero (a free model, or one
// paid by subscription) from an unknown one; see [Model.Priced].
type Rates struct {
	Input      float64 `json:"input"`      // of prompt tokens neither read from nor written to a cache
	Output     float64 `json:"output"`     // of answer tokens, reasoning included
	CacheRead  float64 `json:"cacheRead"`  // of prompt tokens that the cache served
	CacheWrite float64 `json:"cacheWrite"` // of prompt tokens stored for the short lifetime
}

// Cost is the price list of a model: its rates, and those of long prompts.
type Cost struct {
	Rates
	Tiers []Tier `json:"tiers,omitempty"` // replace the rates for long prompts, shortest first
}

// Tier holds the rates of prompts longer than a bound.
type Tier struct {
	InputTokensAbove int64 `json:"inputTokensAbove"` // a prompt of exactly this length is still below it
	Rates
}

// PromptCache is the lifetime of a cached prompt after its last use, seconds.
type PromptCache struct {
	Short int64 `json:"short,omitempty"` // seconds when nothing is asked for
	Long  int64 `json:"long,omitempty"`  // seconds of writes made for long retention
}

// Priced reports whether the table has any price for m. Otherwise [Model.Price] returns zero.
func (m Model) Priced() bool {
	return m.Cost.Rates != Rates{} || len(m.Cost.Tiers) > 0
}

// overlay returns m with the fields that o sets.
func (m Model) overlay(o Model) Model {
	set(&m.ContextWindow, o.ContextWindow)
	set(&m.MaxTokens, o.MaxTokens)
	set(&m.Cost.Input, o.Cost.Input)
	set(&m.Cost.Output, o.Cost.Output)
	set(&m.Cost.CacheRead, o.Cost.CacheRead)
	set(&m.Cost.CacheWrite, o.Cost.CacheWrite)
	set(&m.PromptCache.Short, o.PromptCache.Short)
	set(&m.PromptCache.Long, o.PromptCache.Long)
	if len(o.Cost.Tiers) > 0 {
		m.Cost.Tiers = slices.Clone(o.Cost.Tiers)
	}
	return m
}

// set stores v in p unless v is zero.
func set[T int64 | float64](p *T, v T) {
	if v != 0 {
		*p = v
	}
}

// Limits are a provider's maximum sizes in bytes, 0 if it documents none. They come from the providers'
// documentation as of Date; resellers of a model may have lower limits.
type Limits struct {
	Request int64 // of one request, as transferred
	Image   int64 // of one image, in base64
}

const mb = 1 << 20

// limits are the limits of providers by the names that session files use.
var limits = []struct {
	provider string
	Limits
}{
	{"anthropic", Limits{32 * mb, 5 * mb}},
	{"amazon-bedrock", Limits{25_000_000, 0}}, // for images, the limit of the model's own provider applies
	{"google", Limits{100 * mb, 0}},
	{"google-vertex", Limits{20 * mb, 0}},
	{"groq", Limits{0, 4 * mb}},
	{"mistral", Limits{0, 10 * mb}},
	{"openai", Limits{50 * mb, 0}},
	{"xai", Limits{0, 20 * mb}},
}

// LimitsOf returns the limits of a provider, and whether they are known.
func LimitsOf(provider string) (Limits, bool) {
	for _, l := range limits {
		if l.provider == provider {
			return l.Limits, true
		}
	}
	return Limits{}, false
}

// WidestLimits returns limits that no known provider exceeds.
func WidestLimits() (w Limits) {
	for _, l := range limits {
		w.Request, w.Image = max(w.Request, l.Request), max(w.Image, l.Image)
	}
	return w
}

// Usage is the tokens of one provider call. The prompt is Input,
// CacheRead and CacheWrite together.
type Usage struct {
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64
	// CacheWrite1h is the part of CacheWrite that is kept for one hour.
	CacheWrite1h int64
}

// Dollars is the cost of one provider call, US dollars.
type Dollars struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	// Total is the sum of the others.
	Total float64 `json:"total"`
}

const (
	// perRate is the number of tokens to which a rate applies.
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

// Paid returns what a call cost in US dollars (docs/figures.md, "Cost"): as recorded, else by the table, on the
// terms that the call records. ok is false if neither is known.
func (m Model) Paid(u *jsonl.Usage) (dollars float64, recorded, ok bool) {
	if u.Cost.Known {
		return u.Cost.Total, true, true
	}
	if m, _ = m.On(u.Terms); m.Cost.at(u.Prompt()) == (Rates{}) {
		return 0, false, false
	}
	used := Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		CacheWrite1h: u.CacheWrite1h}
	return m.Price(used).Total + webSearch*float64(u.Searches), false, true
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

// Priced returns the model with the prices for an answer: those of the requested model, as pi does, or if it
// has none, as for a router, those of the model that answered. known reports whether the table has either.
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

// vocabularies lists model families whose tokenizer is public, by the beginning of their names, from tiktoken's
// own lists (tiktoken/model.py, and model_to_encoding.json of npm's tiktoken). The first match counts. Models
// that those lists do not name have none, however similar their names are.
var vocabularies = [...]struct{ prefix, vocabulary string }{
	{"gpt-4o", "o200k"}, {"chatgpt-4o", "o200k"}, {"gpt-4.1", "o200k"}, {"gpt-4.5", "o200k"},
	{"gpt-5", "o200k"}, {"o1", "o200k"}, {"o3", "o200k"}, {"o4-mini", "o200k"}, {"gpt-oss", "o200k"},
	{"gpt-4", "cl100k"}, {"gpt-3.5-turbo", "cl100k"}, {"gpt-35-turbo", "cl100k"},
}

// Vocabulary returns the public vocabulary of a model's tokenizer: o200k, cl100k, or "" if none was published.
// It ignores provider, region and revision in the id, like [Table.Lookup].
func Vocabulary(id string) string {
	name, _ := bareName(id)
	for _, v := range vocabularies {
		rest, ok := strings.CutPrefix(name, v.prefix)
		if ok && (rest == "" || rest[0] == '-' || rest[0] == ':') {
			return v.vocabulary
		}
	}
	return ""
}
