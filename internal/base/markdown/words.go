package markdown

import (
	"bytes"
	"unicode/utf8"
)

// appendWords appends text word by word; white space becomes one space. A word of letters alone is
// harmless unless it could be a commit.
func appendWords(dst, text []byte, f form) []byte {
	start := 0
	for i := 0; i < len(text); {
		begin, seen := i, uint8(0)
		for ; i < len(text) && !isSpace(text[i]); i++ {
			seen |= class[text[i]]
		}
		if seen&^(hex|letter) != 0 || seen == hex && i-begin >= minHash {
			dst = append(dst, text[start:begin]...)
			dst = appendWord(dst, text, begin, i, f)
			start = i
		}
		end := i
		for i < len(text) && isSpace(text[i]) {
			i++
		}
		if i-end > 1 || i > end && text[end] != ' ' {
			dst = append(dst, text[start:end]...)
			dst = append(dst, ' ')
			start = i
		}
	}
	return append(dst, text[start:]...)
}

// appendWord appends text[begin:end], which has no white space. Characters
// that no reference spans are written by themselves.
func appendWord(dst, text []byte, begin, end int, f form) []byte {
	start := begin
	for i := begin; i < end; {
		c := text[i]
		if class[c] != odd && !parts(text, i, f) {
			i++
			continue
		}
		r, size := shown(text, i)
		if r >= 0x80 && r < 0x2000 {
			i += size
			continue
		}
		dst = appendPiece(dst, text, start, i, f)
		if class[c] == active {
			dst = append(dst, '\\')
		}
		dst = utf8.AppendRune(dst, r)
		i += size
		start = i
	}
	return appendPiece(dst, text, start, end, f)
}

// parts tells whether the character at i stays outside of code, on both sides
// of which there may be some: what ends a cell, and what ends the text of a link.
func parts(text []byte, i int, f form) bool {
	switch text[i] {
	case '|':
		return f == cell
	case ']':
		return f != html && i+1 < len(text) && (text[i+1] == '(' || text[i+1] == ':')
	}
	return false
}

// appendPiece appends a piece of a word, as code if a host could take it for a
// reference. Punctuation around it stays outside.
func appendPiece(dst, text []byte, begin, end int, f form) []byte {
	if begin == end {
		return dst
	}
	if !refers(text[begin:end], f) {
		return appendEscaped(dst, text, begin, end, f)
	}
	from, to := begin, end
	for from < min(begin+maxStrip, to-1) && bytes.IndexByte([]byte(`(["',;.`), text[from]) >= 0 &&
		refers(text[from+1:to], f) {
		from++
	}
	for to > max(end-maxStrip, from+1) && around(text[from:to]) && refers(text[from:to-1], f) {
		to--
	}
	dst = appendEscaped(dst, text, begin, from, f)
	if f == html {
		dst = append(dst, "<code>"...)
		dst = appendEscaped(dst, text, from, to, f)
		dst = append(dst, "</code>"...)
	} else {
		dst = AppendCode(dst, text[from:to])
	}
	return appendEscaped(dst, text, to, end, f)
}

// around tells whether the last character of a piece is punctuation that is no
// part of it: the end of a sentence, or of what opened before the piece.
func around(piece []byte) bool {
	last := len(piece) - 1
	switch c := piece[last]; c {
	case ',', ';', '.', ':', '!', '?':
		return true
	case '"', '\'':
		return bytes.Count(piece[:last], piece[last:])%2 == 0
	case ')':
		return bytes.Count(piece, []byte{'('}) < bytes.Count(piece, []byte{')'})
	case ']':
		return bytes.Count(piece, []byte{'['}) < bytes.Count(piece, []byte{']'})
	}
	return false
}

// minHash is how many hex digits make a commit.
const minHash = 7

// maxStrip is how much punctuation at an end of a word stays outside of code.
const maxStrip = 4

// refers tells whether a host could make something of a word: a mention, an
// issue, a merge request, a commit, a link, an address, an emoji, math. It says
// so too often rather than too seldom.
func refers(word []byte, f form) bool {
	digits := 0 // hex digits since the last sign, -1 in a word that has other letters
	for i, c := range word {
		k := class[c]
		switch {
		case k == letter:
			digits = -1
			continue
		case k == hex:
			if digits >= 0 {
				digits++
			}
			continue
		case digits >= minHash:
			return true
		}
		digits = 0
		if signRefers(word, i, f) {
			return true
		}
	}
	return digits >= minHash
}

