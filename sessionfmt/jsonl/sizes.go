package jsonl

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"ctxtool/internal/base/scratch"
)

// Sizes are lengths of a text: in bytes of UTF-8, in UTF-16 units, and in Unicode scalars.
type Sizes struct{ Bytes, Units, Scalars int }

// Add returns the sum of both.
func (s Sizes) Add(t Sizes) Sizes {
	return Sizes{s.Bytes + t.Bytes, s.Units + t.Units, s.Scalars + t.Scalars}
}

// SizesOf returns the sizes of a UTF-8 text.
func SizesOf[T string | []byte](text T) Sizes {
	more, four := wideParts([]byte(text))
	return Sizes{len(text), len(text) - more + four, len(text) - more}
}

// A String is a string as spelled, with what reading it revealed about its length, so that it can be measured
// without reading it again. Any other value has no length.
type String struct {
	Value
	extra int  // bytes by which its escapes exceed one byte each
	wide  bool // it has bytes beyond ASCII
}

// Spelled returns a value with what reading it reveals about its length.
func (v Value) Spelled() String {
	var c Cursor
	return c.Reset(v).String()
}

// Units returns its length in UTF-16 units; see Value.Units.
func (s String) Units() int {
	if !s.IsString() {
		return 0
	}
	n := len(s.Value) - 2 - s.extra
	if s.wide {
		n -= wideExtra(s.Value)
	}
	return n
}

// Sizes returns its sizes without decoding it: an escape counts as the character that it represents, a lone
// surrogate as U+FFFD.
func (s String) Sizes() (n Sizes) {
	if !s.IsString() {
		return n
	}
	text := s.Value[1 : len(s.Value)-1]
	all := len(text) - s.extra
	n = Sizes{all, all, all}
	if s.wide {
		more, four := wideParts(text)
		n.Units -= more - four
		n.Scalars -= more
	}
	if s.extra >= 5 {
		n.escapes(text)
	}
	return n
}

// Bytes returns its text, valid until buf is used again.
func (s String) Bytes(buf *[]byte) []byte {
	if s.extra == 0 && s.IsString() {
		return s.Value[1 : len(s.Value)-1]
	}
	*buf = s.AppendText(scratch.Reset(*buf))
	return *buf
}

// escapes adds the characters that \u escapes represent, less the byte, unit and scalar already counted for
// each.
func (s *Sizes) escapes(text []byte) {
	for i := 0; ; {
		at := bytes.IndexByte(text[i:], '\\')
		if at < 0 {
			return
		}
		if i += at; text[i+1] != 'u' {
			i += 2
			continue
		}
		u := hex4(text[i+2:])
		i += 6
		switch {
		case u < 0x80:
		case u < 0x800:
			s.Bytes++
		case u&0xfc00 == 0xd800 && i+6 <= len(text) && text[i] == '\\' && text[i+1] == 'u' &&
			hex4(text[i+2:])&0xfc00 == 0xdc00:
			s.Bytes += 2
			s.Scalars--
			i += 6
		default:
			s.Bytes += 2
		}
	}
}

// wideParts counts the continuation bytes of a UTF-8 text, and its sequences of four bytes.
func wideParts(b []byte) (more, four int) {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if w&msb == 0 {
			continue
		}
		more += bits.OnesCount64(w & msb &^ (w << 1))
		four += bits.OnesCount64(w & (w << 1) & (w << 2) & (w << 3) & msb)
	}
	for ; i < len(b); i++ {
		if b[i]&0xc0 == 0x80 {
			more++
		} else if b[i] >= 0xf0 {
			four++
		}
	}
	return more, four
}
