package jsonl

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A Scanner validates and walks the JSON of one line. All three depths of reading use it: the
// head of a line, strict validation, and decoding. It accepts exactly what encoding/json
// accepts, with any depth of nesting, and does not check UTF-8.
//
// A Scanner keeps only its nesting stack between calls, so it can be used for any number of
// lines. It is not safe for concurrent use.
type Scanner struct {
	deep []uint64 // nesting bits beyond the innermost 64 levels
	// Values of the parts that object read last, one after the other, as ranges, so that the Scanner does not
	// hold the text.
	parts []extent
	wide  bool // a string had bytes above 0x7f since the caller cleared it; text elsewhere never has
}

// An extent is the range of a value in a text; the zero value means absent.
type extent struct{ from, to int }

// A SyntaxError reports where and why a line is not valid JSON.
type SyntaxError struct {
	Offset int // bytes from the start of the line
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset) }

// Failure codes. A scanning function returns fail(i, code), a negative number, in place of an end offset.
const (
	failEnd = iota + 1 // the line ends inside a value
	failByte
	failControl
	failEscape
	failNumber
	failLiteral
	failKey
	failComma
	failTrailing
)

// Reasons for errors.Is.
const (
	BrokenOff = "unexpected end of line"
	Trailing  = "more after the end of the value"
)

var failText = [...]string{
	failEnd:      BrokenOff,
	failByte:     "unexpected byte",
	failControl:  "raw control character in a string",
	failEscape:   "bad escape in a string",
	failNumber:   "bad number",
	failLiteral:  "bad literal",
	failKey:      "expected an object key",
	failComma:    "expected a comma or closing bracket",
	failTrailing: Trailing,
}

// fail packs an offset and a code into one negative number, so that the hot
// path returns a single int.
func fail(at, code int) int { return -(at<<4 | code) }

func failed(r int) *SyntaxError {
	r = -r
	return &SyntaxError{Offset: r >> 4, Reason: failText[r&15]}
}

const (
	lsb = 0x0101010101010101
	msb = 0x8080808080808080
)

// stringStops sets the high bit of each byte of w that is a quote, backslash or control
// character. Only the lowest mark is reliable.
func stringStops(w uint64) uint64 {
	q := w ^ lsb*'"'
	b := w ^ lsb*'\\'
	return ((q-lsb)&^q | (b-lsb)&^b | (w-lsb*0x20)&^w) & msb
}

// kernelAfter is the number of bytes of a string that are read word by word before calling the kernel pays off.
const kernelAfter = 24

// scanString reads the string whose opening quote is at b[i]. It returns the offset after the closing quote
// (negative: see fail), by how many bytes its escapes exceed the UTF-16 units that they represent, and whether
// it has bytes above 0x7f.
func scanString(b []byte, i int) (end, extra int, wide bool) {
	var high uint64
	i++
	for kernelAt := i + kernelAfter; ; {
		if hasKernel && i >= kernelAt && i+64 <= len(b) {
			at, escapes, w := stringKernel(&b[i], len(b)-i)
			i += at
			extra += escapes
			if w != 0 {
				high = msb
			}
			kernelAt = i + 64
		}
		if i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			m := stringStops(w)
			if m == 0 {
				high |= w
				i += 8
				continue
			}
			n := bits.TrailingZeros64(m) >> 3
			high |= w & (1<<(8*uint(n)) - 1)
			i += n
		} else if i >= len(b) {
			return fail(i, failEnd), 0, false
		}
		c := b[i]
		switch {
		case c == '"':
			return i + 1, extra, high&msb != 0
		case c == '\\':
			if i+1 >= len(b) {
				return fail(i, failEnd), 0, false
			}
			n := escapeLen[b[i+1]]
			if n == 6 {
				if r := scanHex(b, i+2); r < 0 {
					return r, 0, false
				}
			} else if n == 0 {
				return fail(i+1, failEscape), 0, false
			}
			extra += int(n) - 1
			i += int(n)
		case c < 0x20:
			return fail(i, failControl), 0, false
		default: // the last few bytes of the line
			high |= uint64(c)
			i++
		}
	}
}

// ScanString returns the offset after the string whose opening quote is at b[i], negative if
// the string is invalid, and whether it has escapes.
func ScanString(b []byte, i int) (end int, escaped bool) {
	end, extra, _ := scanString(b, i)
	return end, extra > 0
}

// escapeLen is the length in bytes of an escape by its letter, 0 if invalid.
var escapeLen = [256]uint8{'"': 2, '\\': 2, '/': 2, 'b': 2, 'f': 2, 'n': 2, 'r': 2, 't': 2, 'u': 6}

// scanHex checks the four hex digits of a \u escape.
func scanHex(b []byte, i int) int {
	for k := i; k < i+4; k++ {
		if k >= len(b) {
			return fail(k, failEnd)
		}
		if hexValue[b[k]] < 0 {
			return fail(k, failEscape)
		}
	}
	return i + 4
}

var hexValue = func() (t [256]int8) {
	for i := range t {
		t[i] = -1
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = int8(c - '0')
	}
	for c := 'a'; c <= 'f'; c++ {
		t[c] = int8(c-'a') + 10
		t[c-'a'+'A'] = int8(c-'a') + 10
	}
	return t
}()

