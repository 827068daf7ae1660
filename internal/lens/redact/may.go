package redact

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// This file decides by a few bytes around a word whether it may be part of a secret: most words are not, and need no
// rule.

// may reports whether a word that ends at text[end] may be part of a secret. The text is a string of JSON, as it is
// spelled.
func (s *Scanner) may(u *use, text []byte, end int) bool {
	switch start := end - u.size; u.kind {
	case useName:
		return (u.size > 2 || endsName(text, end)) && s.mayName(text, start, end) && promising(text, start, end)
	case usePhrase:
		return bytes.Count(text[end:min(len(text), end+phraseNear+phraseAfter)], []byte{' '}) > 8
	case useShape:
		return codeLength(text, end, &inShape) >= minPart
	case useElision:
		_, ok := elidedToken(text, start)
		return ok
	case useCommand:
		return (start == 0 || !isName(text[start-1]) || escapes(text, start)) &&
			commandNames()[u.rule].mayBegin(text, start)
	case useMarker:
		return bytes.HasPrefix(text[start:], []byte(markers[u.rule].Marker))
	case useToken:
		k := &s.r.tokens[u.rule]
		return bytes.HasPrefix(text[start:], []byte(k.Prefix)) &&
			(!k.Word || start == 0 || !isAlnum(text[start-1]) || escapes(text, start) || afterNumber(text, start)) &&
			(codeLength(text, start+len(k.Prefix), s.r.sets[u.rule]) >= min(k.Least, 4) ||
				endsLiteral(text, start+len(k.Prefix)))
	case useAnchor:
		return s.mayMatch(u, text, start, true)
	case useKeyword:
		return len(u.exact) == u.size || hasFolded(text[start:], u.exact)
	case useEmail:
		_, _, ok := email(text, start)
		return ok
	}
	return true
}

// mayMatch reports whether a match of the rule of an anchor may begin at text[start:].
func (s *Scanner) mayMatch(u *use, text []byte, start int, spelled bool) bool {
	return (u.exact == "" || string(text[start:start+u.size]) == u.exact) && s.dfa(u.rule).may(text, start, spelled)
}

// codeLength returns how many characters of a set follow, or escapes that may stand for one.
func codeLength(text []byte, at int, in *[256]bool) int {
	n := at
	for n < len(text) && n-at < longestShape && (in[text[n]] || special[text[n]] != 0) {
		n++
	}
	return n - at
}

// endsLiteral reports whether a literal ends at text[at], with a quote that JSON may escape.
func endsLiteral(text []byte, at int) bool {
	return isQuote(byteAt(text, at)) || byteAt(text, at) == '\\' && byteAt(text, at+1) == '"'
}

// inShape are the characters of tokens of unknown kinds.
var inShape = func() (t [256]bool) {
	for c := range t {
		t[c] = isShape(byte(c))
	}
	return t
}()

// mayName reports whether the name that has the word text[at:end] may be that of a secret.
func (s *Scanner) mayName(text []byte, at, end int) bool {
	from, to := at, min(len(text), end+longestName)
	for from > 0 && at-from < 2*longestName && (text[from-1] == ' ' || isName(text[from-1])) {
		from--
	}
	if from > 0 && text[from-1] == '\\' {
		if from > 1 && text[from-2] == '\\' || blanks[text[from]] == 0 {
			return true // the name may begin with what the escape stands for
		}
		from++
	}
	if text[at] == ' ' || bytes.Contains(text[end:to], []byte(`\u`)) {
		return true
	}
	text, at, end = text[from:to], at-from, end-from
	n := nameAt(text, at, end)
	return n.strength != noName || s.spaced(text, n).strength != noName
}

// mayBegin reports whether text[at:] may be a command of that name.
func (n *commandName) mayBegin(text []byte, at int) bool {
	if !hasFolded(text[at:], n.name) {
		return false
	}
	next := byteAt(text, at+len(n.name))
	return next == ' ' || next == '.' || isQuote(next) || special[next] != 0
}

// longestPromise is how far after a name a value is looked for.
const longestPromise = longestLink

