// Package rule names the rules by which a request follows from a session file, and says which of them
// were compared with requests that the agent's own program sent. A request is exact only if each rule
// that it used was.
package rule

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A Rule is one step from a session file to a request, of one agent. Each agent has its own numbers from
// [Own] on, as constants; those below mean the same to all.
type Rule uint8

// The rules that all agents share.
const (
	Unread     Rule = iota // nothing reads it: a record, a part or a member of an unknown kind
	Aside                  // a record that no request has: a header, a title, a setting, a usage
	System                 // a prompt that the file records
	Prompt                 // a message of the user
	Answer                 // a message of the model
	Result                 // what a call returned
	Note                   // a message that the program wrote
	Image                  // a picture in any of these
	Thinking               // reasoning of the same model, in an answer
	Call                   // a call, in an answer
	Compaction             // a summary in place of earlier messages
	Edit                   // a later record changes or removes a message
	Branch                 // the session continues at an earlier message
	Own                    // the first of an agent's own
)

var shared = [Own]Info{
	Unread: {Name: "unread", Missing: true}, Aside: {Name: "aside"}, System: {Name: "system"},
	Prompt: {Name: "prompt"}, Answer: {Name: "answer"}, Result: {Name: "result"}, Note: {Name: "note"},
	Image: {Name: "image"}, Thinking: {Name: "thinking"}, Call: {Name: "call"}, Compaction: {Name: "compaction"},
	Edit: {Name: "edit"}, Branch: {Name: "branch"},
}

// Most is the maximal number of rules of an agent.
const Most = 64

// A Set is a set of rules of one agent. The zero value is empty.
type Set uint64

// Of returns the set of several rules.
func Of(rules ...Rule) (s Set) {
	for _, r := range rules {
		s |= 1 << r
	}
	return s
}

// If returns the set of a rule, or the empty one.
func If(is bool, r Rule) Set {
	if is {
		return 1 << r
	}
	return 0
}

// Has reports whether a rule is in the set.
func (s Set) Has(r Rule) bool { return s>>r&1 == 1 }

// All yields the rules of the set, by number.
func (s Set) All(yield func(Rule) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(Rule(bits.TrailingZeros64(uint64(s)))) {
			return
		}
	}
}

// A Scope is what a rule's outcome depends on besides the version of the program.
type Scope uint8

// The scopes.
const (
	Everywhere Scope = iota // nothing else
	PerHost                 // the provider of the request
	PerModel                // its model
)

// An Info describes a rule.
type Info struct {
	Name  string // as reports print it, at most a few words
	Scope Scope
	// Missing reports that the file does not hold what the program sends by the rule: no request that used
	// it is exact.
	Missing bool
	// Outside reports that what the program does also depends on something that no file records, such as whether a
	// model takes pictures: a request that differs counts against this rule alone.
	Outside bool
	// Until are rules after which a request no longer depends on this one: what they bring replaces what it did.
	Until Set
}

// A Compared counts the recorded requests that used a rule, by one version of the program.
type Compared struct {
	Rule            Rule
	Version         string
	Of              string // the provider or the model, by the rule's scope; else empty
	Requests, Equal int
}

// A Table has the rules of one agent, and what was compared. The rows are made from recordings: see
// package claims in internal/test.
type Table struct {
	Rules    []Info // the agent's own, from [Own] on
	Compared []Compared
}

// NewTable returns the table of an agent's own rules, by number. It panics if there are too many.
func NewTable(own map[Rule]Info, compared ...[]Compared) *Table {
	t := &Table{Compared: slices.Concat(compared...)}
	for r := Own; len(t.Rules) < len(own); r++ {
		about, ok := own[r]
		if !ok || r >= Most {
			panic("rules are not numbered from Own on, or more than Most")
		}
		t.Rules = append(t.Rules, about)
	}
	return t
}

// Info describes a rule.
func (t *Table) Info(r Rule) Info {
	if r < Own {
		return shared[r]
	}
	return t.Rules[r-Own]
}

// Without returns the table without the comparisons of a rule.
func (t *Table) Without(r Rule) *Table {
	of := func(c Compared) bool { return c.Rule == r }
	return &Table{t.Rules, slices.DeleteFunc(slices.Clone(t.Compared), of)}
}

// Then returns the rules of a path after an entry that was made by others.
func (t *Table) Then(used, by Set) Set {
	for r := range used.All {
		if t != nil && t.Info(r).Until&by != 0 {
			used &^= Of(r)
		}
	}
	return used | by
}

// Versions returns the versions of the program of which requests were compared, the oldest first.
func (t *Table) Versions() (all []string) {
	for _, c := range t.Compared {
		if !slices.Contains(all, c.Version) {
			all = append(all, c.Version)
		}
	}
	slices.SortFunc(all, Versions)
	return all
}

// Versions compares two versions of a program, numbers with points between them, as [cmp.Compare] does.
// One that is not known is the oldest.
func Versions(a, b string) int {
	for moreA, moreB := true, true; moreA && moreB; {
		var x, y string
		x, a, moreA = strings.Cut(a, ".")
		y, b, moreB = strings.Cut(b, ".")
		m, _ := strconv.Atoi(x)
		n, _ := strconv.Atoi(y)
		if m != n {
			return cmp.Compare(m, n)
		}
	}
	return 0
}

// Summary returns how many rules were compared with a version, in how many requests the most used of them,
// and how many rules only with equal ones.
func (t *Table) Summary(version string) (rules, requests, equal int) {
	for r := range Own + Rule(len(t.Rules)) {
		n := Compared{}
		for _, c := range t.Compared {
			if c.Rule == r && c.Version == version {
				n.Requests, n.Equal = n.Requests+c.Requests, n.Equal+c.Equal
			}
		}
		if n.Requests > 0 {
			rules, requests = rules+1, max(requests, n.Requests)
		}
		if n.Requests > 0 && n.Requests == n.Equal {
			equal++
		}
	}
	return rules, requests, equal
}

// An Asked is who was asked: a provider and a model, empty where that is not known.
type Asked struct{ Host, Model string }

// Of returns what a scope depends on, empty for Everywhere.
func (a Asked) Of(s Scope) string {
	switch s {
	case PerHost:
		return a.Host
	case PerModel:
		return a.Model
	}
	return ""
}

// Uncompared returns the rules of a set that no recorded request of a version was compared by, or by one
// that differed. A rule that depends on the provider or the model has to be compared for each that was asked.
func (t *Table) Uncompared(used Set, version string, asked ...Asked) (left []Rule) {
	if len(asked) == 0 {
		asked = []Asked{{}}
	}
	for r := range used.All {
		scope := t.Info(r).Scope
		if slices.ContainsFunc(asked, func(a Asked) bool { return !t.holds(r, version, a.Of(scope)) }) {
			left = append(left, r)
		}
	}
	return left
}

// Scoped reports whether a rule of a set depends on the provider or the model.
func (t *Table) Scoped(used Set) bool {
	for r := range used.All {
		if t.Info(r).Scope != Everywhere {
			return true
		}
	}
	return false
}

// holds reports whether all compared requests of a rule are equal, and there are some.
func (t *Table) holds(r Rule, version, of string) bool {
	n := Compared{}
	for _, c := range t.Compared {
		if c.Rule == r && c.Version == version && c.Of == of {
			n.Requests, n.Equal = n.Requests+c.Requests, n.Equal+c.Equal
		}
	}
	return !t.Info(r).Missing && n.Requests > 0 && n.Equal == n.Requests
}
