package jsonl

import (
	"math/rand/v2"
	"testing"
)

// TestPair compares the ways of finding a pair on random texts of few letters, from every index.
func TestPair(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		text := make([]byte, r.IntN(120))
		for i := range text {
			text[i] = "aaaaaaaaaaaabcB\x01\xe1"[r.IntN(17)]
		}
		for _, p := range []Pair{{A: 'a', B: 'b'}, {A: 'b', B: 'c'}, {A: 'a', B: 'b', MaskA: 0x20, MaskB: 0x20}, {A: 'c', MaskB: 0xff}} {
			want := len(text)
			for i := len(text); i >= 0; i-- {
				if i < len(text) && p.at(text, i) {
					want = i
				}
				got := p.Index(text, i)
				if words := 0; hasKernel {
					withoutKernel(func() { words = p.Index(text, i) })
					if words != want {
						t.Fatalf("%q %v from %d: words %d, want %d", text, p, i, words, want)
					}
				}
				if got != want {
					t.Fatalf("%q %v from %d: %d, want %d", text, p, i, got, want)
				}
			}
		}
	}
}
