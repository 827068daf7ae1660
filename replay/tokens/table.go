package tokens

import (
	_ "embed"
	"encoding/binary"
	"math/bits"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// A table is a vocabulary: a hash table from the bytes of a token to its rank, the place at which
// training found it. In the binary there are the tokens alone, compressed: making the table takes some
// milliseconds, and only a program that counts by it has to.
type table struct {
	shift int      // of a hash, that leaves the number of a slot
	slots []uint32 // rank + 1, and in the upper bits those of the hash that choose no slot; 0 for none
	ends  []uint32 // where the token of a rank ends in texts
	texts string
}

const (
	longestToken = 255
	rankBits     = 18
	noRank       = 1 << 31 // above all ranks
)

// unpack makes a table from the compressed tokens: their number in 4 bytes, the lowest first, a byte
// with the length of each by rank, and the bytes of all of them.
func unpack(packed []byte) *table {
	in, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic("tokens: " + err.Error())
	}
	defer in.Close()
	data, err := in.DecodeAll(packed, nil)
	if err != nil {
		panic("tokens: built-in vocabulary: " + err.Error())
	}
	n := int(binary.LittleEndian.Uint32(data))
	lengths := data[4:][:n]
	width := bits.Len(uint(n)) + 1 // at most half of the slots are full
	t := &table{shift: 64 - width, slots: make([]uint32, 1<<width), ends: make([]uint32, n), texts: string(data[4+n:])}
	end := 0
	for rank, length := range lengths {
		begin := end
		end += int(length)
		t.ends[rank] = uint32(end)
		h := hash(data[4+n+begin:][:length])
		at := t.slot(h)
		for t.slots[at] != 0 {
			at = (at + 1) & (len(t.slots) - 1)
		}
		t.slots[at] = tag(h) | uint32(rank+1)
	}
	return t
}

// slot returns the slot at which the search for a hash begins.
func (t *table) slot(h uint64) int { return int(h >> (t.shift & 63)) }

// tag returns what slots have of a hash.
func tag(h uint64) uint32 { return uint32(h) << (rankBits + 1) }

// hash returns a hash of a text. Tables use its upper bits for slots, and its lower ones as a tag.
func hash(b []byte) uint64 {
	const k0, k1 = 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db
	h := uint64(len(b)) * k1
	for len(b) >= 8 {
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64(b)^k0, h^k1)
		h, b = hi^lo, b[8:]
	}
	hi, lo := bits.Mul64(word(b)^k0, h^k1)
	return hi ^ lo
}

// word returns up to 8 bytes as a number.
func word(b []byte) uint64 {
	n := len(b)
	if n >= 4 {
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*(n-4)&63)
	}
	if n == 0 {
		return 0
	}
	return uint64(b[0]) | uint64(b[n>>1])<<(8*(n>>1)&63) | uint64(b[n-1])<<(8*(n-1)&63)
}

// rank returns the rank of the token b with hash h, noRank if b is not a token.
func (t *table) rank(b []byte, h uint64) uint32 {
	for at := t.slot(h); t.slots[at] != 0; at = (at + 1) & (len(t.slots) - 1) {
		if (t.slots[at]^tag(h))>>(rankBits+1) != 0 {
			continue
		}
		rank := t.slots[at]&(1<<(rankBits+1)-1) - 1
		if t.token(rank) == string(b) {
			return rank
		}
	}
	return noRank
}

// token returns the token of a rank.
func (t *table) token(rank uint32) string {
	begin := uint32(0)
	if rank > 0 {
		begin = t.ends[rank-1]
	}
	return t.texts[begin:t.ends[rank]]
}

// A class is what the expressions that cut texts into pieces ask of a character, and
// a set of classes: one bit each. They are those of Unicode 16.0, which the
// reference's regex engine has (regex-syntax 0.8.5); Go's own tables are older.
type class uint8

const (
	symbol  class = 1 << iota // anything else: punctuation, emoji, what is not assigned
	upper                     // Lu, Lt
	lower                     // Ll
	uncased                   // Lm, Lo: letters that go with upper and with lower ones
	mark                      // M
	number                    // N
	space                     // White_Space, but for the next
	newline                   // CR, LF

	letters = upper | lower | uncased
	blanks  = space | newline
)

// classData has a byte for every 256 characters: the number of their block. The
// blocks follow, a byte a character. Block 0 is that of the first 256 characters.
//
//go:embed classes.bin
var classData string

const classBlocks = (utf8.MaxRune + 1) / 256

// classes looks classes up. Those of characters of one byte lie apart, where they
// stay close at hand; bytes of longer ones have none there.
type classes struct {
	ascii [256]class
}

var loadClasses = sync.OnceValue(func() *classes {
	c := &classes{}
	for b := range utf8.RuneSelf {
		c.ascii[b] = class(classData[classBlocks+b])
	}
	return c
})

// at is the class of the character of text that begins at i, and its length in
// bytes.
func (c *classes) at(text []byte, i int) (class, int) {
	if k := c.ascii[text[i]]; k != 0 {
		return k, 1
	}
	return wide(text[i:])
}

//go:noinline
func wide(text []byte) (class, int) {
	r, n := utf8.DecodeRune(text)
	return classOf(r), n
}

func classOf(r rune) class {
	block := int(classData[r>>8])
	return class(classData[classBlocks+block<<8+int(r&0xff)])
}

// run is the end of the run of characters of these classes that begins at i.
func (c *classes) run(text []byte, i int, set class) int {
	for i < len(text) {
		if c.ascii[text[i]]&set != 0 {
			i++
			continue
		}
		if text[i] < utf8.RuneSelf {
			break
		}
		k, n := wide(text[i:])
		if k&set == 0 {
			break
		}
		i += n
	}
	return i
}

// A Vocabulary counts tokens by byte pair encoding: it splits text into pieces with a regular
// expression, and in each piece joins the two neighbours that form the token of the lowest rank,
// until no two form a token. The text of a special token is ordinary text.
//
// It is safe for concurrent use.
type Vocabulary struct {
	next  func(c *classes, text []byte, i int) (end int) // of the piece that begins at i
	table func() *table
	pool  sync.Pool // of *counting
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

// A pieceCounter counts for one goroutine. It remembers pieces, since texts repeat their words
// and the table is slower.
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

// A piece of up to 7 bytes is remembered as a number: its bytes, a 1 after the last, and its
// tokens in the upper 7 bits. A longer piece is remembered as known.
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

// count counts a piece that is not remembered. A piece that is a token counts as one even if
// joining its bytes gave another result, as in the reference.
func (c *pieceCounter) count(piece []byte, h uint64) int {
	if len(piece) <= longestToken && c.ranks.table.rank(piece, h) != noRank {
		return 1
	}
	if len(piece) <= shortPiece {
		return c.joins.count(&c.ranks, piece)
	}
	return c.long(piece, windowBytes)
}
