package sessionfmt

import (
	"slices"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A ruling is which rules made the entries of another agent's session. Records mostly share a few sets.
type ruling struct {
	sets   []rule.Set
	of     []uint8  // the set of each record
	all    rule.Set // of all records and lines
	loose  rule.Set // of lines that are in no entry: any request may have needed them
	atLeaf rule.Set // by which the leaf moved after the last entry
	asked  []rule.Asked
}

// mostSets is how many sets a session has before further ones are merged into the last.
const mostSets = 256

// add adds a record.
func (u *ruling) add(used rule.Set) { u.of = append(u.of, u.number(used)) }

// more adds rules to a record.
func (u *ruling) more(i int, used rule.Set) {
	if had := u.sets[u.of[i]]; had|used != had {
		u.of[i] = u.number(had | used)
	}
}

// number returns the number of a set.
func (u *ruling) number(used rule.Set) uint8 {
	u.all |= used
	if n := len(u.of); n > 0 && u.sets[u.of[n-1]] == used { // often as the one before
		return u.of[n-1]
	}
	k := slices.Index(u.sets, used)
	switch {
	case k >= 0:
	case len(u.sets) < mostSets:
		k, u.sets = len(u.sets), append(u.sets, used)
	default:
		k = mostSets - 1
		u.sets[k] |= used
	}
	return uint8(k)
}

// mostAsked is how many providers and models are kept; with more, rules that depend on them count as not
// compared.
const mostAsked = 64

// ask adds who answered a request.
func (u *ruling) ask(provider, model []byte) {
	n := len(u.asked)
	if n > 0 && string(provider) == u.asked[n-1].Host && string(model) == u.asked[n-1].Model {
		return
	}
	one := rule.Asked{Host: string(provider), Model: string(model)}
	if k := slices.Index(u.asked, one); k >= 0 { // which the next request may have again
		u.asked[k], u.asked[n-1] = u.asked[n-1], one
	} else if n < mostAsked {
		u.asked = append(u.asked, one)
	} else {
		u.asked[n-1] = rule.Asked{}
	}
}

// RulesOf returns the rules by which record i was made of its lines. They are those of the session's
// agent, and none in pi's.
func (s *Session) RulesOf(i int) rule.Set {
	if s.dialect == nil || s.Held(i) {
		return 0
	}
	used := s.used.sets[s.used.of[i]] | s.used.loose
	if i == s.leaf {
		used |= s.used.atLeaf
	}
	return used
}

// Reading returns how the session is read, with all of its branches.
func (s *Session) Reading() dialect.Reading {
	if s.OhMyPi() {
		return dialect.Variant(dialect.OhMyPi)
	}
	return s.ReadingOf(s.used.all|s.used.loose, s.used.asked...)
}

// ReadingOf returns how the part of the session is read that used these rules, and asked these.
func (s *Session) ReadingOf(used rule.Set, asked ...rule.Asked) dialect.Reading {
	d := s.dialect
	if d != nil && d.Prompted != nil && slices.ContainsFunc(s.records, isSystem) {
		prompted := *d
		prompted.Certainty, d = *d.Prompted, &prompted
	}
	r := d.Reading(used, s.wroteIt, asked...)
	if s.wroteLast != s.wroteIt && r.Certainty != nil && r.Certainty.Messages == "exact" { // so has to be the other
		return d.Reading(used, s.wroteLast, asked...)
	}
	return r
}

func isSystem(r record) bool { return r.kind == jsonl.System }
