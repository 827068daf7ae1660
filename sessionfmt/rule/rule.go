// Package rule names the rules that lead from a session file to a request, and records which of them were
// compared with requests that the agent's own program sent. A request is exact only if each rule that it used
// was.
package rule

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A Rule is one step from a session file to a request of an agent. Each agent numbers its own from [Own] on;
// the ones below mean the same for all.
type Rule uint8

// Rules that all agents share.
const (
	Unread     Rule = iota // a record, part or field of an unknown kind, which no reader uses
	Aside                  // a record that is in no request: a header, title, setting or usage
	System                 // a prompt as the file records it
	Prompt                 // a message of the user
	Answer                 // a message of the model
	Result                 // the result of a call
	Note                   // a message that the program wrote
	Image                  // an image in any of these
	Thinking               // reasoning of the same model, in an answer
	Call                   // a call, in an answer
	Compaction             // a summary in place of earlier messages
	Edit                   // a later record changes or removes a message
	Branch                 // the session continues at an earlier message
	Own                    // first rule of an agent's own
)

var shared = [Own]Info{
	Unread: {Name: "unread", Missing: true}, Aside: {Name: "aside"}, System: {Name: "system"},
	Prompt: {Name: "prompt"}, Answer: {Name: "answer"}, Result: {Name: "result"}, Note: {Name: "note"},
	Image: {Name: "image"}, Thinking: {Name: "thinking"}, Call: {Name: "call"}, Compaction: {Name: "compaction"},
	Edit: {Name: "edit"}, Branch: {Name: "branch"},
}

// Most is the limit of rules per agent.
const Most = 64

// A Set is a set of rules of one agent. The zero value is empty.
type Set uint64

// Of returns the set of these rules.
func Of(rules ...Rule) (s Set) {
	for _, r := range rules {
		s |= 1 << r
	}
	return s
}

// If returns a set with the rule if the condition holds, else the empty set.
func If(is bool, r Rule) Set {
	if is {
		return 1 << r
	}
	return 0
}

// Has reports whether a rule is in the set.
func (s Set) Has(r Rule) bool { return s>>r&1 == 1 }

// All yields the rules of the set in ascending order.
func (s Set) All(yield func(Rule) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(Rule(bits.TrailingZeros64(uint64(s)))) {
			return
		}
	}
}

// A Scope is what the outcome of a rule depends on besides the version of the program.
type Scope uint8

// The scopes.
const (
	Everywhere Scope = iota // only the version
	PerHost                 // the provider of the request
	PerModel                // the model of the request
)

// An Info describes a rule.
type Info struct {
	Name  string // name in reports, at most a few words
	Scope Scope
	// Missing reports that the file lacks what the program sends by this rule: no request that used it is
	// exact.
	Missing bool
	// Outside reports that the program's behaviour also depends on something that no file records, such as
	// whether a model takes images: a request that differs counts against this rule alone.
	Outside bool
	// Until lists rules after which a request no longer depends on this one, because they replace its result.
	Until Set
}

// A Compared counts the recorded requests of one version of the program that used a rule.
type Compared struct {
	Rule            Rule
	Version         string
	Of              string // provider or model, by the rule's scope; else empty
	Requests, Equal int
}

// A Table has the rules of one agent and the results of comparing them, which package claims in internal/test
// makes from recordings.
type Table struct {
	Rules    []Info // the agent's own rules, from [Own] on
	Compared []Compared
}

// NewTable returns the table of an agent's own rules, by number. It panics if they exceed Most.
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

// Info returns the description of a rule.
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

// Then returns the rules that a path has used after an entry that was made by other rules.
func (t *Table) Then(used, by Set) Set {
	for r := range used.All {
		if t != nil && t.Info(r).Until&by != 0 {
			used &^= Of(r)
		}
	}
	return used | by
}

// Versions returns the versions of the program that were compared, the oldest first.
func (t *Table) Versions() (all []string) {
	for _, c := range t.Compared {
		if !slices.Contains(all, c.Version) {
			all = append(all, c.Version)
		}
	}
	slices.SortFunc(all, Versions)
	return all
}

// Versions compares two versions of a program, numbers with dots between them, like [cmp.Compare]. An unknown
// version is the oldest.
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

// Summary returns how many rules were compared with a version, how many requests used the most frequent of
// them, and for how many rules all requests were equal.
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

// An Asked is the provider and model that a request was sent to, empty if unknown.
type Asked struct{ Host, Model string }

// Of returns the part that a scope depends on; empty for Everywhere.
func (a Asked) Of(s Scope) string {
	switch s {
	case PerHost:
		return a.Host
	case PerModel:
		return a.Model
	}
	return ""
}

// Uncompared returns the rules of a set that no recorded request of the version used, or only with a
// difference. A rule that depends on the provider or the model must have been compared for each one that was
// asked.
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

// Scoped reports whether a rule of the set depends on the provider or the model.
func (t *Table) Scoped(used Set) bool {
	for r := range used.All {
		if t.Info(r).Scope != Everywhere {
			return true
		}
	}
	return false
}

// holds reports whether requests with the rule were compared, and all of them are equal.
func (t *Table) holds(r Rule, version, of string) bool {
	n := Compared{}
	for _, c := range t.Compared {
		if c.Rule == r && c.Version == version && c.Of == of {
			n.Requests, n.Equal = n.Requests+c.Requests, n.Equal+c.Equal
		}
	}
	return !t.Info(r).Missing && n.Requests > 0 && n.Equal == n.Requests
}
