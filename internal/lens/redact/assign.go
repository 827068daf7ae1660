package redact

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"
)

// This file is the grammar by which a value belongs to a name. It serves every layout: what lies between a name
// and its value is a chain of operators, quotes, brackets, frames, line breaks and few plain words, and how the
// chain looks decides how random the value has to be.

// A link is how surely a value belongs to a name.
type link uint8

const (
	near    link = iota // only spaces or plain words lie between them
	beside              // it is the next cell, line or argument
	assigns             // an operator lies between them
)

// Limits of what is read after a name, in bytes.
const (
	longestLink  = 240  // between a name and its value
	longestValue = 1024 // of a value
	mostHeading  = 4    // words of a heading before its name
	longestWords = 10   // plain words between a name and its value
)

// A nameUse is where a word of nameWords is.
type nameUse struct{ at, end int32 }

// assigned adds the values of names that name secrets.
func (s *Scanner) assigned(dst []hit, text []byte) []hit {
	slices.SortFunc(s.names, func(a, b nameUse) int { return cmp.Or(int(a.at-b.at), int(b.end-a.end)) })
	done, head := 0, 0
	s.lasts = [3]lastWord{{at: -1}, {at: -1}, {at: -1}}
	for _, f := range s.names {
		if int(f.at) < done {
			continue
		}
		n := nameAt(text, int(f.at), int(f.end))
		if text[f.at] == ' ' {
			if n = afterUser(text, int(f.at)+1); n.strength == noName {
				continue
			}
		}
		done = n.end
		if bytes.HasSuffix(text[:n.start], []byte(markOpen)) || isSource(text[n.start:n.end]) ||
			inCodeRun(text[n.start:n.end]) || inPath(text, n) && !isNamedPath(text, n) && !printsFile(text, n) {
			continue
		}
		named := n
		if n.strength == noName {
			named = s.spaced(text, n)
		}
		if named.strength == noName || !promising(text, n.start, n.end) {
			continue
		}
		n, done = s.within(text, named), named.end
		n.upper = !slices.ContainsFunc(text[n.start:n.end], func(c byte) bool { return c-'a' < 26 })
		a := assignment{s: s, text: text, name: n}
		if a.read(); len(a.found) == 0 {
			a.as()
			a.reversed()
		}
		if len(a.found) == 0 && !a.number && n.start >= head {
			head = a.columns()
		}
		if len(a.found) == 0 && !a.number {
			a.announced()
		}
		s.read += a.cost
		for _, v := range a.found {
			dst = append(dst, hit{rule: s.r.generic, start: v[0], end: v[1], value: string(text[v[0]:v[1]])})
		}
	}
	s.names = s.names[:0]
	return dst
}

// inPath reports whether a name is a part of a path, of a URN or of the line before a key, and nothing is assigned to
// it.
func inPath(text []byte, n naming) bool {
	before, after := byte(0), byte(0)
	if n.start > 0 {
		before = text[n.start-1]
	}
	if n.end < len(text) {
		after = text[n.end]
	}
	if bytes.HasPrefix(text[n.end:], []byte("--")) {
		return true // the line before the data of a key
	}
	if bytes.HasSuffix(text[:n.start], []byte("--- ")) {
		return true // --- PASS: the name of a test
	}
	if before == '/' { // checksum/secret
		from := n.start - 1
		for from > 0 && n.start-from < 16 && isAlnum(text[from-1]) {
			from--
		}
		if sumWords[string(lowered(text[from:n.start-1]))] {
			return true
		}
	}
	if before == ':' && after == ':' && byteAt(text, n.end+1) == ' ' &&
		(n.start == 1 || text[n.start-2] <= ' ' || isQuote(text[n.start-2])) {
		return false // a symbol of Ruby
	}
	return after == '/' || before == '/' && after != '=' && after != ':' || before == ':' && after == ':'
}

// isNamedPath reports whether a name ends a path that is the name of a value: "Name": "/shop/prod/db_password".
func isNamedPath(text []byte, n naming) bool {
	a := assignment{text: text, name: n}
	return n.end < len(text) && isQuote(text[n.end]) && a.paired()
}

// An assignment is a name, and how far its value has been looked for.
type assignment struct {
	s     *Scanner
	text  []byte
	name  naming
	found [][2]int // the values
	cost  int      // bytes read

	at     int
	how    link
	lines  int  // line breaks since the name
	words  int  // that are no values
	pair   bool // the name is a value itself: name: PASSWORD, value: X
	stop   bool
	skip   bool // the value of another name follows
	object bool // the value is an object, in which a field has it
	said   bool // the word before the place is a verb such as is
	sum    bool // a word such as checksum lies between

	alone     bool // the value ends its line
	directive bool // the name begins its line, or follows that of a user, and only flags lie between it and the value

	valued bool // another value was assigned to the name: what follows a comma belongs to another name
	depth  int  // of parentheses since the name

	number bool // the value is an address, or another number
}

