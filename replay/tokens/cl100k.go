package tokens

import (
	_ "embed"
	"sync"
)

//go:embed cl100k_base.zst
var cl100kData []byte

// CL100K is the vocabulary cl100k_base, of GPT-4 and GPT-3.5.
var CL100K = Vocabulary{next: (*classes).nextCL100K, table: sync.OnceValue(func() *table { return unpack(cl100kData) })}

var cl100k = Counter{
	Name:    "cl100k",
	About:   "the tokens of cl100k_base, of GPT-4 and GPT-3.5",
	Measure: Tokens,
	Text:    func(text []byte) int { return CL100K.Count(text) },
}

// nextCL100K is the end of the piece of text that begins at i. Before what rest says
// these are tried:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)     a contraction, whatever follows it
//	[^\r\n\p{L}\p{N}]?\p{L}+         letters, and the one character before them that is
//	                                 none, no number and no line end
func (c *classes) nextCL100K(text []byte, i int) int {
	if end := contraction(text, i); end > i {
		return end
	}
	k, n := c.at(text, i)
	if k&letters != 0 {
		return c.run(text, i+n, letters)
	}
	if k != number && k != newline {
		if end := c.run(text, i+n, letters); end > i+n {
			return end
		}
	}
	return c.rest(text, i, '\n')
}
