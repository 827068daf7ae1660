package redact

// A vocabulary maps few words to values. It is a table of pointers to what has the same hash: a lookup compares one or
// two words, where a map would read all of the word for its hash first.
type vocabulary[V any] struct {
	first [vocabularySize]int16 // by hash: index of an entry plus 1, 0 for none
	all   []vocabularyEntry[V]
}

type vocabularyEntry[V any] struct {
	word  string
	next  int16 // as first
	value V
}

const vocabularySize = 1024

func newVocabulary[V any](words map[string]V) *vocabulary[V] {
	v := &vocabulary[V]{}
	for word, value := range words {
		at := &v.first[vocabularyHash([]byte(word))]
		v.all = append(v.all, vocabularyEntry[V]{word, *at, value})
		*at = int16(len(v.all))
	}
	return v
}

// vocabularyHash hashes the length of a word and three of its bytes.
func vocabularyHash(word []byte) uint32 {
	n := len(word)
	if n == 0 {
		return 0
	}
	h := uint32(n) + uint32(word[0])<<8 + uint32(word[n/2])<<16 + uint32(word[n-1])<<24
	return h * 0x9e3779b1 >> 22
}

// get returns the value of a word, and whether it has one.
func (v *vocabulary[V]) get(word []byte) (value V, ok bool) {
	for k := v.first[vocabularyHash(word)]; k > 0; k = v.all[k-1].next {
		if e := &v.all[k-1]; string(word) == e.word {
			return e.value, true
		}
	}
	return value, false
}
