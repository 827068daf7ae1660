package sessionfmt

import (
	"bytes"
	"unicode/utf8"
)

// readAhead is how much a Reader reads at once when it is read in order, bytes.
const readAhead = 64 << 10

// A Reader reads records of a session. Reading in the order of the file is
// cheap. It is not safe for concurrent use; make one for each goroutine.
type Reader struct {
	s   *Session
	buf []byte // holds the file from off on
	off int64

	gist gist // of rows
}

// NewReader returns a Reader of s.
func (s *Session) NewReader() *Reader { return &Reader{s: s} }

// Line is record i's line as it stands in the file, without the white space around
// it, valid until the next call. Only bytes that are not UTF-8 are replaced.
func (r *Reader) Line(i int) (Value, error) {
	line, err := r.Raw(i)
	if r.s.records[i].flags&flagBadUTF8 != 0 {
		line = MendUTF8(line)
	}
	return Value(trimJSON(line)), err
}

// Raw is record i's line, byte for byte, without its newline, valid until the next
// call.
func (r *Reader) Raw(i int) ([]byte, error) {
	rec := &r.s.records[i]
	at, n := rec.off-r.off, int64(rec.size)
	if at < 0 || at+n > int64(len(r.buf)) {
		// A read near the last one is taken for reading in order, and starts on
		// a page, because such reads are copied faster.
		want, off := n, rec.off
		if r.buf != nil && at >= 0 && at < int64(len(r.buf))+readAhead {
			off &^= 4<<10 - 1
			want = max(n+rec.off-off, readAhead)
		}
		want = min(want, r.s.src.size-off)
		if int64(cap(r.buf)) < want || int64(cap(r.buf)) > 4*max(want, readAhead) {
			r.buf = nil // two long lines need not be there at once
			if err := room(want); err != nil {
				return nil, &Error{Pos: r.s.Pos(i), Err: err}
			}
			r.buf = make([]byte, want)
		}
		r.buf, r.off, at = r.buf[:want], off, rec.off-off
		if err := readFullAt(r.s.src.bytes, r.buf, r.off); err != nil {
			r.buf = r.buf[:0]
			return nil, &Error{Pos: r.s.Pos(i), Err: err}
		}
	}
	return r.buf[at : at+n], nil
}

// MendUTF8 replaces what is not UTF-8 as JavaScript's decoder does: one U+FFFD
// for each longest piece that could have begun a character.
func MendUTF8(b []byte) []byte {
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

// brokenLen is the length of the broken character that b starts with.
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
