package cache

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"

	"ctxtool/replay/ledger"
)

// A trie holds the prefixes of requests: their fronts (model, hidden prompt, prompt, and
// thinking level) and their messages, which are stored once for all fronts that they follow. A
// node is a prefix; its parent is the prefix without the last piece. First all requests are
// inserted, then their uses are replayed in the order of time.
type trie struct {
	fronts   []node
	byFront  map[uint64]int32
	nodes    []node              // prefixes of messages: those of requests, and those at which requests part
	byEdge   map[edge]int32      // children besides the first of a node
	recorded map[beginning]int64 // the recorded size of the last request that was exactly this prefix

	// The messages are divided into chains. Each chain continues with the child that has the
	// most nodes below it, so every node is only a few chains away from the root.
	head   []int32             // by node, the first node of its chain
	base   []int32             // by head, where its chain begins in order
	length []int32             // by head, the number of its nodes
	order  []int32             // nodes, chain by chain
	uses   map[beginning][]use // by front and head
	depths map[beginning]int32 // by front and head, the depth of the deepest request
}

// A beginning is the prefix of a request: a front, and messages after a complete front, -1 for
// none.
type beginning struct{ front, node int32 }

// noBeginning is the empty prefix.
var noBeginning = beginning{-1, -1}

// A node is a prefix of fronts or of messages.
type node struct {
	parent int32 // -1 for none
	depth  int32 // pieces before its last one
	tokens int32 // counted tokens of all its pieces
	// Of messages, a request that begins with it, and the index in the request's list of the first
	// message that the parent does not have.
	request, from int32
	child         int32 // the first one, -1 for none
}

// An edge leads from a node to the one that continues with a message of that content.
type edge struct {
	node    int32
	content uint64
}

// A use records that a request used a chain down to a depth, and until when the provider caches
// that, in milliseconds since 1970.
type use struct {
	depth   int32
	request int32
	until   int64
}

// forever is the expiry of a cache of unknown lifetime.
const forever = math.MaxInt64

// piecesBefore is the number of pieces before the messages.
const piecesBefore = 3

func newTrie() trie {
	return trie{byFront: map[uint64]int32{}, byEdge: map[edge]int32{}, recorded: map[beginning]int64{}, uses: map[beginning][]use{}, depths: map[beginning]int32{}}
}

// addFront returns the front with that key below parent, adding it if necessary.
func (t *trie) addFront(parent int32, key uint64, tokens int) int32 {
	if n, ok := t.byFront[key]; ok {
		return n
	}
	front := node{parent: parent, tokens: int32(tokens), request: -1, child: -1}
	if parent >= 0 {
		front.depth = t.fronts[parent].depth + 1
	}
	n := int32(len(t.fronts))
	t.fronts = append(t.fronts, front)
	t.byFront[key] = n
	return n
}

// size returns how many messages a prefix has.
func (t *trie) size(n int32) int32 {
	if n < 0 {
		return 0
	}
	return t.nodes[n].depth + 1
}

// add inserts the messages of request k. last is the prefix of the request before it.
func (t *trie) add(l *ledger.Ledger, k int32, inPlace bool, last int32) int32 {
	v, n, size := l.View(k, inPlace), last, int32(0)
	if q := &l.Requests[k]; last >= 0 {
		before := l.View(q.Previous, inPlace)
		size = min(int32(v.Common(&before, int(q.Kept))), t.size(last))
	}
	for n >= 0 && t.size(t.nodes[n].parent) >= size {
		n = t.nodes[n].parent
	}
	at := edgePlace{node: n}
	if t.size(n) > size { // within the edge to n
		at.view = l.View(t.nodes[n].request, inPlace)
		at.index = at.view.Index(int(size))
	}
	for i, m := range v.From(v.Index(int(size))) {
		if t.size(at.node) == size {
			next := t.below(l, at.node, m.Content, inPlace)
			if next.node < 0 {
				return t.append(at.node, k, i, &v, m.Content)
			}
			at = next
		} else if at.content() != m.Content {
			mid := t.split(&at, size, &v, i)
			return t.append(mid, k, i, &v, m.Content)
		}
		size++
		at.index++
	}
	if t.size(at.node) > size {
		return t.split(&at, size, &v, v.End())
	}
	return at.node
}

// below returns the beginning of the edge that leads from a node to a message of that content; its
// node is -1 if there is none.
func (t *trie) below(l *ledger.Ledger, n int32, content uint64, inPlace bool) edgePlace {
	place := func(to int32) edgePlace {
		return edgePlace{to, l.View(t.nodes[to].request, inPlace), int(t.nodes[to].from)}
	}
	if n >= 0 && t.nodes[n].child >= 0 {
		if first := place(t.nodes[n].child); first.content() == content {
			return first
		}
	}
	if to, ok := t.byEdge[edge{n, content}]; ok {
		return place(to)
	}
	return edgePlace{node: -1}
}

// link makes a node the one below a parent that begins with a message of that content. was is the
// node that it takes the place of, -1 for none.
func (t *trie) link(parent int32, content uint64, n, was int32) {
	if parent >= 0 && t.nodes[parent].child == was {
		t.nodes[parent].child = n
		return
	}
	t.byEdge[edge{parent, content}] = n
}

// An edgePlace is a message of the edge to a node, by its index in the list of the node's request.
type edgePlace struct {
	node  int32
	view  ledger.View
	index int
}

// content returns the content of the next message.
func (p *edgePlace) content() uint64 {
	for i, m := range p.view.From(p.index) {
		p.index = i
		return m.Content
	}
	return 0
}

