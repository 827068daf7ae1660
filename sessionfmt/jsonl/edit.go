package jsonl

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// A Field is a field of an object: its name, and its raw value.
type Field struct {
	Name  string
	Value Value
}

// AppendEdited appends the object v with some fields set, or removed if the Field's Value is
// nil. It keeps everything else byte for byte. An existing field keeps its place, a new one
// goes to the end, as in JavaScript (docs/session-format.md 11.3). If a field occurs twice,
// both are set.
func (v Value) AppendEdited(dst []byte, fields ...Field) []byte {
	done := 0     // bytes of v copied to dst
	prev := 1     // end of the previous field, or of the brace
	empty := true // no field kept so far
	var found uint64
	for key, val := range v.Members {
		start := cap(v) - cap(val)
		end := start + len(val)
		k := slices.IndexFunc(fields, func(f Field) bool { return f.Name == string(key) })
		switch {
		case k < 0:
			empty = false
		case fields[k].Value != nil:
			dst = append(append(dst, v[done:start]...), fields[k].Value...)
			done, empty = end, false
		case empty: // remove the comma after it
			dst = append(dst, v[done:prev]...)
			if i := SkipSpace(v, end); v[i] == ',' {
				end = i + 1
			}
			done = end
		default: // remove the comma before it
			dst = append(dst, v[done:prev]...)
			done = end
		}
		if k >= 0 {
			found |= 1 << k
		}
		prev = end
	}
	dst = append(dst, v[done:prev]...)
	for k, f := range fields {
		if found>>k&1 == 0 && f.Value != nil {
			dst = f.append(dst, !empty)
			empty = false
		}
	}
	return append(dst, v[prev:]...)
}

// AppendObject appends an object of the fields that exist.
func AppendObject(dst []byte, fields ...Field) []byte {
	dst = append(dst, '{')
	for _, f := range fields {
		if f.Value.Exists() {
			dst = f.append(dst, dst[len(dst)-1] != '{')
		}
	}
	return append(dst, '}')
}

// With adds a member to an object that nothing else has, if the value exists.
func (v Value) With(name string, member Value) Value {
	if !member.Exists() {
		return v
	}
	return append(Field{name, member}.append(v[:len(v)-1], len(v) > len("{}")), '}')
}

// append appends the field, with a comma if others precede it.
func (f Field) append(dst []byte, comma bool) []byte {
	if comma {
		dst = append(dst, ',')
	}
	return append(append(AppendQuoted(dst, f.Name), ':'), f.Value...)
}

// AppendAdded is AppendEdited for fields that v does not have. It does not search v.
func (v Value) AppendAdded(dst []byte, fields ...Field) []byte {
	end := len(bytes.TrimRight(v[:len(v)-1], " \t\r"))
	dst = append(dst, v[:end]...)
	for k, f := range fields {
		dst = f.append(dst, k > 0 || end > 1)
	}
	return append(dst, v[end:]...)
}

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

// NestedCalls are the calls that the tool of a result made itself (docs/session-format.md 4.4): objects
// with name, status, and arguments or their size. None is sent to a model.
func (m *Message) NestedCalls(yield func(Value) bool) {
	m.Nested.Get("calls").Elements(yield)
}

// A Skipper passes over a value that is read in parts, to find where it ends. It looks at
// strings and brackets only.
type Skipper struct {
	depth int
	in    bool // a string
}

// Skip returns how much of a part belongs to the value, and reports whether the value ends there,
// or breaks. If not, the next part follows what it returned, which may be less than the part.
func (s *Skipper) Skip(part []byte) (n int, done bool) {
	for i := 0; i < len(part); {
		if s.in {
			end, _, _ := scanString(part, i-1)
			if end < 0 {
				bad := failed(end)
				if bad.Reason == BrokenOff {
					return bad.Offset, false
				}
				return bad.Offset + 1, true
			}
			s.in = false
			i = end
			if s.depth == 0 {
				return i, true
			}
			continue
		}
		switch part[i] {
		case '"':
			s.in = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth--; s.depth <= 0 {
				return i + 1, true
			}
		}
		i++
	}
	return len(part), false
}

// AppendOneLine appends a value without its newlines, and without the white space around them.
func (v Value) AppendOneLine(dst []byte) []byte {
	for line := range bytes.Lines(v) {
		dst = append(dst, Trim(line)...)
	}
	return dst
}

// A Pair is two bytes to look for. Bits of a mask are ignored: with the bit that tells upper from
// lower case, other bytes may be found too, and 0xff stands for any byte.
type Pair struct{ A, B, MaskA, MaskB byte }

// Index returns the index of the first pair in a text, from i on, or the length of the text. One
// byte alone is often too frequent to be looked for.
func (p Pair) Index(text []byte, i int) int {
	if hasKernel && i+33 <= len(text) {
		i += pairKernel(&text[i], len(text)-i, p)
	}
	const ones, highs, step = 0x0101010101010101, 0x8080808080808080, 8
	ma, mb := ones*uint64(p.MaskA), ones*uint64(p.MaskB)
	a, b := ones*uint64(p.A)|ma, ones*uint64(p.B)|mb
	for ; i+step < len(text); i += step {
		t := text[i : i+step+1 : i+step+1]
		// a byte is 0 where the pair is
		x := (binary.LittleEndian.Uint64(t) | ma) ^ a | (binary.LittleEndian.Uint64(t[1:]) | mb) ^ b
		if (x-ones)&^x&highs == 0 {
			continue
		}
		for k := i; k < i+step; k++ { // above a byte of 0, one of 1 looks like 0 too
			if p.at(text, k) {
				return k
			}
		}
	}
	for ; i < len(text); i++ {
		if p.at(text, i) {
			return i
		}
	}
	return len(text)
}

// at reports whether the pair is at an index of a text.
func (p Pair) at(text []byte, i int) bool {
	return text[i]|p.MaskA == p.A|p.MaskA && (p.MaskB == 0xff || i+1 < len(text) && text[i+1]|p.MaskB == p.B|p.MaskB)
}
