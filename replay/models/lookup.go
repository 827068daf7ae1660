package models

import "strings"

// A Match is how Lookup found a model.
type Match int

// The matches.
const (
	// None means that the table does not have the model.
	None Match = iota
	// Exact means that the table has this provider and id.
	Exact
	// Dated means the same provider, and an id that differs in its date only.
	Dated
	// Bare means the same model under another name or at another provider, whose window and
	// prices may differ.
	Bare
)

// String returns "none", "exact", "dated" or "bare".
func (h Match) String() string {
	switch h {
	case Exact:
		return "exact"
	case Dated:
		return "dated"
	case Bare:
		return "bare"
	}
	return "none"
}

// MarshalText returns the name. It never fails.
func (h Match) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// Lookup returns what the table says of a model, and how it was found; ok is
// false, and the Model empty, where it says nothing. The Model's own Provider
// and ID tell which line answered. An empty provider takes the part of the id
// before its first slash for it.
//
// Three rules are tried in turn:
//
//  1. Exact: the provider and the id, to the letter.
//  2. Dated: at the same provider, the id with its date written otherwise,
//     taken off or put on. A date is -20250929, -2025-09-29, either with @ for
//     the dash, or -latest.
//  3. Bare: any line with the same bare name, which is the id without what
//     stands before the last slash (anthropic/), a region and vendor (us.anthropic.),
//     a revision (-v1:0) and its date. A name without a digit says no version,
//     and is never looked for this way: auto is another model everywhere.
//
// Where dates differ, rules 2 and 3 take the same date, else the line without
// a date; an id without a date may also stand for -latest, and that or -latest
// for the only date there is. Two different dates are never taken for one
// another. Of several lines that fit equally, those of the asked provider
// count, else those of the model's maker, else all; they must agree about the
// window, or nothing is found, and the first in table order answers.
func (t *Table) Lookup(provider, id string) (m Model, how Match, ok bool) {
	if m, ok := t.get(key{provider, id}); ok {
		return m, Exact, true
	}
	if before, after, cut := strings.Cut(id, "/"); provider == "" && cut {
		provider, id = before, after
		if m, ok := t.get(key{provider, id}); ok {
			return m, Exact, true
		}
	}
	if m, ok := t.dated(provider, id); ok {
		return m, Dated, true
	}
	if m, ok := t.bare(provider, id); ok {
		return m, Bare, true
	}
	return Model{}, None, false
}

// dated looks up the id at its provider with another date.
func (t *Table) dated(provider, id string) (Model, bool) {
	stem, date := cutDate(id)
	if stem == "" {
		return Model{}, false
	}
	var c choice
	for k := range t.keys(stem) {
		if k.provider != provider {
			continue
		}
		if s, d := cutDate(k.id); s == stem {
			c.add(k, date, d)
		}
	}
	return t.pick(c.best(), provider, "")
}

// bare looks up the bare name of the id at every provider.
func (t *Table) bare(provider, id string) (Model, bool) {
	name, date := bareName(id)
	if !strings.ContainsAny(name, "0123456789") {
		return Model{}, false
	}
	var c choice
	for k := range t.keys(name) {
		if n, d := bareName(k.id); n == name {
			c.add(k, date, d)
		}
	}
	return t.pick(c.best(), provider, maker(name))
}

// pick chooses among equally good keys.
func (t *Table) pick(keys []key, provider, maker string) (Model, bool) {
	if own := at(keys, provider); own != nil {
		keys = own
	} else if made := at(keys, maker); made != nil {
		keys = made
	}
	var first Model
	for i, k := range keys {
		m, _ := t.get(k)
		if i == 0 {
			first = m
		}
		if m.ContextWindow != first.ContextWindow {
			return Model{}, false
		}
	}
	return first, len(keys) > 0
}

// at returns the keys of one provider.
func at(keys []key, provider string) []key {
	var own []key
	for _, k := range keys {
		if k.provider == provider {
			own = append(own, k)
		}
	}
	return own
}
