package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// This file finds the seeds of wallets that are spelled in words (BIP 39). English words are known, and the last one
// has a checksum: such a phrase is found wherever it stands. Those of other languages are as many words, of which none
// is one of a sentence, near a word such as mnemonic.

// Limits of a phrase, in bytes.
const (
	phraseBefore  = 256 // what is read before a word of one
	phraseAfter   = 320 // and after it
	phraseNear    = 400 // after a word of phraseWords up to the end of a phrase in another language
	longestGap    = 24  // between two of its words
	phraseStride  = 64  // an English phrase has a word at one of these places in a row
	leastDistinct = 8   // different words: examples repeat one
)

// phraseSizes are how many words a phrase has.
var phraseSizes = []int{24, 21, 18, 15, 12}

// A seedList is the list of English words.
type seedList struct {
	index  map[string]int
	begins [1 << 10]uint64 // the hashes of how its words begin
}

var seeds = sync.OnceValue(func() *seedList {
	l := &seedList{index: map[string]int{}}
	for k, word := range strings.Fields(seedWords) {
		l.index[word] = k
		h := hashBegin([]byte(word + " "))
		l.begins[h>>6] |= 1 << (h & 63)
	}
	return l
})

// hashBegin returns a hash of the first four letters of a word, which tell the words apart, or of three and a space.
func hashBegin(word []byte) uint32 { return binary.LittleEndian.Uint32(word) * 0x9e3779b1 >> 16 }

func (l *seedList) has(word []byte) bool {
	_, ok := l.index[string(word)]
	return ok
}

// leastLikely is how many words in a row begin like those of the list before they are looked up.
const leastLikely = 9

// mayPhrase reports whether words around text[at] may be of an English phrase, of which text[at:at+8], small letters
// and spaces, is a part.
func mayPhrase(text []byte, at int) bool {
	const spaces, ones, high = 0x2020202020202020, 0x0101010101010101, 0x8080808080808080
	x := binary.LittleEndian.Uint64(text[at:]) ^ spaces
	x = (x - ones) &^ x & high
	if x == 0 {
		return false
	}
	list := seeds()
	first := at + bits.TrailingZeros64(x)/8 + 1
	n := 0
	for at = first; n < leastLikely && at+4 <= len(text) && list.begin(text[at:]); n++ {
		for at++; at < len(text) && text[at] != ' ' && at-first < longestName; at++ {
		}
		at++
	}
	if n == 0 {
		return false
	}
	for at = first - 1; n < leastLikely && at > 0; n++ {
		for at--; at > 0 && text[at-1] != ' ' && first-at < longestName; at-- {
		}
		if at+4 > len(text) || !list.begin(text[at:]) {
			return false
		}
		at--
	}
	return n == leastLikely
}

// begin reports whether a text of four bytes or more begins like a word of the list.
func (l *seedList) begin(text []byte) bool {
	h := hashBegin(text)
	return l.begins[h>>6]>>(h&63)&1 > 0
}

// phraseAt adds the phrase that has the word at text[at]. It returns up to where it has read, at if there is none.
func (s *Scanner) phraseAt(dst []hit, text []byte, at int) ([]hit, int) {
	if !mayPhrase(text, at) {
		return dst, at
	}
	n, end := len(dst), min(len(text), at+phraseAfter)
	if dst = s.phrases(dst, text, max(0, at-phraseBefore), end, false); len(dst) == n {
		return dst, at
	}
	return dst, dst[len(dst)-1].end
}

// phraseNamed adds the phrases near a word of phraseWords that ends at text[at].
func (s *Scanner) phraseNamed(dst []hit, text []byte, at int) []hit {
	if at < s.phrased {
		return dst
	}
	start, end := max(0, at-phraseBefore), min(len(text), at+phraseNear+phraseAfter)
	s.phrased = min(end, at+phraseNear/2)
	for start < at && !utf8.RuneStart(text[start]) {
		start++
	}
	return s.phrases(dst, text, start, end, true)
}

// phrases adds the phrases in text[from:to]. If they are named, they may be in another language.
func (s *Scanner) phrases(dst []hit, text []byte, from, to int, named bool) []hit {
	s.read += to - from
	text = text[:to]
	words := s.parted[:0]
	last := from // the end of the word before
	for at := from; at < to; {
		r, n := utf8.DecodeRune(text[at:])
		if !unicode.IsLetter(r) {
			at += n
			continue
		}
		end := at
		for end < to && (unicode.IsLetter(r) || unicode.IsMark(r)) {
			end += n
			r, n = utf8.DecodeRune(text[end:])
		}
		if len(words) > 0 && !isPhraseGap(text[last:at]) {
			dst = s.phrase(dst, text, words, named, text[last:at])
			words = words[:0]
		}
		words = append(words, cell{at, end})
		at, last = end, end
	}
	dst = s.phrase(dst, text, words, named, text[last:to])
	s.parted = words[:0]
	return dst
}

