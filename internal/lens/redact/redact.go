// Package redact removes secrets from sessions: matches of well-known patterns, addresses,
// names in paths, and given values. Equal values get equal placeholders, and a redacted session
// remains a session: its lines, its tree and its replays keep their shape.
//
// New returns a Redactor. Redactor.Text redacts one text. Redactor.Passes, as
// sessionfmt.Options.Through, opens a session as if it had been redacted.
package redact

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"ctxtool/internal/base/lazy"
	"ctxtool/sessionfmt"
)

// Options extend what is redacted beyond well-known patterns, addresses and home directories.
type Options struct {
	Values        []string // exact values, of at least MinValue bytes
	Patterns      []byte   // rules in gitleaks' format, TOML
	StructureOnly bool     // replace every text by its size
	Names         bool     // replace the names of home directories everywhere, and not only in paths
	DropImages    bool     // replace every image with a single pixel, and do not only remove its metadata
}

// MinValue is the minimum length of an exact value in bytes. Shorter ones are too common.
const MinValue = 4

// A Redactor finds and replaces secrets. It is safe for concurrent use.
type Redactor struct {
	opt      Options
	rules    []*rule
	tokens   []prefixed
	sets     []*[256]bool // by token
	heads    []string     // see keyHeads
	names    []string     // of all rules; of overlapping hits the lower index wins
	ofRule   []int32      // indexes into names, by rule
	ofKind   []int32      // by token
	ofMarker []int32      // by marker

	// indexes into names: first is that of rules[0], key of private keys
	value, first, key, phrase, generic, shaped, command, email, home int32

	always []int32 // indexes of rules that are tried on every text
	words  *automaton
	uses   [][]use // by word

	exact   map[string]int32 // rule by exact value
	known   bool             // it finds only exact values and their parts
	spelled bool             // no word has characters that JSON escapes, see Scanner.worth
	parts   *parts           // of exact values, nil for none
	scans   sync.Pool
	marked  map[string]bool // set of names in placeholders
}

// A use is a purpose for which a word is searched.
type use struct {
	kind  useKind
	rule  int32  // index of the rule, token or head; into names for a value
	size  int    // length of the word
	exact string // exact spelling, empty to ignore case; of a keyword, all of it in small letters
}

type useKind uint8

const (
	useAnchor useKind = iota
	useToken
	useKeyBegin
	useKeyEnd
	useKeyHead
	usePhrase
	useKeyword
	useName
	useShape
	useElision
	useMarker
	useSeal
	useCommand
	useCall
	useValue
	useEmail
	useHome
)

// New returns a Redactor. The error describes invalid patterns or values without containing
// them.
func New(opt Options) (*Redactor, error) {
	own, err := readRules(opt.Patterns, true)
	if err != nil {
		return nil, fmt.Errorf("patterns: %w", err)
	}
	base, err := builtinRules()
	if err != nil {
		return nil, fmt.Errorf("the built-in rules: %w", err)
	}
	r := &Redactor{
		opt: opt, rules: append(own.Rules, base...), tokens: prefixes, sets: prefixSets(), heads: keyHeads,
		exact: map[string]int32{}, marked: map[string]bool{},
	}
	r.name()
	for _, name := range r.names {
		r.marked[name] = true
	}
	for _, v := range opt.Values {
		if len(v) < MinValue {
			return nil, errors.New("a value must have at least 4 bytes")
		}
		r.exact[v] = r.value
	}
	r.index()
	r.scans.New = func() any { return r.NewScanner() }
	return r, nil
}

