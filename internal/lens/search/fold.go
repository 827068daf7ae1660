package search

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Texts compare as Unicode's canonical caseless matching does, or without the case folding: by a key, the
// canonical decomposition of the full case folding. So ß is ss, ς is σ, and é is e with an accent. The
// rules of Turkish, where i has a dot in both cases, are not used.

// keys maps characters beyond ASCII to their keys if these differ, except for Hangul, with and without folding
// of case.
var keys = map[bool]func() map[rune]string{
	true:  sync.OnceValue(func() map[rune]string { return keysOf(true) }),
	false: sync.OnceValue(func() map[rune]string { return keysOf(false) }),
}

// keyed are the blocks with characters that are not their own key.
var keyed = [][2]rune{{0x80, 0x33ff}, {0xa000, 0xabff}, {0xf900, 0xffef}, {0x10000, 0x1ffff}, {0x2f800, 0x2fa1f}}

func keysOf(fold bool) map[rune]string {
	all, folder := map[rune]string{}, cases.Fold()
	for _, block := range keyed {
		for r := block[0]; r <= block[1]; r++ {
			key := string(r)
			if d := norm.NFD.PropertiesString(key).Decomposition(); d != nil {
				key = string(d)
			}
			if cased := unicode.SimpleFold(r) != r || unicode.IsLower(r) || key != string(r); fold && cased {
				key = norm.NFD.String(folder.String(key))
			}
			if key != string(r) {
				all[r] = key
			}
		}
	}
	return all
}

// isHangul reports whether a character is a syllable of Hangul, whose letters are its key.
func isHangul(r rune) bool { return 0xac00 <= r && r <= 0xd7a3 }

// rareSpellings are the characters beyond ASCII whose keys are ASCII, with case folded.
const rareSpellings = "\u212aſßẞﬀﬁﬂﬃﬄﬅﬆ\u037e\u1fef"

// appendKey appends the key of a text.
func appendKey(dst, text []byte, fold bool) []byte {
	for at := 0; at < len(text); {
		dst, at = appendSegment(dst, text, at, fold)
	}
	return dst
}

// appendSegment appends the key of the segment of a text that begins at an index: a character with the marks
// after it, or a syllable of Hangul. It returns the end of the segment.
func appendSegment(dst, text []byte, at int, fold bool) (key []byte, end int) {
	if c := text[at]; c < utf8.RuneSelf && (at+1 == len(text) || text[at+1] < utf8.RuneSelf) {
		return append(dst, lower(c, fold)), at + 1
	}
	end = at + max(1, norm.NFC.NextBoundary(text[at:], true))
	segment, begin := text[at:end], len(dst)
	if _, n := utf8.DecodeRune(segment); n < len(segment) { // canonical order comes first
		segment = norm.NFD.Bytes(segment)
		defer func() { key = append(key[:begin:begin], norm.NFD.Bytes(key[begin:])...) }()
	}
	for len(segment) > 0 {
		r, n := utf8.DecodeRune(segment)
		switch own := keys[fold]()[r]; {
		case r < utf8.RuneSelf:
			dst = append(dst, lower(byte(r), fold))
		case own != "":
			dst = append(dst, own...)
		case isHangul(r):
			dst = norm.NFD.Append(dst, segment[:n]...)
		default:
			dst = append(dst, segment[:n]...)
		}
		segment = segment[n:]
	}
	return dst, end
}

// lower returns a character of ASCII, with fold as a small letter.
func lower(c byte, fold bool) byte {
	if fold && 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// isASCII reports whether a text has no other characters.
func isASCII[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// A spelling is a part of a key as it is spelled in a text that matches, unless that has one of others, the
// beginnings of other spellings.
type spelling struct {
	text   string
	others []string
}

// spellingOf returns the longest part of a key that has one spelling in composed texts, except for the case
// of ASCII and for an escape of each character or of its slashes; without one, a character with all others
// that stand for it. The text is empty if there is no such part.
func spellingOf(key string, fold bool) (best spelling) {
	var others []string
	rare := func(part string) {
		if !slices.Contains(others, part) {
			others = append(others, part)
		}
	}
	composed := []rune(norm.NFC.String(key))
	bad, begins := make([]bool, len(composed)), make([]int, len(composed)+1) // in the key
	alone := make([]bool, len(composed))                                     // characters beyond ASCII that nothing composes
	alike := make([][]string, len(composed))                                 // other characters that stand for each
	for i, r := range composed {
		parts := norm.NFD.String(string(r))
		begins[i+1] = begins[i] + len(parts)
		marked := r >= utf8.RuneSelf && !norm.NFC.PropertiesString(string(r)).BoundaryBefore()
		if marked && i > 0 {
			bad[i-1], alone[i-1] = true, false // another order of the marks composes another character
		}
		bad[i] = bad[i] || marked || r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError
		alone[i] = r >= utf8.RuneSelf && !bad[i] && parts == string(r)
		for k, part := range parts { // decomposed
			if k > 0 {
				rare(string(part))
			}
		}
	}
	other := func(r rune, as string) {
		if !strings.Contains(key, as) {
			return
		}
		singular := isASCII(as) || norm.NFC.String(string(r)) != string(r)
		for at := strings.Index(key, as); at >= 0; {
			for i := range composed {
				if begins[i] < at+len(as) && at < begins[i+1] && composed[i] != r {
					if singular {
						rare(string(r))
					} else {
						bad[i], alike[i] = true, append(alike[i], string(r))
					}
				}
			}
			next := strings.Index(key[at+1:], as)
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	if isASCII(key) {
		for _, r := range rareSpellings {
			other(r, string(appendKey(nil, []byte(string(r)), fold)))
		}
	} else {
		for r, as := range keys[fold]() {
			other(r, as)
		}
	}
	from := 0
	for i := range composed {
		if bad[i] {
			from = i + 1
		} else if part := string(composed[from : i+1]); len(part) > len(best.text) && len(part) <= longestRun {
			best.text = part
		}
	}
	if best.others = others; best.text != "" {
		return best
	}
	for i, r := range composed { // else one character, in each case
		if alone[i] && (best.text == "" || len(others)+len(alike[i]) < len(best.others)) {
			best = spelling{string(r), slices.Concat(others, alike[i])}
		}
	}
	return best
}

// hasAny reports whether a text has one of some parts.
func hasAny(text []byte, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return bytes.Contains(text, []byte(part)) })
}
