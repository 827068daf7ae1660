package redact

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// An automaton finds many words in one pass, ignoring the case of ASCII letters: the
// construction of Aho and Corasick, with every step in a table. To keep the table small, rare bytes share a class;
// what is found is compared with the word.
type automaton struct {
	words []string        // in small letters
	class [256]uint8      // by byte: 0 for bytes of no word, the same for both cases
	pairs [classes]uint64 // by class: a bit for the class of each byte that follows one of it in a word
	next  []uint32        // by state + class: the next state; states are multiples of classes
	first uint32          // the first of the states at which a word ends
	ends  [][]int32       // by (state-first)/classes: the words that may end there
	long  int             // length of the longest word in bytes
}

// The number of classes, and the first of those that bytes share: signs, and bytes beyond ASCII.
const (
	classes    = 64
	sharedSign = 47
	sharedWide = 48
)

// newAutomaton makes the automaton of words, none of which is empty.
func newAutomaton(words []string) *automaton {
	a := &automaton{words: make([]string, len(words))}
	var count [256]int // more for those in short words, which are found more often
	for k, w := range words {
		a.words[k] = lowerASCII(w)
		a.long = max(a.long, len(w))
		for i := range len(w) {
			count[a.words[k][i]] += 1 + 1000/(len(w)*len(w)*len(w))
		}
	}
	n := uint8(1)
	own := func(c int) {
		a.class[c] = n
		n = min(n+1, sharedSign)
	}
	var signs []int
	for c, times := range count {
		switch {
		case times == 0:
		case c >= utf8.RuneSelf:
			a.class[c] = sharedWide + uint8(c)%(classes-sharedWide)
		case isAlnum(byte(c)): // in their order, so that the steps of frequent ones are beside each other
			own(c)
		default:
			signs = append(signs, c)
		}
	}
	slices.SortStableFunc(signs, func(a, b int) int { return count[b] - count[a] })
	for _, c := range signs {
		own(c)
	}
	for c := 'A'; c <= 'Z'; c++ {
		a.class[c] = a.class[c|0x20]
	}
	t := newTrie(a)
	t.link()
	t.fill(a)
	return a
}

// automatonOf returns a function that makes the automaton of words separated by spaces when it is first called: most
// commands redact nothing.
func automatonOf(words string) func() *automaton {
	return sync.OnceValue(func() *automaton { return newAutomaton(strings.Fields(words)) })
}

// A trie is the tree of the words of an automaton. A node has few children, and a list of them.
type trie struct {
	nodes []trieNode
	order []int32 // the nodes, those of shorter texts first
}

type trieNode struct {
	child, next int32 // its first child, and the next one of its parent; 0 for none
	fail        int32 // the node of the longest end of its text that has one
	state       uint32
	class       uint8 // of the last byte of its text
	ends        []int32
}

func newTrie(a *automaton) *trie {
	t := &trie{nodes: make([]trieNode, 1)}
	for k, w := range a.words {
		at := int32(0)
		for i := range len(w) {
			class := a.class[w[i]]
			if i > 0 {
				a.pairs[a.class[w[i-1]]] |= 1 << class
			}
			to := t.step(at, class)
			if to == 0 {
				to = int32(len(t.nodes))
				t.nodes = append(t.nodes, trieNode{next: t.nodes[at].child, class: class})
				t.nodes[at].child = to
			}
			at = to
		}
		t.nodes[at].ends = append(t.nodes[at].ends, int32(k))
	}
	return t
}

// step returns the child of a node, 0 for none.
func (t *trie) step(at int32, class uint8) int32 {
	for to := t.nodes[at].child; to != 0; to = t.nodes[to].next {
		if t.nodes[to].class == class {
			return to
		}
	}
	return 0
}

// link finds the nodes to go on from after a mismatch, and adds the words that end there.
func (t *trie) link() {
	t.order = make([]int32, 1, len(t.nodes))
	for k := 0; k < len(t.order); k++ {
		at := t.order[k]
		for to := t.nodes[at].child; to != 0; to = t.nodes[to].next {
			t.order = append(t.order, to)
			if at == 0 {
				continue
			}
			n := &t.nodes[to]
			back := t.nodes[at].fail
			for n.fail = t.step(back, n.class); n.fail == 0 && back != 0; n.fail = t.step(back, n.class) {
				back = t.nodes[back].fail
			}
			n.ends = append(n.ends, t.nodes[n.fail].ends...)
		}
	}
}

