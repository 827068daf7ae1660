package tokens

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"ctxtool/sessionfmt/jsonl"
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

//go:embed o200k_base.zst
var o200kData []byte

// O200K is the vocabulary o200k_base, of GPT-4o and what came after it.
var O200K = Vocabulary{next: (*classes).nextO200K, table: sync.OnceValue(func() *table { return unpack(o200kData) })}

// What a word of o200k may begin with, and what it may continue with. Letters without
// case, and marks, are of both.
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

// word is the end of a word that begins at i, i where there is none. `U*` takes all
// it can; if W continues there, the word ends where W does. If not, `W+` gets what
// `U*` gives back, which ends at the last character that both may have. With no
// such character there are capitals alone, the second expression's.
func (c *classes) word(text []byte, i int) int {
	shared := 0 // after the last character that both may have
	for i < len(text) {
		k, n := c.ascii[text[i]], 1
		if k == 0 {
			k, n = wide(text[i:])
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

// SWE counts as SWE-CLI does: by GPT-4's vocabulary, calls as Python prints them, and no
// thinking (docs/policies.md 3.1).
var SWE = Counter{
	Name:       "swe-cl100k",
	About:      "as SWE-CLI: by cl100k, calls as Python prints them, no thinking",
	Measure:    Tokens,
	Text:       func(text []byte) int { return CL100K.Count(text) },
	Call:       func(name string, args []byte) []byte { return []byte(name + PythonText(args)) },
	NoThinking: true,
}

// PythonText returns a JSON value as Python prints it.
func PythonText(v jsonl.Value) string {
	var b strings.Builder
	for v = v.AppendMinified(nil); len(v) > 0; {
		n := 1
		switch v[0] {
		case ',':
			b.WriteString(", ")
		case ':':
			b.WriteString(": ")
		case 't':
			b.WriteString("True")
			n = len("true")
		case 'f':
			b.WriteString("False")
			n = len("false")
		case 'n':
			b.WriteString("None")
			n = len("null")
		case '"':
			n, _ = jsonl.ValueLen(v)
			printPython(&b, v[:n].Text())
		default:
			b.WriteByte(v[0])
		}
		v = v[n:]
	}
	return b.String()
}

// pythonEscapes are the characters that Python prints by a letter.
var pythonEscapes = map[rune]string{'\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// printPython prints a string: in double quotes only if that saves escaping single ones.
func printPython(b *strings.Builder, s string) {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteRune(quote)
	for _, r := range s {
		switch escape := pythonEscapes[r]; {
		case escape != "":
			b.WriteString(escape)
		case r == quote:
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
}
