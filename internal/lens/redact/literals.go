package redact

import (
	"bytes"
	"unicode/utf8"
)

// This file reads values that source code writes in several literals: "lavande-fro" + "mage-reef-90". Each of them may
// look like a word; what they are together is judged.

// longestConcat is how many bytes lie between two literals of a value.
const longestConcat = 64

// concatWords are words between two literals of a value.
var concatWords = wordSet("append concat add push string str b f r u n l with plus")

// joinCalls are how the text before a literal ends if commas divide the parts of a value.
var joinCalls = [][]byte{[]byte("@("), []byte("concat("), []byte("join("), []byte("["), []byte("paste0(")}

// literals returns the parts of a value in quotes, text[start:end] and the literals in which it goes on.
func (a *assignment) literals(start, end int) (parts [][2]int) {
	parts = append(parts, [2]int{start, end})
	listed := false
	for _, call := range joinCalls {
		listed = listed || bytes.HasSuffix(bytes.ToLower(a.text[max(0, start-8):start-1]), call)
	}
	for len(parts) < mostParts {
		at, ok := nextLiteral(a.text, end, listed)
		if !ok {
			break
		}
		n := bytes.IndexByte(a.text[at:min(len(a.text), at+longestValue)], a.text[at-1])
		if n < 1 || bytes.IndexByte(a.text[at:at+n], '\n') >= 0 {
			break
		}
		if end = at + n; a.text[end-1] == '\\' {
			n--
		}
		parts = append(parts, [2]int{at, at + n})
	}
	a.cost += end - start
	return parts
}

// nextLiteral returns where the literal begins that goes on with the one that ends at text[end], before its quote.
func nextLiteral(text []byte, end int, listed bool) (at int, ok bool) {
	if at = end; byteAt(text, at) == '\\' {
		at++
	}
	if !isQuote(byteAt(text, at)) {
		return 0, false
	}
	joined, line := false, false // something lies between that joins literals; a line has begun
	for at++; at < len(text) && at-end < longestConcat; at++ {
		switch c := text[at]; {
		case isQuote(c):
			return at + 1, joined
		case c == '\\' && isQuote(byteAt(text, at+1)): // a quote that a string has escaped
		case c == '\n':
			joined, line = true, true
		case line && (c-'0' < 10 || c == '>' || c == '|' || c >= utf8.RuneSelf): // what begins lines
		case c == '+' || c == '.' || c == '&' || c == '<' || c == '|' || c == '\\':
			joined = true
		case c == ' ' && isQuote(byteAt(text, at+1)) && isQuote(text[at-1]):
			joined = true // "a" "b"
		case c <= ' ' || c == '_' || c == '(' || c == ')' || c == '>' || c == '@':
		case c == ',' && listed:
			joined = true
		case isAlpha(c):
			n := at
			for n < len(text) && isAlpha(text[n]) {
				n++
			}
			if !concatWords[string(lowered(text[at:n]))] {
				return 0, false
			}
			at = n - 1
		default:
			return 0, false
		}
	}
	return 0, false
}

// inLiterals takes a value that begins with the literal text[start:end] and goes on in others, if they are one
// together.
func (a *assignment) inLiterals(start, end int) bool {
	if a.how < assigns || a.name.strength < strongName && a.name.strength != weakPass {
		return false
	}
	parts := a.literals(start, end)
	if len(parts) < 2 {
		return false
	}
	joined := a.s.joint[:0]
	for _, p := range parts {
		joined = append(joined, a.text[p[0]:p[1]]...)
	}
	if a.s.joint = joined; !isOneWord(joined) || !a.isValue(joined, true) {
		return false
	}
	a.found = append(a.found, parts...)
	a.at, a.stop = parts[len(parts)-1][1], true
	return true
}

// inLines takes a value without quotes that begins with text[start:end] and goes on after a backslash in the next
// lines.
func (a *assignment) inLines(start, end int) bool {
	if a.how < assigns || a.name.strength < strongName {
		return false
	}
	joined, parts := append(a.s.joint[:0], a.text[start:end]...), [][2]int{{start, end}}
	for len(parts) < mostParts && bytes.HasPrefix(a.text[end:], []byte("\\\n")) {
		from := end + 2
		for end = from; end < len(a.text) && end-from < longestValue && !ends[a.text[end]]; end++ {
		}
		if end == from {
			break
		}
		joined, parts = append(joined, a.text[from:end]...), append(parts, [2]int{from, end})
	}
	a.cost += end - start
	if a.s.joint = joined; len(parts) < 2 || !endsLine(a.text, end) || !a.isValue(joined, false) {
		return false
	}
	a.found = append(a.found, parts...)
	a.at, a.stop = end, true
	return true
}
