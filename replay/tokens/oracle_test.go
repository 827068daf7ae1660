package tokens

import (
	"strings"
	"unicode/utf8"
)

// The oracle counts as it is written down: the expressions with a matcher that goes
// back step by step, and pieces by looking for the lowest rank, again and again.

// An item is a part of an expression: characters of a set, from least to most of
// them, as many as it can.
type item struct {
	set         func(r rune) bool
	least, most int
	notBefore   func(r rune) bool // and none of these after it
}

func is(set class) func(r rune) bool {
	return func(r rune) bool { return loadClasses().of(r)&set != 0 }
}
func not(set class) func(r rune) bool {
	return func(r rune) bool { return loadClasses().of(r)&set == 0 }
}
func one(s string) func(r rune) bool { return func(r rune) bool { return strings.ContainsRune(s, r) } }

const many = 1 << 30

var (
	notBeforeWord = not(letters | number | newline)
	contractions  = [][]item{
		{{set: one("'"), least: 1, most: 1}, {set: one("sSſtTmMdD"), least: 1, most: 1}},
		{{set: one("'"), least: 1, most: 1}, {set: one("rRvV"), least: 1, most: 1}, {set: one("eE"), least: 1, most: 1}},
		{{set: one("'"), least: 1, most: 1}, {set: one("lL"), least: 2, most: 2}},
	}
)

func ending(tail string) [][]item {
	return [][]item{
		{{set: is(number), least: 1, most: 3}},
		{{set: one(" "), most: 1}, {set: not(blanks | letters | number), least: 1, most: many}, {set: one(tail), most: many}},
		{{set: is(blanks), most: many}, {set: one("\r\n"), least: 1, most: many}},
		{{set: is(blanks), least: 1, most: many, notBefore: not(blanks)}},
		{{set: is(blanks), least: 1, most: many}},
	}
}

// expression is the alternatives of a vocabulary's expression, in order.
func expression(name string) [][]item {
	if name == "cl100k" {
		words := []item{{set: notBeforeWord, most: 1}, {set: is(letters), least: 1, most: many}}
		return append(append(append([][]item{}, contractions...), words), ending("\r\n")...)
	}
	var all [][]item
	for _, leasts := range [][2]int{{0, 1}, {1, 0}} {
		word := []item{
			{set: notBeforeWord, most: 1},
			{set: is(heads), least: leasts[0], most: many},
			{set: is(bodies), least: leasts[1], most: many},
		}
		all = append(all, word)
	}
	return append(all, ending("\r\n/")...)
}

// match is the end of the items' match at i, below 0 if there is none.
func match(items []item, text string, i int) int {
	if len(items) == 0 {
		return i
	}
	it := items[0]
	ends := []int{i}
	for at := i; len(ends) <= it.most && at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		if !it.set(r) {
			break
		}
		at += n
		ends = append(ends, at)
	}
	for k := len(ends) - 1; k >= it.least; k-- {
		if it.notBefore != nil && ends[k] < len(text) {
			if r, _ := utf8.DecodeRuneInString(text[ends[k]:]); it.notBefore(r) {
				continue
			}
		}
		if end := match(items[1:], text, ends[k]); end >= 0 {
			return end
		}
	}
	return -1
}

// oraclePieces cuts a text.
func oraclePieces(name, text string) (pieces []string) {
	all := expression(name)
	for i := 0; i < len(text); {
		end, k := -1, 0
		for ; end < 0; k++ {
			end = match(all[k], text, i)
		}
		if name == "o200k" && k <= 2 { // a word, that takes a contraction if there is one
			for _, c := range contractions {
				if behind := match(c, text, end); behind > 0 {
					end = behind
					break
				}
			}
		}
		pieces = append(pieces, text[i:end])
		i = end
	}
	return pieces
}

// oracleTokens joins the bytes of a piece.
func oracleTokens(ranks map[string]int, piece string) int {
	if _, ok := ranks[piece]; ok {
		return 1
	}
	var tokens []string
	for i := range len(piece) {
		tokens = append(tokens, piece[i:i+1])
	}
	for {
		best, at := many, -1
		for i := range len(tokens) - 1 {
			if rank, ok := ranks[tokens[i]+tokens[i+1]]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			return len(tokens)
		}
		tokens[at] += tokens[at+1]
		tokens = append(tokens[:at+1], tokens[at+2:]...)
	}
}