// read looks for the value after the name.
func (a *assignment) read() {
	a.at = a.name.end
	a.pair = a.paired()
	limit := min(len(a.text), a.name.end+longestLink)
	for a.at < limit && !a.stop {
		a.step()
	}
	if a.cost += min(a.at-a.name.end, longestLink); a.pair && len(a.found) == 0 {
		a.before()
	}
}

// step reads one element of the chain after the name.
func (a *assignment) step() {
	text, c := a.text, a.text[a.at]
	next := byte(0)
	if a.at+1 < len(text) {
		next = text[a.at+1]
	}
	switch {
	case c == ' ':
		switch a.at++; {
		case a.at == a.name.end+1 && text[a.name.start] == '-':
			a.link(assigns) // a flag
		case next == ' ' || a.at == a.name.end+1 && (next == '[' || a.name.upper):
			a.link(beside)
		}
		if a.at == a.name.end+1 {
			a.directive = a.beginsLine()
		}
	case c == '\t':
		a.at++
		a.link(beside)
	case c == '\n' || c == '\\' && next == 'n':
		a.newline(c)
	case c == '\r':
		a.at++
	case c == ':' || c == '=':
		a.operator(c, next)
	case c == ',' && a.valued && a.depth == 0 && !a.pair:
		a.stop = true
	case c == '>' || c == '|' || c == ',':
		a.at++
		switch {
		case c == '>' && a.at-2 >= a.name.end && text[a.at-2] == '-' && isAlpha(next) && a.at > 2 &&
			isAlnum(text[a.at-3]):
			a.words++ // a field of an object
			a.how = near
		case c == '>' && a.at-2 >= a.name.end && (text[a.at-2] == '-' || text[a.at-2] == '='):
			a.how = assigns
		case c == '>' && a.words == 0 && a.lines == 0:
			a.link(assigns)
		case c == '|' && next == '|', c == ',' && a.quotedName():
			a.link(assigns)
		default:
			a.link(beside)
		}
	case c == '?' && next == '?':
		a.at += 2
		a.link(assigns)
	case c == ';':
		if a.at++; a.how == assigns || a.words > 0 && !a.braced() {
			a.stop = true
		}
		a.link(beside)
	case c == '<' && next == '(': // what a shell reads from a command
		a.at++
	case c == '<':
		a.tag()
	case isQuote(c):
		a.quote(1)
	case c == '(':
		a.at++
		a.depth++
		a.link(beside)
	case c == ')':
		a.at++
		a.depth--
	case c == '}' && (a.pair && a.words > 0 || a.object):
		a.stop = true
	case c == '{' && a.how == assigns && a.words == 0 && a.lines < 2 && !a.pair:
		a.at++
		a.object = true
		a.how = near
	case neutral[c], c == '+' && !isAlnum(next):
		a.at++
	case c == '.' && (next == '.' || next == ' '), c == '_' && next == '_':
		a.at++
		if next == '.' {
			a.link(beside)
		} else if a.words > 0 {
			a.stop = true // the end of a sentence
		}
	case c == '-' && a.directive && next == '-' && a.words == 0:
		for a.at < len(text) && text[a.at] > ' ' { // rootpw --plaintext X
			a.at++
		}
	case c == '-' && !isAlnum(next):
		a.at++
		if a.how == near && next == ' ' {
			a.how = beside
		}
	case c == '-' && a.how < assigns:
		a.flag()
	case c == '/' && (next == '/' || next == '*') && a.at+2 < len(text) && text[a.at+2] == ' ':
		a.stop = true // a comment
	case c == '&' && isAlpha(next) && text[a.at-1] == ' ': // a reference
		a.at++
	case c == '&', c == '@' && a.how < assigns, c < ' ':
		a.stop = true
	case c >= utf8.RuneSelf:
		a.wide()
	default:
		a.candidate(a.at, a.runEnd(a.at), false)
	}
}

// quotedName reports whether the place follows the comma after a name in quotes that is an argument: ("password", X.
func (a *assignment) quotedName() bool {
	n := a.name.end
	start := a.name.start
	for start > 0 && a.name.start-start < longestName && (nameRuneBefore(a.text[:start]) > 0 ||
		a.text[start-1] == ':') {
		start--
	}
	if start == 0 || a.lines > 0 || a.words > 0 || n+2 > len(a.text) || !isQuote(a.text[n]) ||
		a.text[start-1] != a.text[n] {
		return false
	}
	for start -= 2; start >= 0 && a.text[start] == ' '; start-- {
	}
	return start >= 0 && a.text[n+1] == ',' && (a.text[start] == '(' || a.text[start] == ',')
}

