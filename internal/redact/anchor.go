package redact

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// An anchor is one of the words with which every match of an expression begins, so that the
// expression is only tried where one is.
type anchor struct {
	text string
	fold bool // in any case
}

// maxWords is the maximum number of anchors of an expression.
const maxWords = 64

// anchorsOf returns the anchors of an expression, nil if it has no useful ones.
func anchorsOf(re *syntax.Regexp) []anchor {
	all, _ := beginnings(re)
	if slices.ContainsFunc(all, func(a anchor) bool { return len(a.text) < 2 }) {
		return nil
	}
	return all
}

// beginnings returns the texts with which the matches of an expression begin, and whether they are
// all of what it matches.
func beginnings(re *syntax.Regexp) (all []anchor, whole bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []anchor{{}}, true
	case syntax.OpLiteral:
		a := anchor{string(re.Rune), re.Flags&syntax.FoldCase != 0}
		if !a.fold || strings.IndexFunc(a.text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
			return []anchor{a}, true
		}
	case syntax.OpCharClass:
		if all := charactersOf(re.Rune); all != nil {
			return all, true
		}
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpQuest:
		all, whole := beginnings(re.Sub[0])
		return append([]anchor{{}}, all...), whole
	case syntax.OpPlus, syntax.OpRepeat:
		if re.Op == syntax.OpPlus || re.Min > 0 {
			all, _ := beginnings(re.Sub[0])
			return all, false
		}
	case syntax.OpConcat:
		return beginningsOfAll(re.Sub)
	case syntax.OpAlternate:
		whole := true
		for _, sub := range re.Sub {
			some, ends := beginnings(sub)
			all, whole = append(all, some...), whole && ends
		}
		if len(all) <= maxWords {
			return all, whole
		}
	}
	return []anchor{{}}, false
}

// beginningsOfAll is beginnings of parts in a row.
func beginningsOfAll(parts []*syntax.Regexp) (all []anchor, whole bool) {
	all, whole = []anchor{{}}, true
	for _, part := range parts {
		some, ends := beginnings(part)
		if !whole || len(all)*len(some) > maxWords {
			return all, false
		}
		var longer []anchor
		for _, a := range all {
			for _, b := range some {
				longer = append(longer, anchor{a.text + b.text, a.fold || b.fold})
			}
		}
		all, whole = longer, ends
	}
	return all, whole
}

// charactersOf returns the characters of a class, nil if there are many.
func charactersOf(ranges []rune) (all []anchor) {
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(all) == 4 {
				return nil
			}
			all = append(all, anchor{text: string(r)})
		}
	}
	return all
}

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
