package redact

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"ctxtool/internal/base/lazy"
	"ctxtool/sessionfmt"

	"github.com/pelletier/go-toml/v2"
)

// gitleaksRules is gitleaks' default configuration; see docs/dependencies.md.
//
//go:embed gitleaks.toml
var gitleaksRules []byte

// A ruleFile is a configuration in gitleaks' format, without settings for file paths and
// commits.
type ruleFile struct {
	Allowlist  *allowlist   `toml:"allowlist"`
	Allowlists []*allowlist `toml:"allowlists"`
	Rules      []*rule      `toml:"rules"`
}

// A rule is a kind of secret, found by an expression.
type rule struct {
	ID          string       `toml:"id"`
	Regex       string       `toml:"regex"`
	SecretGroup int          `toml:"secretGroup"`
	Entropy     float64      `toml:"entropy"`
	Keywords    []string     `toml:"keywords"`
	Allowlist   *allowlist   `toml:"allowlist"`
	Allowlists  []*allowlist `toml:"allowlists"`

	// of ownRules
	About   string   `toml:"-"`
	Source  string   `toml:"-"` // documentation of the format
	Judge   judge    `toml:"-"`
	Is, Not []string `toml:"-"` // examples with and without a secret

	global  []*allowlist // of its file
	anchors []anchor     // nil to try the expression on the whole text
	gated   bool         // a keyword is required as well
	within  int          // without anchors: how long a match is at most, in bytes, if it contains a keyword; else 0
	lazy    int          // characters of the class at the beginning of a match
	class   syntax.Inst  // that class

	prog, anywhere         func() *syntax.Prog   // for a dfa: without the lazy beginning; after anything
	whole, first, afterOne func() *regexp.Regexp // matches anywhere; at the start; after one character
}

// An allowlist describes matches of a rule that are not secrets.
type allowlist struct {
	Condition   string   `toml:"condition"`
	RegexTarget string   `toml:"regexTarget"`
	Regexes     []string `toml:"regexes"`
	Stopwords   []string `toml:"stopwords"`
	Paths       []string `toml:"paths"`
	Commits     []string `toml:"commits"`

	compiled func() ([]*regexp.Regexp, *automaton)
}

// readRules reads rules in gitleaks' format. With check it compiles every expression
// immediately. It skips rules for file names.
func readRules(data []byte, check bool) (*ruleFile, error) {
	var file ruleFile
	if err := toml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	var rules []*rule
	global := both(file.Allowlist, file.Allowlists)
	for _, r := range file.Rules {
		if r.Regex == "" {
			continue
		}
		if !names().MatchString(r.ID) {
			return nil, fmt.Errorf("rule %q: an id must be letters, digits, - and _, at most 64",
				sessionfmt.Quote(r.ID))
		}
		r.Allowlists, r.global = both(r.Allowlist, r.Allowlists), global
		if err := r.prepare(check); err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		rules = append(rules, r)
	}
	for _, a := range global {
		if err := a.prepare(check); err != nil {
			return nil, fmt.Errorf("allowlist: %w", err)
		}
	}
	file.Rules = rules
	return &file, nil
}

// names are the ids that are valid in a placeholder.
var names = lazy.Regexp(`^[\w-]{1,64}$`)

func both(one *allowlist, more []*allowlist) []*allowlist {
	if one != nil {
		return append([]*allowlist{one}, more...)
	}
	return more
}

// prepare computes where the expression has to be tried.
func (r *rule) prepare(check bool) error {
	r.Regex = unbounded(r.Regex)
	re, err := syntax.Parse(r.Regex, syntax.Perl)
	if err != nil {
		return err
	}
	if r.SecretGroup > re.MaxCap() {
		return fmt.Errorf("secretGroup %d: the expression has %d groups", r.SecretGroup, re.MaxCap())
	}
	if check {
		whole, err := regexp.Compile(r.Regex)
		if err == nil {
			err = r.sparing(whole)
		}
		if err != nil {
			return err
		}
	}
	for _, a := range r.Allowlists {
		if err := a.prepare(check); err != nil {
			return fmt.Errorf("allowlist: %w", err)
		}
	}
	for k, word := range r.Keywords {
		r.Keywords[k] = lowerASCII(word)
	}
	r.locate(re)
	return nil
}

// locate computes the anchors of the expression, which is parsed.
func (r *rule) locate(re *syntax.Regexp) {
	rest, class, most := cutLazy(re)
	r.lazy, r.anchors = most, anchorsOf(rest)
	for _, a := range r.anchors {
		r.gated = r.gated || !r.hasKeyword(lowerASCII(a.text))
	}
	if n := longest(re); r.anchors == nil && n <= mostWithin && containsOne(re, r.Keywords) {
		r.within = n
	}
	r.class = syntax.Inst{Op: syntax.InstRune, Rune: class}
	r.whole, r.first, r.afterOne = lazy.Regexp(r.Regex), lazy.Regexp(`\A(?:`+r.Regex+`)`),
		lazy.Regexp(`\A(?s:.)(?:`+r.Regex+`)`)
	r.prog = sync.OnceValue(func() *syntax.Prog {
		prog, _ := syntax.Compile(rest.Simplify()) // cannot fail for a valid expression
		return prog
	})
	r.anywhere = sync.OnceValue(func() *syntax.Prog {
		after, _ := syntax.Parse(`(?s:.*?)(?:`+r.Regex+`)`, syntax.Perl)
		prog, _ := syntax.Compile(after.Simplify())
		return prog
	})
}

// terminators end most of gitleaks' expressions: a token would need white space or a quote after it.
var terminators = []string{`(?:[\x60'"\s;]|\\[nr]|$)`, `(?:\s|\z)`, `(?:[\/|\#|\?|:]|$)`}

