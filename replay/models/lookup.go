package models

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// A Match states how Lookup found a model.
type Match int

// Kinds of matches.
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
//     a revision (-v1:0), the mark of a window ([1m]) and its date. A name without a
//     digit says no version, and is never looked for this way: auto is another model
//     everywhere. If the id names a region and vendor, and a line has that id to the
//     letter, the prices are that line's: a region may have prices of its own. A mark
//     sets the window, and the rates of prompts that only such a window takes.
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
		return widened(m, id), Bare, true
	}
	return Model{}, None, false
}

// dated searches for the id at its provider with another date.
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

// bare searches for the bare name of the id at every provider.
func (t *Table) bare(provider, id string) (Model, bool) {
	name, date := bareName(id)
	if !strings.ContainsAny(name, "0123456789") {
		return Model{}, false
	}
	var c choice
	unmarked, _ := cutWindow(id)
	region := unmarked[strings.LastIndexByte(unmarked, '/')+1:]
	var deployed []key // with the region and vendor of the id
	for k := range t.keys(name) {
		if n, d := bareName(k.id); n == name {
			c.add(k, date, d)
		}
		if k.id == region {
			deployed = append(deployed, k)
		}
	}
	m, ok := t.pick(c.best(), provider, maker(name))
	if _, vendor := cutVendor(region); vendor && ok && len(deployed) == 1 {
		of, _ := t.get(deployed[0])
		m.Cost = of.Cost
	}
	return m, ok
}

// cutWindow splits an id at the mark of a window, and returns that window in tokens, 0 without a mark. Claude
// Code writes [1m] after the name of a model that is used with a window of a million tokens.
func cutWindow(id string) (rest string, window int64) {
	open := strings.LastIndexByte(id, '[')
	if open <= 0 || !strings.HasSuffix(id, "]") {
		return id, 0
	}
	mark := strings.ToLower(id[open+1 : len(id)-1])
	for _, unit := range []struct {
		name   string
		tokens int64
	}{{"m", 1_000_000}, {"k", 1_000}} {
		digits, ok := strings.CutSuffix(mark, unit.name)
		n, err := strconv.ParseInt(digits, 10, 32)
		if ok && err == nil && n > 0 {
			return id[:open], n * unit.tokens
		}
	}
	return id, 0
}

// widened returns a model with the window that the mark of an id names. Sonnet 4 and 4.5 take prompts
// over 200,000 tokens only with such a window, at other rates; later models have one price.
func widened(m Model, id string) Model {
	_, window := cutWindow(id)
	m.ContextWindow = max(m.ContextWindow, window)
	name, _ := bareName(m.ID)
	if window > longPrompt && len(m.Cost.Tiers) == 0 && (name == "claude-sonnet-4" || name == "claude-sonnet-4-5") {
		r := m.Cost.Rates
		m.Cost.Tiers = []Tier{{longPrompt, Rates{2 * r.Input, 1.5 * r.Output, 2 * r.CacheRead, 2 * r.CacheWrite}}}
	}
	return m
}

// longPrompt is the length of prompts, in tokens, up to which Sonnet 4 and 4.5 have their usual rates.
const longPrompt = 200_000

// pick chooses among keys that match equally well.
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

// latest stands for the date of an id that ends in -latest.
const latest = "latest"

// cutDate splits an id into the part before its date and the date, as YYYYMMDD or latest; date is "" if the id
// has none.
func cutDate(id string) (stem, date string) {
	if s, ok := strings.CutSuffix(id, "-"+latest); ok {
		return s, latest
	}
	for _, form := range []string{"YYYYMMDD", "YYYY-MM-DD"} {
		at := len(id) - len(form) - 1
		if at < 0 || (id[at] != '-' && id[at] != '@') || !hasForm(id[at+1:], form) {
			continue
		}
		date := strings.ReplaceAll(id[at+1:], "-", "")
		// eight digits may be something else: only days of this century count
		if date[:2] == "20" && inRange(date[4:6], "01", "12") && inRange(date[6:], "01", "31") {
			return id[:at], date
		}
	}
	return id, ""
}

