package redact

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/jsonl"
)

// example is a text that an expression matches, repetitions without end being short.
func example(rnd *rand.Rand, re *syntax.Regexp) string {
	times := func(low, high int) string {
		if high < 0 {
			high = low + 20
		}
		var b strings.Builder
		for range low + rnd.IntN(high-low+1) {
			b.WriteString(example(rnd, re.Sub[0]))
		}
		return b.String()
	}
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 && rnd.IntN(2) == 0 {
			text = lowerASCII(text)
		}
		return text
	case syntax.OpCharClass:
		for range 20 {
			k := 2 * rnd.IntN(len(re.Rune)/2)
			if lo, hi := re.Rune[k], min(re.Rune[k+1], 0x7e); lo >= ' ' && lo <= hi {
				return string(lo + rnd.Int32N(hi-lo+1))
			}
		}
		return string(re.Rune[0])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return string(' ' + rnd.Int32N(0x5f))
	case syntax.OpCapture:
		return example(rnd, re.Sub[0])
	case syntax.OpStar:
		return times(0, -1)
	case syntax.OpPlus:
		return times(1, -1)
	case syntax.OpQuest:
		return times(0, 1)
	case syntax.OpRepeat:
		return times(re.Min, re.Max)
	case syntax.OpAlternate:
		return example(rnd, re.Sub[rnd.IntN(len(re.Sub))])
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(example(rnd, sub))
		}
		return b.String()
	}
	return ""
}

// byExpressions are the secrets of a text as the expressions alone find them.
func byExpressions(r *Redactor, text []byte) (all []hit) {
	folded := lowerASCII(string(text))
	for k, rule := range r.rules {
		if !rule.hasKeyword(folded) {
			continue
		}
		for _, groups := range rule.whole().FindAllSubmatchIndex(text, -1) {
			for groups[0] < groups[1] && text[groups[0]] == '\n' {
				groups[0]++
			}
			for groups[0] < groups[1] && text[groups[1]-1] == '\n' {
				groups[1]--
			}
			start, end, ok := rule.secret(text, groups)
			if ok && !rule.plain(text[start:end], text[groups[0]:groups[1]]) && !rule.plainLine(text[start:end], text, groups[0], groups[1]) {
				all = append(all, hit{rule: r.ofRule[k], start: start, end: end, value: string(text[start:end])})
			}
		}
	}
	return all
}

func mustNew(opt Options) *Redactor {
	return must.Get(New(opt))
}

// samely holds what the scanner finds in a text against what the expressions find,
// and returns how much that is.
func samely(t *testing.T, r *Redactor, s *Scanner, text []byte) int {
	t.Helper()
	got := s.expressions(s.words(nil, text, 0, len(text)), text)
	s.queue, s.names, s.shaped, s.marks, s.commands, s.broken = s.queue[:0], s.names[:0], s.shaped[:0], s.marks[:0], s.commands[:0], s.broken[:0]
	got = slices.DeleteFunc(got, func(h hit) bool { return h.rule < r.first || h.rule >= r.email || h.rule == r.shaped })
	want := byExpressions(r, text)
	order := func(a, b hit) int { return strings.Compare(fmt.Sprintf("%v", a), fmt.Sprintf("%v", b)) }
	judged := func(h hit) bool { // what a judge rejects does not hide a secret from the scanner
		return !slices.Contains(want, h) && slices.ContainsFunc(r.rules, func(x *rule) bool { return x.ID == r.names[h.rule] && x.Judge != judgeNone })
	}
	got = slices.DeleteFunc(got, judged)
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		for _, h := range got {
			if !slices.Contains(want, h) {
				t.Errorf("finds %s %q, the expression does not", r.names[h.rule], h.value)
			}
		}
		for _, h := range want {
			if !slices.Contains(got, h) {
				t.Errorf("does not find %s %q", r.names[h.rule], h.value)
			}
		}
		t.Fatalf("in %.300q", text)
	}
	return len(want)
}