// neutral are signs that say nothing of whether a value follows.
var neutral = func() (t [256]bool) {
	for _, c := range []byte(`\]}{[*?#!~`) {
		t[c] = true
	}
	return t
}()

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// link raises the surety of the link, unless a word that is no value lies between.
func (a *assignment) link(how link) {
	if a.words == 0 || how == assigns {
		a.how = max(a.how, how)
	}
}

// braced reports whether the semicolon before the place ends a word in braces: { get; set; }
func (a *assignment) braced() bool {
	return bytes.IndexByte(a.text[a.name.end:a.at], '{') >= 0
}

// operator reads a colon or an equals sign.
func (a *assignment) operator(c, next byte) {
	switch {
	case c == ':' && next == ':' && a.at == a.name.end && a.made():
		return
	case c == ':' && next == ':' || c == ':' && next == '/' && a.at+2 < len(a.text) && a.text[a.at+2] == '/':
		a.stop = true
		return
	case c == ':' && next == '-' && a.at == a.name.end: // ${NAME:-default}
		a.at++
	}
	a.at++
	a.how = assigns
	if a.words > longestWords/2 {
		a.how = beside
	}
}

// makers are functions of a type that take its value.
var makers = wordSet("new from of create parse try_from from_str")

// made goes on at the argument of a function of the type that the name is of: ClientSecret::new(
func (a *assignment) made() bool {
	rest := a.text[a.at+2 : min(len(a.text), a.at+2+longestWord)]
	n := bytes.IndexByte(rest, '(')
	if n < 0 || !makers[string(rest[:n])] {
		return false
	}
	a.at += n + 3
	a.how = assigns
	return true
}

// flag reads an option after the name: that of the value if the name is that of a pair, as in --name NAME --value X.
func (a *assignment) flag() {
	end := a.at
	for end < len(a.text) && end-a.at < longestHeading && (isAlpha(a.text[end]) || a.text[end] == '-') {
		end++
	}
	if !a.pair || a.lines > 0 || byteAt(a.text, end) != ' ' && byteAt(a.text, end) != '=' {
		a.stop = true
		return
	}
	if isValueKey(a.text[a.at:end]) {
		a.how = assigns
	}
	a.at = end + 1
}

// newline goes on in the next line, after what both lines begin with.
func (a *assignment) newline(c byte) {
	n := 1
	if c == '\\' {
		n = 2
	}
	a.at += n
	if a.lines == 0 && (a.name.upper && a.at == a.name.end+n+1 && a.text[a.name.end] == '=' || // NAME= of a shell
		!a.pair && len(bytes.Trim(a.text[a.name.end:a.at-n], ">)]}\"'` \r")) == 0 && a.isAssigned() &&
			ordinal(a.text[a.at:]) == 0) {
		a.stop = true
		return
	}
	if a.lines++; a.lines > 2 && !a.pair && !a.object || a.lines > 5 || a.words > 0 && !a.pair && !a.object {
		a.stop = true
		return
	}
	how := a.how
	a.link(beside)
	start, _ := lineAround(a.text, a.name.start)
	before := a.text[start:a.name.start]
	if !a.pair && how < assigns && bytes.Count(before, []byte("│"))+bytes.Count(before, []byte("|")) > 1 {
		a.stop = true // below the name of another column
		return
	}
	same := shared(before, a.text[a.at:])
	a.at += same
	a.at += ordinal(a.text[a.at:])
	if how == near && !a.pair && !a.object && len(bytes.Fields(before[same:])) > mostHeading && !isPrompt(before) {
		a.stop = true // a sentence ends, and no heading
	}
}

// isAssigned reports whether the name is a value itself: password: your_password.
func (a *assignment) isAssigned() bool {
	i := a.name.start
	for i > 0 && a.name.start-i < longestWord && bytes.IndexByte([]byte(" \"'`<[{("), a.text[i-1]) >= 0 {
		i--
	}
	return i > 0 && i < a.name.start && (a.text[i-1] == ':' || a.text[i-1] == '=')
}

// shared returns the length of what two lines begin with: a comment sign, the mark of a diff, a time, a number.
func shared(was, is []byte) int {
	n := 0
	for n < min(len(was), len(is)) && (was[n] == is[n] || was[n]-'0' < 10 && is[n]-'0' < 10) && !isQuote(was[n]) {
		n++
	}
	for n > 0 && n < len(is) && (isAlnum(is[n-1]) || !utf8.RuneStart(is[n])) {
		n-- // the beginning of a word, or of a character
	}
	return n
}
