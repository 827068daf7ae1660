package compact

import (
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// sweCounter counts as SWE-CLI does where it has no tokenizer: a token for each four characters,
// rounded down once a text (spec/policies.md 2.2).
var sweCounter = tokens.Counter{
	Name:    "swe-chars4",
	About:   "as SWE-CLI without its tokenizer: a quarter of the characters of each text, rounded down",
	Measure: tokens.Scalars,
	Tokens:  func(n int) int { return n / 4 },
	ByText:  true,
}

// A length is how long a text is, in every unit that a counter may want. Tokens are
// those of the view's tokenizer, 0 where it has none.
type length struct {
	sessionfmt.Sizes
	Tokens int
}

// add is the length of both texts.
func (n length) add(m length) length { return length{n.Sizes.Add(m.Sizes), n.Tokens + m.Tokens} }

// in is the length in a counter's measure.
func (n length) in(c *tokens.Counter) int {
	switch c.Measure {
	case tokens.Units:
		return n.Units
	case tokens.Bytes:
		return n.Bytes
	case tokens.Scalars:
		return n.Scalars
	}
	return n.Tokens
}

// length measures a text.
func (v *View) length(text string) length {
	n := length{Sizes: sessionfmt.SizesOf(text)}
	if v.tokenizer != nil {
		n.Tokens = v.tokenizer.Text([]byte(text))
	}
	return n
}

// Tokens are what a message counts for: what replay counts the same message for.
func (m *message) Tokens(c *tokens.Counter) int {
	parts, sum := c.Message, 0
	for i := range m.Blocks {
		b := &m.Blocks[i]
		n := b.length.in(c)
		switch b.Kind {
		case imageBlock:
			n = c.Image
		case callBlock:
			name := 0
			if b.Tool != nil {
				name = b.Tool.in(c)
			}
			if c.ByText {
				parts += c.Of(name)
			} else {
				sum += name
			}
		}
		if c.ByText {
			parts += c.Of(n)
		} else {
			sum += n
		}
	}
	return parts + c.Of(sum)
}

// tokensOf is what a text counts for by itself.
func tokensOf(c *tokens.Counter, n length) int { return c.Of(n.in(c)) }

// tokens are those of the request's messages.
func (v *View) tokens(c *tokens.Counter) (n int) {
	for i := range v.Messages {
		if v.Live(i) {
			n += v.Messages[i].Tokens(c)
		}
	}
	return n
}

// estimate is what pi takes a message for where it looks for a place to cut.
func (m *message) estimate() int {
	if m.isAssistant() || m.isResult() || m.Kind == sessionfmt.User || m.Edited {
		return m.Tokens(&tokens.Pi)
	}
	return m.Place.Tokens
}