// TestAnchored: where expressions are tried only at their anchors, by a dfa first,
// they match what they match in the whole text.
func TestAnchored(t *testing.T) {
	r := mustNew(Options{})
	s := r.NewScanner()
	rnd := rand.New(rand.NewPCG(1, 2))
	var trees []*syntax.Regexp
	var near []string // pieces that begin matches, or end them
	for _, rule := range r.rules {
		re := must.Get(syntax.Parse(rule.Regex, syntax.Perl))
		trees = append(trees, re)
		near = append(near, rule.Keywords...)
		for _, a := range rule.anchors {
			near = append(near, a.text, strings.ToUpper(a.text))
		}
	}
	near = append(near, "=", " ", ": ", `"`, "\n", "'", ";", `\n`, "==", "é", "日本", "\xff", "A", "x9", "-", ".", "_", "curl -H ", "-----", "//", "@")
	wide := []string{"é", "日本", "\xe6\x97", "\x80\x80", "a\x80", "😀\x80"}
	found := map[int]bool{}
	total := 0
	rounds := corpus.Pick(3, 5)
	for round := range rounds {
		for k, re := range trees {
			var b strings.Builder
			if round == rounds-1 { // what lies before it are parts of characters
				for range 1 + rnd.IntN(4) {
					b.WriteString(wide[rnd.IntN(len(wide))])
				}
				b.WriteString(example(rnd, re))
				samely(t, r, s, []byte(b.String()))
				continue
			}
			for range rnd.IntN(8) {
				b.WriteString(near[rnd.IntN(len(near))])
			}
			secret := example(rnd, re)
			if round == 3 { // broken somewhere
				at := rnd.IntN(len(secret) + 1)
				secret = secret[:at] + near[rnd.IntN(len(near))] + secret[at:]
			}
			b.WriteString(secret)
			for range rnd.IntN(8) {
				b.WriteString(near[rnd.IntN(len(near))])
			}
			b.WriteString(secret)
			if n := samely(t, r, s, []byte(b.String())); n > 0 {
				found[k] = true
				total += n
			}
		}
	}
	if len(found) < len(trees)*3/4 {
		t.Errorf("only %d of %d rules have found anything, %d in all", len(found), len(trees), total)
	}
	// Expressions take as long as the text times the rules with a keyword in it: short
	// texts show as much, and few long ones what lies far apart.
	texts, long := corpus.Pick(200, 4000), corpus.Pick(3, 300)
	for k := range texts + long {
		most := 16
		if k >= texts {
			most = 200
		}
		var b strings.Builder
		for range rnd.IntN(most) {
			b.WriteString(near[rnd.IntN(len(near))])
		}
		samely(t, r, s, []byte(b.String()))
	}
}

// TestAnchoredWide: a match begins with a whole character, or a byte that is none.
func TestAnchoredWide(t *testing.T) {
	r := mustNew(Options{Patterns: []byte(`
[[rules]]
id = "any"
regex = '''.token-\d{4}'''
[[rules]]
id = "not"
regex = '''[^é日😀]mark-\d{4}'''
`)})
	s := r.NewScanner()
	for _, before := range []string{"", "a", "é", "日", "😀", "\x80", "a\x80", "é\x80", "日\x80", "😀\x80", "😀\x80\x80", "\x80\x80\x80\x80", "\xf0\x9f\x98", "\xe6\x97"} {
		for _, word := range []string{"token-1234", "mark-1234"} {
			samely(t, r, s, []byte(before+word))
			samely(t, r, s, []byte("b"+before+word))
		}
	}
}

// TestAnchorsOf: the words with which the matches of an expression begin.
func TestAnchorsOf(t *testing.T) {
	for text, want := range map[string][]anchor{
		`[ab]cd`:               {{"acd", false}, {"bcd", false}},
		`\b(?i:token)-[a-z]+d`: {{"TOKEN-", true}},
		`(?:ab?|cd)(ef)+g`:     {{"aef", false}, {"abef", false}, {"cdef", false}},
		`(?:ab|c[a-z])d`:       nil,
		`(?:ab|cd*)d`:          nil,
		`(?:[^a-z]|^)token-`:   nil,
		`\b(?:ab|cd){0,2}ef`:   nil,
	} {
		re := must.Get(syntax.Parse(text, syntax.Perl))
		if got := anchorsOf(re); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestAnchoredFar: what looking far ahead from many places costs is bounded, but no
// secret after them is lost before the whole text is searched instead.
func TestAnchoredFar(t *testing.T) {
	r := mustNew(Options{Patterns: []byte("[[rules]]\nid = \"far\"\nregex = 'ab[a-z]*[0-9]{3}'")})
	for _, pairs := range []int{10, 200, 2000} {
		if samely(t, r, r.NewScanner(), []byte(strings.Repeat("ab", pairs)+" abcd123")) != 1 {
			t.Errorf("after %d pairs the expression finds something else", pairs)
		}
	}
}

// TestAnchoredReal is TestAnchored on real texts.
func TestAnchoredReal(t *testing.T) {
	r := mustNew(Options{})
	s := r.NewScanner()
	size := 0
	for _, session := range append(corpus.Own(t), corpus.Shared(t)...) {
		for line := range bytes.Lines(session.Data) {
			if v, err := jsonl.ParseValue(line); err == nil && size < corpus.Pick(1<<17, 1<<19) {
				for text := range v.Strings {
					if len(text) > 40 && len(text) < 1<<15 {
						size += len(text)
						samely(t, r, s, []byte(text.Text()))
					}
				}
			}
		}
	}
	if size < 10_000 {
		t.Errorf("only %d bytes were looked at", size)
	}
}