// fill writes the table of the automaton: a state has the steps of the one to go on from, except those to its
// children. States at which a word ends come last.
func (t *trie) fill(a *automaton) {
	n := uint32(0)
	for _, wanted := range []bool{false, true} {
		if wanted {
			a.first = n
		}
		for _, at := range t.order {
			if node := &t.nodes[at]; (len(node.ends) > 0) == wanted {
				node.state = n
				n += classes
				if wanted {
					a.ends = append(a.ends, node.ends)
				}
			}
		}
	}
	a.next = make([]uint32, n)
	for _, at := range t.order {
		node := &t.nodes[at]
		row := a.next[node.state : node.state+classes]
		if at != 0 {
			back := t.nodes[node.fail].state
			copy(row, a.next[back:back+classes])
		}
		for to := node.child; to != 0; to = t.nodes[to].next {
			row[t.nodes[to].class] = t.nodes[to].state
		}
	}
}

// lanes is the number of places at which each reads a text.
const lanes = 4

// each calls found for each word in text, with the offset of its end. It reads long texts in
// several places at once, since each step depends on the previous one. The words of each part
// come in order.
func (a *automaton) each(text []byte, found func(word int32, end int)) {
	n := len(text) / lanes
	if n < a.long {
		a.from(text, 0, 0, found)
		return
	}
	next, class, first := a.next, &a.class, a.first
	t0, t1, t2, t3 := text[:n], text[n:2*n], text[2*n:3*n], text[3*n:4*n]
	var s0, s1, s2, s3 uint32
	for i := n - a.long; i < n; i++ { // the beginning of a part may end a word
		s1 = next[s1+uint32(class[t0[i]])]
		s2 = next[s2+uint32(class[t1[i]])]
		s3 = next[s3+uint32(class[t2[i]])]
	}
	for i := range n {
		s0 = next[s0+uint32(class[t0[i]])]
		s1 = next[s1+uint32(class[t1[i]])]
		s2 = next[s2+uint32(class[t2[i]])]
		s3 = next[s3+uint32(class[t3[i]])]
		if s0 >= first || s1 >= first || s2 >= first || s3 >= first {
			a.report(text, s0, i+1, found)
			a.report(text, s1, n+i+1, found)
			a.report(text, s2, 2*n+i+1, found)
			a.report(text, s3, 3*n+i+1, found)
		}
	}
	a.from(text, lanes*n, s3, found)
}

// from is each for the rest of a text, in one pass.
func (a *automaton) from(text []byte, at int, s uint32, found func(word int32, end int)) {
	for i, c := range text[at:] {
		if s = a.next[s+uint32(a.class[c])]; s >= a.first {
			a.report(text, s, at+i+1, found)
		}
	}
}

// across calls found for the words that end after text[at], as long as one may begin before it, but not
// before text[from].
func (a *automaton) across(text []byte, from, at int, found func(word int32, end int)) {
	begin := at
	for begin > max(from, at-a.long) && a.class[text[begin-1]] != 0 {
		begin--
	}
	var s, fresh uint32
	for i := begin; i < len(text) && begin < at; i++ {
		c := uint32(a.class[text[i]])
		s = a.next[s+c]
		if i < at {
			continue
		}
		fresh = a.next[fresh+c]
		if s == fresh {
			return // none that ends from here on begins before it
		}
		a.report(text, s, i+1, found)
	}
}

// report calls found for the words that end in a state, at text[end].
func (a *automaton) report(text []byte, s uint32, end int, found func(word int32, end int)) {
	if s >= a.first {
		for _, w := range a.ends[(s-a.first)/classes] {
			if word := a.words[w]; end >= len(word) && hasFolded(text[end-len(word):], word) {
				found(w, end)
			}
		}
	}
}

// continues reports whether a word may have the last byte of a text and then the byte after[i].
func (a *automaton) continues(text, after []byte, i int) bool {
	return len(text) > 0 && i < len(after) && a.pairs[a.class[text[len(text)-1]]]>>a.class[after[i]]&1 != 0
}

func lower(c byte) byte {
	if c-'A' < 26 {
		return c | 0x20
	}
	return c
}

// lowerASCII returns s with its ASCII letters in lower case.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

// An anchor is one of the words with which every match of an expression begins, so that the
// expression is only tried where one is.
type anchor struct {
	text string
	fold bool // in any case
}

// maxWords is the maximum number of anchors of an expression.
const maxWords = 64

// anchorsOf returns the anchors of an expression, nil if it has no useful ones.
func anchorsOf(re *syntax.Regexp) []anchor {
	all, _ := beginnings(re)
	if slices.ContainsFunc(all, func(a anchor) bool { return len(a.text) < 2 }) {
		return nil
	}
	return all
}

