package jsonl

import (
	"bytes"
	"unicode/utf8"
)

// Blank reports whether a line is empty after JavaScript's trim.
func Blank(line []byte) bool {
	if len(line) > 0 && line[0] == '{' {
		return false
	}
	for _, c := range line {
		if c > ' ' && c < 0x80 {
			return false
		}
	}
	return TrimJS(string(line)) == ""
}

// BOM is the byte order mark that a file may start with.
const BOM = "\ufeff"

// ReplaceInvalidUTF8 replaces invalid bytes as JavaScript's decoder does: one U+FFFD for each
// longest sequence that could begin a character.
func ReplaceInvalidUTF8(b []byte) []byte {
	var out bytes.Buffer
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 {
			n = brokenLen(b)
			out.WriteRune(utf8.RuneError)
		} else {
			out.Write(b[:n])
		}
		b = b[n:]
	}
	return out.Bytes()
}

// brokenLen returns the length of the broken character at the start of b.
func brokenLen(b []byte) int {
	lo, hi, need := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
		if c == 0xe0 {
			lo = 0xa0
		} else if c == 0xed {
			hi = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		need = 3
		if c == 0xf0 {
			lo = 0x90
		} else if c == 0xf4 {
			hi = 0x8f
		}
	}
	n := 1
	for n <= need && n < len(b) && b[n] >= lo && b[n] <= hi {
		lo, hi = 0x80, 0xbf
		n++
	}
	return n
}
