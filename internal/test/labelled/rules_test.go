package labelled

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A rule is one of a configuration in gitleaks' format.
type rule struct {
	ID, Regex  string
	Entropy    float64
	Keywords   []string
	Allowlists []allowlist
}

type allowlist struct{ Regexes, Stopwords []string }

// ofRules are the cases of the rules of a configuration that have an expression: matches of it.
func (m maker) ofRules(config []byte) (all []Case, err error) {
	var file struct {
		Allowlist allowlist
		Rules     []rule
	}
	if err := toml.Unmarshal(config, &file); err != nil {
		return nil, err
	}
	for _, r := range file.Rules {
		if r.Regex == "" {
			continue
		}
		re, err := syntax.Parse(r.Regex, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		whole, allowed := regexp.MustCompile(r.Regex), r.allowed(file.Allowlist)
		for k, s := range slices.Concat(tokenShapes, contextShapes, contextShapes) {
			text, from, to := m.match(r, re, whole, allowed)
			secret := strings.TrimPrefix(text[from:to], "https://")
			if k < len(tokenShapes) {
				if to-from < len(strings.TrimSpace(text)) || strings.Contains(text, "\n") {
					continue // only what is around it shows that it is a secret
				}
				text = text[from:to]
			}
			if s.name() == "escaped" {
				text = quotedJSON(text)
			}
			all = append(all, Case{"rule", r.ID, s.name(), "whole", "text", fmt.Sprintf(s.form(), text), strings.Split(secret, "\n"), Whole})
		}
	}
	return all, nil
}

// allowed returns an expression for what the lists allow, which is no secret.
func (r rule) allowed(global allowlist) *regexp.Regexp {
	var all []string
	for _, a := range append(r.Allowlists, global) {
		all = append(all, a.Regexes...)
		for _, word := range a.Stopwords {
			all = append(all, "(?i)"+regexp.QuoteMeta(word))
		}
	}
	return regexp.MustCompile("(?:" + strings.Join(all, ")|(?:") + ")")
}

// match returns a text that a rule matches, with a keyword, and where its secret begins and ends. What
// is too regular for the rule, or allowed, is made again.
func (m maker) match(r rule, re *syntax.Regexp, whole, allowed *regexp.Regexp) (text string, from, to int) {
	for {
		var b strings.Builder
		from, to = 0, 0
		m.write(&b, re, re.MaxCap() == 0)
		text = b.String()
		groups := whole.FindStringSubmatchIndex(text)
		if groups == nil || allowed.MatchString(text) {
			continue
		}
		for k := len(groups) - 2; k >= 0; k -= 2 {
			if groups[k+1]-groups[k] >= Window && k > 0 || k == 0 && to == 0 { // less is no secret
				from, to = groups[k], groups[k+1]
			}
		}
		if entropy(text[from:to]) <= r.Entropy || allowed.MatchString(text[from:to]) {
			continue
		}
		word := pick(m, r.Keywords) + " "
		if slices.ContainsFunc(r.Keywords, func(word string) bool { return strings.Contains(strings.ToLower(text), word) }) {
			word = ""
		}
		return word + text, len(word) + from, len(word) + to
	}
}

// entropy is Shannon's, in bits per character.
func entropy(text string) (sum float64) {
	n := float64(len(text))
	for _, c := range text {
		sum -= math.Log2(float64(strings.Count(text, string(c)))/n) / n
	}
	return sum
}

// write writes a text that an expression matches. Of what may be left out around a secret there is
// little.
func (m maker) write(b *strings.Builder, re *syntax.Regexp, secret bool) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 && m.IntN(2) == 0 {
			text = strings.ToLower(text)
		}
		b.WriteString(text)
	case syntax.OpCharClass:
		b.WriteByte(m.oneOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteString(m.text(map[bool]string{true: alphabets["an"], false: "."}[secret], 1))
	case syntax.OpAlternate:
		m.write(b, pick(m, re.Sub), secret)
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			m.write(b, sub, secret || re.Op == syntax.OpCapture)
		}
	case syntax.OpQuest, syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		for range m.times(re, secret) {
			m.write(b, re.Sub[0], secret)
		}
	}
}

// repeated are the bounds of operators that have none, -1 for no end.
var repeated = map[syntax.Op][2]int{syntax.OpQuest: {0, 1}, syntax.OpStar: {0, -1}, syntax.OpPlus: {1, -1}}

// times returns how often an operator repeats.
func (m maker) times(re *syntax.Regexp, secret bool) int {
	least, most, extra := re.Min, re.Max, 1
	if at, ok := repeated[re.Op]; ok {
		least, most = at[0], at[1]
	}
	if secret {
		extra = Window
	}
	if most >= 0 {
		extra = min(extra, most-least)
	}
	return least + m.IntN(extra+1)
}

// oneOf returns a printable character of a class, a letter or digit if it is large.
func (m maker) oneOf(class []rune) byte {
	all := []byte{byte(class[0])} // of a class without any, a line break
	for k := 0; k < len(class); k += 2 {
		for c := max(' ', class[k]); c <= min('~', class[k+1]); c++ {
			all = append(all, byte(c))
		}
	}
	if len(all) > 80 {
		all = []byte(alphabets["an"])
	}
	return all[len(all)-1-m.IntN(max(1, len(all)-1))]
}
