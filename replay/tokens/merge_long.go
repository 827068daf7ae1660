package tokens

const (
	windowBytes = 1 << 10
	overlap     = 8 // overlap is the fraction of a window that the next one repeats.
)

// A window holds the tokens of a part of a piece, as a list indexed by their first byte, relative to base.
type window struct {
	base  int
	nodes []node   // a token's at its first byte; one more where the last ends
	heap  []uint64 // rank and start of the pairs to join, the lowest first
	tail  []int    // from the previous window: starts of the tokens in the overlap, and their end
}

type node struct {
	prev, next int32
	rank       uint32 // of the token joined with the next
}

// long returns the number of tokens of a long piece, in windows of size bytes.
func (c *pieceCounter) long(piece []byte, size int) (n int) {
	w := &c.window
	first := 0 // start of the tokens that n does not count yet
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

// split counts the tokens that begin at first or later and end at limit or earlier, and keeps the starts of
// later tokens, the first at cut, as the tail.
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
		// otherwise one of the two has been joined with another since
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
