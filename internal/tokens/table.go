package tokens

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// A table is a vocabulary as it lies in the binary: a hash table from the bytes of
// a token to its rank, the place at which training found it. It is used where it
// lies, so nothing has to be unpacked or built before the first look-up, and of its
// memory only the pages that a text needs are ever read.
//
//	header    8 bytes: how many bits of a hash choose the bucket; how many tokens there are, in 3 bytes; 4 bytes 0
//	bases     4 bytes for every 256 buckets: where the first of them begins
//	starts    2 bytes a bucket: where it begins, from its base; one more at the end
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
	noRank       = 1<<32 - 1
	baseBuckets  = 256
	tableHeader  = 8
)

// hash is the hash of a text, of which tables use the upper bits.
func hash(b []byte) uint64 {
	const k0, k1 = 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db
	n := len(b)
	h := uint64(n) * k1
	for len(b) > 8 {
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64(b)^k0, h^k1)
		h, b = hi^lo, b[8:]
	}
	var last uint64
	switch {
	case len(b) == 8:
		last = binary.LittleEndian.Uint64(b)
	case len(b) >= 4:
		last = uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))<<32
	case len(b) > 0:
		last = uint64(b[0]) | uint64(b[len(b)>>1])<<8 | uint64(b[len(b)-1])<<16
	}
	hi, lo := bits.Mul64(last^k0, h^k1)
	return hi ^ lo
}

// rank is the rank of the token that b is, whose hash is h; noRank where b is none.
func (t table) rank(b []byte, h uint64) uint32 {
	bucket := int(h >> (64 - t[0]))
	buckets := 1 << t[0]
	bases := tableHeader
	starts := bases + 4*(buckets/baseBuckets+1)
	at := t.number32(bases+4*(bucket/baseBuckets)) + t.number16(starts+2*bucket)
	end := t.number32(bases+4*((bucket+1)/baseBuckets)) + t.number16(starts+2*(bucket+1))
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

func (t table) number16(at int) int { return int(t[at]) | int(t[at+1])<<8 }

func (t table) number32(at int) int {
	s := t[at : at+4]
	return int(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
}

// tokens are all tokens of the table, by rank.
func (t table) tokens() []string {
	all := make([]string, int(t[1])|int(t[2])<<8|int(t[3])<<16)
	buckets := 1 << t[0]
	for at := tableHeader + 4*(buckets/baseBuckets+1) + 2*(buckets+1); at < len(t); {
		head := int(t[at]) | int(t[at+1])<<8 | int(t[at+2])<<16
		at += 3
		n := head >> rankBits
		if n == longLength {
			n = int(t[at])
			at++
		}
		all[head&(1<<rankBits-1)] = string(t[at : at+n])
		at += n
	}
	return all
}

// PackVocabulary lays the tokens of a vocabulary, by rank, out as a table; gen
// writes its files with it. It refuses what does not fit the form.
func PackVocabulary(list [][]byte) ([]byte, error) {
	if len(list) > 1<<rankBits {
		return nil, errors.New("too many tokens")
	}
	width := max(8, bits.Len(uint(len(list)))-1)
	buckets := make([][]byte, 1<<width)
	for rank, token := range list {
		if len(token) == 0 || len(token) > longestToken {
			return nil, errors.New("a token of no bytes, or of too many")
		}
		k := hash(token) >> (64 - width)
		head := rank | min(len(token), longLength)<<rankBits
		buckets[k] = append(buckets[k], byte(head), byte(head>>8), byte(head>>16))
		if len(token) >= longLength {
			buckets[k] = append(buckets[k], byte(len(token)))
		}
		buckets[k] = append(buckets[k], token...)
	}
	out := []byte{byte(width), byte(len(list)), byte(len(list) >> 8), byte(len(list) >> 16), 0, 0, 0, 0}
	first := len(out) + 4*(len(buckets)/baseBuckets+1) + 2*(len(buckets)+1)
	var bases, starts, entries []byte
	base := 0
	for k := range len(buckets) + 1 {
		at := first + len(entries)
		if k%baseBuckets == 0 {
			base = at
			bases = binary.LittleEndian.AppendUint32(bases, uint32(base))
		}
		if at-base > 1<<16-1 {
			return nil, errors.New("too many bytes between two bases")
		}
		starts = binary.LittleEndian.AppendUint16(starts, uint16(at-base))
		if k < len(buckets) {
			entries = append(entries, buckets[k]...)
		}
	}
	return append(append(append(out, bases...), starts...), entries...), nil
}