// beginnings returns the texts with which the matches of an expression begin, and whether they are
// all of what it matches.
func beginnings(re *syntax.Regexp) (all []anchor, whole bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []anchor{{}}, true
	case syntax.OpLiteral:
		a := anchor{string(re.Rune), re.Flags&syntax.FoldCase != 0}
		if !a.fold || strings.IndexFunc(a.text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
			return []anchor{a}, true
		}
	case syntax.OpCharClass:
		if all := charactersOf(re.Rune); all != nil {
			return all, true
		}
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpQuest:
		all, whole := beginnings(re.Sub[0])
		return append([]anchor{{}}, all...), whole
	case syntax.OpPlus, syntax.OpRepeat:
		if re.Op == syntax.OpPlus || re.Min > 0 {
			all, _ := beginnings(re.Sub[0])
			return all, false
		}
	case syntax.OpConcat:
		return beginningsOfAll(re.Sub)
	case syntax.OpAlternate:
		whole := true
		for _, sub := range re.Sub {
			some, ends := beginnings(sub)
			all, whole = append(all, some...), whole && ends
		}
		if len(all) <= maxWords {
			return all, whole
		}
	}
	return []anchor{{}}, false
}

// beginningsOfAll is beginnings of parts in a row.
func beginningsOfAll(parts []*syntax.Regexp) (all []anchor, whole bool) {
	all, whole = []anchor{{}}, true
	for _, part := range parts {
		some, ends := beginnings(part)
		if !whole || len(all)*len(some) > maxWords {
			return all, false
		}
		var longer []anchor
		for _, a := range all {
			for _, b := range some {
				longer = append(longer, anchor{a.text + b.text, a.fold || b.fold})
			}
		}
		all, whole = longer, ends
	}
	return all, whole
}

// mostWithin is the maximum length of a match, in bytes, that is looked for around a keyword.
const mostWithin = 512

// longest returns the maximum length of a match in bytes, more than mostWithin if it has none.
func longest(re *syntax.Regexp) (n int) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpNoMatch:
		return 0
	case syntax.OpLiteral:
		return utf8.UTFMax * len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		if re.Op == syntax.OpCharClass && (len(re.Rune) == 0 || re.Rune[len(re.Rune)-1] < utf8.RuneSelf) {
			return 1
		}
		return utf8.UTFMax
	case syntax.OpRepeat:
		if re.Max < 0 {
			return mostWithin + 1
		}
		return min(mostWithin+1, re.Max*longest(re.Sub[0]))
	case syntax.OpCapture, syntax.OpQuest, syntax.OpConcat:
		for _, sub := range re.Sub {
			n = min(mostWithin+1, n+longest(sub))
		}
		return n
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			n = max(n, longest(sub))
		}
		return n
	}
	return mostWithin + 1
}

// containsOne reports whether every match contains one of some words in small letters, in any case.
func containsOne(re *syntax.Regexp, words []string) bool {
	in := func(sub *syntax.Regexp) bool { return containsOne(sub, words) }
	switch re.Op {
	case syntax.OpLiteral:
		text := lowerASCII(string(re.Rune))
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, in)
	case syntax.OpRepeat:
		return re.Min > 0 && in(re.Sub[0])
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !in(sub) })
	}
	return false
}

// charactersOf returns the characters of a class, nil if there are many.
func charactersOf(ranges []rune) (all []anchor) {
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(all) == 4 {
				return nil
			}
			all = append(all, anchor{text: string(r)})
		}
	}
	return all
}

// cutLazy removes lazily repeated classes from the front of an expression, and returns the class
// and the maximum number of its characters. A match of the rest is a match of the whole: the
// leftmost match of the whole ends in the leftmost match of the rest, since everything reachable
// from a later start is also reachable from the first one.
func cutLazy(re *syntax.Regexp) (rest *syntax.Regexp, class []rune, most int) {
	for rest = re; rest.Op == syntax.OpConcat; {
		front, more := rest.Sub[0], rest.Sub[1:]
		lazy := front.Op == syntax.OpRepeat && front.Flags&syntax.NonGreedy != 0 && front.Min == 0 && front.Max > 0
		switch {
		case front.Op == syntax.OpConcat:
			more = slices.Concat(front.Sub, more)
		case lazy && front.Sub[0].Op == syntax.OpCharClass:
			class, most = front.Sub[0].Rune, most+front.Max
		default:
			return rest, class, most
		}
		rest = &syntax.Regexp{Op: syntax.OpConcat, Sub: more}
	}
	return rest, class, most
}
