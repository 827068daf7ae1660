package models

import (
	"hash/maphash"
	"sync"

	"ctxtool/sessionfmt/jsonl"
)

// callSeed is the seed of all keys in a process, shared by workers.
var callSeed = sync.OnceValue(maphash.MakeSeed)

// CallKey identifies a call of a model by 64 bits: by the provider's response id, or without one by
// the entry's id and time and its usage, byte for byte. Forks, clones, imports and copies preserve
// all of these. It uses and returns the memory of buf.
func CallKey(buf []byte, response, id, stamp, usage jsonl.Value) (uint64, []byte) {
	buf = buf[:0]
	if len(response) > len(`""`) && response.IsString() {
		buf = append(append(buf, 'r'), response...)
	} else {
		buf = append(append(buf, 'e'), id...)
		buf = append(append(buf, 0), stamp...)
		buf = append(append(buf, 0), usage...)
	}
	return maphash.Bytes(callSeed(), buf), buf
}
