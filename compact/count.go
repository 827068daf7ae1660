package compact

import "ctxtool/sessionfmt"

// A Counter counts messages as one of the systems does, by how long their parts are.
type Counter struct {
	Name    string
	About   string // one line
	Message func(m *Message) int
	Text    func(s sessionfmt.Sizes) int // a text by itself
}

// Tokens are those of the request's messages.
func (c *Counter) Tokens(v *View) (n int) {
	for i := range v.Messages {
		if v.Live(i) {
			n += c.Message(&v.Messages[i])
		}
	}
	return n
}

// Bytes4 is gsh's: a quarter of the bytes, rounded down for each part, and 4 a message
// (spec/policies.md 1.2). Images count for nothing.
var Bytes4 = Counter{
	Name: "bytes4", About: "a quarter of the bytes, rounded down for each part, and 4 a message",
	Text: func(s sessionfmt.Sizes) int { return s.Bytes / 4 },
	Message: func(m *Message) int {
		n := 4
		for i := range m.Blocks {
			b := &m.Blocks[i]
			if b.Kind == Call {
				n += len(b.Name)/4 + b.Raw/4
			} else {
				n += b.Sizes.Bytes / 4
			}
		}
		return n
	},
}

// YBytes and YScalars are the two of y-agent: a quarter, rounded up, of what a message
// says; calls and thinking are no part of that (spec/policies.md 3.3, 3.5).
var YBytes = Counter{
	Name: "ybytes", About: "a quarter of the bytes of what a message says, rounded up",
	Text:    func(s sessionfmt.Sizes) int { return (s.Bytes + 3) / 4 },
	Message: func(m *Message) int { return (m.text().Bytes + 3) / 4 },
}

// YScalars is YBytes with Unicode scalars in the place of bytes.
var YScalars = Counter{
	Name: "yscalars", About: "a quarter of the Unicode scalars of what a message says, rounded up",
	Text:    func(s sessionfmt.Sizes) int { return (s.Scalars + 3) / 4 },
	Message: func(m *Message) int { return (m.text().Scalars + 3) / 4 },
}

// Chars4 is SWE-CLI's without its tokenizer: a quarter of the characters, rounded down
// for each part (spec/policies.md 2.2).
var Chars4 = Counter{
	Name: "chars4", About: "a quarter of the characters, rounded down for each part",
	Text: func(s sessionfmt.Sizes) int { return s.Scalars / 4 },
	Message: func(m *Message) (n int) {
		for i := range m.Blocks {
			b := &m.Blocks[i]
			s := b.Sizes
			if b.Kind == Call {
				s = s.Add(sessionfmt.SizesOf(b.Name))
			}
			n += s.Scalars / 4
		}
		return n
	},
}

// imageUnits is what pi counts an image for.
const imageUnits = 4800

// Pi is pi's own estimate: a quarter of the UTF-16 units, rounded up once a message
// (spec/pi-1.5.md 7.1).
var Pi = Counter{
	Name: "pi", About: "a quarter of the UTF-16 units, rounded up once a message",
	Text:    func(s sessionfmt.Sizes) int { return (s.Units + 3) / 4 },
	Message: func(m *Message) int { return (m.units() + 3) / 4 },
}

// units is what pi counts a message for before it divides.
func (m *Message) units() (n int) {
	if m.Units > 0 && !m.Edited {
		return m.Units
	}
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case Image:
			n += imageUnits
		case Call:
			n += sessionfmt.Units(b.Name) + b.Sizes.Units
		default:
			n += b.Sizes.Units
		}
	}
	return n
}
