// Package tokens counts the tokens of plain text. Package replay defines what the text of a
// message is, and what images and tool calls count for.
//
// Find returns a Counter by name, Names all names. Counters are tokenizers (cl100k, o200k),
// which count exactly, or estimates by length, each as one agent makes it. Counter.Text returns
// the tokens of one text by a tokenizer. Counter.Of converts a length to tokens, for any
// Counter.
package tokens

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"ctxtool/sessionfmt/jsonl"
)

// A Counter counts tokens: it adds up the lengths of a message's texts in its Measure, and
// converts the sum to tokens.
type Counter struct {
	Name    string
	About   string  // one line for help
	Measure Measure // how it measures the length of a text
	// Text counts the tokens of a UTF-8 text if Measure is Tokens. It is nil for others.
	Text func(text []byte) int
	// Tokens converts a length to tokens. It is nil if the length is in tokens already.
	Tokens func(length int) int
	// ByText reports whether each text of a message is rounded, and not their sum.
	ByText  bool
	Message int // tokens that a message takes in addition to its texts
	Image   int // the length that an image counts for; 0 if the agent counts none
	// Call writes a tool call, with its arguments as compact JSON, as the one text that the
	// agent counts. If nil, the name and the arguments count.
	Call       func(name string, args []byte) []byte
	NoThinking bool // thinking does not count
}

// MarshalText returns the name. It never fails.
func (c *Counter) MarshalText() ([]byte, error) { return []byte(c.Name), nil }

// A Measure is a unit of length.
type Measure uint8

const (
	Units   Measure = iota // UTF-16 code units
	Bytes                  // of UTF-8
	Scalars                // Unicode scalar values
	Tokens                 // of a tokenizer, not an estimate
)

// counters are all counters, the default first.
var counters = []*Counter{&Pi, &GSH, &YBytes, &YScalars, &SWE, &cl100k, &o200k}

// Pi counts as pi estimates: one token per four UTF-16 code units of a message, rounded up once
// per message (docs/session-format.md 8.1, 8.2).
var Pi = Counter{
	Name:   "chars4",
	About:  "as pi: a quarter of the length in UTF-16 units, rounded up once per message",
	Tokens: quarterUp,
	Image:  4800,
}

// GSH counts as gsh estimates: one token per four bytes, rounded down per text, and four per
// message (docs/policies.md 2.2).
var GSH = Counter{
	Name:    "bytes4",
	About:   "as gsh: a quarter of the bytes of each text, rounded down, and 4 per message",
	Measure: Bytes,
	Tokens:  func(n int) int { return n / 4 },
	ByText:  true,
	Message: 4,
}

// YBytes and YScalars count as y-agent estimates in its two places: one token per four bytes or
// scalars, rounded up once per message (docs/policies.md 4.2).
var YBytes = Counter{
	Name:    "ybytes",
	About:   "as y-agent's context: a quarter of the bytes, rounded up once per message",
	Measure: Bytes,
	Tokens:  quarterUp,
}

var YScalars = Counter{
	Name:    "yscalars",
	About:   "as y-agent's prompts: a quarter of the Unicode scalars, rounded up once per message",
	Measure: Scalars,
	Tokens:  quarterUp,
}

func quarterUp(n int) int { return (n + 3) / 4 }

// Of returns the tokens of texts with this total length.
func (c *Counter) Of(length int) int {
	if c.Tokens == nil {
		return length
	}
	return c.Tokens(length)
}

// Estimates reports whether the counter only estimates the tokens of a model.
func (c *Counter) Estimates() bool { return c.Measure != Tokens }

// Names returns the names of all counters, the default first.
func Names() (names []string) {
	for _, c := range counters {
		names = append(names, c.Name)
	}
	return names
}

// Find returns the counter with that name.
func Find(name string) (*Counter, error) {
	for _, c := range counters {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("unknown counter %q: must be one of %s", name, strings.Join(Names(), ", "))
}

// Texts are the counts of plain texts, schema ctxtool/count/1.
type Texts struct {
	Schema   string        `json:"schema"`
	By       string        `json:"by,omitempty"`  // `line`, `file`, `total`
	Counters []CounterName `json:"counters"`      // in the given order
	Rows     []Text        `json:"rows,omitzero"` // each text; absent by total
	Total    Text          `json:"total"`         // the sum, as `rows[]`, without `file`
}

// A CounterName is a counter used for a count.
type CounterName struct {
	Name     string `json:"name"`     // of the counter
	Estimate bool   `json:"estimate"` // it is an estimate, not a tokenizer
}

// A Text is a text with its counts.
type Text struct {
	Schema string `json:"schema,omitempty"` // if printed as a line of its own
	File   string `json:"file,omitempty"`   // as given, with forward slashes; `-` is standard input
	Line   int    `json:"line,omitempty"`   // from 1; absent unless by line
	Bytes  int64  `json:"bytes"`            // as in the file; of a line including its line end
	Tokens Counts `json:"tokens"`           // tokens by the counter's name; of a line without its line end
}

// Counts are tokens by counters.
type Counts []Count

// A Count is the number of tokens by one counter.
type Count struct {
	By *Counter
	N  int64
}

// MarshalJSON returns an object with the counters' names as keys.
func (all Counts) MarshalJSON() ([]byte, error) {
	named := map[string]int64{}
	for _, c := range all {
		named[c.By.Name] = c.N
	}
	return json.Marshal(named)
}

// NewTexts returns an empty Texts.
func NewTexts(by string, counters []*Counter) *Texts {
	t := &Texts{Schema: "ctxtool/count/1", By: by, Rows: []Text{}}
	for _, c := range counters {
		t.Counters = append(t.Counters, CounterName{c.Name, c.Estimates()})
		t.Total.Tokens = append(t.Total.Tokens, Count{By: c})
	}
	return t
}

// Add adds texts. By total, only the sum has them.
func (t *Texts) Add(rows []Text) {
	for _, r := range rows {
		t.Total.Bytes += r.Bytes
		for i, c := range r.Tokens {
			t.Total.Tokens[i].N += c.N
		}
	}
	if t.By != "total" {
		t.Rows = append(t.Rows, rows...)
	}
}

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
