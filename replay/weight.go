package replay

import (
	"unicode/utf8"

	"ctxtool/internal/tokens"
	"ctxtool/sessionfmt"
)

// A Weight is what a message counts for, in tokens of a counter, by what its blocks
// are. A result's text is Text.
type Weight struct {
	Text, Thinking, Calls, Images int32
}

// Total is all of it.
func (w Weight) Total() int { return int(w.Text) + int(w.Thinking) + int(w.Calls) + int(w.Images) }

// A weighing counts the texts of a message as a counter does. Where the counter
// rounds once a message, each text has what it adds to the sum so far.
type weighing struct {
	c      *tokens.Counter
	length int // of the texts so far, in the counter's measure
}

// add is how many more tokens a message has with a further text of that length.
func (w *weighing) add(length int) int32 {
	if w.c.ByText {
		return int32(w.c.Of(length))
	}
	before := w.c.Of(w.length)
	w.length += length
	return int32(w.c.Of(w.length) - before)
}

// string is the length of the string that comes next.
func (w *weighing) string(at *sessionfmt.Cursor) int {
	if w.c.Measure == tokens.Units {
		return at.Units() // without being unescaped
	}
	return w.of(at.Text())
}

// of is the length of a text.
func (w *weighing) of(text []byte) int { return TextLength(w.c, text) }

// TextLength is the length of a text, which is UTF-8, in the counter's measure.
func TextLength(c *tokens.Counter, text []byte) int {
	switch c.Measure {
	case tokens.Units:
		return sessionfmt.Units(text)
	case tokens.Bytes:
		return len(text)
	case tokens.Scalars:
		return utf8.RuneCount(text)
	}
	return c.Text(text)
}

// weigh counts the message that comes next.
func weigh(c *tokens.Counter, at *sessionfmt.Cursor, role sessionfmt.Kind) (sum Weight) {
	w := weighing{c: c}
	for key := range at.Members {
		if string(key) == "content" {
			sum = w.content(at, role)
		}
	}
	sum.Text += int32(c.Message)
	return sum
}

// content counts the content that comes next: a string, or blocks of the types that
// the role may have.
func (w *weighing) content(at *sessionfmt.Cursor, role sessionfmt.Kind) (sum Weight) {
	if at.Peek() == '"' {
		if role == sessionfmt.Assistant { // has blocks only
			at.Value()
			return sum
		}
		sum.Text = w.add(w.string(at))
		return sum
	}
	for range at.Elements {
		w.block(&sum, at, role)
	}
	return sum
}

func (w *weighing) block(sum *Weight, at *sessionfmt.Cursor, role sessionfmt.Kind) {
	var typ value
	text, thinking, name, args := 0, 0, 0, 0
	for key := range at.Members {
		switch string(key) {
		case "type":
			typ = at.Value()
		case "text":
			text = w.string(at)
		case "thinking":
			thinking = w.string(at)
		case "name":
			name = w.string(at)
		case "arguments":
			args = w.of(at.Compact())
		}
	}
	switch {
	case typ.Is("text"):
		sum.Text += w.add(text)
	case role != sessionfmt.Assistant:
		if typ.Is("image") {
			sum.Images += w.add(w.c.Image)
		}
	case typ.Is("thinking"):
		sum.Thinking += w.add(thinking)
	case typ.Is("toolCall"):
		sum.Calls += w.add(name) + w.add(args)
	}
}

// weight is what a message counts for as a provider message, and its bytes. A plain
// one is counted off its line in one pass, without being made into JSON first.
func (l *loader) weight(c *tokens.Counter, m *message) (sum Weight, size int, err error) {
	if m.form == plain && m.edit < 0 {
		switch m.kind {
		case sessionfmt.User, sessionfmt.Assistant, sessionfmt.ToolResult:
			line, err := l.lines.Line(int(m.rec))
			if err != nil {
				return sum, 0, err
			}
			l.at.Reset(line)
			for key := range l.at.Members {
				if string(key) == "message" {
					start := l.at.Offset()
					sum = weigh(c, &l.at, m.kind)
					size = l.at.Offset() - start
				}
			}
			if sum.Total() > c.Message { // else it may have no content, and gets some
				return sum, size, nil
			}
		}
	}
	v, err := l.provider(m)
	if err != nil {
		return sum, 0, err
	}
	return weigh(c, l.at.Reset(v), sessionfmt.RoleKind(v.Get("role"))), len(v), nil
}

// tokens is what a message counts for as a provider message.
func (l *loader) tokens(c *tokens.Counter, m *message) (int, error) {
	sum, _, err := l.weight(c, m)
	return sum.Total(), err
}
