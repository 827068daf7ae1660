package redact

import (
	"bytes"
	"html"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ctxtool/sessionfmt/jsonl"
)

// A view is a text with its escapes resolved, so that words spelled with escapes are found.
type view struct {
	text []byte
	from []origin // in order; see locate
	how  spelling // what is resolved in it
	sure bool     // it is in that spelling, of which quoted-printable is hard to tell from other texts
}

// An origin is the source of the bytes of a view from one on: successive bytes of the source,
// or all of them from one escape.
type origin struct {
	at, from int32 // a negative from is -1-offset of an escape
}

// largeText is the size from which the memory for a text is allocated in advance.
const largeText = 1 << 20

// A spelling is the kind of escapes that a view resolves.
type spelling uint8

const (
	jsonSpelling   spelling = iota // the escapes of a JSON string
	anySpelling                    // escapes of all kinds, and invisible characters
	quotedSpelling                 // quoted-printable
)

// quotedSigns show that a line has parts in quoted-printable, also where it spells the end of a line.
var quotedSigns = []string{"=3D", "=3d", "=\n", "=\r", `=\n`, `=\r`}

// makeView makes a view of text, with origins if they are wanted at once. It returns false if there is
// nothing to resolve.
func makeView(v *view, text []byte, how spelling, located bool) bool {
	v.how, v.from = how, v.from[:0]
	if how == jsonSpelling {
		v.text = jsonl.AppendUnescaped(v.text[:0], text)
		return true
	}
	return v.read(text, located)
}

// locate computes the origins of a view of text: only those of views with hits are needed.
func (v *view) locate(text []byte) {
	if len(v.from) == 0 {
		v.read(text, true)
	}
}

func (v *view) read(text []byte, located bool) bool {
	v.text = v.text[:0]
	done := 0
	v.sure = v.how != quotedSpelling
	mark := func(from int) {
		if located {
			v.from = append(v.from, origin{int32(len(v.text)), int32(from)})
		}
	}
	add := func(upTo int) {
		if mark(done); len(text) >= largeText && len(v.text) == 0 { // most of it will be used
			v.text = slices.Grow(v.text, len(text))
		}
		v.text = append(v.text, text[done:upTo]...)
	}
	for i := nextSpecial(text, 0, v.how); i < len(text); i = nextSpecial(text, i, v.how) {
		n, r := unit(text[i:], v.how)
		if n == 0 {
			i++
			continue
		}
		v.sure = v.sure || r < 0 || r == '=' // quoted-printable has one of these, and other texts have neither
		add(i)
		if r >= 0 {
			mark(-1 - i)
			v.text = utf8.AppendRune(v.text, r)
		}
		i += n
		done = i
	}
	if done == 0 {
		return false
	}
	add(len(text))
	return true
}

// nextSpecial returns where the next unit may begin, from byte i on; the end if none does.
func nextSpecial(text []byte, i int, how spelling) int {
	if how != anySpelling {
		sign := byte('\\')
		if how == quotedSpelling {
			sign = '='
		}
		if n := bytes.IndexByte(text[i:], sign); n >= 0 {
			return i + n
		}
		return len(text)
	}
	return units.Index(text, i)
}

// where returns the offset in the source of a byte of the view, or of its end.
func (v *view) where(at int) int {
	k := sort.Search(len(v.from), func(k int) bool { return int(v.from[k].at) > at }) - 1
	o := v.from[k]
	if o.from < 0 {
		return int(-1 - o.from)
	}
	return int(o.from) + at - int(o.at)
}

// whereEnd returns the offset in the source of the end of what ends at a byte of the view: what is left out after it
// is no part of it.
func (v *view) whereEnd(at int) int {
	k := sort.Search(len(v.from), func(k int) bool { return int(v.from[k].at) >= at }) - 1
	if k < 0 {
		return v.where(at)
	}
	if o := v.from[k]; o.from >= 0 {
		return int(o.from) + at - int(o.at)
	}
	return v.where(at)
}

// special has a 1 for bytes with which a unit of some spelling begins.
var special = func() (t [256]uint8) {
	for c := range 0x20 {
		if c != '\t' && c != '\n' && c != '\r' {
			t[c] = 1
		}
	}
	for _, c := range []byte{'\\', '^', '&', '%', 0x7f, 0xc2, 0xc5, 0xcd, 0xd8, 0xe1, 0xe2, 0xef, 0xf3} {
		t[c] = 1
	}
	return t
}()

// units are the bytes of special. inString leaves out the escapes with which a JSON string spells white space and
// quotes.
var units, inString = func() (units, inString *jsonl.Set) {
	var all []byte
	for c := range 256 {
		if special[c] != 0 {
			all = append(all, byte(c))
		}
	}
	return jsonl.NewSet(all, nil), jsonl.NewSet(all, []byte(`ntr"`))
}()

// unit returns the length of the escape at the start of b, 0 for none, and the character that
// it stands for, -1 for none.
func unit(b []byte, how spelling) (n int, r rune) {
	switch {
	case how == quotedSpelling:
		return quotedPrintable(b)
	case b[0] == '\\':
		return backslash(b, how)
	case how == jsonSpelling:
		return 0, 0
	case b[0] == '&':
		return entity(b)
	case b[0] == '%':
		return percentRune(b)
	case b[0] == '^':
		if bytes.HasPrefix(b, []byte("^[[")) {
			return terminal(b, 3), -1
		}
		return 0, 0
	case b[0] == 0x1b:
		return terminal(b, 1), -1
	case b[0] < 0x20 || b[0] == 0x7f:
		return 1, -1
	}
	r, n = utf8.DecodeRune(b)
	switch {
	case r == 0x9b:
		return terminal(b, n), -1
	case r == 0x17f: // the long s, which folds to s
		return n, 's'
	case r == 0x212a: // the sign for kelvins
		return n, 'k'
	case invisible(r):
		return n, -1
	}
	return 0, 0
}