// unbounded returns an expression in which any character that is not alphanumeric ends a token,
// and that of a token with a prefix need not end at all.
func unbounded(regex string) string {
	for _, end := range terminators {
		cut, ok := strings.CutSuffix(regex, end)
		switch {
		case !ok:
			continue
		case strings.HasPrefix(strings.TrimPrefix(cut, "(?i)"), `\b(`):
			return cut
		}
		return cut + `(?:[^0-9A-Za-z]|$)`
	}
	return regex
}

var errEmptyList = errors.New("is empty")

// hasKeyword reports whether a text contains a keyword, or the rule has none.
func (r *rule) hasKeyword(text string) bool {
	return len(r.Keywords) == 0 ||
		slices.ContainsFunc(r.Keywords, func(word string) bool { return strings.Contains(text, word) })
}

func (a *allowlist) prepare(check bool) error {
	if a == nil {
		return errEmptyList
	}
	if check {
		for _, text := range a.Regexes {
			if _, err := regexp.Compile(text); err != nil {
				return err
			}
		}
		if len(a.Regexes)+len(a.Stopwords)+len(a.Paths)+len(a.Commits) == 0 {
			return errEmptyList
		}
	}
	a.compiled = sync.OnceValues(func() (all []*regexp.Regexp, stop *automaton) {
		for _, text := range a.Regexes {
			all = append(all, regexp.MustCompile(text))
		}
		var words []string
		for _, w := range a.Stopwords {
			if w != "" {
				words = append(words, w)
			}
		}
		return all, newAutomaton(words)
	})
	return nil
}

// allows reports whether a match is allowed, by the secret, the whole match or its line,
// depending on the list.
func (a *allowlist) allows(secret, match, line []byte) bool {
	and := strings.EqualFold(a.Condition, "and") || a.Condition == "&&"
	if and && len(a.Paths)+len(a.Commits) > 0 {
		return false // the list is empty
	}
	target := secret
	switch a.RegexTarget {
	case "match":
		target = match
	case "line":
		target = line
	}
	regexes, stop := a.compiled()
	fits := false
	for _, re := range regexes {
		fits = fits || re.Match(target)
	}
	stopped := false
	if len(a.Stopwords) > 0 {
		stop.each(secret, func(int32, int) { stopped = true })
	}
	if and {
		return (fits || len(regexes) == 0) && (stopped || len(a.Stopwords) == 0)
	}
	return fits || stopped
}

// secret returns the part of a match that is the secret; groups are its submatches.
func (r *rule) secret(text []byte, groups []int) (start, end int, ok bool) {
	of := 2 * r.SecretGroup
	for k := 2; of == 0 && k < len(groups); k += 2 {
		if groups[k] < groups[k+1] { // an absent group is from -1 to -1
			of = k
		}
	}
	start, end = groups[of], groups[of+1]
	if r.Source != "" && r.Judge != judgeNone {
		if cut := untilElision(text[start:end]); len(cut) >= 2*minPart { // it breaks off
			end = start + len(cut)
		}
	}
	return start, end, start < end
}

// plain reports whether a match is not a secret, judged by the match only: its entropy is too
// low, or a list allows it.
func (r *rule) plain(secret, match []byte) bool {
	if r.Entropy != 0 && entropy(secret) <= r.Entropy || !r.Judge.secret(secret) {
		return true
	}
	return r.allowed(false, func(a *allowlist) bool { return a.allows(secret, match, nil) })
}

// allowed reports whether one of the lists allows a match: of those for lines, or of the
// others.
func (r *rule) allowed(lines bool, allows func(a *allowlist) bool) bool {
	for _, lists := range [][]*allowlist{r.global, r.Allowlists} {
		for _, a := range lists {
			if (a.RegexTarget == "line") == lines && allows(a) {
				return true
			}
		}
	}
	return false
}

// longestLine is how many bytes of a line before and after a match are looked at.
const longestLine = 4096

// plainLine reports whether a match is not a secret, judged by its line in text.
func (r *rule) plainLine(secret, text []byte, start, end int) bool {
	if bytes.HasSuffix(text[:start], []byte(markOpen)) {
		return true // the name is part of a placeholder
	}
	return r.allowed(true, func(a *allowlist) bool {
		before, after := text[max(0, start-longestLine):start], text[end:min(len(text), end+longestLine)]
		from, to := start-len(before)+bytes.LastIndexByte(before, '\n')+1, bytes.IndexByte(after, '\n')
		if to < 0 {
			to = len(after)
		}
		return a.allows(secret, nil, text[from:end+to])
	})
}

// entropy returns Shannon's entropy in bits per character, as gitleaks computes it.
func entropy(text []byte) (sum float64) {
	all := []rune(string(text))
	slices.Sort(all)
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n] == all[0] {
			n++
		}
		share := float64(n) / float64(len(text))
		sum -= share * math.Log2(share)
		all = all[n:]
	}
	return sum
}

// ordinary are texts with nothing in common that is a secret.
var ordinary = []string{
	"Make the tests pass, and say why they failed.",
	`{"type":"message","id":"a1b2c3d4","parentId":null}`,
	"ok  \texample.com/parcel/outbox\t0.012s",
	"if err := os.Remove(name); err != nil { return err }",
	"/usr/share/doc/readme.txt: 12 lines, 3 of them empty",
	"你好，世界",
}

// sparing returns an error if an expression finds a secret in any text: a copy would have lost
// what it is made for.
func (r *rule) sparing(re *regexp.Regexp) error {
	for _, text := range ordinary {
		found := re.FindStringSubmatch(text)
		if found == nil || r.Entropy != 0 && entropy([]byte(found[r.SecretGroup])) <= r.Entropy {
			return nil
		}
	}
	return fmt.Errorf("its expression matches any text, such as %q", ordinary[0])
}
