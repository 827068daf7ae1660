package tokens

import (
	"encoding/binary"
)

// joins counts the tokens of a short piece: it searches all neighbours for the lowest rank until no two can be
// joined. For short pieces nothing is faster.
type joins struct {
	start [shortPiece + 1]uint8  // rank of each token in the piece; the last entry is the piece's end
	rank  [shortPiece + 1]uint32 // rank of each token joined with the next
}

const shortPiece = 100

func (j *joins) count(r *ranks, piece []byte) int {
	n := len(piece) // current number of tokens
	for i := range n + 1 {
		j.start[i], j.rank[i] = uint8(i), noRank
	}
	for i := range n - 1 {
		j.rank[i] = r.join(piece[i : i+2])
	}
	for n > 1 {
		best, at := uint32(noRank), 0
		for i, rank := range j.rank[:n-1] {
			if rank < best {
				best, at = rank, i
			}
		}
		if best == noRank {
			break
		}
		copy(j.start[at+1:n], j.start[at+2:n+1])
		copy(j.rank[at+1:n-1], j.rank[at+2:n])
		n--
		j.rank[n-1] = noRank
		if at < n-1 {
			j.rank[at] = r.join(piece[j.start[at]:j.start[at+2]])
		}
		if at > 0 {
			j.rank[at-1] = r.join(piece[j.start[at-1]:j.start[at+1]])
		}
	}
	return n
}

// ranks looks up the rank of two joined tokens. Pairs of bytes have their own table, filled on demand: most
// look-ups are for them.
type ranks struct {
	table *table
	pairs [1 << 16]uint32 // rank + 1 by the two bytes; 0 if not looked up yet
}

// join returns the rank of two tokens as one, noRank if they form none.
func (r *ranks) join(both []byte) uint32 {
	if len(both) > 2 {
		if len(both) > longestToken {
			return noRank
		}
		return r.table.rank(both, hash(both))
	}
	pair := &r.pairs[binary.LittleEndian.Uint16(both)]
	if *pair == 0 {
		*pair = r.table.rank(both, hash(both)) + 1
	}
	return *pair - 1
}

// A long piece is counted in windows, each with a heap, so that time is linear in the length
// and memory is bounded by the window. Windows overlap, and are joined where they agree.
//
// The result is exact. Call two adjacent tokens stable if joining their bytes alone gives these
// two. In the tokens of any text all adjacent pairs are stable: as long as nothing is joined
// across the ends of a pair, the order of joins inside is the same with or without the rest of
// the text. Conversely, if all adjacent pairs of a list are stable, the list is the result for
// its bytes: the first join across an end would have had the lowest rank inside that pair too.
// So if two windows have a token in common, the tokens of the first up to it and of the second
// from it on are the tokens of both together.

// What the expressions of both vocabularies share. They are tried in order at the
// end of the last piece, and the first that matches says where the piece ends:
//
//	\p{N}{1,3}                     up to three numbers
//	 ?[^\s\p{L}\p{N}]+[\r\n]*      symbols, the space before and the line ends after
//	                               them; o200k has [\r\n/]* at the end
//	\s*[\r\n]+                     white space up to the last line end in it
//	\s+(?!\S)                      white space; not its last character, if a piece follows that may take it
//	\s+                            that last character, where nothing took it
//
// Of each expression that runs back in the engine it is said here what comes out.
// `\s*` first takes the whole white space and gives back until `[\r\n]` fits: that
// is the last line end, with all before it. `\s+(?!\S)` takes it all as well, gives
// one character back if text follows, and cannot if there is only one: then the
// last expression takes that one.
