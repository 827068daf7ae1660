package redact

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// This file finds where a text goes on that breaks off: in the next line after what the lines have in common, in the
// next literal of a concatenation, in the next element of an array. Every kind of value goes on by these rules.

// Limits of what lies between two parts, in bytes.
const (
	longestJoint   = 32  // signs, spaces and a line number
	longestMargin  = 160 // before a part in its line
	longestBetween = 160 // of a line between two lines that begin alike, as in a stream of events
)

// joint returns where a text continues that breaks off at text[end], and whose last part begins at text[start]: on the
// next line, after signs of a diff, a quotation or a frame or what its own line begins with, or in another literal.
func joint(text []byte, start, end int) (next int, ok bool) {
	hard := false // signs that end a statement or an object lie between
	quotes := 0
	if n := elision(text[end:]); n > 0 && isAlnum(byteAt(text, end+n)) {
		return end + n, true
	}
	for next = end; next < len(text) && next-end < longestJoint; next++ {
		switch c := text[next]; {
		case c == '\n':
			return nextLine(text, start, next+1, hard)
		case isQuote(c):
			quotes++
			ok = ok || quotes > 1
		case c == '<' && (byteAt(text, next+1) == '<' || byteAt(text, next+1) == '>'):
			next++ // an operator of C++ or Elixir
		case c == '<':
			n := inlineTag(text[next:])
			if n == 0 {
				return next, false
			}
			next, ok = next+n-1, true
		case isAlnum(c) && quotes == 1 && isQuote(byteAt(text, next+1)) && !isAlnum(text[next-1]): // b"
		case isAlnum(c):
			return next, ok && !hard
		case c == ',' && quotes > 0:
		case c == '=' || c == ',' || c == ':' || c == ';' || c == '(' || c == '{' || c == '}':
			hard = true
		}
	}
	return next, false
}

// nextLine returns where text[start:], whose line ends before text[at], continues in the next line. If signs of code
// have ended what it is part of, only a line that begins like its own does.
func nextLine(text []byte, start, at int, hard bool) (next int, ok bool) {
	from := max(0, start-longestMargin)
	n := bytes.LastIndexByte(text[from:start], '\n')
	margin := text[from+n+1 : start]
	if n < 0 && from > 0 {
		margin = nil
	}
	for range 3 {
		for at < len(text) && (text[at] == '\n' || text[at] == '\r') {
			at++
		}
		size, all := alike(margin, text[at:])
		switch whole := all && len(margin) > 0; {
		case (whole || !hard) && isAlnum(byteAt(text, at+size)):
			return at + size, true
		case whole || !hard:
			return afterFurniture(text, at+size)
		}
		to := bytes.IndexByte(text[at:min(len(text), at+longestBetween)], '\n')
		if to < 0 {
			break
		}
		at += to + 1
	}
	return at, false
}

// alike returns how much of a line is what another line begins with, apart from numbers, and whether that is all of it.
// Names of one letter may differ.
func alike(was, is []byte) (n int, all bool) {
	k := 0
	for k < len(was) && n < len(is) {
		a, b := was[k], is[n]
		switch {
		case a-'0' < 10 && b-'0' < 10, a == ' ' && b-'0' < 10, b == ' ' && a-'0' < 10:
			k, n = k+number(was[k:]), n+number(is[n:])
		case a == b, a == ':' && b == '-':
			k, n = k+1, n+1
		case isAlpha(a) && isAlpha(b) && !isAlnum(byteAt(was, k+1)) && !isAlnum(byteAt(is, n+1)) &&
			(k == 0 || !isAlnum(was[k-1])):
			k, n = k+1, n+1
		default:
			for n > 0 && (isAlnum(is[n-1]) || !utf8.RuneStart(is[n])) {
				n-- // the beginning of a word, or of a character
			}
			return n, false
		}
	}
	return n, k == len(was)
}

// number returns the length of spaces and digits at the start of b.
func number(b []byte) int {
	n := 0
	for n < len(b) && b[n] == ' ' {
		n++
	}
	return n + digits(b[n:])
}

// afterFurniture returns where the text of a line begins, after signs and a line number at text[at].
func afterFurniture(text []byte, at int) (next int, ok bool) {
	for next = at; next < len(text) && next-at < longestJoint; next++ {
		switch c := text[next]; {
		case c == '\n':
			return next, false
		case isAlnum(c):
			n := digits(text[next:min(len(text), next+6)])
			if n > 0 && (n < 6 || !isAlnum(byteAt(text, next+n))) && endsNumber(text[next+n:]) {
				next += n
				continue
			}
			if isQuote(byteAt(text, next+1)) {
				continue // the prefix of a literal
			}
			return next, true
		case c == '=' || c == ':' || c == ';' || c == '(' || c == '{' || c == '}':
			return next, false
		}
	}
	return next, false
}

// endsNumber reports whether the number of a line may end before b.
func endsNumber(b []byte) bool {
	return slices.ContainsFunc([]string{" ", "\t", "→", ":", "-", "|"}, func(sign string) bool {
		return bytes.HasPrefix(b, []byte(sign))
	})
}

// elisions stand for a part of a text that is left out.
var elisions = []string{"…", "...", "[...]", "[…]", "***"}

// elision returns the length of the sign at the start of b that a part of a text is left out, 0 for none.
func elision(b []byte) int {
	for _, sign := range elisions {
		if bytes.HasPrefix(b, []byte(sign)) {
			n := len(sign)
			for n < len(b) && n < longestJoint && (b[n] == '.' || b[n] == '*') {
				n++
			}
			return n
		}
	}
	return 0
}

// untilElision returns what of a text precedes the first sign that a part is left out.
func untilElision(v []byte) []byte {
	for i, c := range v {
		if (c == 0xe2 || c == '.' || c == '[' || c == '*') && elision(v[i:]) > 0 {
			return v[:i]
		}
	}
	return v
}

// isPart reports whether a part of a token looks like one: it is random, or as long as the part before it and not made
// of words.
func isPart(v []byte, width int) bool {
	m := madeOf(v[:min(len(v), judged)])
	return m.random() || len(v) >= minPart && isJumbled(v) || len(v) == width && 2*m.odd >= m.letters+m.digits ||
		m.digits > 0 && m.odd > 4 && 3*m.odd >= m.letters+m.digits
}

// inlineTags are elements of HTML within words.
var inlineTags = wordSet("span wbr b i em strong code mark br font a u s tt kbd samp")

// inlineTag returns the length of the tag of such an element at the start of a text, 0 for none.
func inlineTag(b []byte) int {
	end := bytes.IndexByte(b[:min(len(b), longestJoint)], '>')
	if end < 0 {
		return 0
	}
	name, _, _ := bytes.Cut(bytes.Trim(b[1:end], "/ "), []byte(" "))
	if !inlineTags[string(name)] {
		return 0
	}
	return end + 1
}
