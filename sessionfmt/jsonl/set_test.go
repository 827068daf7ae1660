package jsonl

import (
	"math/rand/v2"
	"testing"
)

// TestSet compares the ways of finding bytes on random texts, from every index, with a slow one.
func TestSet(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	some := func(n int) (all []byte) {
		for range n {
			all = append(all, byte(r.IntN(256)))
		}
		return all
	}
	for range 3000 {
		of, after := some(r.IntN(24)), some(r.IntN(3))
		of, after = append(of, '\\'), append(after, 'n', '"')
		s := NewSet(of, after)
		text := make([]byte, r.IntN(150))
		letters := append(some(20), '\\', '\\', 'n', '"', of[0], 'a', 'b', 'c')
		rare := 1 + r.IntN(20)
		for i := range text {
			if text[i] = 'x'; r.IntN(rare) == 0 {
				text[i] = letters[r.IntN(len(letters))]
			}
		}
		for i := range text {
			got, want := s.Index(text, i), slowIndex(s, text, i)
			words := got
			if hasKernel {
				withoutKernel(func() { words = s.Index(text, i) })
			}
			if got != want || words != want {
				t.Fatalf("%q in %q from %d: %d with the kernel, %d without, want %d", of, text, i, got, words, want)
			}
		}
	}
}

// slowIndex is Index, a byte at a time.
func slowIndex(s *Set, text []byte, i int) int {
	for start := i; i < len(text); i++ {
		alone := text[i] == '\\' && (i == start || text[i-1] != '\\')
		if s.has[text[i]] != 0 && (!alone || i+1 == len(text) || s.after[text[i+1]] == 0) {
			return i
		}
	}
	return len(text)
}

// TestSetTooLarge: a set that the kernel would get wrong cannot be made.
func TestSetTooLarge(t *testing.T) {
	var after []byte
	for high := range 12 {
		after = append(after, byte(high<<4|high))
	}
	defer func() {
		if recover() == nil {
			t.Error("a set of twelve rows with different bytes was made")
		}
	}()
	NewSet([]byte{'\\'}, after)
}
