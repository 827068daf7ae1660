package redact

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file reads tags, quotations and signs beyond ASCII between a name and its value.

// tag skips a tag of XML, or the head of CDATA.
func (a *assignment) tag() {
	rest := a.text[a.at:min(len(a.text), a.at+longestName)]
	if bytes.HasPrefix(rest, []byte("<![CDATA[")) {
		a.at += len("<![CDATA[")
		return
	}
	end := bytes.IndexByte(rest, '>')
	opens := len(rest) > 1 && rest[1] != '/'
	value := opens && a.words == 0 && a.lines == 0 && end > 1 && isValueKey(rest[1:end]) // <Password><Value>
	if end < 0 || bytes.IndexByte(rest[:end], '\n') >= 0 || a.how == assigns && a.lines == 0 && opens && !value {
		a.stop = true
		return
	}
	if at := bytes.Index(rest[:end], []byte("value=")); at > 0 {
		end = at + len("value")
		a.how = assigns
	}
	a.at += end + 1
	if a.link(beside); value {
		a.how = assigns
	}
}

// quote reads a quotation, or the end of the one that the name is in.
func (a *assignment) quote(size int) {
	open := a.at
	a.at += size
	if open == a.name.end || a.at >= len(a.text) {
		return // the quotation of the name ends
	}
	c := a.text[open]
	if next := a.text[a.at]; a.words > 0 && a.how < assigns && !a.pair && c == '"' && (next == ',' || next == '}') {
		a.stop = true // the sentence with the name ends
		return
	}
	if size > 1 { // typographic
		end := a.runEnd(a.at)
		a.candidate(a.at, end, true)
		return
	}
	for a.at < len(a.text) && a.text[a.at] == c { // """ or an empty quotation
		a.at++
	}
	if a.at == open+2 { // an empty one
		a.valued = a.valued || a.how == assigns
		return
	}
	most := min(len(a.text), a.at+longestValue)
	n := bytes.IndexByte(a.text[a.at:most], c)
	a.cost += max(0, n)
	if n < 0 {
		a.candidate(a.at, a.runEnd(a.at), true)
		return
	}
	end := a.at + n
	if end > a.at && a.text[end-1] == '\\' {
		end--
	}
	if k := bytes.IndexAny(a.text[a.at:end], " \t\n"); k >= 0 {
		inner := a.text[a.at:end]
		phrase := a.said && isPhrase(inner)
		if !phrase && a.how < assigns || k == 0 || k > 40 || bytes.IndexByte(inner, '\n') >= 0 ||
			a.name.strength < passName {
			return // its words are read one by one
		}
	}
	a.candidate(a.at, end, true)
}

// wide reads a character beyond ASCII: an operator, a quotation mark, a frame or a letter.
func (a *assignment) wide() {
	r, n := utf8.DecodeRune(a.text[a.at:])
	switch {
	case strings.ContainsRune("：＝→⇒—–›➜", r) || r == '»' && a.how == near:
		a.at += n
		a.how = assigns
	case r == '“' || r == '„' || r == '«' || r == '「' || r == '『' || r == '‘':
		a.link(beside)
		a.quote(n)
	case r >= 0x2500 && r < 0x2600, r == 0xa0:
		a.at += n
		a.link(beside)
	case unicode.IsLetter(r) && r < 0x250: // Latin
		a.candidate(a.at, a.runEnd(a.at), false)
	case unicode.IsLetter(r):
		start := a.at
		for a.at < len(a.text) && a.text[a.at] >= utf8.RuneSelf && unicode.IsLetter(r) {
			a.at += n
			r, n = utf8.DecodeRune(a.text[a.at:])
		}
		if word := a.text[start:a.at]; particles[string(word)] || linkWords[string(word)] {
			a.said = true
			return
		}
		if a.words++; a.words > longestWords {
			a.stop = true
		}
	default:
		a.at += n
	}
}
