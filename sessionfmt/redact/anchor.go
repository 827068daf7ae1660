package redact

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An anchor is one of the words of which every match of an expression contains at least one, so
// that the expression is only tried near one.
type anchor struct {
	text     string // in lower case
	exact    string // exact spelling; empty to ignore case
	min, max int    // distance in bytes from the start of the match
}

// Limits for deriving anchors: number of words, distance from the start.
const (
	maxWords  = 64
	maxBefore = 128
	maxSpread = 16
)

// anchorsOf returns the anchors of an expression, nil if it has no useful ones.
func anchorsOf(re *syntax.Regexp) []anchor {
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return anchorsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return anchorsOf(re.Sub[0])
		}
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAlternate:
		if words, ok := wordsOf(re); ok {
			return anchored(words, 0, 0)
		}
		var all []anchor
		for _, sub := range re.Sub {
			some := anchorsOf(sub)
			if some == nil {
				return nil
			}
			all = append(all, some...)
		}
		return all
	case syntax.OpConcat:
		return bestAnchors(re.Sub)
	}
	return nil
}

// bestAnchors chooses among the words required by parts in a row.
func bestAnchors(subs []*syntax.Regexp) (best []anchor) {
	low, high := 0, 0 // bytes before the part
	for i, sub := range subs {
		words := []word{{}}
		var here []anchor
		for _, next := range subs[i:] {
			more, ok := wordsOf(next)
			if !ok || len(words)*len(more) > maxWords {
				break
			}
			words = cross(words, more)
		}
		if len(words) > 1 || words[0].text != "" {
			here = anchored(words, low, high)
		}
		if inner := anchorsOf(sub); better(inner, here, low, high) {
			here = nil
			for _, a := range inner {
				a.min, a.max = a.min+low, a.max+high
				here = append(here, a)
			}
		}
		if better(here, best, 0, 0) {
			best = here
		}
		l, h := lengths(sub)
		if high+h > maxBefore {
			break
		}
		low, high = low+l, high+h
	}
	return best
}

// better reports whether anchors a, moved by low and high bytes, are better than b.
func better(a, b []anchor, low, high int) bool { return worth(a, low, high) > worth(b, 0, 0) }

// worth rates anchors: long words, near the start, few of them. Below 1 they do not help.
func worth(all []anchor, low, high int) int {
	if len(all) == 0 {
		return 0
	}
	short, spread := 1<<10, 0
	for _, a := range all {
		short, spread = min(short, len(a.text)), max(spread, a.max+high-a.min-low)
		if a.max+high > maxBefore {
			return 0
		}
	}
	if short < 2 || spread > maxSpread {
		return 0
	}
	return max(1, 100+min(short, 5)*8-spread*2-len(all)/8)
}

func anchored(words []word, low, high int) (all []anchor) {
	for _, w := range words {
		a := anchor{text: lowerASCII(w.text), exact: w.text, min: low, max: high}
		if w.fold {
			a.exact = ""
		}
		all = append(all, a)
	}
	return all
}

// A word is a text that an expression matches, ignoring case if fold is set.
type word struct {
	text string
	fold bool
}

func cross(a, b []word) (all []word) {
	for _, x := range a {
		for _, y := range b {
			all = append(all, word{x.text + y.text, x.fold || y.fold})
		}
	}
	return all
}

// wordsOf returns all texts that an expression matches, if there are few.
func wordsOf(re *syntax.Regexp) ([]word, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []word{{}}, true
	case syntax.OpLiteral:
		w := word{string(re.Rune), re.Flags&syntax.FoldCase != 0}
		ascii := strings.IndexFunc(w.text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		return []word{w}, !w.fold || ascii
	case syntax.OpCharClass:
		return wordsOfClass(re.Rune)
	case syntax.OpCapture:
		return wordsOf(re.Sub[0])
	case syntax.OpQuest:
		words, ok := wordsOf(re.Sub[0])
		return append([]word{{}}, words...), ok && len(words) < maxWords
	case syntax.OpConcat:
		all := []word{{}}
		for _, sub := range re.Sub {
			words, ok := wordsOf(sub)
			if !ok || len(all)*len(words) > maxWords {
				return nil, false
			}
			all = cross(all, words)
		}
		return all, true
	case syntax.OpAlternate:
		var all []word
		for _, sub := range re.Sub {
			words, ok := wordsOf(sub)
			if !ok || len(all)+len(words) > maxWords {
				return nil, false
			}
			all = append(all, words...)
		}
		return all, true
	}
	return nil, false
}

func wordsOfClass(ranges []rune) (all []word, ok bool) {
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(all) == 4 {
				return nil, false
			}
			all = append(all, word{text: string(r)})
		}
	}
	return all, len(all) > 0
}

// unlimited is the maximum length of what repeats without end.
const unlimited = 1 << 16

// lengths returns the minimum and maximum number of bytes that an expression matches; high is
// unlimited or more if there is no maximum.
func lengths(re *syntax.Regexp) (low, high int) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			l, h := utf8.RuneLen(r), utf8.RuneLen(r)
			if re.Flags&syntax.FoldCase != 0 {
				for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
					l, h = min(l, utf8.RuneLen(f)), max(h, utf8.RuneLen(f))
				}
			}
			low, high = low+l, high+h
		}
	case syntax.OpCharClass:
		if n := len(re.Rune); n > 0 {
			return min(runeLen(re.Rune[0]), 1), runeLen(re.Rune[n-1])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, utf8.UTFMax
	case syntax.OpQuest:
		_, high = lengths(re.Sub[0])
	case syntax.OpStar:
		return 0, unlimited
	case syntax.OpPlus:
		low, _ = lengths(re.Sub[0])
		return low, unlimited
	case syntax.OpRepeat:
		low, high = lengths(re.Sub[0])
		if re.Max < 0 {
			return low * re.Min, unlimited
		}
		return low * re.Min, high * re.Max
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			l, h := lengths(sub)
			low, high = low+l, high+h
		}
	case syntax.OpAlternate:
		low = unlimited
		for _, sub := range re.Sub {
			l, h := lengths(sub)
			low, high = min(low, l), max(high, h)
		}
	}
	return low, high
}

func runeLen(r rune) int { return max(1, utf8.RuneLen(r)) }

// cutLazy removes lazily repeated classes from the front of an expression, and returns the class
// and the maximum number of its characters. A match of the rest is a match of the whole: the
// leftmost match of the whole ends in the leftmost match of the rest, since everything reachable
// from a later start is also reachable from the first one.
func cutLazy(re *syntax.Regexp) (rest *syntax.Regexp, class []rune, most int) {
	for rest = re; rest.Op == syntax.OpConcat; {
		front, more := rest.Sub[0], rest.Sub[1:]
		lazy := front.Op == syntax.OpRepeat && front.Flags&syntax.NonGreedy != 0 && front.Min == 0 && front.Max > 0
		switch {
		case front.Op == syntax.OpConcat:
			more = slices.Concat(front.Sub, more)
		case lazy && front.Sub[0].Op == syntax.OpCharClass:
			class, most = front.Sub[0].Rune, most+front.Max
		default:
			return rest, class, most
		}
		rest = &syntax.Regexp{Op: syntax.OpConcat, Sub: more}
	}
	return rest, class, most
}