// promising reports whether something that could be a value stands where the value of a name would, which has the
// word text[at:end]. The text may have the escapes of JSON.
func promising(text []byte, at, end int) bool {
	if isPhraseName(text, at, end) {
		return true // words may be its value
	}
	if r, _ := utf8.DecodeRune(text[at:]); r < 0x2e80 {
		for end < len(text) && end-at < longestName && nameRune(text[end:]) > 0 {
			end += nameRune(text[end:])
		}
	}
	words, lines, run, letters, signs, most := 0, 0, 0, 0, 0, 2
	odd, cells := false, false
	was, last := byte(0), byte(0)
	word := func() bool { // a run has ended
		is := odd && run >= 6
		if letters > 0 && !odd {
			words++
		}
		odd, run, letters, was, signs = false, 0, 0, 0, 0
		return is
	}
	stop := min(len(text), end+longestPromise)
	for i := end; i < stop; i++ {
		c := text[i]
		if c-'a' < 26 { // most are in the middle of a word
			odd = odd || run > letters
			first := i
			for i++; i < stop && text[i]-'a' < 26; i++ {
			}
			run, letters = run+i-first, letters+i-first
			was, i = 'z', i-1
			continue
		}
		if c == '\\' && i+1 < len(text) {
			i++
			switch text[i] {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = ' '
			case 'u':
				c, i = ' ', min(len(text)-1, i+4)
			default:
				c = text[i]
			}
		}
		if c > ' ' && c != '*' && c != '`' {
			last = c
		}
		switch {
		case c >= 0xc3 && c < 0xd6: // the first byte of a letter of Latin, Greek, Cyrillic or Armenian
			odd = odd || run > letters
			run, letters, was, i = run+1, letters+1, 'z', i+1
		case c == '\n':
			if word() {
				return true
			}
			if last == ':' { // what the line announces may follow
				lines, words = 0, 0
			}
			if last == '{' && lines == 0 { // an object, which has the value in a field
				most = 5
			}
			if lines++; lines > most && !cells || words > 1 && most == 2 && !cells || lines > most+1 {
				return valueBefore(text, at)
			}
		case isAlpha(c):
			odd = odd || c < 'a' && was >= 'a' || run > letters
			run, letters, was = run+1, letters+1, c
		case c-'0' < 10:
			odd = true
			run++
		case c == ' ':
			if i == end || i > 0 && text[i-1] == ' ' {
				cells = cells || i > end && i-end < 3
			}
			if word() {
				return true
			}
			if words > longestWords && most == 2 && !cells {
				return valueBefore(text, at)
			}
		case c == '\t' || c == '|' || c == ',' || c == ';' || c >= utf8.RuneSelf:
			cells = cells || i-end < 4
			if c >= utf8.RuneSelf {
				odd = odd || letters > 0
				run++
				break
			}
			if word() {
				return true
			}
		case ends[c] || c == '"':
			if word() {
				return true
			}
		default:
			if run > 0 {
				signs++
				odd = odd || signs > 1 || c != '.' && c != '-' && c != '_' && c != '/' && c != ':' && c != '='
			}
			run++
		}
	}
	return word() || valueBefore(text, at)
}

// isPhraseName reports whether a name ends in phrase, of which text[at:end] is all or what precedes it.
func isPhraseName(text []byte, at, end int) bool {
	const word = "phrase"
	return end-at > len(word) && bytes.EqualFold(text[end-len(word):end], []byte(word)) ||
		end+len(word) <= len(text) && bytes.EqualFold(text[end:end+len(word)], []byte(word))
}

// valueBefore reports whether a value may stand before a name: use X as the password, value: X.
func valueBefore(text []byte, at int) bool {
	for most := longestName; at > 0 && most > 0 && nameRuneBefore(text[:at]) > 0; most-- {
		at--
	}
	near := text[max(0, at-longestName):at]
	label := near[:before(near, &quoting)]
	if n := len(label); n > 0 && (label[n-1] == ':' || label[n-1] == '=' || label[n-1] == '>') {
		if bytes.Contains(text[max(0, at-longestLink):at], []byte("alue")) ||
			bytes.Contains(text[max(0, at-longestLink):at], []byte(" val ")) {
			return true
		}
	}
	for n := len(label); n > 0 && (quoting[label[n-1]] || label[n-1] == ':'); n-- {
		label = label[:n-1]
	}
	for n := len(label); n > 0 && isAlpha(label[n-1]); n-- {
		label = label[:n-1]
	}
	if n := len(label); n > 0 && label[n-1] >= utf8.RuneSelf {
		label = bytes.TrimRightFunc(label, unicode.IsLetter)
	}
	comma := len(label)
	for comma > 0 && label[comma-1] == ' ' {
		comma--
	}
	return comma > 0 && label[comma-1] == ',' || bytes.Contains(near, []byte(" as ")) ||
		bytes.Contains(near, []byte(" is the "))
}

// quoting are the signs that stand between a label and what it is the label of.
var quoting = [256]bool{' ': true, '"': true, '\'': true, '`': true, '\\': true}

// before returns where some signs at the end of a text begin.
func before(text []byte, signs *[256]bool) int {
	n := len(text)
	for n > 0 && signs[text[n-1]] {
		n--
	}
	return n
}
