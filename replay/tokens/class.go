package tokens

import (
	_ "embed"
	"sync"
	"unicode/utf8"
)

// A class is a property of a character that the splitting expressions test; classes form sets, one bit each.
// They are those of Unicode 16.0, as in the reference's regex engine (regex-syntax 0.8.5); Go's own tables are
// older.
type class uint8

const (
	symbol  class = 1 << iota // anything else: punctuation, emoji, unassigned characters
	upper                     // Lu, Lt
	lower                     // Ll
	uncased                   // Lm, Lo: letters that count as both upper and lower case
	mark                      // M
	number                    // N
	space                     // White_Space, without line ends
	newline                   // CR, LF

	letters = upper | lower | uncased
	blanks  = space | newline
)

// packedClasses are the classes of all characters, compressed: see classes.of.
//
//go:embed classes.zst
var packedClasses []byte

const classBlocks = (utf8.MaxRune + 1) / 256

// classes looks classes up. Those of ASCII characters are stored separately, which keeps them in the cache;
// bytes of longer characters have none there.
type classes struct {
	ascii [256]class
	all   []byte // see of
}

var loadClasses = sync.OnceValue(func() *classes {
	c := &classes{all: inflate(packedClasses)}
	for b := range utf8.RuneSelf {
		c.ascii[b] = c.of(rune(b))
	}
	return c
})

// at returns the class of the character of text at i, and its length in bytes.
func (c *classes) at(text []byte, i int) (class, int) {
	if k := c.ascii[text[i]]; k != 0 {
		return k, 1
	}
	return c.wide(text[i:])
}

//go:noinline
func (c *classes) wide(text []byte) (class, int) {
	r, n := utf8.DecodeRune(text)
	return c.of(r), n
}

// of returns the class of a character. The data has a byte for every 256 characters: the number of their block.
// The blocks follow, a byte per character. Block 0 is that of the first 256 characters.
func (c *classes) of(r rune) class {
	block := int(c.all[r>>8])
	return class(c.all[classBlocks+block<<8+int(r&0xff)])
}

// run returns the end of the run of characters of these classes that begins at i.
func (c *classes) run(text []byte, i int, set class) int {
	for i < len(text) {
		if c.ascii[text[i]]&set != 0 {
			i++
			continue
		}
		if text[i] < utf8.RuneSelf {
			break
		}
		k, n := c.wide(text[i:])
		if k&set == 0 {
			break
		}
		i += n
	}
	return i
}
