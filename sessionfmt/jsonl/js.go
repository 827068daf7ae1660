package jsonl

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// This file implements what JavaScript does differently from Go (docs/session-format.md 13):
// lengths in UTF-16 units, JSON.stringify, key order, trim, and dates.

// Units returns the length of a string in UTF-16 code units; an escape counts as the character that it
// represents. Other values have length 0.
func (v Value) Units() int {
	if !v.IsString() {
		return 0
	}
	_, extra, wide := scanString(v, 0)
	return String{v, extra, wide}.Units()
}

// Units returns the length of a UTF-8 text in UTF-16 code units.
func Units[T string | []byte](text T) int { return len(text) - wideExtra([]byte(text)) }

// wideExtra returns by how many bytes a UTF-8 text exceeds its length in UTF-16 units: one per continuation
// byte, minus one per four-byte sequence.
func wideExtra(b []byte) int {
	more, four := wideParts(b)
	return more - four
}

// IndexName reports whether JavaScript sorts name to the front of an object, and returns it as
// a number: an integer from 0 to 2^32-2 in canonical spelling.
func IndexName(name string) (uint32, bool) {
	if name == "" || len(name) > 10 || name[0]-'0' > 9 || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 32)
	return uint32(n), err == nil && n < math.MaxUint32
}

// appendMinifiedString appends a string in JavaScript's spelling.
func (v Value) appendMinifiedString(dst []byte) []byte {
	if len(v) >= largeValue {
		dst = slices.Grow(dst, len(v))
	}
	dst = append(dst, '"')
	b := v[1 : len(v)-1]
	done := 0
	for i := 0; i < len(b); {
		plain := bytes.IndexByte(b[i:], '\\')
		if plain < 0 {
			break
		}
		i += plain
		if b[i+1] != 'u' {
			if b[i+1] == '/' {
				dst = append(dst, b[done:i]...)
				done = i + 1
			}
			i += 2
			continue
		}
		dst = append(dst, b[done:i]...)
		u := hex4(b[i+2:])
		i += 6
		if u >= 0xd800 && u < 0xdc00 && i+6 <= len(b) && b[i] == '\\' && b[i+1] == 'u' {
			if low := hex4(b[i+2:]); low >= 0xdc00 && low < 0xe000 {
				dst = utf8.AppendRune(dst, (rune(u)-0xd800)<<10+(rune(low)-0xdc00)+0x10000)
				i += 6
				done = i
				continue
			}
		}
		dst = appendUnit(dst, u)
		done = i
	}
	return append(append(dst, b[done:]...), '"')
}

const hex = "0123456789abcdef"

// appendUnit appends one UTF-16 unit inside a quoted string.
func appendUnit(dst []byte, u uint16) []byte {
	if u >= 0xd800 && u < 0xe000 {
		return append(dst, '\\', 'u', 'd', hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	return appendQuotedRune(dst, rune(u))
}

// AppendQuoted appends s as JSON.stringify spells it. s may have lone surrogates; see Exact.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		plain := i
		for i < len(s) && s[i] >= 0x20 && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
			i++
		}
		dst = append(dst, s[plain:i]...)
		if i < len(s) {
			r, n := decode(string(s[i:min(i+surrogatePair, len(s))]))
			i += n
			if utf16.IsSurrogate(r) {
				dst = appendUnit(dst, uint16(r))
			} else {
				dst = appendQuotedRune(dst, r)
			}
		}
	}
	return append(dst, '"')
}

// appendEscaped appends JSON as the content of a string. It has no control characters, so only quotes and
// backslashes need escapes; extra is their number, and wide reports bytes above 0x7f.
func appendEscaped(dst, text []byte) (out []byte, extra int, wide bool) {
	var high uint64
	done := 0
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			high |= w
			m := stringStops(w)
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		c := text[i]
		high |= uint64(c)
		if c == '"' || c == '\\' {
			dst = append(append(dst, text[done:i]...), '\\')
			done = i
			extra++
		}
		i++
	}
	return append(dst, text[done:]...), extra, high&msb != 0
}

// UTF8 returns a text with U+FFFD in place of each lone surrogate, see Exact, and each invalid byte.
func UTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		r, n := decode(text[i:])
		out = utf8.AppendRune(out, r)
		i += n
	}
	return string(out)
}

