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
	l       *ledger.Ledger
	inPlace func(k int32) bool // reports whether a request has later system messages in place; see ledger.View
	fronts  []node
	byFront map[uint64]int32
	nodes   []node         // prefixes of messages: those of requests, and those at which requests part
	byEdge  map[edge]int32 // children besides the first of a node
	// the last request of recorded size that was exactly this prefix, unless its node has it
	recorded map[beginning]int32

	// The messages are divided into chains. Each chain continues with the child that has the
	// most nodes below it, so every node is only a few chains away from the root.
	order []int32             // nodes, chain by chain
	uses  map[beginning][]use // by front and head
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
	// Of messages, the first child, -1 for none, and the whole of the last request that was found to begin with it;
	// once all are laid out, the first node of its chain, and its own index in order.
	child, end int32
	last       int32 // of messages, the last request of recorded size that was exactly it, of one front; -1 for none
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

func newTrie(l *ledger.Ledger, inPlace func(k int32) bool) trie {
	return trie{
		l: l, inPlace: inPlace, byFront: map[uint64]int32{}, nodes: make([]node, 0, len(l.Replayed)*33/32),
		byEdge:   map[edge]int32{},
		recorded: map[beginning]int32{}, uses: map[beginning][]use{},
	}
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
func (t *trie) size(n int32) int {
	if n < 0 {
		return 0
	}
	return int(t.nodes[n].depth) + 1
}

// add inserts the messages of request k. last is the prefix of the request before it. What the
// request shares with another one is found by comparing their lists, which skips what both store
// together, so nodes between are not visited. Requests with system messages in place and others share
// nothing.
func (t *trie) add(k, last int32) int32 {
	if last >= 0 && t.inPlace(t.nodes[last].request) != t.inPlace(k) {
		last = -1
	}
	v, n, of := t.view(k), last, int32(-1) // compared with request of
	i, j := v.Next(0), 0
	if q := &t.l.Requests[k]; last >= 0 {
		of = q.Previous
		before, kept := t.view(of), t.l.Kept(q)
		i, j = v.Common(&before, kept, kept)
	}
	size, tokens := v.Until(i)
	var passed []int32
	for {
		if size > t.size(n) {
			size, of = t.size(n), -1
			i = v.Next(v.Index(size))
			_, tokens = v.Until(i)
		}
		for n >= 0 && t.size(t.nodes[n].parent) >= size {
			n = t.nodes[n].parent
		}
		if t.size(n) > size { // within the edge to n
			if t.nodes[n].request != of {
				other := t.view(t.nodes[n].request)
				j = other.Next(other.Index(size))
			}
			n = t.split(n, size, int32(j), int32(tokens))
			passed = append(passed, n)
		}
		next := int32(-1)
		if i < v.End() {
			if next = t.below(n, k, v.Content(i)); next < 0 {
				n = t.append(n, k, i)
			}
		}
		if next < 0 {
			for _, p := range passed {
				t.nodes[p].end = n
			}
			return n
		}
		n = t.nodes[next].end
		of, j = t.nodes[n].request, int(t.nodes[next].from)
		other := t.view(of)
		if t.nodes[next].request != of {
			j = other.Next(other.Index(size))
		}
		i, j = v.Common(&other, i, j)
		if size, tokens = v.Until(i); size >= t.size(next) {
			passed = append(passed, next)
		}
	}
}

// view returns the messages of a request as the cache sees them.
func (t *trie) view(k int32) ledger.View { return t.l.View(k, t.inPlace(k)) }

// content returns the content of the first message that a node adds to its parent.
func (t *trie) content(n int32) uint64 {
	v := t.view(t.nodes[n].request)
	return v.Content(v.Next(int(t.nodes[n].from)))
}

// root returns a node, or for none the root of a request's messages, of which there are two.
func (t *trie) root(n, k int32) int32 {
	if n < 0 && t.inPlace(k) {
		return -2
	}
	return n
}

// below returns the child of a node for a message with that content, -1 if there is none.
func (t *trie) below(n, k int32, content uint64) int32 {
	if n >= 0 && t.nodes[n].child >= 0 && t.content(t.nodes[n].child) == content {
		return t.nodes[n].child
	}
	if to, ok := t.byEdge[edge{t.root(n, k), content}]; ok {
		return to
	}
	return -1
}

// link makes a node the one below a parent that begins with a message of that content. was is the
// node that it takes the place of, -1 for none.
func (t *trie) link(parent int32, content uint64, n, was int32) {
	if parent >= 0 && t.nodes[parent].child == was {
		t.nodes[parent].child = n
		return
	}
	t.byEdge[edge{t.root(parent, t.nodes[n].request), content}] = n
}

// append adds the rest of request k, from an index of its list on, below a node.
func (t *trie) append(parent, k int32, from int) int32 {
	v := t.view(k)
	all, tokens := v.Total()
	n := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{parent, int32(all) - 1, int32(tokens), k, int32(from), -1, n, -1})
	t.link(parent, v.Content(from), n, -1)
	return n
}

// split makes a prefix of that size a node, above the one to whose edge it belongs, whose messages
// go on at index from of their list.
func (t *trie) split(n int32, size int, from, tokens int32) int32 {
	content, mid := t.content(n), int32(len(t.nodes))
	below := &t.nodes[n]
	next := node{below.parent, int32(size) - 1, tokens, below.request, below.from, n, below.end, -1}
	below.parent, below.from = mid, from
	t.nodes = append(t.nodes, next)
	t.link(next.parent, content, mid, n)
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
	t.byEdge, t.order = nil, make([]int32, n)
	below, on := t.order, slices.Repeat([]int32{-1}, n) // the order takes the place of numbers of nodes below
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
	t.order = t.order[:0]
	for _, i := range down {
		if up := t.nodes[i].parent; up >= 0 && on[up] == i {
			continue
		}
		for k := i; k >= 0; k = on[k] {
			t.nodes[k].child, t.nodes[k].end = i, int32(len(t.order))
			t.order = append(t.order, k)
		}
	}
}

// chains yields the chains that a prefix passes through, last one first: the part of the prefix
// in each chain, and the chain's key. Each piece of a front is a chain.
func (t *trie) chains(at beginning) iter.Seq2[beginning, beginning] {
	return func(yield func(of, chain beginning) bool) {
		for at.node >= 0 {
			head := t.nodes[at.node].child
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

// kept returns the longest used prefix of at that is still cached at a time, and its last use.
func (t *trie) kept(at beginning, time int64) (kept beginning, by use) {
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
		return of, uses[i]
	}
	return noBeginning, use{request: -1}
}

// above returns the first node on the way to another one that has at least that depth.
func (t *trie) above(n, depth int32) int32 {
	head := &t.nodes[t.nodes[n].child]
	for ; t.size(head.parent) > int(depth); head = &t.nodes[t.nodes[n].child] {
		n = head.parent
	}
	chain := t.order[head.end : t.nodes[n].end+1]
	return chain[sort.Search(len(chain)-1, func(i int) bool { return t.nodes[chain[i]].depth >= depth })]
}

// index returns the index of the first message after a prefix in the list of request k, all of
// which is node whole.
func (t *trie) index(n, whole, k int32) int {
	v, size := t.view(k), t.size(n)
	if whole >= 0 {
		if next := &t.nodes[t.above(whole, int32(size))]; next.parent == n && next.request == k {
			return int(next.from)
		}
	}
	return v.Index(size)
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
