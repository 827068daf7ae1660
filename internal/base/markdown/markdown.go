// Package markdown writes untrusted text as Markdown that does
// nothing: it adds no structure, links nothing, pings nobody and closes no
// issue on GitHub and GitLab, and what it hides is made visible.
//
// Whatever a host could take for a reference goes into a code span, since hosts
// link nothing in code: https://docs.github.com/en/get-started/writing-on-github
// and https://docs.gitlab.com/user/markdown/ say what that is. Everything else
// is escaped where Markdown would act on it, after the CommonMark 0.31 and GFM
// 0.29 specifications.
//
// Every function appends to dst and returns it. None of them keeps text, and
// none of them fails: all bytes are allowed.
package markdown

import (
	"bytes"
	"unicode/utf8"
)

// form is what is written around and inside the words of a text.
type form int

const (
	cell  form = iota // inline Markdown that may stand in a link, a heading or a table cell
	plain             // inline Markdown of a paragraph
	html              // raw HTML
)

// AppendInline appends text as inline Markdown on one line, for a paragraph, a
// heading, a list item, a link's text or a table cell. It may open the line.
// All of the text is shown, Markdown in it as it was typed; white space is one
// space, and none at the ends.
func AppendInline(dst, text []byte) []byte {
	text = trim(text)
	dst, n := appendStart(dst, text, cell)
	return appendWords(dst, text[n:], cell)
}

// AppendHTML appends text for the inside of an HTML element that opens and
// closes on one line, such as <summary>. References are put into <code>.
func AppendHTML(dst, text []byte) []byte {
	return appendWords(dst, trim(text), html)
}

// mostTicks is the longest run of backticks that opens code: hosts recognize up to 80.
const mostTicks = 63

// AppendCode appends text as a code span. Line ends and tabs become spaces, and
// all other white space stays. Not for table cells.
func AppendCode(dst, text []byte) []byte {
	if len(text) == 0 {
		return append(dst, "<code></code>"...)
	}
	ticks := longestRun(text, '`') + 1
	if ticks > mostTicks && len(text) > 1 {
		half := len(text) / 2
		for half > 1 && !utf8.RuneStart(text[half]) {
			half--
		}
		return AppendCode(AppendCode(dst, text[:half]), text[half:])
	}
	if joined(dst, text) {
		dst = append(dst, "<span></span>"...)
	}
	dst = appendRun(dst, '`', ticks)
	// One space is taken off both ends if both have one, unless there is nothing else.
	first, last := text[0], text[len(text)-1]
	pad := first == '`' || last == '`' || isSpace(first) && isSpace(last) && len(trim(text)) > 0
	if pad {
		dst = append(dst, ' ')
	}
	start := len(dst)
	dst = appendShown(dst, text)
	for i, c := range dst[start:] {
		if c == '\n' || c == '\r' || c == '\t' {
			dst[start+i] = ' '
		}
	}
	if pad {
		dst = append(dst, ' ')
	}
	return appendRun(dst, '`', ticks)
}

// joined reports whether a code span of text would be taken together with what
// stands before it: backticks make one run, and some hosts look for addresses
// before they look for code, and take a backtick for a letter of an address.
func joined(dst, text []byte) bool {
	n := len(dst)
	if n == 0 || dst[n-1] == '`' {
		return n > 0
	}
	return bytes.IndexByte(text, '@') >= 0 && (isWord(dst[n-1]) || inAddress(dst[n-1]) && n > 1 && inAddress(dst[n-2]))
}

func inAddress(c byte) bool {
	return isWord(c) || bytes.IndexByte([]byte("!#$%&'*+-./=?^_{|}~"), c) >= 0
}

// runLen returns the length of the run of c at the start of text.
func runLen(text []byte, c byte) int { return len(text) - len(bytes.TrimLeft(text, string(rune(c)))) }

func appendRun(dst []byte, c byte, n int) []byte {
	for range n {
		dst = append(dst, c)
	}
	return dst
}

func trim(text []byte) []byte { return trimEnd(bytes.TrimLeft(text, " \t\r\n")) }

func trimEnd(text []byte) []byte {
	for len(text) > 0 && isSpace(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}
