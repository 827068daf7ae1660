package cache

import (
	"iter"
	"math"
	"slices"
	"sort"

	"ctxtool/replay"
)

// A trie holds the prefixes of requests: their fronts (model, hidden prompt, prompt, and
// thinking level) and their messages, which are stored once for all fronts that they follow. A
// node is a prefix; its parent is the prefix without the last piece. First all requests are
// inserted, then their uses are replayed in the order of time.
type trie struct {
	fronts   []node
	byFront  map[uint64]int32
	nodes    []node         // prefixes of messages
	pieces   []replay.Piece // the last piece of each node
	byKey    map[uint64]int32
	recorded map[beginning]int64 // the recorded size of the last request that was exactly this prefix

	// The messages are divided into chains. Each chain continues with the child that has the
	// most nodes below it, so every node is only a few chains away from the root.
	head   []int32             // by node, the first node of its chain
	base   []int32             // by head, where its chain begins in order
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
	system int32 // its last system message sent in place, -1 for none
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
	return trie{byFront: map[uint64]int32{}, byKey: map[uint64]int32{}, recorded: map[beginning]int64{}, uses: map[beginning][]use{}, depths: map[beginning]int32{}}
}

// addFront returns the front with that key below parent, adding it if necessary.
func (t *trie) addFront(parent int32, key uint64, tokens int) int32 {
	if n, ok := t.byFront[key]; ok {
		return n
	}
	front := node{parent: parent, tokens: int32(tokens)}
	if parent >= 0 {
		front.depth = t.fronts[parent].depth + 1
	}
	n := int32(len(t.fronts))
	t.fronts = append(t.fronts, front)
	t.byFront[key] = n
	return n
}

// addAll inserts a request's messages. It finds known ones by binary search, since all prefixes
// of a known prefix are known.
func (t *trie) addAll(sums []sum) int32 {
	known := sort.Search(len(sums), func(i int) bool {
		_, ok := t.byKey[sums[i].all]
		return !ok
	})
	n, system := int32(-1), int32(-1)
	if known > 0 {
		n = t.byKey[sums[known-1].all]
		system = t.nodes[n].system
	}
	for i := known; i < len(sums); i++ {
		s := &sums[i]
		next := int32(len(t.nodes))
		if s.place.System() {
			system = next
		}
		t.nodes = append(t.nodes, node{n, int32(i), int32(s.tokens), system})
		t.pieces = append(t.pieces, s.place)
		t.byKey[s.all] = next
		n = next
	}
	return n
}

// layOut builds the chains. Parents come before their children.
func (t *trie) layOut() {
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
	t.head, t.base = make([]int32, n), make([]int32, n)
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
	return t.order[t.base[head]+depth-t.nodes[head].depth]
}

// firstSent returns, by node, the first request that sent its message, in the order of the
// requests. last are the requests' nodes.
func (t *trie) firstSent(last []beginning) []int32 {
	first := make([]int32, len(t.nodes))
	for i := range first {
		first[i] = math.MaxInt32
	}
	for k, at := range last {
		if at.node >= 0 {
			first[at.node] = min(first[at.node], int32(k))
		}
	}
	sent := make(map[replay.Piece]int32, len(t.nodes))
	for i := len(t.nodes) - 1; i >= 0; i-- {
		node := &t.nodes[i]
		if node.parent >= 0 {
			first[node.parent] = min(first[node.parent], first[i])
		}
		if was, ok := sent[t.pieces[i]]; !ok || first[i] < was {
			sent[t.pieces[i]] = first[i]
		}
	}
	for i := range first {
		first[i] = sent[t.pieces[i]]
	}
	return first
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
