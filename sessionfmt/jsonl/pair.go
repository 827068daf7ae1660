package jsonl

import "encoding/binary"

// A Pair is two bytes to search for. Bits of a mask are ignored: without the bit that distinguishes case, other
// bytes may match too, and 0xff matches any byte.
type Pair struct{ A, B, MaskA, MaskB byte }

// Index returns the index of the first pair in a text, from i on, or the length of the text. A single byte is
// often too frequent to be worth searching for.
func (p Pair) Index(text []byte, i int) int {
	if hasKernel && i+33 <= len(text) {
		i += pairKernel(&text[i], len(text)-i, p)
	}
	const ones, highs, step = 0x0101010101010101, 0x8080808080808080, 8
	ma, mb := ones*uint64(p.MaskA), ones*uint64(p.MaskB)
	a, b := ones*uint64(p.A)|ma, ones*uint64(p.B)|mb
	for ; i+step < len(text); i += step {
		t := text[i : i+step+1 : i+step+1]
		// a byte is 0 where the pair is
		x := (binary.LittleEndian.Uint64(t) | ma) ^ a | (binary.LittleEndian.Uint64(t[1:]) | mb) ^ b
		if (x-ones)&^x&highs == 0 {
			continue
		}
		for k := i; k < i+step; k++ { // after a byte of 0, a byte of 1 also looks like 0
			if p.at(text, k) {
				return k
			}
		}
	}
	for ; i < len(text); i++ {
		if p.at(text, i) {
			return i
		}
	}
	return len(text)
}

// at reports whether the pair is at index i.
func (p Pair) at(text []byte, i int) bool {
	return text[i]|p.MaskA == p.A|p.MaskA && (p.MaskB == 0xff || i+1 < len(text) && text[i+1]|p.MaskB == p.B|p.MaskB)
}