// isPhraseGap reports whether only what divides words of a list lies between two words: spaces, line breaks with the
// signs that begin lines, numbers, commas, or the end of a literal and the beginning of the next.
func isPhraseGap(gap []byte) bool {
	if len(gap) > longestGap || len(gap) == 0 {
		return false
	}
	quotes, lines, numbers := 0, 0, 0
	for i, c := range gap {
		switch {
		case isQuote(c):
			quotes++
		case c == '\n':
			lines++
		case c-'0' < 10:
			if numbers++; c == '1' && i > 0 && i+1 < len(gap) && gap[i-1]-'0' >= 10 && gap[i+1]-'0' >= 10 &&
				numbers == 1 {
				return false // the first of a list
			}
		case c == '.' || c == ')':
			if numbers == 0 {
				return false // the end of a sentence
			}
		case strings.IndexByte(" \t\r>|+*#-,\\&_/", c) < 0 && !isIdeographicSpace(gap, i):
			return false
		}
	}
	return quotes != 1 && lines < 2 && (quotes > 0 || !bytes.ContainsAny(gap, "+&_/"))
}

// isIdeographicSpace reports whether gap[i] is a byte of the space that Japanese has.
func isIdeographicSpace(gap []byte, i int) bool {
	return bytes.Contains(gap[max(0, i-2):min(len(gap), i+3)], []byte("\u3000"))
}

// phrase adds the phrase that words are, which gap follows.
func (s *Scanner) phrase(dst []hit, text []byte, words []cell, named bool, gap []byte) []hit {
	if len(words) < phraseSizes[len(phraseSizes)-1] {
		return dst
	}
	add := func(words []cell) []hit {
		start, end := words[0].start, words[len(words)-1].end
		return append(dst, hit{rule: s.r.phrase, start: start, end: end, value: string(text[start:end])})
	}
	list := seeds()
	for k := 0; k < len(words); k++ {
		n := k
		for n < len(words) && list.has(text[words[n].start:words[n].end]) {
			n++
		}
		if run := words[k:n]; n-k >= 12 {
			bounded := named || divides(text, words, k) && divides(text, words, n)
			if bounded && slices.Contains(phraseSizes, n-k) && distinct(text, run) {
				return add(run)
			}
			if some := checked(text, run); some != nil {
				return add(some)
			}
		}
		k = n
	}
	if !named {
		return dst
	}
	if gap = bytes.TrimLeft(gap, " \"'"); len(gap) > 0 && (gap[0] == ':' || gap[0] == '=') {
		words = words[:len(words)-1] // the last word is the name of what follows
	}
	is := func(words []cell) bool {
		return slices.Contains(phraseSizes, len(words)) && distinct(text, words) &&
			!slices.ContainsFunc(words, func(c cell) bool { return !isListWord(text[c.start:c.end]) })
	}
	if is(words) {
		return add(words)
	}
	for from, k := 0, 1; k <= len(words); k++ { // one line of several
		if k == len(words) || bytes.IndexByte(text[words[k-1].end:words[k].start], '\n') >= 0 {
			if is(words[from:k]) {
				return add(words[from:k])
			}
			from = k
		}
	}
	return dst
}

// divides reports whether the words before and after the one of a number are in other lines, literals or sentences.
func divides(text []byte, words []cell, k int) bool {
	return k == 0 || k == len(words) || bytes.ContainsAny(text[words[k-1].end:words[k].start], "\n\"'`")
}

// isListWord reports whether a word may be one of a list of words of any language.
func isListWord(word []byte) bool {
	n := 0
	for _, r := range string(word) {
		if unicode.IsUpper(r) {
			return false
		}
		if !unicode.IsMark(r) && (r < 0x1160 || r > 0x11ff) { // a syllable of Korean may be two letters and more
			n++
		}
	}
	return n <= 9 && (n > 2 || word[0] >= utf8.RuneSelf) && !sentenceWords[string(word)]
}

// distinct reports whether words are different, as those of examples are not.
func distinct(text []byte, words []cell) bool {
	seen := map[string]bool{}
	for _, c := range words {
		seen[string(text[c.start:c.end])] = true
	}
	return len(seen) >= leastDistinct
}

// checked returns the words in a row that are a phrase by its checksum, nil for none: the last bits are those of the
// hash of the others.
func checked(text []byte, words []cell) []cell {
	list := seeds()
	for _, size := range phraseSizes {
		for k := 0; k+size <= len(words) && k < longestGap; k++ {
			some := words[k : k+size]
			sum := new(big.Int)
			for _, c := range some {
				sum.Or(sum.Lsh(sum, 11), big.NewInt(int64(list.index[string(text[c.start:c.end])])))
			}
			n := size / 3 // bits of the checksum
			hash := sha256.Sum256(new(big.Int).Rsh(sum, uint(n)).FillBytes(make([]byte, n*4)))
			if byte(sum.Uint64())<<(8-n) == hash[0]>>(8-n)<<(8-n) && distinct(text, some) {
				return some
			}
		}
	}
	return nil
}