// name numbers the ids of rules. Of overlapping hits the generic rule is the last to name one.
func (r *Redactor) name() {
	r.names = append(r.names, ruleValue)
	r.first = int32(len(r.names))
	at := map[string]int32{}
	number := func(id string) int32 {
		n, ok := at[id]
		if !ok {
			n = int32(len(r.names))
			at[id] = n
			r.names = append(r.names, id)
		}
		return n
	}
	for _, rule := range r.rules {
		if rule.ID != ruleGeneric {
			number(rule.ID)
		}
	}
	for _, t := range r.tokens {
		r.ofKind = append(r.ofKind, number(t.ID))
	}
	for _, m := range markers {
		r.ofMarker = append(r.ofMarker, number(m.ID))
	}
	for _, rule := range r.rules {
		r.ofRule = append(r.ofRule, number(rule.ID))
	}
	r.key = number(ruleKey)
	r.phrase = number(rulePhrase)
	r.command = number(ruleCommand)
	r.generic = number(ruleGeneric)
	r.shaped = number(ruleShape)
	r.email = int32(len(r.names))
	r.home = r.email + 1
	r.names = append(r.names, ruleEmail, ruleHome)
}

// only returns a Redactor that finds only the given values, each under the name of its rule, and
// their parts.
func (r *Redactor) only(values map[string]int32) *Redactor {
	k := &Redactor{
		names: r.names, value: r.value, first: r.first, email: r.email, home: r.home, marked: r.marked,
		exact: values, known: true, parts: newParts(values, r.key, r.home),
	}
	k.spelled = true
	for v := range values {
		k.spelled = k.spelled && strings.IndexFunc(v, func(c rune) bool { return c < ' ' || c == '"' || c == '\\' }) < 0
	}
	var words wordList
	k.addValues(&words)
	k.uses, k.words = words.uses, newAutomaton(words.words)
	k.scans.New = func() any { return k.NewScanner() }
	return k
}

// builtinRules are gitleaks' rules, except those that one of ours replaces, and ours.
var builtinRules = sync.OnceValues(func() ([]*rule, error) {
	theirs, err := readRules(gitleaksRules, false)
	if err != nil {
		return nil, err
	}
	if err := harmlessValues.prepare(false); err != nil {
		return nil, err
	}
	replaced := map[string]bool{}
	var own []*rule
	for k := range ownRules {
		r := &ownRules[k]
		r.global = []*allowlist{&harmlessValues}
		if err := r.prepare(false); err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		replaced[r.ID] = true
		own = append(own, r)
	}
	return append(slices.DeleteFunc(theirs.Rules, func(r *rule) bool {
		return withoutRules[r.ID] != "" || replaced[r.ID]
	}), own...), nil
})

// A wordList is a list of words with their uses.
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

// begin returns the beginning of a word of which the rest is compared where it is found: that
// keeps the automaton small.
func begin(word string) string { return word[:min(len(word), 8)] }

// index builds the automaton of all words.
func (r *Redactor) index() {
	words := r.builtinWords()
	r.addValues(&words)
	words.add("@", use{kind: useEmail})
	for _, w := range homeWords {
		words.add(w, use{kind: useHome})
	}
	r.uses, r.spelled = words.uses, len(r.opt.Values)+len(r.opt.Patterns) == 0
	if len(r.opt.Values)+len(r.opt.Patterns) > 0 {
		r.words = newAutomaton(words.words)
		return
	}
	builtin.Do(func() { builtin.words = newAutomaton(words.words) })
	r.words = builtin.words
}

// builtinWords returns the words of rules. None of the built-in ones has a character that JSON escapes.
func (r *Redactor) builtinWords() (words wordList) {
	for k, rule := range r.rules {
		for _, a := range rule.anchors {
			u := use{kind: useAnchor, rule: int32(k), exact: begin(a.text)}
			if a.fold {
				u.exact = ""
			}
			words.add(lowerASCII(begin(a.text)), u)
		}
		if rule.anchors == nil && len(rule.Keywords) == 0 {
			r.always = append(r.always, int32(k))
		}
		if rule.anchors == nil || rule.gated {
			for _, word := range rule.Keywords {
				words.add(begin(word), use{kind: useKeyword, rule: int32(k), exact: word})
			}
		}
	}
	for k, t := range r.tokens {
		words.add(lowerASCII(begin(t.Prefix)), use{kind: useToken, rule: int32(k)})
	}
	for k, head := range r.heads {
		words.add(lowerASCII(begin(head[strings.LastIndexByte(head, '?')+1:])), use{kind: useKeyHead, rule: int32(k)})
	}
	words.add("-----begin", use{kind: useKeyBegin})
	words.add("-----end", use{kind: useKeyEnd})
	for _, word := range nameWords {
		words.add(lowerASCII(word), use{kind: useName})
	}
	for k, n := range commandNames() {
		word := n.name + " "
		if len(n.name) > 6 {
			word = n.name
		}
		words.add(begin(word), use{kind: useCommand, rule: int32(k)})
	}
	for k, f := range calls {
		words.add(f.Name, use{kind: useCall, rule: int32(k)})
	}
	for _, word := range phraseWords {
		words.add(begin(word), use{kind: usePhrase})
	}
	for k, m := range markers {
		words.add(lowerASCII(m.Marker), use{kind: useMarker, rule: int32(k)})
	}
	for k, x := range seals {
		words.add(lowerASCII(begin(x.open)), use{kind: useSeal, rule: int32(k)})
	}
	for _, word := range shapeWords {
		words.add(word, use{kind: useShape})
	}
	for _, sign := range elisions {
		words.add(sign, use{kind: useElision})
	}
	return words
}

