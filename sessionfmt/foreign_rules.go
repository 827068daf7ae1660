package sessionfmt

import (
	"slices"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A ruling records which rules made the entries of another agent's session. Most records share a few sets.
type ruling struct {
	sets   []rule.Set
	of     []uint8  // number of the set, by record
	all    rule.Set // union over all records and lines
	loose  rule.Set // rules of lines without an entry: any request may depend on them
	atLeaf rule.Set // rules that moved the leaf after the last entry
	asked  []rule.Asked
}

// mostSets is the number of distinct sets; further ones are merged into the last.
const mostSets = 256

// add adds the rules of a new record.
func (u *ruling) add(used rule.Set) { u.of = append(u.of, u.number(used)) }

// more adds rules to an existing record.
func (u *ruling) more(i int, used rule.Set) {
	if had := u.sets[u.of[i]]; had|used != had {
		u.of[i] = u.number(had | used)
	}
}

// number returns the index of a set, adding it if it is new.
func (u *ruling) number(used rule.Set) uint8 {
	u.all |= used
	if n := len(u.of); n > 0 && u.sets[u.of[n-1]] == used { // mostly the same as before
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

// mostAsked is the number of models that are kept. With more of them, rules that depend on the model count as
// not compared.
const mostAsked = 64

// ask records the provider and model that answered a request.
func (u *ruling) ask(provider, model []byte) {
	n := len(u.asked)
	if n > 0 && string(provider) == u.asked[n-1].Host && string(model) == u.asked[n-1].Model {
		return
	}
	one := rule.Asked{Host: string(provider), Model: string(model)}
	if k := slices.Index(u.asked, one); k >= 0 { // which the next request probably has too
		u.asked[k], u.asked[n-1] = u.asked[n-1], one
	} else if n < mostAsked {
		u.asked = append(u.asked, one)
	} else {
		u.asked[n-1] = rule.Asked{}
	}
}

// RulesOf returns the rules that made record i from its lines, in the numbering of the session's agent; empty
// for pi.
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

// Reading returns how certain the session's contexts are, over all branches.
func (s *Session) Reading() dialect.Reading {
	if s.OhMyPi() {
		return dialect.Variant(dialect.OhMyPi)
	}
	return s.ReadingOf(s.used.all|s.used.loose, s.used.asked...)
}

// ReadingOf returns how certain the part of the session is that depends on these rules and was sent to these
// models.
func (s *Session) ReadingOf(used rule.Set, asked ...rule.Asked) dialect.Reading {
	d := s.dialect
	if d != nil && d.Prompted != nil && slices.ContainsFunc(s.records, isSystem) {
		prompted := *d
		prompted.Certainty, d = *d.Prompted, &prompted
	}
	r := d.Reading(used, s.wroteIt, asked...)
	// if one part is a rule, so is the other
	if s.wroteLast != s.wroteIt && r.Certainty != nil && r.Certainty.Messages == "exact" {
		return d.Reading(used, s.wroteLast, asked...)
	}
	return r
}

func isSystem(r record) bool { return r.kind == jsonl.System }
