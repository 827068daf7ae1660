package tokens

import (
	"encoding/binary"
)

// joins counts the tokens of a short piece: all its neighbours are visited for
// the lowest rank, as often as there is one. For short pieces nothing is faster.
type joins struct {
	start [shortPiece + 1]uint8  // of each token in the piece, and the piece's end
	rank  [shortPiece + 1]uint32 // of each token joined with the next
}

const shortPiece = 100

func (j *joins) count(r *ranks, piece []byte) int {
	n := len(piece) // tokens now
	for i := range n + 1 {
		j.start[i], j.rank[i] = uint8(i), noRank
	}
	for i := range n - 1 {
		j.rank[i] = r.join(piece[i : i+2])
	}
	for n > 1 {
		best, at := uint32(noRank), 0
		for i, rank := range j.rank[:n-1] {
			if rank < best {
				best, at = rank, i
			}
		}
		if best == noRank {
			break
		}
		copy(j.start[at+1:n], j.start[at+2:n+1])
		copy(j.rank[at+1:n-1], j.rank[at+2:n])
		n--
		j.rank[n-1] = noRank
		if at < n-1 {
			j.rank[at] = r.join(piece[j.start[at]:j.start[at+2]])
		}
		if at > 0 {
			j.rank[at-1] = r.join(piece[j.start[at-1]:j.start[at+1]])
		}
	}
	return n
}

// ranks looks up what two tokens are together. All pairs of bytes have a place of
// their own, filled as they come up: they are most of what is asked for.
type ranks struct {
	table *table
	pairs [1 << 16]uint32 // rank + 1 by the two bytes, 0 where it was not asked for
}

// join is the rank of two tokens as one, noRank where they are none.
func (r *ranks) join(both []byte) uint32 {
	if len(both) > 2 {
		if len(both) > longestToken {
			return noRank
		}
		return r.table.rank(both, hash(both))
	}
	pair := &r.pairs[binary.LittleEndian.Uint16(both)]
	if *pair == 0 {
		*pair = r.table.rank(both, hash(both)) + 1
	}
	return *pair - 1
}

// A long piece is counted in windows, each with a heap, so that time is linear in the length
// and memory is bounded by the window. Windows overlap, and are joined where they agree.
//
// The result is exact. Call two adjacent tokens stable if joining their bytes alone gives these
// two. In the tokens of any text all adjacent pairs are stable: as long as nothing is joined
// across the ends of a pair, the order of joins inside is the same with or without the rest of
// the text. Conversely, if all adjacent pairs of a list are stable, the list is the result for
// its bytes: the first join across an end would have had the lowest rank inside that pair too.
// So if two windows have a token in common, the tokens of the first up to it and of the second
// from it on are the tokens of both together.

const (
	windowBytes = 1 << 10
	overlap     = 8 // windows have one part in so many in common
)

// A window holds the tokens of a part of a piece, as a list indexed by their first byte,
// relative to base.
type window struct {
	base  int
	nodes []node   // a token's at its first byte; one more where the last ends
	heap  []uint64 // rank and begin of the pairs to join, the lowest first
	tail  []int    // of the window before: where the tokens of the overlap begin, and its end
}

type node struct {
	prev, next int32
	rank       uint32 // of the token joined with the next
}

// long returns the number of tokens of a long piece, in windows of size bytes.
func (c *pieceCounter) long(piece []byte, size int) (n int) {
	w := &c.window
	first := 0 // where the tokens begin that are not in n yet
	end := w.join(&c.ranks, piece, 0, size)
	for end < len(piece) {
		base := w.base
		settled, cut := w.split(first, end-size/overlap)
		next := w.join(&c.ranks, piece, cut, size)
		k, at := w.agree()
		if cut <= first || k < 0 { // not known to happen, but not proven impossible
			size *= 2
			end = w.join(&c.ranks, piece, base, size)
			continue
		}
		n += settled + k
		first, end = at, next
	}
	settled, _ := w.split(first, end)
	return n + settled
}

// split counts the tokens that begin at first or later and end at limit or earlier, and keeps
// the start of later tokens, the first at cut, as the tail.
func (w *window) split(first, limit int) (n, cut int) {
	w.tail = w.tail[:0]
	i, last := int32(0), int32(len(w.nodes)-1)
	for ; i < last && w.base+int(w.nodes[i].next) <= limit; i = w.nodes[i].next {
		if w.base+int(i) >= first {
			n++
		}
	}
	cut = w.base + int(i)
	for ; i < last; i = w.nodes[i].next {
		w.tail = append(w.tail, w.base+int(i))
	}
	w.tail = append(w.tail, w.base+int(last))
	return n, cut
}

// agree finds the first token that the tail and the window have in common. k is its index in
// the tail, negative if there is none, and at its offset.
func (w *window) agree() (k, at int) {
	i, last := int32(0), int32(len(w.nodes)-1)
	for k := 0; k < len(w.tail)-1 && i < last; {
		begin := w.base + int(i)
		switch {
		case begin < w.tail[k]:
			i = w.nodes[i].next
		case begin > w.tail[k]:
			k++
		case w.base+int(w.nodes[i].next) == w.tail[k+1]:
			return k, begin
		default:
			i = w.nodes[i].next
			k++
		}
	}
	return -1, 0
}

