package tokens

import "sync"

// A Vocabulary counts tokens by byte pair encoding: it splits text into pieces with a regular
// expression, and in each piece joins the two neighbours that form the token of the lowest rank,
// until no two form a token. The text of a special token is ordinary text.
//
// It is safe for concurrent use.
type Vocabulary struct {
	next  func(c *classes, text []byte, i int) (end int) // returns the end of the piece of text that begins at i
	table func() *table
	pool  sync.Pool // pool of *counting
}

// Count returns the number of tokens of text, which must be valid UTF-8.
func (v *Vocabulary) Count(text []byte) int {
	c := v.counting()
	defer v.pool.Put(c)
	return c.text(v.next, text)
}

func (v *Vocabulary) counting() *pieceCounter {
	if c, ok := v.pool.Get().(*pieceCounter); ok {
		return c
	}
	return &pieceCounter{ranks: ranks{table: v.table()}, classes: loadClasses()}
}

// A pieceCounter counts for one goroutine. It caches pieces, since texts repeat their words and the table is
// slower.
type pieceCounter struct {
	ranks   ranks
	classes *classes
	short   [shortKnown]uint64
	known   [longKnown]known
	joins   joins
	window  window
}

// text returns the number of tokens of a text.
func (c *pieceCounter) text(next func(c *classes, text []byte, i int) int, text []byte) (n int) {
	for i := 0; i < len(text); {
		end := next(c.classes, text, i)
		n += c.piece(text[i:end])
		i = end
	}
	return n
}

// A piece of up to 7 bytes is cached as a number: its bytes, a 1 after the last, and its tokens in the upper 7
// bits. A longer piece is cached as known.
type known struct {
	piece  [30]byte
	length uint8
	count  uint8
}

const (
	shortBits  = 14
	shortKnown = 1 << shortBits
	longKnown  = 1 << 14
	countShift = 57
)

// piece returns the number of tokens of a piece.
func (c *pieceCounter) piece(piece []byte) int {
	n := len(piece)
	if n > 7 {
		return c.longer(piece)
	}
	key := word(piece) | 1<<(8*n&63)
	k := &c.short[key*0x9e3779b97f4a7c15>>(64-shortBits)]
	if *k&(1<<countShift-1) != key {
		*k = key | uint64(c.count(piece, hash(piece)))<<countShift
	}
	return int(*k >> countShift)
}

func (c *pieceCounter) longer(piece []byte) int {
	h := hash(piece)
	if len(piece) > len(known{}.piece) {
		return c.count(piece, h)
	}
	k := &c.known[h%longKnown]
	if int(k.length) != len(piece) || string(k.piece[:len(piece)]) != string(piece) {
		k.length, k.count = uint8(len(piece)), uint8(c.count(piece, h))
		copy(k.piece[:], piece)
	}
	return int(k.count)
}

// count counts a piece that is not cached. A piece that is a token counts as one even if joining its bytes gave
// another result, as in the reference.
func (c *pieceCounter) count(piece []byte, h uint64) int {
	if len(piece) <= longestToken && c.ranks.table.rank(piece, h) != noRank {
		return 1
	}
	if len(piece) <= shortPiece {
		return c.joins.count(&c.ranks, piece)
	}
	return c.long(piece, windowBytes)
}
