package models

import (
	"iter"
	"slices"
	"strings"
	"sync"
)

// Table answers questions about models: the built-in facts, and what a
// configuration put over them. It never changes, and is safe for use by
// several goroutines.
type Table struct {
	// facts returns the built-in lines; see encode.go for their shape.
	facts func() *facts
	// over holds what With was given, in that order, one Model a key.
	over []Model
	// priced holds what Priced has returned, as a pricedModel, by its arguments: a session asks for
	// the same few at each of its answers.
	priced sync.Map
}

// key names one model at one provider.
type key struct{ provider, id string }

func (m Model) key() key { return key{m.Provider, m.ID} }

// builtin unpacks the embedded table once in the life of the process.
var builtin = sync.OnceValue(unpack)

// Builtin returns the built-in table. It costs nothing; the first
// [Table.Lookup] of the process unpacks the facts, which takes less
// than a millisecond.
func Builtin() *Table {
	return &Table{facts: builtin}
}

// With returns a table in which the overrides hold over t's facts. An override
// of a provider and id that t has replaces the fields it sets, that is, those
// not zero, each price by itself and the tiers all together; so it cannot make
// a price zero, and one that changes a rate leaves the tiers as they were. Any
// other override is a model added. Of two overrides with one name the later
// holds over the earlier. Provider and id are compared to the letter.
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

// All yields every model of the table in table order: the built-in ones, by
// provider, then those added, as they were given.
func (t *Table) All() iter.Seq[Model] {
	return func(yield func(Model) bool) {
		for k := range t.with(t.facts().keys, "") {
			if m, ok := t.get(k); !ok || !yield(m) {
				return
			}
		}
	}
}

// keys yields, in table order, at least the keys whose id without its date, or whose bare name, is part. Others
// may be among them; the caller looks closer.
func (t *Table) keys(part string) iter.Seq[key] { return t.with(t.facts().named[part], part) }

// with yields keys, and those of models added whose id holds part.
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