// signRefers tells whether the sign at i makes a reference of the word.
func signRefers(word []byte, i int, f form) bool {
	after := word[i+1:]
	switch {
	case word[i] == '$':
		return true
	case word[i] == '.':
		return i >= 3 && bytes.EqualFold(word[i-3:i], []byte("www"))
	case len(after) == 0:
		return false
	}
	switch next := after[0]; word[i] {
	case '@':
		return true
	case '#', '!', '&':
		return isDigit(next)
	case '%':
		return isWord(next) || next == '"'
	case '~': // a label of GitLab; in Markdown an escape does as well
		return f == html && (isWord(next) || next == '"')
	case ':':
		return bytes.HasPrefix(after, []byte("//")) || next == ':' && i == 0 || emoji(after)
	case '-':
		return i >= 2 && isDigit(next) && bytes.EqualFold(word[i-2:i], []byte("gh")) ||
			i >= 3 && bytes.EqualFold(word[i-3:i], []byte("cve")) ||
			i >= 4 && bytes.EqualFold(word[i-4:i], []byte("ghsa"))
	case '[', '{':
		return next == '+' || next == '-' || word[i] == '[' && named(after)
	}
	return false
}

// emoji tells whether what follows a colon is the name of an emoji and a colon.
// Names have letters, four aside, so that times and places in files stay as they are.
func emoji(after []byte) bool {
	n, lettered := 0, false
	for n < len(after) && (isWord(after[n]) || after[n] == '_' || after[n] == '+' || after[n] == '-') {
		lettered = lettered || after[n] >= 'A' && after[n] != '_'
		n++
	}
	if n == 0 || n == len(after) || after[n] != ':' {
		return false
	}
	switch string(after[:n]) {
	case "+1", "-1", "100", "1234":
		return true
	}
	return lettered
}

// named tells whether what follows a bracket is a reference of GitLab such as
// [issue:12].
func named(after []byte) bool {
	n := 0
	for n < len(after) && (isWord(after[n]) || after[n] == '_') {
		n++
	}
	return n > 0 && n < len(after)-1 && after[n] == ':'
}

// appendEscaped appends text[begin:end], in which no sign acts: those within names stay readable.
func appendEscaped(dst, text []byte, begin, end int, f form) []byte {
	for i := begin; i < end; i++ {
		c := text[i]
		switch {
		case c == '_' && i > 0 && i+1 < len(text) && isWord(text[i-1]) && isWord(text[i+1]):
		case f == html && entity[c] != "", c == '<' || c == '&':
			dst = append(dst, entity[c]...)
			continue
		case f != html && escaped[c], c == '#' && f == cell && i+1 == len(text): // ends a heading
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst
}

// escaped are the signs that Markdown acts on wherever they are.
var escaped = [256]bool{'\\': true, '`': true, '*': true, '_': true, '~': true, '[': true, ']': true}

var entity = [256]string{'<': "&lt;", '>': "&gt;", '&': "&amp;", '"': "&quot;", '\'': "&#39;"}

// appendStart appends what opens a line, if it would open a block there, and
// returns how much of the line that was.
func appendStart(dst, line []byte, f form) ([]byte, int) {
	if len(line) == 0 {
		return dst, 0
	}
	n := runLen(line, line[0])
	gap := n == len(line) || isSpace(line[n])
	switch c := line[0]; {
	case c == '>' || c == '|',
		bytes.IndexByte([]byte("#+=-:"), c) >= 0 && (gap || len(bytes.Trim(line, "-:| \t\r\n")) == 0):
		return append(dst, '\\', c), 1
	case c == '/' && len(line) > 1 && isWord(line[1]):
		// A command to GitLab, or to a bot, if it opens the line.
		n := 0
		for n < len(line) && class[line[n]]&(space|odd) == 0 && line[n] != '|' && !parts(line, n, f) {
			n++
		}
		for n > 2 && around(line[:n]) {
			n--
		}
		return AppendCode(dst, line[:n]), n
	case isDigit(c):
		n := 1
		for n < len(line) && n < minHash && isDigit(line[n]) {
			n++
		}
		if n < minHash && n < len(line) && (line[n] == '.' || line[n] == ')') && (n+1 == len(line) ||
			isSpace(line[n+1])) {
			dst = append(dst, line[:n]...)
			return append(dst, '\\', line[n]), n + 1
		}
	}
	return dst, 0
}
