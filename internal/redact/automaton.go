package redact

// An automaton finds words of many kinds in one pass, whatever the case of their
// ASCII letters: the construction of Aho and Corasick, with every step in a table.
type automaton struct {
	class  [256]uint8 // of a byte: those that no word has are 0, and both cases are one
	stride int
	next   []uint32  // state + class: the state after it; states are multiples of stride
	first  uint32    // from here on, states at which a word ends
	ends   [][]int32 // by (state-first)/stride: the words that end there
}

// newAutomaton makes the automaton of words, none of them empty.
func newAutomaton(words []string) *automaton {
	a := &automaton{stride: 1}
	for _, w := range words {
		for i := range len(w) {
			if c := lower(w[i]); a.class[c] == 0 && a.stride < 256 {
				a.class[c] = uint8(a.stride)
				a.stride++
			}
		}
	}
	for c := 'A'; c <= 'Z'; c++ {
		a.class[c] = a.class[c|0x20]
	}
	children := [][]int32{make([]int32, a.stride)}
	ends := [][]int32{nil}
	for k, w := range words {
		at := int32(0)
		for i := range len(w) {
			c := a.class[w[i]]
			if children[at][c] == 0 {
				children[at][c] = int32(len(children))
				children = append(children, make([]int32, a.stride))
				ends = append(ends, nil)
			}
			at = children[at][c]
		}
		ends[at] = append(ends[at], int32(k))
	}
	a.link(children, ends)
	return a
}

// link fills in where each state goes on when its own words do not, and numbers the
// states so that those at which a word ends come last.
func (a *automaton) link(children, ends [][]int32) {
	fail := make([]int32, len(children))
	queue := []int32{0}
	for k := 0; k < len(queue); k++ {
		at := queue[k]
		for c, to := range children[at] {
			back := int32(0)
			if at != 0 {
				back = children[fail[at]][c]
			}
			if to == 0 {
				children[at][c] = back
				continue
			}
			fail[to] = back
			ends[to] = append(ends[to], ends[back]...)
			queue = append(queue, to)
		}
	}
	number := make([]uint32, len(children))
	n := uint32(0)
	for _, wanted := range []bool{false, true} {
		if wanted {
			a.first = n
		}
		for at := range children {
			if (len(ends[at]) > 0) == wanted {
				number[at] = n
				n += uint32(a.stride)
				if wanted {
					a.ends = append(a.ends, ends[at])
				}
			}
		}
	}
	a.next = make([]uint32, n)
	for at, to := range children {
		for c, t := range to {
			a.next[number[at]+uint32(c)] = number[t]
		}
	}
}

// each tells found which words end where in text: behind byte end.
func (a *automaton) each(text []byte, found func(word int32, end int)) {
	s := uint32(0)
	next, class, first := a.next, &a.class, a.first
	for i, c := range text {
		if s = next[s+uint32(class[c])]; s >= first {
			for _, w := range a.ends[(s-first)/uint32(a.stride)] {
				found(w, i+1)
			}
		}
	}
}

func lower(c byte) byte {
	if c-'A' < 26 {
		return c | 0x20
	}
	return c
}

// lowerASCII is s with its ASCII letters in lower case.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}
