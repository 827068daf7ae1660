// Package tokens counts the tokens of plain text. Package replay defines what the text of a
// message is, and what images and tool calls count for.
//
// Find returns a Counter by name, Names all names. Counters are tokenizers (cl100k, o200k),
// which count exactly, or estimates by length, each as one agent makes it. Counter.Text returns
// the tokens of one text by a tokenizer. Counter.Of converts a length to tokens, for any
// Counter.
//
// # Tokenizers
//
// cl100k and o200k count as npm's tiktoken does without special tokens. Tests compare text by text
// with it where it is installed, and with its recorded results elsewhere. The published expressions
// for splitting text are implemented by hand; comments explain each case of backtracking. The
// character classes are those of the reference's Unicode version, not Go's.
//
// A vocabulary is stored in the binary as its tokens by rank, compressed: 1.3 MB for both, where ready
// hash tables take 3.3 MB and compressed ones 2.5 MB. Its hash table is made for the first text, in 5
// ms (cl100k) and 10 ms (o200k); the default counter needs none.
//
// The two neighbours with the lowest rank are merged repeatedly, by a linear search in short pieces
// and with a heap in long ones. Long pieces are counted in windows of 1 KB that are joined where they
// agree on a token, which is exact (merge_long.go has the proof). So time is linear in the length of a
// word, and memory constant. Each goroutine caches pieces in a fixed 0.9 MB, those of up to 7 bytes as
// one number with their tokens.
//
// A file is counted as it is read. It may be cut after a line end, except before a few characters,
// since no piece crosses the cut (Cut).
package tokens

import (
	_ "embed"
	"fmt"
	"strings"
)

// A Counter counts tokens: it adds up the lengths of a message's texts in its Measure, and
// converts the sum to tokens.
type Counter struct {
	Name    string
	About   string  // one line for help
	Measure Measure // unit in which it measures a text
	// Text counts the tokens of a UTF-8 text if Measure is Tokens. It is nil for others.
	Text func(text []byte) int
	// Tokens converts a length to tokens. It is nil if the length is in tokens already.
	Tokens func(length int) int
	// ByText reports whether the tokens of each text are rounded, rather than those of their sum.
	ByText  bool
	Message int // tokens per message, besides its texts
	Image   int // length of an image; 0 if the agent counts none
	// Call writes a tool call, with its arguments as compact JSON, as the text that the agent counts. If nil,
	// the name and the arguments count.
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
	Tokens                 // tokens of a tokenizer, not an estimate
)

// counters lists all counters, the default first.
var counters = []*Counter{&Pi, &GSH, &YBytes, &YScalars, &SWE, &cl100k, &o200k}

// Pi counts like pi's estimate: one token per four UTF-16 code units of a message, rounded up once per message
// (docs/session-format.md 8.1, 8.2).
var Pi = Counter{
	Name:   "chars4",
	About:  "as pi: a quarter of the length in UTF-16 units, rounded up once per message",
	Tokens: quarterUp,
	Image:  4800,
}

// GSH counts like gsh's estimate: one token per four bytes, rounded down per text, and four per message
// (docs/policies.md 2.2).
var GSH = Counter{
	Name:    "bytes4",
	About:   "as gsh: a quarter of the bytes of each text, rounded down, and 4 per message",
	Measure: Bytes,
	Tokens:  func(n int) int { return n / 4 },
	ByText:  true,
	Message: 4,
}

// YBytes and YScalars count like y-agent's estimates in its two places: one token per four bytes or scalars,
// rounded up once per message (docs/policies.md 4.2).
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
