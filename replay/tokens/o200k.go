package tokens

import (
	_ "embed"
	"sync"
)

//go:embed o200k_base.zst
var o200kData []byte

// O200K is the vocabulary o200k_base, of GPT-4o and later models.
var O200K = Vocabulary{next: (*classes).nextO200K, table: sync.OnceValue(func() *table { return unpack(o200kData) })}

// Classes with which a word of o200k may begin, and continue. Letters without case, and marks, are in both.
const (
	heads  = upper | uncased | mark
	bodies = lower | uncased | mark
	both   = heads & bodies
)

var o200k = Counter{
	Name:    "o200k",
	About:   "the tokens of o200k_base, of GPT-4o and later models",
	Measure: Tokens,
	Text:    func(text []byte) int { return O200K.Count(text) },
}

// nextO200K is the end of the piece of text that begins at i. Before what rest says
// these are tried, where U is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and W is
// [\p{Ll}\p{Lm}\p{Lo}\p{M}]:
//
//	[^\r\n\p{L}\p{N}]?U*W+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?U+W*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//
// The character before the word may be a mark, which is in U and W too. It makes no
// difference which of the two it is taken for: a word of marks alone ends where it
// ends, and any other has it in front.
func (c *classes) nextO200K(text []byte, i int) int {
	k, n := c.at(text, i)
	begin := i
	if k == symbol || k == space {
		begin += n
	}
	if end := c.word(text, begin); end > begin {
		return contraction(text, end)
	}
	return c.rest(text, i, '/')
}

// word returns the end of a word that begins at i; i if there is none. `U*` takes all it can; if W continues
// there, the word ends where W does. If not, `W+` gets what `U*` gives back, up to the last character that both
// may match. Without such a character only capitals remain, for the second expression.
func (c *classes) word(text []byte, i int) int {
	shared := 0 // after the last character that both may match
	for i < len(text) {
		k, n := c.ascii[text[i]], 1
		if k == 0 {
			k, n = c.wide(text[i:])
		}
		if k&heads == 0 {
			if k == lower {
				return c.run(text, i+n, bodies)
			}
			break
		}
		i += n
		if k&both != 0 {
			shared = i
		}
	}
	if shared > 0 {
		return shared
	}
	return i
}
