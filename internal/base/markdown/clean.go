package markdown

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// What a byte can mean to the writers of this package.
const (
	space  = 1 << iota // white space, line ends among it
	hex                // a hex digit
	letter             // a letter that is no hex digit
	quiet              // punctuation that matters together with others only
	active             // punctuation that Markdown acts on
	odd                // a control character, or a part of a character beyond ASCII
)

// class says what each byte is.
var class = func() (all [256]uint8) {
	for i := range all {
		switch c := byte(i); {
		case bytes.IndexByte([]byte(" \t\n\r"), c) >= 0:
			all[c] = space
		case isDigit(c), 'a' <= c|0x20 && c|0x20 <= 'f':
			all[c] = hex
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			all[c] = letter
		case bytes.IndexByte([]byte("'()+,-./:;=?^{}!@$%"), c) >= 0:
			all[c] = quiet
		case ' ' < c && c < 0x7f:
			all[c] = active
		default:
			all[c] = odd
		}
	}
	return all
}()

func isSpace(c byte) bool { return class[c] == space }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool { return class[c]&(hex|letter) != 0 }

// shown returns the character of text at i as it is shown, and its size in bytes.
// U+FFFD stands for what a reader would not see or be misled by: control
// characters, marks that change the direction of text, characters without width,
// and bytes that are not UTF-8.
func shown(text []byte, i int) (rune, int) {
	r, size := utf8.DecodeRune(text[i:])
	if (r == 0x200c || r == 0x200d) && joins(text, i) {
		return r, size
	}
	if hidden(r) {
		r = utf8.RuneError
	}
	return r, size
}

// joins reports whether the joiner at i has a purpose: it stands between two
// characters of a script that needs it, or of an emoji.
func joins(text []byte, i int) bool {
	before, _ := utf8.DecodeLastRune(text[:i])
	after, _ := utf8.DecodeRune(text[i+3:])
	return before >= 0x600 && after >= 0x600 && !hidden(before) && !hidden(after) &&
		before != utf8.RuneError && after != utf8.RuneError
}

// hidden reports whether a character is invisible or changes the direction of its surroundings.
func hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160,
		r == 0x17b4, r == 0x17b5, r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f,
		r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0x3164, r >= 0xfe00 && r <= 0xfe0d,
		r == 0xfeff, r == 0xffa0, r >= 0xfff0 && r <= 0xfffb, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 &&
			r <= 0xe0fff:
		return true
	}
	return false
}

// AppendShown appends text in which nothing is hidden: control characters, marks that turn the
// direction of text, characters without width and bytes that are not UTF-8 are U+FFFD. Tabs and
// line feeds stay, and are all that ends a line.
func AppendShown(dst, text []byte) []byte { return appendShown(dst, lineFeeds(text)) }

// appendShown appends text as it is shown. Tabs stay tabs.
func appendShown(dst, text []byte) []byte {
	start := 0
	for i := 0; i < len(text); {
		for i+8 <= len(text) && printable(binary.LittleEndian.Uint64(text[i:])) {
			i += 8
		}
		if i == len(text) {
			break
		}
		c := text[i]
		if class[c] != odd {
			i++
			continue
		}
		r, size := shown(text, i)
		if r == utf8.RuneError {
			dst = append(dst, text[start:i]...)
			dst = utf8.AppendRune(dst, r)
			start = i + size
		}
		i += size
	}
	return append(dst, text[start:]...)
}

// printable tells whether 8 bytes are ASCII characters, no control characters
// among them. The high bit of a byte gets set where it is below 0x20, where it
// is 0x7f, and where it is set; what is carried beyond comes after one of these.
func printable(x uint64) bool {
	const ones = 0x0101010101010101
	return (x|(x-0x20*ones)|(x+ones))&(0x80*ones) == 0
}