// append adds the rest of request k, from an index of its list on, below a node.
func (t *trie) append(parent, k int32, from int, v *ledger.View, content uint64) int32 {
	all, tokens := v.Total()
	n := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{parent, int32(all) - 1, int32(tokens), k, int32(from), -1})
	t.link(parent, content, n, -1)
	return n
}

// split makes a prefix of that size a node, above the one to whose edge it belongs. The request of
// v has it before an index of its list.
func (t *trie) split(at *edgePlace, size int32, v *ledger.View, i int) int32 {
	if size == 0 {
		return -1
	}
	below := &t.nodes[at.node]
	_, tokens := v.Until(i)
	mid := int32(len(t.nodes))
	first := edgePlace{at.node, at.view, int(below.from)}
	t.link(below.parent, first.content(), mid, at.node)
	next := node{below.parent, size - 1, int32(tokens), below.request, below.from, at.node}
	at.content() // the index becomes that of the message
	below.parent, below.from = mid, int32(at.index)
	t.nodes = append(t.nodes, next)
	return mid
}

// layOut builds the chains.
func (t *trie) layOut() {
	n := len(t.nodes)
	down := make([]int32, n) // parents before their children
	for i := range down {
		down[i] = int32(i)
	}
	slices.SortStableFunc(down, func(a, b int32) int { return cmp.Compare(t.nodes[a].depth, t.nodes[b].depth) })
	below, on := make([]int32, n), slices.Repeat([]int32{-1}, n)
	for _, i := range slices.Backward(down) {
		below[i]++
		if up := t.nodes[i].parent; up >= 0 {
			below[up] += below[i]
		}
	}
	for _, i := range down {
		if up := t.nodes[i].parent; up >= 0 && (on[up] < 0 || below[i] > below[on[up]]) {
			on[up] = i
		}
	}
	t.head, t.base, t.length = make([]int32, n), make([]int32, n), below // its values are no longer needed
	for _, i := range down {
		if up := t.nodes[i].parent; up >= 0 && on[up] == i {
			continue
		}
		t.base[i] = int32(len(t.order))
		for k := i; k >= 0; k = on[k] {
			t.head[k] = i
			t.order = append(t.order, k)
		}
		t.length[i] = int32(len(t.order)) - t.base[i]
	}
}

// chains yields the chains that a prefix passes through, last one first: the part of the prefix
// in each chain, and the chain's key. Each piece of a front is a chain.
func (t *trie) chains(at beginning) iter.Seq2[beginning, beginning] {
	return func(yield func(of, chain beginning) bool) {
		for at.node >= 0 {
			head := t.head[at.node]
			if !yield(at, beginning{at.front, head}) {
				return
			}
			at.node = t.nodes[head].parent
		}
		for ; at.front >= 0; at.front = t.fronts[at.front].parent {
			if !yield(at, at) {
				return
			}
		}
	}
}

// depth returns how many pieces a prefix has before its last one; -1 for noBeginning.
func (t *trie) depth(at beginning) int32 {
	switch {
	case at.node >= 0:
		return piecesBefore + t.nodes[at.node].depth
	case at.front >= 0:
		return t.fronts[at.front].depth
	}
	return -1
}

// use records that a request sent a prefix.
func (t *trie) use(at beginning, u use) {
	for of, chain := range t.chains(at) {
		u.depth = t.depth(of)
		t.uses[chain] = addUse(t.uses[chain], u)
	}
}

// insert adds a request once all chains are laid out, and returns the depth that requests
// inserted earlier share with it.
func (t *trie) insert(at beginning) (known int32) {
	known = -1
	for of, chain := range t.chains(at) {
		depth := t.depth(of)
		had, ok := t.depths[chain]
		if ok && known < 0 {
			known = min(had, depth)
		}
		t.depths[chain] = max(had, depth)
	}
	return known
}

// addUse adds a use. It drops uses that are neither deeper nor last longer, so depths fall and
// times rise.
func addUse(uses []use, u use) []use {
	i := sort.Search(len(uses), func(i int) bool { return uses[i].depth <= u.depth })
	if i > 0 && uses[i-1].until > u.until {
		return uses
	}
	k := i
	for k < len(uses) && uses[k].until <= u.until {
		k++
	}
	return slices.Replace(uses, i, k, u)
}

// kept returns the longest used prefix of at that is still cached at a time, and the request
// that used it last.
func (t *trie) kept(at beginning, time int64) (kept beginning, request int32) {
	for of, chain := range t.chains(at) {
		uses := t.uses[chain]
		i := sort.Search(len(uses), func(i int) bool { return uses[i].until >= time })
		if i == len(uses) {
			continue
		}
		depth := min(uses[i].depth, t.depth(of))
		for i+1 < len(uses) && uses[i+1].depth >= depth {
			i++
		}
		if of.node >= 0 {
			of.node = t.above(of.node, depth-piecesBefore)
		}
		return of, uses[i].request
	}
	return noBeginning, -1
}

// above returns the ancestor of a node at that depth.
func (t *trie) above(n, depth int32) int32 {
	for t.nodes[t.head[n]].depth > depth {
		n = t.nodes[t.head[n]].parent
	}
	head := t.head[n]
	chain := t.order[t.base[head]:][:t.length[head]]
	return chain[sort.Search(len(chain)-1, func(i int) bool { return t.nodes[chain[i]].depth >= depth })]
}

// tokensOf returns the counted tokens of a prefix, 0 for noBeginning.
func (t *trie) tokensOf(at beginning) (n int64) {
	if at.front >= 0 {
		n = int64(t.fronts[at.front].tokens)
	}
	if at.node >= 0 {
		n += int64(t.nodes[at.node].tokens)
	}
	return n
}
