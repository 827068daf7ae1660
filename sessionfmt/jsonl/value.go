// Package jsonl reads one line of a session: its JSON, its kind of record, and its message.
//
// A line can be read to three depths, all by the [Scanner]: its head (type, id, parentId,
// timestamp and role), which validates the whole line; a [Value], which is raw JSON with
// accessors and keeps the original bytes; and a [Cursor], which decodes in one pass without
// copying. A [Message], its blocks and its [Usage] are read with a Cursor.
//
// Texts are UTF-8. Where JavaScript counts, lengths are in UTF-16 units.
package jsonl

import (
	"bytes"
	"ctxtool/internal/base/work"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Value is the raw text of one JSON value, without white space around it. The nil Value is an
// absent one. Its methods expect text that a Scanner has accepted and never fail: a value of
// another kind than requested reads as absent or empty.
type Value []byte

// ParseValue checks raw and returns it as a Value without surrounding white
// space.
func ParseValue(raw []byte) (Value, error) {
	var s Scanner
	if err := s.Check(raw); err != nil {
		return nil, err
	}
	return Value(Trim(raw)), nil
}

// Trim returns b without surrounding JSON white space.
func Trim(b []byte) []byte {
	i := SkipSpace(b, 0)
	j := len(b)
	for j > i && (b[j-1] == ' ' || b[j-1] == '\t' || b[j-1] == '\r' || b[j-1] == '\n') {
		j--
	}
	return b[i:j]
}

func (v Value) is(c byte) bool { return len(v) > 0 && v[0] == c }

// Exists reports whether the value is present; null is present.
func (v Value) Exists() bool { return len(v) > 0 }

// IsNull reports whether the value is absent or null.
func (v Value) IsNull() bool { return len(v) == 0 || v[0] == 'n' }

// IsString reports whether the value is a string.
func (v Value) IsString() bool { return v.is('"') }

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { return v.is('{') }

// IsArray reports whether the value is an array.
func (v Value) IsArray() bool { return v.is('[') }

// IsNumber reports whether the value is a number.
func (v Value) IsNumber() bool { return len(v) > 0 && (v[0] == '-' || v[0]-'0' <= 9) }

// Truthy reports whether the value is true in JavaScript's sense: false for absent, null,
// false, zero and the empty string.
func (v Value) Truthy() bool {
	switch {
	case v.IsNull(), v.is('f'), string(v) == `""`:
		return false
	case v.IsNumber():
		f, ok := v.Float()
		return !ok || f != 0
	}
	return true
}

// Float returns the number as an IEEE double.
func (v Value) Float() (float64, bool) {
	if !v.IsNumber() {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil || f != 0
}

// Int returns the number truncated to an integer, 0 if it is not a number. It is at most 2^60 from
// 0, so that a few can be added.
func (v Value) Int() int64 {
	if n, ok := v.digits(); ok {
		return n
	}
	if !v.IsNumber() {
		return 0
	}
	const most = 1 << 60
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return max(-most, min(n, most))
	}
	f, _ := v.Float()
	return int64(max(-most, min(f, most)))
}

// Members yields an object's fields in order, the key without its quotes. Other values have
// none.
func (v Value) Members(yield func(key []byte, val Value) bool) {
	var c Cursor
	c.Once(v)
	for key := range c.Members {
		if !yield(key, c.Value()) {
			break
		}
	}
	work.Look(c.i)
}

// Elements yields an array's elements in order. Other values have none.
func (v Value) Elements(yield func(el Value) bool) {
	var c Cursor
	c.Once(v)
	for range c.Elements {
		if !yield(c.Value()) {
			break
		}
	}
	work.Look(c.i)
}

// Get returns the object's field with that name, the last one if there are several.
func (v Value) Get(name string) (out Value) {
	for key, val := range v.Members {
		if string(key) == name {
			out = val
		}
	}
	return out
}

// First descends by name through nested objects, taking the first field of each name. It does
// not read anything after it.
func (v Value) First(names ...string) Value {
	var c Cursor
	if !c.Reset(v).Enter(names...) {
		return nil
	}
	return c.Value()
}

// Fields reads several fields of an object in one pass: it sets dst[k] to the field called names[k], nil if
// absent.
func (v Value) Fields(dst []Value, names ...string) {
	f := fields{names: names, vals: dst, nested: -1}
	f.reset()
	if v.IsObject() {
		var s Scanner
		s.object(v, 0, &f)
		work.Look(len(v))
	}
}

// All returns the fields with these names, nil for absent ones. Fields avoids the allocation.
func (v Value) All(names ...string) []Value {
	all := make([]Value, len(names))
	v.Fields(all, names...)
	return all
}

// Ints returns the numbers in the fields with these names, at most 8, in their order; 0 for a field that has
// none. It does not allocate.
func (v Value) Ints(names ...string) (numbers [8]int64) {
	var fields [len(numbers)]Value
	v.Fields(fields[:len(names)], names...)
	for k := range names {
		numbers[k] = fields[k].Int()
	}
	return numbers
}

// FirstText returns the first of these values that is a string, nil if none is.
func FirstText(of ...Value) Value {
	for _, v := range of {
		if v.IsString() {
			return v
		}
	}
	return nil
}

// Is reports whether the value is the string s.
func (v Value) Is(s string) bool {
	if len(v) == len(s)+2 && v[0] == '"' && string(v[1:len(v)-1]) == s {
		return true
	}
	return v.IsString() && len(v) > len(s)+2 && bytes.IndexByte(v, '\\') > 0 && v.Text() == s
}

// Text returns a string's text as UTF-8; a lone surrogate becomes U+FFFD. Other values have the
// empty text.
func (v Value) Text() string {
	if !v.IsString() {
		return ""
	}
	if bytes.IndexByte(v, '\\') >= 0 {
		return string(v.AppendText(make([]byte, 0, len(v))))
	}
	return string(v[1 : len(v)-1])
}

// Inside returns the bytes between the quotes of a string, nil for other values.
func (v Value) Inside() []byte {
	if !v.IsString() {
		return nil
	}
	return v[1 : len(v)-1]
}

// Exact returns a string's text like Text, but keeps lone surrogates, as JavaScript does: each takes the three
// bytes that UTF-8 would have for it (WTF-8). AppendQuoted turns them into escapes, UTF8 into U+FFFD.
func (v Value) Exact() string {
	if text := v.Text(); !strings.Contains(text, "\uFFFD") {
		return text
	}
	return string(appendUnescaped(make([]byte, 0, len(v)), v[1:len(v)-1], true))
}

// AppendText appends the string's text; see Text.
func (v Value) AppendText(dst []byte) []byte {
	if !v.IsString() {
		return dst
	}
	return AppendUnescaped(dst, v[1:len(v)-1])
}

// AppendUnescaped is AppendText for the inside of a string without its quotes.
func AppendUnescaped(dst, b []byte) []byte { return appendUnescaped(dst, b, false) }

// appendUnescaped keeps lone surrogates if exact; see Exact.
func appendUnescaped(dst, b []byte, exact bool) []byte {
	if len(b) >= largeValue { // an escape is never shorter than its character
		dst = slices.Grow(dst, len(b))
	}
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			j := bytes.IndexByte(b[i:], '\\')
			if j < 0 {
				return append(dst, b[i:]...)
			}
			dst = append(dst, b[i:i+j]...)
			i += j
		}
		if b[i+1] != 'u' {
			dst = append(dst, plainEscape[b[i+1]])
			i += 2
			continue
		}
		r := rune(hex4(b[i+2:]))
		i += 6
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if i+6 <= len(b) && b[i] == '\\' && b[i+1] == 'u' {
				pair = utf16.DecodeRune(r, rune(hex4(b[i+2:])))
			}
			if pair != utf8.RuneError {
				i += 6
			} else if exact {
				dst = append(dst, 0xED, byte(0x80|r>>6&0x3F), byte(0x80|r&0x3F))
				continue
			}
			r = pair
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

var plainEscape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func hex4(b []byte) uint16 {
	return uint16(hexValue[b[0]])<<12 | uint16(hexValue[b[1]])<<8 | uint16(hexValue[b[2]])<<4 | uint16(hexValue[b[3]])
}

// Beginning returns the text of about the first n bytes of a string, without decoding the rest.
func (v Value) Beginning(n int) string {
	if !v.IsString() || len(v) <= n+2 {
		return v.Text()
	}
	i := 1
	if bytes.IndexByte(v[:n], '\\') < 0 {
		i = n
	}
	for i < n {
		next := i + 1
		if v[i] == '\\' {
			next = i + int(escapeLen[v[i+1]])
		}
		if next > n {
			break
		}
		i = next
	}
	for i > 1 && !utf8.RuneStart(v[i]) {
		i--
	}
	return v[:i+1].Text() // the last byte stands in for the quote
}

// Strings yields all strings in the value, at any depth, except field names.
func (v Value) Strings(yield func(Value) bool) {
	for i := 0; i < len(v); {
		if v[i] != '"' {
			i++
			continue
		}
		end, _, _ := scanString(v, i)
		after := SkipSpace(v, end)
		if (after == len(v) || v[after] != ':') && !yield(v[i:end]) {
			return
		}
		i = end
	}
}

// Words yields all content of a value, at any depth: strings, field names as strings, numbers
// and booleans as spelled.
func (v Value) Words(yield func(Value) bool) {
	for i := 0; i < len(v); {
		end := i + 1
		switch c := v[i]; {
		case c == '"':
			end, _, _ = scanString(v, i)
		case c == '-' || c == 't' || c == 'f' || c == 'n' || c-'0' <= 9:
			for end < len(v) && bytes.IndexByte([]byte(",]} \t\r\n"), v[end]) < 0 {
				end++
			}
		default:
			i++
			continue
		}
		if v[i] != 'n' && !yield(v[i:end]) {
			return
		}
		i = end
	}
}
