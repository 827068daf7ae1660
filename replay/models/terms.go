package models

import (
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// webSearch is the price of a web search that Anthropic makes for a call, dollars.
const webSearch = 10.0 / 1000

// Terms to which factors apply.
const (
	tier = iota
	speed
	geo
)

// termNames are the names of terms for messages.
var termNames = [...]string{tier: "service tier", speed: "speed", geo: "inference geo"}

// A factor multiplies the rates of some models if a call is served on a term.
type factor struct {
	provider string
	term     int
	value    string
	times    float64
	short    bool   // only for prompts without a tier of their own; longer ones have no price
	models   string // bare names, separated by spaces; NAME* matches all that begin with NAME
}

// factors are from the price pages of the providers, as of Date. TestFactors compares them with the
// models that resellers list for the same terms. Anthropic sells its tier priority by contract.
var factors = []factor{
	{"anthropic", speed, "fast", 6, false, "claude-opus-4-6 claude-opus-4-7"},
	{"anthropic", speed, "fast", 2, false, "claude-opus-4-8 claude-opus-5 claude-opus-5-5 claude-fable-5-2"},
	{"anthropic", geo, "us", 1.1, false, "claude-opus-4-6 claude-opus-4-7 claude-opus-4-8 claude-sonnet-4-6 " +
		"claude-opus-5* claude-sonnet-5* claude-haiku-5* claude-fable-5* claude-mythos-5*"},
	{"anthropic", tier, "batch", 0.5, false, "claude-*"},
	{"openai", tier, "batch", 0.5, false, "gpt-* o1* o3* o4*"},
	{"openai", tier, "flex", 0.5, false, "gpt-5* gpt-6* o3 o4-mini"},
	{"openai", tier, "priority", 2.5, true, "gpt-5.5"},
	{"openai", tier, "priority", 2, true, "gpt-5.4"},
	{"openai", tier, "priority", 2, false, "gpt-4.1-nano gpt-5 gpt-5-codex gpt-5.1 gpt-5.1-codex gpt-5.1-codex-max " +
		"gpt-5.2 gpt-5.2-codex gpt-5.3-codex gpt-5.4-mini gpt-5.6-luna gpt-5.6-sol gpt-5.6-terra gpt-6-astra " +
		"gpt-6-luna gpt-6-sol gpt-6.1-sol gpt-6.1-terra gpt-6.2-astra gpt-6.2-sol"},
	{"openai", tier, "priority", 1.8, false, "gpt-5-mini"},
	{"openai", tier, "priority", 1.75, false, "gpt-4.1 gpt-4.1-mini o3"},
	{"openai", tier, "priority", 1.7, false, "gpt-4o"},
	{"openai", tier, "priority", 5.0 / 3, false, "gpt-4o-mini"},
	{"openai", tier, "priority", 2 / 1.1, false, "o4-mini"},
}

// On returns the model with the rates of calls that are served on terms. If one of them has no known
// price, the model has none either, and unknown names the term.
func (m Model) On(t jsonl.Terms) (on Model, unknown string) {
	if t == (jsonl.Terms{}) {
		return m, ""
	}
	name, _ := bareName(m.ID)
	for term, value := range [...]string{tier: t.Tier, speed: t.Speed, geo: t.Geo} {
		if value == "" {
			continue
		}
		k := slices.IndexFunc(factors, func(f factor) bool {
			return f.provider == m.Provider && f.term == term && f.value == value && f.has(name)
		})
		if k < 0 {
			m.Cost = Cost{}
			return m, termNames[term] + " " + value
		}
		m.Cost = m.Cost.times(&factors[k])
	}
	return m, ""
}

// has reports whether the factor is one of a model, by its bare name.
func (f *factor) has(name string) bool {
	for word := range strings.FieldsSeq(f.models) {
		if start, all := strings.CutSuffix(word, "*"); name == word || all && strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}

// times returns the price list with all rates multiplied.
func (c Cost) times(f *factor) Cost {
	c.Rates, c.Tiers = c.Rates.times(f.times), slices.Clone(c.Tiers)
	for i := range c.Tiers {
		if f.short {
			c.Tiers[i].Rates = Rates{}
		} else {
			c.Tiers[i].Rates = c.Tiers[i].Rates.times(f.times)
		}
	}
	return c
}

func (r Rates) times(n float64) Rates {
	return Rates{r.Input * n, r.Output * n, r.CacheRead * n, r.CacheWrite * n}
}

// Lacks names the part of a call without a known price, if Paid finds no price for the call: a term, or the
// length of its prompt on these terms. It is empty if the model itself has no price.
func (m Model) Lacks(u *jsonl.Usage) string {
	on, unknown := m.On(u.Terms)
	if unknown == "" && m.Priced() && on.Priced() {
		return termNames[tier] + " " + u.Terms.Tier + " with a long prompt"
	}
	if !m.Priced() {
		return ""
	}
	return unknown
}
