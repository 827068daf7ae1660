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
)

// Model is what the table says of one model at one provider. The JSON names
// are those of the public catalogue files, so one of their lines decodes into
// it.
type Model struct {
	Provider      string `json:"provider"`      // as session files spell it
	ID            string `json:"id"`            // as session files spell it
	ContextWindow int64  `json:"contextWindow"` // the most tokens of one request, its answer included
	MaxTokens     int64  `json:"maxTokens"`     // the most tokens of one answer
	Cost          Cost   `json:"cost"`          // dollars per million tokens
	// how long a cached prompt lives after its last use; absent where not known
	PromptCache PromptCache `json:"promptCache,omitzero"`
	Takes       Takes       `json:"-"` // what its requests may have
}

// Takes are words for what the requests of a model may have: text and image; reasoning, if it can be
// asked to think; adaptive, if that is asked for by effort and not by a budget; plain, if its interface is like one of
// OpenAI but does not have all of it; and LEVEL=NAME, the
// provider's name for a thinking level, empty for one that the model does not have. Without any, the
// table does not say.
type Takes string

// Has reports whether a word is among them.
func (t Takes) Has(word string) bool {
	return strings.Contains(" "+string(t)+" ", " "+word+" ")
}

// Level returns the provider's name for a thinking level. named reports whether it has another one, or none.
func (t Takes) Level(level string) (name string, named bool) {
	_, rest, named := strings.Cut(" "+string(t), " "+level+"=")
	name, _, _ = strings.Cut(rest, " ")
	return name, named
}

// Rates are prices in dollars per million tokens. The table cannot tell a
// price of zero (a free model, or one paid by subscription) from an unknown
// one; see [Model.Priced].
type Rates struct {
	Input      float64 `json:"input"`      // of prompt tokens that no cache served or stored
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

// PromptCache is how many seconds a cached prompt lives after its last use.
type PromptCache struct {
	Short int64 `json:"short,omitempty"` // seconds when nothing is asked for
	Long  int64 `json:"long,omitempty"`  // seconds of writes made for long retention
}

// Priced reports whether the table has any price for m. Otherwise [Model.Price] returns zero.
func (m Model) Priced() bool {
	return m.Cost.Rates != Rates{} || len(m.Cost.Tiers) > 0
}

// overlay returns m with every field that o sets put in its place.
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

// Limits are a provider's maximum sizes in bytes, 0 if it documents none. They come from the
// providers' documentation as of Date; resellers of a model may have lower limits.
type Limits struct {
	Request int64 // of one request, as it goes over the wire
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