// hasForm reports whether s, which is as long as form, has a digit for each letter of form and
// a dash for each dash.
func hasForm(s, form string) bool {
	for i := range len(form) {
		if (form[i] == '-') != (s[i] == '-') || (form[i] != '-' && !isDigit(s[i])) {
			return false
		}
	}
	return true
}

func inRange(s, from, to string) bool { return from <= s && s <= to }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// bareName returns the name that a model has everywhere, and its date, without the mark of a window. Variants
// with other prices or service (:batch, :free, -fast) keep their mark, and so does a 4-digit date (-2508),
// which could be a size.
func bareName(id string) (name, date string) {
	name, _ = cutWindow(id)
	name = name[strings.LastIndexByte(name, '/')+1:]
	name, vendor := cutVendor(name)
	name = cutRevision(name, vendor)
	return cutDate(name)
}

// cutVendor removes region and vendor, such as "us.anthropic." from "us.anthropic.claude", and reports whether
// there was one. In "deepseek.v3" the vendor is the name.
func cutVendor(name string) (rest string, cut bool) {
	for {
		before, after, ok := strings.Cut(name, ".")
		if !ok || before == "" || len(after) < 2 || strings.Trim(before, "abcdefghijklmnopqrstuvwxyz-") != "" {
			return name, cut
		}
		if isDigit(after[0]) || (after[0] == 'v' && isDigit(after[1])) {
			return name, cut
		}
		name, cut = after, true
	}
}

// cutRevision removes the revision of a deployment: -v1:0 from any name, and -1:0 or -v1 from a name that had a
// vendor. A plain -v2 is the model's own version, and so is -v1 without a vendor.
func cutRevision(name string, vendor bool) string {
	if rest, ok := strings.CutSuffix(name, ":0"); ok {
		number := strings.TrimRight(rest, "0123456789")
		stem, ok := strings.CutSuffix(number, "-v")
		if !ok && vendor {
			stem, ok = strings.CutSuffix(number, "-")
		}
		if ok && number != rest {
			return stem
		}
	}
	if vendor {
		return strings.TrimSuffix(name, "-v1")
	}
	return name
}

// makers maps families of names to the provider that makes them. Only providers in the table are useful.
var makers = [...]struct{ prefix, provider string }{
	{"claude-", "anthropic"},
	{"gpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	{"gemini-", "google"}, {"gemma-", "google"},
	{"grok-", "xai"},
	{"glm-", "zai"},
	{"kimi-", "moonshotai"},
	{"deepseek-", "deepseek"},
	{"muse-", "meta"},
	{"mimo-", "xiaomi"},
	{"MiniMax-", "minimax"},
	{"Ling-", "ant-ling"}, {"Ring-", "ant-ling"},
	{"mistral-", "mistral"}, {"ministral-", "mistral"}, {"magistral-", "mistral"},
	{"devstral-", "mistral"}, {"codestral-", "mistral"}, {"pixtral-", "mistral"}, {"voxtral-", "mistral"},
}

// maker returns the provider that makes the model of this bare name, or "".
func maker(name string) string {
	for _, m := range makers {
		if strings.HasPrefix(name, m.prefix) {
			return m.provider
		}
	}
	return ""
}

// A Ref names a model. The zero value is no model.
type Ref struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
}

// Known reports whether both provider and model are named and known.
func (m Ref) Known() bool {
	return m.Provider != "" && m.ID != "" && m.Provider != "unknown" && m.ID != "unknown"
}

// Name returns provider/id, or only the id if the provider is unknown. It is empty for no model.
func (m Ref) Name() string {
	if m == (Ref{}) {
		return ""
	}
	return strings.TrimPrefix(m.Provider+"/"+m.ID, "/")
}

// Setting returns the line of a configuration file that adds the model to the table, with words in place of the
// numbers to fill in. It belongs above the tables of the file.
func (m Ref) Setting() string {
	return fmt.Sprintf("models.%q = { contextWindow = TOKENS, input = DOLLARS, output = DOLLARS }",
		cmp.Or(m.Provider, "PROVIDER")+"/"+m.ID)
}
