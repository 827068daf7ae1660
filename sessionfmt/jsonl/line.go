package jsonl

import (
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

// BOM is the byte order mark with which a file may begin.
const BOM = "\ufeff"

// ReplaceInvalidUTF8 replaces invalid bytes as JavaScript's decoder does: one U+FFFD for each
// longest sequence that could begin a character.
func ReplaceInvalidUTF8(b []byte) []byte {
	out, done := make([]byte, 0, len(b)), 0
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		if r, n := utf8.DecodeRune(b[i:]); r != utf8.RuneError || n > 1 {
			i += n
			continue
		}
		out = utf8.AppendRune(append(out, b[done:i]...), utf8.RuneError)
		i += brokenLen(b[i:])
		done = i
	}
	return append(out, b[done:]...)
}

// brokenLen returns the length of the invalid sequence at the start of b.
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