// builtin is the automaton of a Redactor without values and patterns: a server makes one for every
// answer.
var builtin struct {
	sync.Once
	words *automaton
}

// placeholder appends the placeholder of a secret.
func (r *Redactor) placeholder(dst []byte, rule int32, n int) []byte {
	if rule == r.home {
		return fmt.Appendf(dst, "user-%d", n)
	}
	return fmt.Appendf(dst, "[redacted:%s-%d]", r.names[rule], n)
}

// covered reports whether text[start:end] consists of placeholders or parts of them.
func (r *Redactor) covered(text []byte, start, end int) bool {
	for at := max(0, start-maxMark); at < end && start < end; {
		n := 0
		if text[at] == '[' {
			n = r.mark(text[at:])
		} else if at > 0 && text[at] == 'u' && (text[at-1] == '/' || text[at-1] == '\\' || text[at-1] == '-') {
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

// maxMark is the maximum length of a placeholder in bytes.
const maxMark = 128

const markOpen = "[redacted:"

// mark returns the length of the placeholder at the start of b, 0 for none.
func (r *Redactor) mark(b []byte) int {
	found := marks().FindSubmatch(b[:min(len(b), maxMark)])
	if found == nil || !r.marked[string(found[1])] {
		return 0
	}
	return len(found[0])
}

var marks = lazy.Regexp(`^\[redacted:([^\]]*)-\d+\]`)

// Marked reports whether something in a text was redacted.
func Marked(text string) bool {
	b := []byte(text)
	for i := range b {
		if bytes.HasPrefix(b[i:], []byte(markOpen)) || user(b[i:]) > 0 && (i == 0 || !isName(b[i-1]) || b[i-1] == '-') {
			return true
		}
	}
	return sized(b)
}

// ParseValues returns the values in a file, one a line. An error has the position.
func ParseValues(file string, data []byte) (values []string, err error) {
	for n, line := range strings.Split(string(data), "\n") {
		switch line = strings.TrimSuffix(line, "\r"); {
		case len(line) >= MinValue:
			values = append(values, line)
		case line != "":
			return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: file, Line: n + 1},
				Err: fmt.Errorf("must have at least %d bytes", MinValue)}
		}
	}
	return values, nil
}

// EnvValues returns the values of the environment variables with these names. A name must
// exist; short values that a pattern matches are left out.
func EnvValues(names, environ []string) (values []string, err error) {
	for _, name := range names {
		glob := strings.ContainsAny(name, "*?[")
		found := false
		for _, v := range environ {
			key, value, _ := strings.Cut(v, "=")
			ok, err := path.Match(name, key)
			switch {
			case err != nil:
				return nil, fmt.Errorf("%s: %w", name, err)
			case !ok:
				continue
			case len(value) >= MinValue:
				values = append(values, value)
			case !glob:
				return nil, fmt.Errorf("%s: a value of less than %d bytes would be found everywhere", name, MinValue)
			}
			found = true
		}
		if !found {
			return nil, fmt.Errorf("%s: no such variable", name)
		}
	}
	slices.Sort(values)
	return values, nil
}
