package replay

import (
	"math"
	"slices"
	"sort"
)

// A cacheTrie holds what requests began with, each beginning once: a node is a
// beginning, its parent the one that is shorter by one piece. The first pieces of a
// request are what every request of its model begins with, its prompt, and its
// thinking level; then come its messages. First all requests are put in, then their
// uses are gone through in the order of time.
type cacheTrie struct {
	byKey map[uint64]int32
	nodes []cacheNode

	// The trie is laid out in chains, each of which goes on where most nodes are: so
	// whatever the node, it is few chains from the root.
	head  []int32 // of each node, the first of its chain
	base  []int32 // of each head, where its chain begins in order
	order []int32 // nodes, chain by chain
	uses  map[int32][]cacheUse
}

// A cacheNode is a beginning of requests.
type cacheNode struct {
	parent int32 // -1 for none
	depth  int32 // pieces before it
	tokens int32 // counted, all pieces up to it
	piece  piece // the last one
	// recorded is what a provider counted for the last request that was just this
	// beginning, 0 where none has said.
	recorded int64
}

// A piece is what a message is known by: the entry that it comes from, and what put
// it there.
type piece struct {
	rec, edit, op int32
	start         uint32 // where it stands in the line
}

// A cacheUse is a request that has used a chain down to a depth, and until when the
// provider keeps that, in milliseconds.
type cacheUse struct {
	depth   int32
	request int32
	until   int64
}

// forever is when a cache ends of which nobody knows how long it lives.
const forever = math.MaxInt64

// piecesBefore is how many pieces stand before the messages.
const piecesBefore = 3

// add is the node behind parent of that key, made where there is none.
func (t *cacheTrie) add(parent int32, key uint64, tokens int, p piece) int32 {
	if n, ok := t.byKey[key]; ok {
		return n
	}
	node := cacheNode{parent: parent, tokens: int32(tokens), piece: p}
	if parent >= 0 {
		node.depth = t.nodes[parent].depth + 1
	}
	n := int32(len(t.nodes))
	t.nodes = append(t.nodes, node)
	t.byKey[key] = n
	return n
}

// addAll puts in a request's messages behind a node. What is there already is found
// by halves: a beginning is there where a longer one is.
func (t *cacheTrie) addAll(root int32, salt uint64, sums []sum) int32 {
	known := sort.Search(len(sums), func(i int) bool {
		_, ok := t.byKey[sums[i].all^salt]
		return !ok
	})
	n, tokens := root, int(t.nodes[root].tokens)
	if known > 0 {
		n = t.byKey[sums[known-1].all^salt]
	}
	for _, s := range sums[known:] {
		p := piece{s.place.rec, s.place.edit, s.place.op, s.place.start}
		n = t.add(n, s.all^salt, tokens+s.tokens, p)
	}
	return n
}

// layOut makes the chains. Parents come before their children.
func (t *cacheTrie) layOut() {
	n := len(t.nodes)
	below, on := make([]int32, n), make([]int32, n)
	for i := n - 1; i >= 0; i-- {
		below[i]++
		if up := t.nodes[i].parent; up >= 0 {
			below[up] += below[i]
		}
	}
	for i := range t.nodes {
		if up := t.nodes[i].parent; up >= 0 && (on[up] == 0 || below[i] > below[on[up]]) {
			on[up] = int32(i)
		}
	}
	t.head, t.base, t.uses = make([]int32, n), make([]int32, n), map[int32][]cacheUse{}
	for i := range t.nodes {
		up := t.nodes[i].parent
		if up >= 0 && on[up] == int32(i) {
			continue
		}
		t.base[i] = int32(len(t.order))
		for k := int32(i); ; k = on[k] {
			t.head[k] = int32(i)
			t.order = append(t.order, k)
			if on[k] == 0 {
				break
			}
		}
	}
}

// use says that a request has sent the beginning that ends at a node.
func (t *cacheTrie) use(n int32, u cacheUse) {
	for n >= 0 {
		head := t.head[n]
		u.depth = t.nodes[n].depth
		t.uses[head] = addUse(t.uses[head], u)
		n = t.nodes[head].parent
	}
}

// addUse puts in a use. What a use says that neither goes further nor lasts longer is
// forgotten: so depths fall, and times rise.
func addUse(uses []cacheUse, u cacheUse) []cacheUse {
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

// kept is the longest beginning of a node's that has been used and is kept at a time,
// and the request that used it last; -1 where there is none.
func (t *cacheTrie) kept(n int32, at int64) (node, request int32) {
	for n >= 0 {
		head := t.head[n]
		uses := t.uses[head]
		i := sort.Search(len(uses), func(i int) bool { return uses[i].until >= at })
		if i == len(uses) {
			n = t.nodes[head].parent
			continue
		}
		depth := min(uses[i].depth, t.nodes[n].depth)
		for i+1 < len(uses) && uses[i+1].depth >= depth {
			i++
		}
		return t.above(n, depth), uses[i].request
	}
	return -1, -1
}

// above is the node of that depth on the way to a node.
func (t *cacheTrie) above(n, depth int32) int32 {
	for t.nodes[t.head[n]].depth > depth {
		n = t.nodes[t.head[n]].parent
	}
	head := t.head[n]
	return t.order[t.base[head]+depth-t.nodes[head].depth]
}

// firstSent maps each message to the request that sent it first, by the requests'
// own order; last are their nodes.
func (t *cacheTrie) firstSent(last []int32) map[piece]int32 {
	first := make([]int32, len(t.nodes))
	for i := range first {
		first[i] = math.MaxInt32
	}
	for k, n := range last {
		if n >= 0 {
			first[n] = min(first[n], int32(k))
		}
	}
	sent := make(map[piece]int32, len(t.nodes))
	for i := len(t.nodes) - 1; i >= 0; i-- {
		node := &t.nodes[i]
		if node.parent >= 0 {
			first[node.parent] = min(first[node.parent], first[i])
		}
		if node.depth < piecesBefore {
			continue
		}
		if was, ok := sent[node.piece]; !ok || first[i] < was {
			sent[node.piece] = first[i]
		}
	}
	return sent
}

// tokensOf are the counted tokens of a beginning, 0 for none.
func (t *cacheTrie) tokensOf(n int32) int64 {
	if n < 0 {
		return 0
	}
	return int64(t.nodes[n].tokens)
}
