// Package tokens counts the tokens of plain text. What a message's text is, and what
// images and tool calls count for, is the business of package replay.
//
// Find returns a Counter by name, Names are all names. Counters are tokenizers (cl100k,
// o200k), which count exactly, or estimates by length, each as one agent makes it.
// Counter.Text is the tokens of one text by a tokenizer; Counter.Of makes tokens of a
// length by any Counter.
package tokens

import (
	"fmt"
	"strings"
)

// A Counter counts tokens its own way: it adds up how long the texts of a message
// are, and makes tokens of that.
type Counter struct {
	Name    string
	About   string  // one line for help
	Measure Measure // how it tells the length of a text
	// Text counts the tokens of a text, which is UTF-8, where Measure is Tokens; nil
	// for all others.
	Text func(text []byte) int
	// Tokens are the tokens of a length, nil where they are the length itself.
	Tokens func(length int) int
	// ByText reports whether each text of a message is rounded by itself, and not their sum.
	ByText  bool
	Message int // tokens that a message takes besides its texts
	Image   int // the length that an image counts for; 0 where the system has none
}

// MarshalText writes the name. It never fails.
func (c *Counter) MarshalText() ([]byte, error) { return []byte(c.Name), nil }

// A Measure is a way to tell the length of a text.
type Measure uint8

const (
	Units   Measure = iota // UTF-16 code units
	Bytes                  // of UTF-8
	Scalars                // Unicode scalar values
	Tokens                 // of a tokenizer: no estimate
)

// counters are all counters, the default first.
var counters = []*Counter{&Pi, &GSH, &YBytes, &YScalars, &cl100k, &o200k}

// Pi counts as pi estimates: a token for each four UTF-16 code units of a
// message, rounded up once a message (docs/session-format.md 8.1, 8.2).
var Pi = Counter{
	Name:   "chars4",
	About:  "as pi: a quarter of the length in UTF-16 units, rounded up once a message",
	Tokens: quarterUp,
	Image:  4800,
}

// GSH counts as gsh estimates: a token for each four bytes, rounded down once a
// text, and four a message (docs/policies.md 2.2).
var GSH = Counter{
	Name:    "bytes4",
	About:   "as gsh: a quarter of the bytes of each text, rounded down, and 4 a message",
	Measure: Bytes,
	Tokens:  func(n int) int { return n / 4 },
	ByText:  true,
	Message: 4,
}

// YBytes and YScalars count as y-agent estimates in its two places: a token for each
// four bytes or scalars, rounded up once a message (docs/policies.md 4.2).
var YBytes = Counter{
	Name:    "ybytes",
	About:   "as y-agent's context: a quarter of the bytes, rounded up once a message",
	Measure: Bytes,
	Tokens:  quarterUp,
}

var YScalars = Counter{
	Name:    "yscalars",
	About:   "as y-agent's prompts: a quarter of the Unicode scalars, rounded up once a message",
	Measure: Scalars,
	Tokens:  quarterUp,
}

func quarterUp(n int) int { return (n + 3) / 4 }

// Of are the tokens of texts that are this long together.
func (c *Counter) Of(length int) int {
	if c.Tokens == nil {
		return length
	}
	return c.Tokens(length)
}

// Estimates reports whether the counter does not know a model's own tokens.
func (c *Counter) Estimates() bool { return c.Measure != Tokens }

// Names are the names of all counters, the default first.
func Names() (names []string) {
	for _, c := range counters {
		names = append(names, c.Name)
	}
	return names
}

// Find is the counter of that name.
func Find(name string) (*Counter, error) {
	for _, c := range counters {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("unknown counter %q: one of %s", name, strings.Join(Names(), ", "))
}
