package jsonl

import "math/bits"

// A Set finds the first byte of a set in a text. It can ignore backslashes that certain bytes follow: most
// escapes in a JSON string are line ends and quotes.
type Set struct {
	has       [256]uint8 // 1 for the bytes of the set
	after     [256]uint8 // 1 for the bytes after which a single backslash is not a hit
	in, plain nibbles    // the same for the kernel
}

// nibbles encodes a set of bytes for the kernel: a byte is in it if the entries of its low and high four bits
// share a bit.
type nibbles struct{ low, high [16]byte }

// NewSet returns the set of some bytes, ignoring single backslashes before one of the bytes in after. It panics
// if after has more bytes than the kernel can tell apart, since Index could not find what the kernel skips.
func NewSet(of, after []byte) *Set {
	s := &Set{}
	for _, c := range of {
		s.has[c] = 1
	}
	for _, c := range after {
		s.after[c] = 1
	}
	s.in, s.plain = nibblesOf(&s.has), nibblesOf(&s.after)
	for c, is := range s.after {
		if s.plain.low[c&15]&s.plain.high[c>>4] != 0 && is == 0 {
			panic("jsonl: NewSet: too many bytes after a backslash")
		}
	}
	return s
}

// nibblesOf gives a bit to each group of high halves with the same low halves. There are eight bits: if there
// are more groups, it joins the most similar ones. The kernel then stops at bytes outside the set, which Index
// drops.
func nibblesOf(has *[256]uint8) (n nibbles) {
	var lows, highs []uint16 // by group: its high and low halves
	for high := range 16 {
		low := uint16(0)
		for k := range 16 {
			low |= uint16(has[high<<4|k]) << k
		}
		lows, highs = append(lows, low), append(highs, 1<<high)
	}
	for len(lows) > 9 { // halves that no byte has get no bit
		a, b, best := 0, 0, 17*17
		for i := range lows {
			for j := range i {
				more := bits.OnesCount16(lows[i]^lows[j]) * bits.OnesCount16(highs[i]|highs[j])
				if lows[i] != lows[j] && (lows[i] == 0 || lows[j] == 0) {
					continue
				}
				if more < best {
					a, b, best = j, i, more
				}
			}
		}
		lows[a], highs[a] = lows[a]|lows[b], highs[a]|highs[b]
		lows, highs = append(lows[:b], lows[b+1:]...), append(highs[:b], highs[b+1:]...)
	}
	bit := byte(1)
	for g, low := range lows {
		if low == 0 {
			continue
		}
		for k := range 16 {
			n.low[k] |= bit * byte(low>>k&1)
			n.high[k] |= bit * byte(highs[g]>>k&1)
		}
		bit <<= 1
	}
	return n
}

// Index returns the index of the first byte of the set in a text, from i on, or the length of the text.
func (s *Set) Index(text []byte, i int) int {
	for start := i; ; i++ {
		if hasKernel && i+33 <= len(text) {
			i += setKernel(&text[i], len(text)-i, &s.in, &s.plain)
		}
		for ; i+8 <= len(text); i += 8 { // without a branch per byte
			b := text[i : i+8 : i+8]
			if s.has[b[0]]|s.has[b[1]]|s.has[b[2]]|s.has[b[3]]|s.has[b[4]]|s.has[b[5]]|s.has[b[6]]|s.has[b[7]] != 0 {
				break
			}
		}
		for i < len(text) && s.has[text[i]] == 0 {
			i++
		}
		single := func() bool { return text[i] == '\\' && (i == start || text[i-1] != '\\') }
		if i >= len(text) || !single() || i+1 == len(text) || s.after[text[i+1]] == 0 {
			return min(i, len(text))
		}
	}
}
