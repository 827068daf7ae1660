package dialect

import "hash/maphash"

// chunkSize is how many elements of [Chunks] are allocated at a time.
const chunkSize = 512

// Chunks is a list that grows without copying its elements.
type Chunks[T any] struct {
	chunks [][]T
	n      int32
}

// Len is the number of elements.
func (c *Chunks[T]) Len() int32 { return c.n }

// At is an element.
func (c *Chunks[T]) At(k int32) *T { return &c.chunks[k/chunkSize][k%chunkSize] }

// Add appends an element and returns its index.
func (c *Chunks[T]) Add(one T) int32 {
	if c.n%chunkSize == 0 {
		c.chunks = append(c.chunks, make([]T, 0, chunkSize))
	}
	last := &c.chunks[c.n/chunkSize]
	*last = append(*last, one)
	c.n++
	return c.n - 1
}

var seed = maphash.MakeSeed()

// Key returns a hash of an id, by which records are known without a text of each in memory. It is
// another one in each run.
func Key[T string | []byte](id T) uint64 { return maphash.Bytes(seed, []byte(id)) }
