package redact

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Parts finds pieces of values, of at least minPart bytes, that look random.
type parts struct {
	values []string
	rules  []int32
	at     map[uint64]partOf
	filter [1 << 12]uint64 // the hashes of its keys
}

// A partOf is where a piece is in a value.
type partOf struct{ value, offset int32 }

// mostPieces limits the pieces of all values, and longestPart how much of a value has any.
const (
	mostPieces  = 1 << 17
	longestPart = 4096
)

func newParts(values map[string]int32) *parts {
	p := &parts{at: map[uint64]partOf{}}
	for _, v := range slices.Sorted(maps.Keys(values)) {
		p.values, p.rules = append(p.values, v), append(p.rules, values[v])
		for at := 0; at+minPart <= min(len(v), longestPart) && len(p.at) < mostPieces; at++ {
			if m := madeOf([]byte(v[at : at+minPart])); m.odd < 5 || m.letters == 0 {
				continue
			}
			piece := binary.LittleEndian.Uint64([]byte(v[at:]))
			if _, ok := p.at[piece]; !ok {
				p.at[piece] = partOf{int32(len(p.values) - 1), int32(at)}
				h := hashOf(piece)
				p.filter[h>>6] |= 1 << (h & 63)
			}
		}
	}
	return p
}

func hashOf(piece uint64) uint64 { return piece * 0x9e3779b97f4a7c15 >> 46 }

// longestHex is how long a piece is at least of which hex digits are all there is: shorter ones
// occur by chance.
const longestHex = 12

// find adds the pieces in a text.
func (p *parts) find(dst []hit, text []byte) []hit {
	for i := 0; i+minPart <= len(text); i++ {
		piece := binary.LittleEndian.Uint64(text[i:])
		if h := hashOf(piece); p.filter[h>>6]>>(h&63)&1 == 0 {
			continue
		}
		of, ok := p.at[piece]
		if !ok {
			continue
		}
		value := p.values[of.value]
		from, to := int(of.offset), int(of.offset)+minPart
		start, end := i, i+minPart
		for start > 0 && from > 0 && text[start-1] == value[from-1] {
			start, from = start-1, from-1
		}
		for end < len(text) && to < len(value) && text[end] == value[to] {
			end, to = end+1, to+1
		}
		if end-start >= longestHex || slices.ContainsFunc(text[start:end], func(c byte) bool { return !isHex(c) }) {
			dst = append(dst, hit{rule: p.rules[of.value], start: start, end: end, value: value})
		}
		i = end - 1
	}
	return dst
}
