package tokens

import "encoding/binary"

// joins counts the tokens of a short piece: all its neighbours are visited for
// the lowest rank, as often as there is one. For short pieces nothing is faster.
type joins struct {
	start [shortPiece + 1]uint8  // of each token in the piece, and the piece's end
	rank  [shortPiece + 1]uint32 // of each token joined with the next
}

const shortPiece = 100

func (j *joins) count(r *ranks, piece []byte) int {
	n := len(piece) // tokens now
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

// ranks looks up what two tokens are together. All pairs of bytes have a place of
// their own, filled as they come up: they are most of what is asked for.
type ranks struct {
	table *table
	pairs [1 << 16]uint32 // rank + 1 by the two bytes, 0 where it was not asked for
}

// join is the rank of two tokens as one, noRank where they are none.
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
