package redact

import (
	"bytes"
	"strconv"
)

// size returns the replacement of a text if only the structure is kept.
func size(text []byte, escaped bool) string {
	n := runes(text, escaped)
	if n == 1 {
		return "[1 character]"
	}
	return "[" + strconv.Itoa(n) + " characters]"
}

// sized reports whether a text is such a replacement already, possibly with a number to
// distinguish keys.
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
