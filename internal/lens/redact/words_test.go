package redact

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestWordsSpelled: no word that is searched has a character that JSON escapes, or the search of strings as they are
// spelled would miss it.
func TestWordsSpelled(t *testing.T) {
	for _, w := range mustNew(Options{}).builtinWords().words {
		if strings.ContainsAny(w, "\"\\\n\r\t\x7f") {
			t.Errorf("%q has a character that JSON escapes", w)
		}
	}
}

// TestAutomaton compares the words that are found in random texts with those that a slow search finds: of many
// bytes, so that some share a class, and of few.
func TestAutomaton(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		letters := 2 + rnd.IntN(200)
		text := func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte('!' + rnd.IntN(letters))
			}
			return string(b)
		}
		var words []string
		for range 1 + rnd.IntN(60) {
			words = append(words, text(1+rnd.IntN(4)))
		}
		a, in := newAutomaton(words), []byte(text(rnd.IntN(300)))
		var got, want []spot
		a.each(in, func(word int32, end int) { got = append(got, spot{word, int32(end)}) })
		for k, w := range words {
			for i := range in {
				if hasFolded(in[i:], lowerASCII(w)) {
					want = append(want, spot{int32(k), int32(i + len(w))})
				}
			}
		}
		var line lineWords
		line.add(a, in, 0, len(in))
		if !slices.IsSortedFunc(line.all, func(a, b spot) int { return int(a.end - b.end) }) {
			t.Fatalf("the words of %q are not in order", in)
		}
		order := func(a, b spot) int { return int(a.end-b.end)<<16 + int(a.word-b.word) }
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if !slices.Equal(got, want) || len(line.all) != len(want) {
			t.Fatalf("%q in %q: found %v, want %v", words, in, got, want)
		}
	}
}
