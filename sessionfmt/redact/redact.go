// Package redact takes what nobody else should read out of sessions: secrets that
// well-known patterns find, addresses, names in paths, exact values. What stands in their
// place is the same wherever the same was, and a redacted session is a session still: its
// lines, its tree and what replays of it keep their shape.
//
// New returns a Redactor. Redactor.Text redacts one text; Redactor.Passes, as
// sessionfmt.Options.Through, has a session opened as if it had been redacted.
package redact

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Options say what to redact besides what the well-known patterns, addresses and
// home directories find.
type Options struct {
	Values        []string // exact values, of at least MinValue bytes
	Patterns      []byte   // rules in gitleaks' format, TOML
	StructureOnly bool     // every text becomes its size
	Images        bool     // every image becomes one of a single pixel
}

// MinValue is how long an exact value is at least, bytes: a shorter one is everywhere.
const MinValue = 4

// A Redactor knows what to redact. It is safe for concurrent use.
type Redactor struct {
	opt   Options
	rules []*rule
	names []string // of all rules, the ones that win where hits overlap first

	value, first, email, home int32 // numbers among names: first is that of rules[0]

	always []int32 // numbers of rules that are tried on every text
	words  *automaton
	uses   [][]use // by word

	exact  map[string]int32 // values, and the rules in whose name they go
	scans  sync.Pool
	marked map[string]bool // names
}

// A use is what a word is looked for.
type use struct {
	kind     useKind
	rule     int32  // of rules; of names for a value
	size     int    // of the word
	exact    string // how it has to be spelled, empty where case does not matter
	min, max int    // bytes before it to where a match begins
}

type useKind uint8

const (
	useAnchor useKind = iota
	useKeyword
	useValue
	useEmail
	useHome
)

// New makes a Redactor. The error is about the patterns or the values; it holds
// none of either.
func New(opt Options) (*Redactor, error) {
	own, err := readRules(opt.Patterns, true)
	if err != nil {
		return nil, fmt.Errorf("patterns: %w", err)
	}
	theirs, err := builtinRules()
	if err != nil {
		return nil, fmt.Errorf("the built-in rules: %w", err)
	}
	r := &Redactor{opt: opt, rules: append(own, theirs...), exact: map[string]int32{}, marked: map[string]bool{}}
	r.names = append(r.names, ruleValue)
	r.first = int32(len(r.names))
	for _, rule := range r.rules {
		r.names = append(r.names, rule.ID)
	}
	r.email = int32(len(r.names))
	r.home = r.email + 1
	r.names = append(r.names, ruleEmail, ruleHome)
	for _, name := range r.names {
		r.marked[name] = true
	}
	for _, v := range opt.Values {
		if len(v) < MinValue {
			return nil, errors.New("a value is shorter than 4 bytes: it would be found everywhere")
		}
		r.exact[v] = r.value
	}
	r.index()
	r.scans.New = func() any { return r.NewScanner() }
	return r, nil
}

// known is a Redactor that finds nothing but values, for a Run of r: each goes in the
// name of its rule.
func (r *Redactor) known(values map[string]int32) *Redactor {
	k := &Redactor{names: r.names, value: r.value, first: r.first, email: r.email, home: r.home, marked: r.marked, exact: values}
	var words wordList
	k.addValues(&words)
	k.uses, k.words = words.uses, newAutomaton(words.words)
	k.scans.New = func() any { return k.NewScanner() }
	return k
}

// builtinRules are gitleaks' rules and ours. The generic one is the last: what has a name
// of its own gets that.
var builtinRules = sync.OnceValues(func() ([]*rule, error) {
	rules, err := readRules(gitleaksRules, false)
	if err != nil {
		return nil, err
	}
	more, err := readRules(ownRules, false)
	rules = append(rules, more...)
	generic := func(r *rule) int { return strings.Index(r.ID, "generic-") } // -1, or 0
	slices.SortStableFunc(rules, func(a, b *rule) int { return generic(a) - generic(b) })
	return rules, err
})

// A wordList is words, and what each is looked for.
type wordList struct {
	words []string
	uses  [][]use
	at    map[string]int
}

func (l *wordList) add(word string, u use) {
	u.size = len(word)
	k, ok := l.at[word]
	if !ok {
		if l.at == nil {
			l.at = map[string]int{}
		}
		k = len(l.words)
		l.at[word] = k
		l.words = append(l.words, word)
		l.uses = append(l.uses, nil)
	}
	if !slices.Contains(l.uses[k], u) {
		l.uses[k] = append(l.uses[k], u)
	}
}

func (r *Redactor) addValues(words *wordList) {
	for _, v := range slices.Sorted(maps.Keys(r.exact)) {
		words.add(lowerASCII(v), use{kind: useValue, rule: r.exact[v], exact: v})
	}
}

// index makes the automaton of all words.
func (r *Redactor) index() {
	var words wordList
	for k, rule := range r.rules {
		for _, a := range rule.anchors {
			words.add(a.text, use{kind: useAnchor, rule: int32(k), exact: a.exact, min: a.min, max: a.max})
		}
		if rule.anchors == nil && len(rule.Keywords) == 0 {
			r.always = append(r.always, int32(k))
		}
		if rule.anchors == nil || rule.gated {
			for _, word := range rule.Keywords {
				words.add(word, use{kind: useKeyword, rule: int32(k)})
			}
		}
	}
	r.addValues(&words)
	words.add("@", use{kind: useEmail})
	for _, w := range homeWords {
		words.add(w, use{kind: useHome})
	}
	r.uses, r.words = words.uses, newAutomaton(words.words)
}

// placeholder is what stands in the place of a secret.
func (r *Redactor) placeholder(dst []byte, rule int32, n int) []byte {
	if rule == r.home {
		return fmt.Appendf(dst, "user-%d", n)
	}
	return fmt.Appendf(dst, "[redacted:%s-%d]", r.names[rule], n)
}

// covered reports whether text[start:end] is nothing but placeholders, or parts of them.
func (r *Redactor) covered(text []byte, start, end int) bool {
	for at := max(0, start-maxMark); at < end && start < end; {
		n := r.mark(text[at:])
		if n == 0 && at > 0 && bytes.IndexByte([]byte(`/\-`), text[at-1]) >= 0 {
			n = user(text[at:])
		}
		if n == 0 {
			if at++; at > start {
				return false
			}
			continue
		}
		if at += n; at > start {
			start = at
		}
	}
	return start >= end
}

// maxMark is how long a placeholder is at most, bytes.
const maxMark = 128

const markOpen = "[redacted:"

// mark is the length of the placeholder that b begins with, 0 for none.
func (r *Redactor) mark(b []byte) int {
	if !bytes.HasPrefix(b, []byte(markOpen)) {
		return 0
	}
	end := bytes.IndexByte(b[:min(len(b), maxMark)], ']')
	if end < 0 {
		return 0
	}
	dash := bytes.LastIndexByte(b[:end], '-')
	if dash < len(markOpen) || dash+1+digits(b[dash+1:]) != end || end == dash+1 || !r.marked[string(b[len(markOpen):dash])] {
		return 0
	}
	return end + 1
}

// Marked reports whether a text is not what it was: something in it was redacted.
func Marked(text string) bool {
	b := []byte(text)
	for i := range b {
		if bytes.HasPrefix(b[i:], []byte(markOpen)) || user(b[i:]) > 0 && (i == 0 || !isName(b[i-1]) || b[i-1] == '-') {
			return true
		}
	}
	return sized(b)
}
