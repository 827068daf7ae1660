package stats

import (
	"hash/maphash"
	"math/bits"
	"sync"
)

// A call is what a record says that a model used and cost.
type call struct {
	key     uint64 // the same for copies of a call, see callKey
	dollars float64
	input, output,
	cacheRead, cacheWrite int64 // tokens
	row     int32 // in the part
	kind    callKind
	pricing pricing
}

// calls is a list of calls in pieces, so that it grows without being copied.
type calls struct {
	pieces [][]call
	n      int
}

// firstPiece and lastPiece are how many calls a list's pieces hold.
const (
	firstPiece = 32
	lastPiece  = 1024
)

func (l *calls) add(c call) {
	k := len(l.pieces) - 1
	if k < 0 || len(l.pieces[k]) == cap(l.pieces[k]) {
		size := firstPiece
		if k >= 0 {
			size = min(2*cap(l.pieces[k]), lastPiece)
		}
		l.pieces = append(l.pieces, make([]call, 0, size))
		k++
	}
	l.pieces[k] = append(l.pieces[k], c)
	l.n++
}

// all goes through the list. The nil list is empty.
func (l *calls) all(yield func(*call) bool) {
	if l == nil {
		return
	}
	for _, piece := range l.pieces {
		for i := range piece {
			if !yield(&piece[i]) {
				return
			}
		}
	}
}

// callSeed is that of all keys of a process, which several workers make.
var callSeed = sync.OnceValue(maphash.MakeSeed)

// callKey tells calls apart by 64 bits: by the provider's id of the response, or
// where there is none by the entry's id and time and its usage, to the letter.
// Forks, clones, imports and copies take all of these over. The memory of buf is
// used, and returned.
func callKey(buf []byte, f *callRecord) (uint64, []byte) {
	buf = buf[:0]
	if len(f.ResponseID) > len(`""`) && f.ResponseID.IsString() {
		buf = append(append(buf, 'r'), f.ResponseID...)
	} else {
		buf = append(append(buf, 'e'), f.ID...)
		buf = append(append(buf, 0), f.Time...)
		buf = append(append(buf, 0), f.Usage...)
	}
	return maphash.Bytes(callSeed(), buf), buf
}

// onceOnly is a set of keys: a table with open addressing, 9 to 16 bytes a key.
type onceOnly struct {
	slots []uint64 // 0 is free
	n     int
}

// newOnceOnly makes a set with room for n keys.
func newOnceOnly(n int) *onceOnly { return &onceOnly{slots: make([]uint64, max(64, n+n/4))} }

// first adds a key, and says whether it was not there.
func (o *onceOnly) first(key uint64) bool {
	if o.n >= len(o.slots)-len(o.slots)/8 {
		old := o.slots
		o.slots, o.n = make([]uint64, len(old)+len(old)/2), 0
		for _, k := range old {
			if k != 0 {
				o.first(k)
			}
		}
	}
	key = max(key, 1)
	at, _ := bits.Mul64(key, uint64(len(o.slots)))
	for o.slots[at] != 0 {
		if o.slots[at] == key {
			return false
		}
		if at++; at == uint64(len(o.slots)) {
			at = 0
		}
	}
	o.slots[at] = key
	o.n++
	return true
}
