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
	ID, Regex   string
	SecretGroup int
	Entropy     float64
	Keywords    []string
	Allowlists  []allowlist

	re *regexp.Regexp
}

// An allowlist says what is no secret.
type allowlist struct{ Regexes, Stopwords []string }

var compiled = map[string]*regexp.Regexp{}

func compile(expr string) *regexp.Regexp {
	if compiled[expr] == nil {
		compiled[expr] = regexp.MustCompile(expr)
	}
	return compiled[expr]
}

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
		if r.re, err = regexp.Compile(r.Regex); err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		r.Allowlists = append(r.Allowlists, file.Allowlist)
		for k, s := range slices.Concat(tokenShapes, knownShapes, knownShapes) {
			text, from, to, err := m.match(&r)
			if err != nil {
				return nil, err
			}
			secret := strings.TrimPrefix(text[from:to], "https://")
			if k < len(tokenShapes) {
				if to-from < len(strings.TrimSpace(text)) || strings.Contains(text, "\n") {
					continue // only what is around it shows that it is a secret
				}
				text = text[from:to]
			}
			if s.name == "escaped" {
				text = quotedJSON(text)
			}
			all = append(all, Case{"rule", r.ID, s.name, "whole", "text", fmt.Sprintf(s.form, text), strings.Split(secret, "\n"), Whole})
		}
	}
	return all, nil
}

// match returns a text that a rule matches, with a keyword, and where its secret begins and ends. What
// is too regular for the rule, or allowed, is made again.
func (m maker) match(r *rule) (text string, from, to int, err error) {
	re, err := syntax.Parse(r.Regex, syntax.Perl)
	if err != nil {
		return "", 0, 0, err
	}
	for range 1000 {
		var b strings.Builder
		m.write(&b, re, re.MaxCap() == 0)
		text = b.String()
		groups := r.re.FindStringSubmatchIndex(text)
		if groups == nil {
			continue
		}
		from, to = groups[2*r.SecretGroup], groups[2*r.SecretGroup+1]
		for k := 2; r.SecretGroup == 0 && k < len(groups); k += 2 {
			if groups[k] < groups[k+1] {
				from, to = groups[k], groups[k+1]
				break
			}
		}
		if to-from < Window {
			from, to = 0, len(text) // a group that is repeated is no secret
		}
		if entropy(text[from:to]) <= r.Entropy || r.allows(text[from:to]) || r.allows(text) {
			continue
		}
		if slices.ContainsFunc(r.Keywords, func(word string) bool { return strings.Contains(strings.ToLower(text), word) }) {
			return text, from, to, nil
		}
		word := pick(m, r.Keywords) + " "
		return word + text, len(word) + from, len(word) + to, nil
	}
	return "", 0, 0, fmt.Errorf("rule %s: no match was made", r.ID)
}

func (r *rule) allows(text string) bool {
	return slices.ContainsFunc(r.Allowlists, func(a allowlist) bool {
		return slices.ContainsFunc(a.Stopwords, func(word string) bool { return strings.Contains(strings.ToLower(text), word) }) ||
			slices.ContainsFunc(a.Regexes, func(expr string) bool { return compile(expr).MatchString(text) })
	})
}

// entropy is Shannon's, in bits per character.
func entropy(text string) (sum float64) {
	count := map[rune]float64{}
	for _, c := range text {
		count[c]++
	}
	for _, n := range count {
		sum -= n / float64(len(text)) * math.Log2(n/float64(len(text)))
	}
	return sum
}

// write writes a text that an expression matches. Of what may be left out around a secret there is
// little, and names have an ending such as _key.
func (m maker) write(b *strings.Builder, re *syntax.Regexp, secret bool) {
	least, most := re.Min, re.Max
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 && m.IntN(2) == 0 {
			text = strings.ToLower(text)
		}
		b.WriteString(text)
	case syntax.OpCharClass:
		b.WriteByte(m.oneOf(re))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('.') // of the name of a host
	case syntax.OpAlternate:
		m.write(b, pick(m, re.Sub), secret)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			m.write(b, sub, secret)
		}
	case syntax.OpCapture:
		m.write(b, re.Sub[0], true)
	case syntax.OpQuest:
		least, most = 0, 1
	case syntax.OpStar:
		least, most = 0, -1
	case syntax.OpPlus:
		least, most = 1, -1
	}
	if re.Op < syntax.OpStar || re.Op > syntax.OpRepeat {
		return
	}
	of := re.Sub[0]
	class := of.Op == syntax.OpCharClass
	if !secret && class && least == 0 && most >= 20 && re.Flags&syntax.NonGreedy == 0 {
		b.WriteString(pick(m, []string{"", "_key", "_token", "-api-key", "_SECRET"}))
		return
	}
	extra := 1
	if secret {
		extra = Window
		if most < 0 && class {
			least = max(least, Window)
		}
	}
	if most >= 0 {
		extra = min(extra, most-least)
	}
	for range least + m.IntN(extra+1) {
		switch {
		case of.Op != syntax.OpAnyChar && of.Op != syntax.OpAnyCharNotNL:
			m.write(b, of, secret)
		case secret:
			b.WriteString(m.text(alphabets["an"], 1))
		default:
			b.WriteByte(' ')
		}
	}
}

// oneOf returns a printable character of a class, a letter or digit if it is large.
func (m maker) oneOf(class *syntax.Regexp) byte {
	var all []byte
	for k := 0; k < len(class.Rune); k += 2 {
		for c := max(' ', class.Rune[k]); c <= min('~', class.Rune[k+1]); c++ {
			all = append(all, byte(c))
		}
	}
	switch {
	case len(all) == 0:
		return byte(class.Rune[0]) // a line break
	case len(all) > 80:
		all = []byte(alphabets["an"])
	}
	return pick(m, all)
}
