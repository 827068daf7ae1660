package models

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Table combines the built-in facts about models with those of a configuration. It never changes, and is safe
// for concurrent use.
type Table struct {
	// facts returns the built-in lines; see encode.go for their shape.
	facts func() *facts
	// over holds the overrides of With, the last Model of each key.
	over []Model
	// priced caches results of Priced by its arguments: a session asks for the same few at each answer.
	priced sync.Map
}

// key names one model at one provider.
type key struct{ provider, id string }

func (m Model) key() key { return key{m.Provider, m.ID} }

// builtin unpacks the embedded table once per process.
var builtin = sync.OnceValue(unpack)

// Builtin returns the built-in table. The first [Table.Lookup] of the process unpacks it, in less than a
// millisecond.
func Builtin() *Table {
	return &Table{facts: builtin}
}

// With returns a table in which the overrides take precedence over t's facts. An override for a provider and id
// of t replaces the fields that it sets to non-zero values, each price by itself and the tiers together; so it
// cannot make a price zero, and one that changes a rate leaves the tiers unchanged. Any other override adds a
// model. Of two overrides with one name the later wins. Provider and id must match exactly.
func (t *Table) With(overrides ...Model) *Table {
	over := slices.Clone(t.over)
	for _, o := range overrides {
		at := slices.IndexFunc(over, func(m Model) bool { return m.key() == o.key() })
		if at >= 0 {
			over[at] = over[at].overlay(o)
			continue
		}
		o.Cost.Tiers = slices.Clone(o.Cost.Tiers)
		over = append(over, o)
	}
	return &Table{facts: t.facts, over: over}
}

// All yields every model of the table in table order: the built-in ones, by provider, then added ones in the
// given order.
func (t *Table) All() iter.Seq[Model] {
	return func(yield func(Model) bool) {
		for k := range t.with(t.facts().keys, "") {
			if m, ok := t.get(k); !ok || !yield(m) {
				return
			}
		}
	}
}

// keys yields, in table order, at least the keys whose id without its date, or whose bare name, is part. It may
// yield others, which the caller must check.
func (t *Table) keys(part string) iter.Seq[key] { return t.with(t.facts().named[part], part) }

// with yields keys, and those of added models whose id contains part.
func (t *Table) with(keys []key, part string) iter.Seq[key] {
	return func(yield func(key) bool) {
		for _, k := range keys {
			if !yield(k) {
				return
			}
		}
		for _, o := range t.over {
			if t.facts().lines[o.key()] == "" && strings.Contains(o.ID, part) && !yield(o.key()) {
				return
			}
		}
	}
}

// get returns the model with exactly this key.
func (t *Table) get(k key) (Model, bool) {
	m, ok := Model{Provider: k.provider, ID: k.id}, false
	if line := t.facts().lines[k]; line != "" {
		m, ok = decodeLine(line), true
	}
	for _, o := range t.over {
		if o.key() == k {
			m, ok = m.overlay(o), true
		}
	}
	return m, ok
}

// choice collects the keys whose date fits the requested one best.
type choice struct {
	keys []key
	rank int
	date string
	// torn is set when the keys do not all have one date.
	torn bool
}

// How well the date of a line fits the requested date, best first.
const (
	sameDate = iota
	noDate
	nowLatest
	someDate
	otherDate
)

// fit ranks the date of a line against the requested one.
func fit(asked, has string) int {
	switch {
	case asked == has:
		return sameDate
	case has == "":
		return noDate
	case has == latest && asked == "":
		return nowLatest
	case has != latest && (asked == "" || asked == latest):
		return someDate
	}
	return otherDate
}

// add takes k in if no key before it fitted better.
func (c *choice) add(k key, asked, has string) {
	rank := fit(asked, has)
	switch {
	case rank == otherDate || (len(c.keys) > 0 && rank > c.rank):
		return
	case len(c.keys) == 0 || rank < c.rank:
		*c = choice{rank: rank, date: has}
	}
	c.torn = c.torn || has != c.date
	c.keys = append(c.keys, k)
}

// best returns the keys that fit best: none if their dates differ, since nothing decides between two dates.
func (c *choice) best() []key {
	if c.torn {
		return nil
	}
	return c.keys
}

// The built-in table is text. It starts with a newline, followed by one line per model, each
// ended by a newline, of fifteen columns separated by tabs:
//
//	provider id window output input output cacheRead cacheWrite short long takes tiers api host compat
//
// Zero is written as nothing. A tier is "above,input,output,cacheRead,cacheWrite"; tiers are
// separated by ";". The lines are kept as text, since most are never decoded.

//go:embed models.tsv.gz
var packed []byte

// columns is how many columns a line has.
const columns = 15

// Facts are the built-in lines.
type facts struct {
	keys  []key            // in table order
	lines map[key]string   // without their newlines
	named map[string][]key // by their ids without a date, and by their bare names
}

// unpack returns the built-in lines. A test reads every line, so damage is a programming error.
func unpack() *facts {
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic("models: built-in table: " + err.Error())
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		panic("models: built-in table: " + err.Error())
	}
	f := &facts{lines: map[key]string{}, named: map[string][]key{}}
	for line := range strings.SplitSeq(strings.Trim(string(text), "\n"), "\n") {
		provider, rest, _ := strings.Cut(line, "\t")
		id, _, _ := strings.Cut(rest, "\t")
		k := key{provider, id}
		f.keys = append(f.keys, k)
		f.lines[k] = line
		stem, _ := cutDate(id)
		f.named[stem] = append(f.named[stem], k)
		if name, _ := bareName(id); name != stem {
			f.named[name] = append(f.named[name], k)
		}
	}
	return f
}

// decodeLine reads one line of the built-in table.
func decodeLine(line string) Model {
	f := strings.SplitN(line, "\t", columns)
	m := Model{
		Provider:      f[0],
		ID:            f[1],
		ContextWindow: count(f[2]),
		MaxTokens:     count(f[3]),
		PromptCache:   PromptCache{Short: count(f[8]), Long: count(f[9])},
		Takes:         Takes(f[10]),
		Interface:     Interface{API: f[12], Host: f[13], text: f[14]},
	}
	m.Cost.Rates = rates(f[4:8])
	if f[11] == "" {
		return m
	}
	for tier := range strings.SplitSeq(f[11], ";") {
		f := strings.Split(tier, ",")
		m.Cost.Tiers = append(m.Cost.Tiers, Tier{InputTokensAbove: count(f[0]), Rates: rates(f[1:5])})
	}
	return m
}

// rates reads four prices in the order of the struct.
func rates(f []string) Rates {
	return Rates{Input: dollars(f[0]), Output: dollars(f[1]), CacheRead: dollars(f[2]), CacheWrite: dollars(f[3])}
}

// count reads a whole number; empty is zero. The text is our own, so errors cannot occur.
func count(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// dollars reads a price; empty is zero.
func dollars(s string) float64 {
	d, _ := strconv.ParseFloat(s, 64)
	return d
}