// scanNumber reads the number at b[i].
func scanNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
		if i >= len(b) {
			return fail(i, failEnd)
		}
	}
	switch c := b[i]; {
	case c == '0':
		i++
	case c >= '1' && c <= '9':
		i = skipDigits(b, i+1)
	default:
		return fail(i, failNumber)
	}
	if i < len(b) && b[i] == '.' {
		if i = needDigits(b, i+1); i < 0 {
			return i
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i = needDigits(b, i)
	}
	return i
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

func needDigits(b []byte, i int) int {
	if i >= len(b) {
		return fail(i, failEnd)
	}
	if b[i]-'0' > 9 {
		return fail(i, failNumber)
	}
	return skipDigits(b, i+1)
}

func scanLiteral(b []byte, i int, want string) int {
	for k := 0; k < len(want); k++ {
		if i+k >= len(b) {
			return fail(i+k, failEnd)
		}
		if b[i+k] != want[k] {
			return fail(i+k, failLiteral)
		}
	}
	return i + len(want)
}

// SkipSpace returns the offset after JSON white space at b[i].
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// ScanScalar returns the offset after the value at b[i], which is not an object or array,
// negative if it is invalid.
func ScanScalar(b []byte, i int) int {
	switch b[i] {
	case '"':
		end, _, _ := scanString(b, i)
		return end
	case 't':
		return scanLiteral(b, i, "true")
	case 'f':
		return scanLiteral(b, i, "false")
	case 'n':
		return scanLiteral(b, i, "null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return scanNumber(b, i)
	}
	return fail(i, failByte)
}

// value reads the value that starts at or after b[i] and returns the offset
// after it (negative: see fail). Nesting is kept as bits, 1 for an object, so
// depth costs no recursion.
func (s *Scanner) value(b []byte, i int) int {
	var nest uint64 // the innermost 64 levels, the lowest bit innermost
	depth := 0
	s.deep = s.deep[:0]
	for {
		// A value must follow.
		if i = SkipSpace(b, i); i >= len(b) {
			return fail(i, failEnd)
		}
		c := b[i]
		if c == '{' || c == '[' {
			if depth > 0 && depth&63 == 0 {
				s.deep = append(s.deep, nest)
			}
			depth++
			nest <<= 1
			if c == '{' {
				nest |= 1
			}
			if i = SkipSpace(b, i+1); i >= len(b) {
				return fail(i, failEnd)
			}
			if b[i] != c+2 { // '{'+2 is '}', '['+2 is ']'
				if c == '{' {
					if i = s.key(b, i); i < 0 {
						return i
					}
				}
				continue
			}
			// An empty container: its closing bracket is handled below.
		} else if c == '"' {
			var wide bool
			if i, _, wide = scanString(b, i); i < 0 {
				return i
			}
			s.wide = s.wide || wide
		} else if i = ScanScalar(b, i); i < 0 {
			return i
		}
		// A value has ended, or an empty container is about to end.
		for {
			if depth == 0 {
				return i
			}
			if i < len(b) && b[i] <= ' ' {
				i = SkipSpace(b, i)
			}
			if i >= len(b) {
				return fail(i, failEnd)
			}
			c = b[i]
			if c == ',' {
				break
			}
			if c != ']'+byte(nest&1)<<5 { // ']'+32 is '}'
				return fail(i, failComma)
			}
			i++
			depth--
			nest >>= 1
			if depth > 0 && depth&63 == 0 {
				nest = s.deep[len(s.deep)-1]
				s.deep = s.deep[:len(s.deep)-1]
			}
		}
		i++
		if nest&1 == 1 {
			if i = s.key(b, SkipSpace(b, i)); i < 0 {
				return i
			}
		}
	}
}

// Value reads the value that starts at or after b[i], and returns the offset after it.
func (s *Scanner) Value(b []byte, i int) (end int, bad *SyntaxError) {
	if end = s.value(b, i); end < 0 {
		return 0, failed(end)
	}
	return end, nil
}

// key reads an object key and the colon after it.
func (s *Scanner) key(b []byte, i int) int {
	if i >= len(b) {
		return fail(i, failEnd)
	}
	if b[i] != '"' {
		return fail(i, failKey)
	}
	end, _, wide := scanString(b, i)
	if end < 0 {
		return end
	}
	s.wide = s.wide || wide
	return scanColon(b, end)
}

func scanColon(b []byte, i int) int {
	if i = SkipSpace(b, i); i >= len(b) {
		return fail(i, failEnd)
	}
	if b[i] != ':' {
		return fail(i, failByte)
	}
	return i + 1
}

// Check returns an error unless line is one JSON value with optional white space around it. The
// error has the offset and the reason.
func (s *Scanner) Check(line []byte) error {
	if r := s.whole(line, s.value(line, 0)); r < 0 {
		return failed(r)
	}
	return nil
}

// whole checks that only white space follows offset i.
func (s *Scanner) whole(b []byte, i int) int {
	if i < 0 {
		return i
	}
	if i = SkipSpace(b, i); i < len(b) {
		return fail(i, failTrailing)
	}
	return i
}