// quotedPrintable reads an octet after an equals sign, or the end of a line that continues.
func quotedPrintable(b []byte) (n int, r rune) {
	switch {
	case bytes.HasPrefix(b, []byte("=\n")):
		return 2, -1
	case bytes.HasPrefix(b, []byte("=\r\n")):
		return 3, -1
	case len(b) > 2:
		if c, ok := hexRune(b[1:3]); ok && c < utf8.RuneSelf {
			return 3, c
		}
	}
	return 0, 0
}

// invisible says of a character that it shows nothing: zero width, direction,
// variation, tags.
func invisible(r rune) bool {
	switch {
	case r >= 0x80 && r < 0xa0, r == 0xad, r == 0x34f, r == 0x61c, r == 0x180e, r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfe00 && r <= 0xfe0f,
		r >= 0xe0000 && r <= 0xe01ef:
		return true
	}
	return false
}

func hexRune(b []byte) (rune, bool) {
	if !isHex(b[0]) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b), 16, 32)
	return rune(n), err == nil
}

// percentRune reads a character, each byte of which is spelled after a percent sign, or one such byte.
func percentRune(b []byte) (n int, r rune) {
	for n = 3; n <= min(len(b), 3*utf8.UTFMax); n += 3 {
		text, err := url.PathUnescape(string(b[:n]))
		if err != nil || b[n-3] != '%' {
			break
		}
		if r, size := utf8.DecodeRuneInString(text); r != utf8.RuneError && size == len(text) {
			return n, r
		}
	}
	if len(b) > 2 {
		if c, ok := hexRune(b[1:3]); ok {
			return 3, c
		}
	}
	return 0, 0
}

// backslash reads an escape of JSON, or of the languages and shells that have more
// of them.
func backslash(b []byte, how spelling) (n int, r rune) {
	if len(b) < 2 {
		return 0, 0
	}
	if k := strings.IndexByte(`"\/ntrbf`, b[1]); k >= 0 {
		return 2, rune("\"\\/\n\t\r\b\f"[k])
	}
	if r, ok := jsonHex(b); ok {
		if low, ok := jsonHex(b[6:]); ok && utf16.IsSurrogate(r) {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return 12, pair
			}
		}
		return 6, r
	}
	if how == jsonSpelling {
		return 0, 0
	}
	switch b[1] {
	case '\'', '`':
		return 2, rune(b[1])
	case 'e':
		return 2, 0x1b
	case 'x':
		if len(b) >= 4 {
			if r, ok := hexRune(b[2:4]); ok {
				return 4, r
			}
		}
	case 'u':
		if end := bytes.IndexByte(b[:min(len(b), 12)], '}'); end > 3 && b[2] == '{' {
			if r, ok := hexRune(b[3:end]); ok && r <= utf8.MaxRune {
				return end + 1, r
			}
		}
	case '0', '1', '2', '3':
		if len(b) >= 4 {
			if n, err := strconv.ParseUint(string(b[1:4]), 8, 8); err == nil {
				return 4, rune(n)
			}
		}
	}
	return 0, 0
}

// jsonHex reads the escape of a UTF-16 unit by its number.
func jsonHex(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	return hexRune(b[2:6])
}

// entity reads a reference of HTML. Names need their semicolon, since most text
// with an ampersand in it is no HTML.
func entity(b []byte) (n int, r rune) {
	n = 1
	for n < len(b) && n < 34 && (b[n] == '#' && n == 1 || isAlnum(b[n])) {
		n++
	}
	numeric := n > 2 && b[1] == '#'
	switch {
	case n < len(b) && b[n] == ';':
		n++
	case numeric:
	default:
		return 0, 0
	}
	if numeric { // so long as it is digits
		k := 2
		if b[2]|0x20 == 'x' {
			for k++; k < n && isHex(b[k]); k++ {
			}
		} else {
			k += digits(b[k:n])
		}
		if k < n && b[k] != ';' {
			n = k
		}
	}
	text := html.UnescapeString(string(b[:n]))
	r, size := utf8.DecodeRuneInString(text)
	if size != len(text) || r == '&' && text == string(b[:n]) {
		return 0, 0
	}
	return n, r
}

func isHex(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 6 }

func isAlnum(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 26 }

// terminal is the length of a sequence that a terminal obeys, whose beginning is n
// bytes long.
func terminal(b []byte, n int) int {
	kind := byte('[')
	if b[0] == 0x1b {
		if len(b) < 2 {
			return 1
		}
		if kind, n = b[1], 2; kind >= utf8.RuneSelf {
			return 1
		}
	}
	switch kind {
	case '[':
		for n < len(b) && b[n] >= 0x20 && b[n] < 0x40 {
			n++
		}
		if n < len(b) && b[n] >= 0x40 && b[n] < 0x7f {
			n++
		}
	case ']', 'P', '^', '_':
		for k := n; k < len(b) && k < n+1024; k++ {
			if b[k] == 7 {
				return k + 1
			}
			if b[k] == 0x1b {
				if k+1 < len(b) && b[k+1] == '\\' {
					return k + 2
				}
				return k
			}
		}
	}
	return n
}
