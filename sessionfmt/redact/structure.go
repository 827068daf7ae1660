package redact

import (
	"bytes"
	"strconv"
)

// size is what a text becomes where only the structure is left.
func size(text []byte) string { return sizeOf(runes(text, false)) }

func sizeOf(n int) string {
	if n == 1 {
		return "[1 character]"
	}
	return "[" + strconv.Itoa(n) + " characters]"
}

// sized reports that a text is a size already, with a number behind it where it is one
// of several keys.
func sized(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte("["))
	n := digits(rest)
	if !ok || n == 0 {
		return false
	}
	if rest, ok = bytes.CutPrefix(rest[n:], []byte(" character")); !ok {
		return false
	}
	rest = bytes.TrimPrefix(rest, []byte("s"))
	if rest, ok = bytes.CutPrefix(rest, []byte("]")); !ok {
		return false
	}
	rest, more := bytes.CutPrefix(rest, []byte("-"))
	return len(rest) == digits(rest) && more == (len(rest) > 0)
}

// sizes is what becomes of a string where only the structure is left.
func (x *Run) sizes(t *token, text []byte) hit {
	return hit{start: t.start, end: t.end, rule: -1, text: sizeOf(runes(text, t.escaped))}
}