// decode returns the first character of a text, which may be a lone surrogate, and its length. Halves of a pair
// that met when texts were joined are one character.
func decode(s string) (r rune, n int) {
	if r, n = utf8.DecodeRuneInString(s); r != utf8.RuneError || n > 1 {
		return r, n
	}
	if r = surrogate(s); r == 0 {
		return utf8.RuneError, n
	}
	if pair := utf16.DecodeRune(r, surrogate(s[surrogatePair/2:])); pair != utf8.RuneError {
		return pair, surrogatePair
	}
	return r, surrogatePair / 2
}

// surrogatePair is the length of two surrogates that are encoded separately.
const surrogatePair = 6

// surrogate returns the lone surrogate at the beginning of a text, 0 for none.
func surrogate(s string) rune {
	if len(s) < surrogatePair/2 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2]&0xC0 != 0x80 {
		return 0
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F)
}

func appendQuotedRune(dst []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r >= 0x20:
		return utf8.AppendRune(dst, r)
	}
	if k := strings.IndexByte("\b\f\n\r\t", byte(r)); k >= 0 {
		return append(dst, '\\', "bfnrt"[k])
	}
	return append(dst, '\\', 'u', '0', '0', hex[r>>4&15], hex[r&15])
}

// appendMinifiedNumber appends a number in JavaScript's shortest spelling.
func (v Value) appendMinifiedNumber(dst []byte) []byte {
	if _, plain := v.digits(); plain && len(v) <= 15 {
		return append(dst, v...)
	}
	f, _ := v.Float()
	return appendNumber(dst, f)
}

// appendNumber appends f as JavaScript prints it: shortest form, exponents from 1e21 up and
// below 1e-6, -0 as 0, values that are not finite as null.
func appendNumber(dst []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return append(dst, "null"...)
	}
	if f == 0 {
		return append(dst, '0')
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go writes at least two exponent digits: 1e-07 becomes 1e-7.
	if n := len(dst); n >= 4 && dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// TrimJS trims as JavaScript does: Unicode spaces, line terminators and U+FEFF, but not U+0085.
func TrimJS(s string) string { return strings.TrimFunc(s, isJSSpace) }

func isJSSpace(r rune) bool {
	switch r {
	case 0x85:
		return false
	case 0xfeff, 0x2028, 0x2029, '\t', '\n', '\v', '\f', '\r', ' ', 0xa0:
		return true
	}
	return r > 0xff && unicode.Is(unicode.Zs, r)
}

// Millis returns the time of an ISO 8601 string in milliseconds since 1970. Unlike JavaScript's Date, it reads
// a time without offset as UTC, so that the result does not depend on the machine. pi always writes the offset.
func (v Value) Millis() (ms int64, ok bool) {
	if !v.IsString() {
		return 0, false
	}
	if t := (time.Time{}); t.UnmarshalText(v[1:len(v)-1]) == nil { // pi's spelling, read without a copy
		return t.UnixMilli(), true
	}
	if t := (time.Time{}); v.hasNoZone() { // Python's spelling
		var text [40]byte
		zoned := append(append(text[:0], v[1:len(v)-1]...), 'Z')
		if zoned[len("2006-01-02")] = 'T'; t.UnmarshalText(zoned) == nil {
			return t.UnixMilli(), true
		}
	}
	s := v.Text()
	for _, layout := range isoLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UnixMilli(), true
		}
	}
	return 0, false
}

// Date returns the date made of a value, in milliseconds since 1970, as JavaScript's Date does: a number is
// itself, null, false and true are 0, 0 and 1. Strings are read as by Millis.
func (v Value) Date() (ms int64, ok bool) {
	const most = 8.64e15 // limit of a Date
	switch {
	case v.IsNumber():
		f, ok := v.Float()
		return int64(f), ok && math.Abs(f) <= most
	case v.is('n'), v.is('f'):
		return 0, true
	case v.is('t'):
		return 1, true
	}
	return v.Millis()
}

// hasNoZone reports whether a string has the length of a day and a time without a zone.
func (v Value) hasNoZone() bool {
	const least, most = len(`"2006-01-02 15:04:05"`), len(`"2006-01-02 15:04:05.000000000"`)
	return least <= len(v) && len(v) <= most && (v[11] == ' ' || v[11] == 'T') && !bytes.ContainsAny(v[12:], "Z+-")
}

var isoLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02", "2006-01", "2006",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", // Python's spelling
}
