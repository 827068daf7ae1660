package compact

import "ctxtool/sessionfmt/jsonl"

// A tally is the number of messages and their tokens.
type tally struct {
	messages, size int
	kind           jsonl.Kind // of one message
}

// Tallies sums the sizes of messages in order while any of them may change: a binary indexed tree.
type tallies []tally

// plus adds to the tally of message i, which may be the next one.
func (t *tallies) plus(i int, d tally) {
	if i == len(*t) {
		had, from := t.of(i), t.of(i&(i+1))
		*t = append(*t, tally{messages: had.messages - from.messages, size: had.size - from.size})
	}
	for ; i < len(*t); i |= i + 1 {
		(*t)[i].messages += d.messages
		(*t)[i].size += d.size
	}
}

// of returns the sum of the messages before one.
func (t *tallies) of(i int) (sum tally) {
	for ; i > 0; i &= i - 1 {
		sum.messages += (*t)[i-1].messages
		sum.size += (*t)[i-1].size
	}
	return sum
}
