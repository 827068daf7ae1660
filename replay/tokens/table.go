package tokens

import (
	"encoding/binary"
	"math/bits"
)

// A table is a vocabulary as it lies in the binary: a hash table from the bytes of
// a token to its rank, the place at which training found it. It is used where it
// lies, so nothing has to be unpacked or built before the first look-up, and of its
// memory only the pages that a text needs are ever read.
//
//	header    1 byte: how many bits of a hash choose the bucket; 3 bytes: how many tokens there are
//	groups    of 256 buckets: 4 bytes where the first of them begins, then 2 bytes a
//	          bucket: where it begins from there; and 2 where the last ends
//	entries   of each bucket one after the other: 3 bytes (the rank in 18 bits, the
//	          length above them, 63 for any from there: then a byte with the
//	          length follows) and the token's bytes
//
// Numbers are little-endian, and positions count from the beginning of the table.
type table string

const (
	longestToken = 255
	rankBits     = 18
	longLength   = 1<<(24-rankBits) - 1
	noRank       = 1 << 31 // above all ranks
	tableHeader  = 4
	groupBuckets = 256
	groupBytes   = 4 + 2*(groupBuckets+1)
)

// hash returns a hash of a text. Tables use its upper bits.
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
func (t table) rank(b []byte, h uint64) uint32 {
	bucket := int(h >> (64 - t[0]&63))
	group := t[tableHeader+bucket/groupBuckets*groupBytes:][:groupBytes]
	base := int(uint32(group[0]) | uint32(group[1])<<8 | uint32(group[2])<<16 | uint32(group[3])<<24)
	bounds := group[4+bucket%groupBuckets*2:][:4]
	at := base + int(uint16(bounds[0])|uint16(bounds[1])<<8)
	end := base + int(uint16(bounds[2])|uint16(bounds[3])<<8)
	for at < end {
		head := uint32(t[at]) | uint32(t[at+1])<<8 | uint32(t[at+2])<<16
		at += 3
		n := int(head >> rankBits)
		if n == longLength {
			n = int(t[at])
			at++
		}
		if n == len(b) && string(t[at:at+n]) == string(b) {
			return head & (1<<rankBits - 1)
		}
		at += n
	}
	return noRank
}