// join builds the tokens of the size bytes of a piece from base on, and returns where they end.
func (w *window) join(r *ranks, piece []byte, base, size int) (end int) {
	end = min(base+size, len(piece))
	text := piece[base:end]
	n := int32(len(text))
	w.base, w.nodes, w.heap = base, w.nodes[:0], w.heap[:0]
	for i := range n + 1 {
		w.nodes = append(w.nodes, node{i - 1, i + 1, noRank})
	}
	for i := range n - 1 {
		w.offer(i, r.join(text[i:i+2]))
	}
	for len(w.heap) > 0 {
		top := w.pop()
		// else one of the two has been joined with another since
		if i := int32(uint32(top)); w.nodes[i].rank == uint32(top>>32) {
			w.unite(r, text, i)
		}
	}
	return end
}

// unite joins the token at i with the next.
func (w *window) unite(r *ranks, text []byte, i int32) {
	here := &w.nodes[i]
	behind := w.nodes[here.next].next
	w.nodes[here.next].rank = noRank
	here.next = behind
	w.nodes[behind].prev = i
	here.rank = noRank
	if n := int32(len(text)); behind < n {
		w.offer(i, r.join(text[i:w.nodes[behind].next]))
	}
	if p := here.prev; p >= 0 {
		w.nodes[p].rank = noRank
		w.offer(p, r.join(text[p:behind]))
	}
}

// offer adds the pair at i to the heap if it is a token.
func (w *window) offer(i int32, rank uint32) {
	if rank == noRank {
		return
	}
	w.nodes[i].rank = rank
	w.heap = append(w.heap, uint64(rank)<<32|uint64(i))
	h := w.heap
	for k := len(h) - 1; k > 0 && h[k] < h[(k-1)/2]; k = (k - 1) / 2 {
		h[k], h[(k-1)/2] = h[(k-1)/2], h[k]
	}
}

// pop removes the lowest pair from the heap.
func (w *window) pop() uint64 {
	last := len(w.heap) - 1
	top := w.heap[0]
	w.heap[0] = w.heap[last]
	w.heap = w.heap[:last]
	h, k := w.heap, 0
	for {
		child := 2*k + 1
		if child >= len(h) {
			return top
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[k] <= h[child] {
			return top
		}
		h[k], h[child] = h[child], h[k]
		k = child
	}
}

// What the expressions of both vocabularies share. They are tried in order at the
// end of the last piece, and the first that matches says where the piece ends:
//
//	\p{N}{1,3}                     up to three numbers
//	 ?[^\s\p{L}\p{N}]+[\r\n]*      symbols, the space before and the line ends after
//	                               them; o200k has [\r\n/]* at the end
//	\s*[\r\n]+                     white space up to the last line end in it
//	\s+(?!\S)                      white space; not its last character, if a piece follows that may take it
//	\s+                            that last character, where nothing took it
//
// Of each expression that runs back in the engine it is said here what comes out.
// `\s*` first takes the whole white space and gives back until `[\r\n]` fits: that
// is the last line end, with all before it. `\s+(?!\S)` takes it all as well, gives
// one character back if text follows, and cannot if there is only one: then the
// last expression takes that one.

// rest is the end of the piece at i that is not a word. Beyond the line ends that may
// follow symbols, the byte tail may.
func (c *classes) rest(text []byte, i int, tail byte) int {
	k, n := c.at(text, i)
	switch {
	case k == number:
		return c.numbers(text, i)
	case k&blanks == 0:
		return c.symbols(text, i+n, tail)
	case text[i] == ' ' && i+1 < len(text):
		if k, n := c.at(text, i+1); k == symbol || k == mark {
			return c.symbols(text, i+1+n, tail)
		}
	}
	return c.blanks(text, i)
}

func (c *classes) numbers(text []byte, i int) int {
	for range 3 {
		if i == len(text) {
			break
		}
		k, n := c.at(text, i)
		if k != number {
			break
		}
		i += n
	}
	return i
}

// symbols is where symbols end that continue at i, and the line ends after them.
func (c *classes) symbols(text []byte, i int, tail byte) int {
	i = c.run(text, i, symbol|mark)
	for i < len(text) && (text[i] == '\n' || text[i] == '\r' || text[i] == tail) {
		i++
	}
	return i
}

// blanks is where white space that begins at i ends as a piece.
func (c *classes) blanks(text []byte, i int) int {
	begin, last, line := i, i, 0 // line is after the last line end
	for i < len(text) {
		k, n := c.at(text, i)
		if k&blanks == 0 {
			break
		}
		last = i
		i += n
		if k == newline {
			line = i
		}
	}
	switch {
	case line > 0:
		return line
	case i < len(text) && last > begin:
		return last
	}
	return i
}

// contraction is the end of (?i:'s|'t|'re|'ve|'m|'ll|'d) at i, and i where there is
// none. Without regard to case, ſ (U+017F) is an s too; the other letters have no
// more than two forms.
func contraction(text []byte, i int) int {
	rest := text[i:]
	if len(rest) < 2 || rest[0] != '\'' {
		return i
	}
	switch rest[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if len(rest) > 2 && rest[2]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if len(rest) > 2 && rest[2]|0x20 == 'l' {
			return i + 3
		}
	}
	if len(rest) > 2 && rest[1] == 0xc5 && rest[2] == 0xbf {
		return i + 3
	}
	return i
}

// Cut is a place at which a text may be cut and its parts counted one after the
// other, 0 if it has none: after the last line end that an ASCII character follows
// which is no white space and no slash. No piece of any vocabulary continues there, and
// where a piece ends has no say in the next.
func Cut(text []byte) int {
	for i := len(text) - 1; i > 0; i-- {
		if b := text[i]; text[i-1] == '\n' && ' ' < b && b < 0x7f && b != '/' {
			return i
		}
	}
	return 0
}
