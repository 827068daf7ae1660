package tokens

import (
	_ "embed"
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

// A table is a vocabulary: a hash table from the bytes of a token to its rank, the order in which training
// found it. The binary only has the compressed tokens: making the table takes some milliseconds, which only
// programs that count by it spend.
type table struct {
	shift int      // shift of a hash that leaves the slot number
	slots []uint32 // rank + 1, and in the upper bits those of the hash that do not select the slot; 0 for none
	ends  []uint32 // end of each token in texts, by rank
	texts string
}

const (
	longestToken = 255
	rankBits     = 18
	noRank       = 1 << 31 // above all ranks
)

// inflate returns built-in data, decompressed.
func inflate(packed []byte) []byte {
	in, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic("tokens: " + err.Error())
	}
	defer in.Close()
	data, err := in.DecodeAll(packed, nil)
	if err != nil {
		panic("tokens: built-in data: " + err.Error())
	}
	return data
}

// unpack makes a table from the compressed tokens: their number in 4 bytes (low byte first), a byte with the
// length of each by rank, then the bytes of all of them.
func unpack(packed []byte) *table {
	data := inflate(packed)
	n := int(binary.LittleEndian.Uint32(data))
	lengths := data[4:][:n]
	width := bits.Len(uint(n)) + 1 // at most half of the slots are in use
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

// tag returns the part of a hash that slots store.
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
