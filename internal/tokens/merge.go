package tokens

// joins counts the tokens of a short piece: all its neighbours are gone through for
// the lowest rank, as often as there is one. For short pieces nothing is faster.
type joins struct {
	start [shortPiece + 1]uint8  // of each token in the piece, and the piece's end
	rank  [shortPiece + 1]uint32 // of each token joined with the next
}

const shortPiece = 100

func (j *joins) count(t table, piece []byte) int {
	n := len(piece) // tokens now
	for i := range n + 1 {
		j.start[i], j.rank[i] = uint8(i), noRank
	}
	for i := range n - 1 {
		j.rank[i] = t.join(piece[i : i+2])
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
			j.rank[at] = t.join(piece[j.start[at]:j.start[at+2]])
		}
		if at > 0 {
			j.rank[at-1] = t.join(piece[j.start[at-1]:j.start[at+1]])
		}
	}
	return n
}

// join is the rank of two tokens as one, noRank where they are none.
func (t table) join(both []byte) uint32 {
	if len(both) > longestToken {
		return noRank
	}
	return t.rank(both, hash(both))
}
