package replay

import (
	"slices"
	"unicode/utf8"

	"ctxtool/internal/tokens"
	"ctxtool/sessionfmt"
)

// A Weight is what a message takes, in tokens of a counter or in bytes, by what its
// blocks are. A result's text is Text.
type Weight struct {
	Text, Thinking, Calls, Images int
}

// Total is all of it.
func (w Weight) Total() int { return w.Text + w.Thinking + w.Calls + w.Images }

// A weighing counts the texts of a message as a counter does. Where the counter
// rounds once a message, each text has what it adds to the sum so far.
type weighing struct {
	c      *tokens.Counter
	length int // of the texts so far, in the counter's measure

	found   *Weighed          // takes down what else is in the message, where it is wanted
	tools   map[string]string // names seen so far
	answers []byte            // the call that a result answers
}

// add is how many more tokens a message has with a further text of that length.
func (w *weighing) add(length int) int {
	if w.c.ByText {
		return w.c.Of(length)
	}
	before := w.c.Of(w.length)
	w.length += length
	return w.c.Of(w.length) - before
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
func weigh(c *tokens.Counter, at *sessionfmt.Cursor, role sessionfmt.Kind) Weight {
	return (&weighing{c: c}).message(at, role)
}

// message counts the message that comes next.
func (w *weighing) message(at *sessionfmt.Cursor, role sessionfmt.Kind) (sum Weight) {
	w.length = 0
	for key := range at.Members {
		switch {
		case string(key) == "content":
			sum = w.content(at, role)
		case w.found != nil && role == sessionfmt.ToolResult:
			w.result(key, at)
		}
	}
	if w.found != nil && slices.Contains(readers, w.found.Result.Tool) {
		w.found.Result.Call = string(w.answers)
	}
	sum.Text += w.c.Message
	return sum
}

// content counts the content that comes next: a string, or blocks of the types that
// the role may have.
func (w *weighing) content(at *sessionfmt.Cursor, role sessionfmt.Kind) (sum Weight) {
	start := at.Offset()
	if at.Peek() != '"' {
		for range at.Elements {
			w.block(&sum, at, role)
		}
		return sum
	}
	if role == sessionfmt.Assistant { // has blocks only
		at.Value()
		return sum
	}
	sum.Text = w.add(w.string(at))
	if w.found != nil {
		w.found.text(w, role, at.Since(start), at.Offset()-start)
	}
	return sum
}

func (w *weighing) block(sum *Weight, at *sessionfmt.Cursor, role sessionfmt.Kind) {
	var typ, said, image value
	var call callFound
	text, thinking, name, args := 0, 0, 0, 0
	start := at.Offset()
	for key := range at.Members {
		from := at.Offset()
		switch string(key) {
		case "type":
			typ = at.Value()
		case "text":
			text = w.string(at)
			said = at.Since(from)
		case "thinking":
			thinking = w.string(at)
		case "name":
			name = w.string(at)
			call.name = at.Since(from)
		case "arguments":
			args = w.of(at.Compact())
			call.args = at.Since(from)
		case "id":
			call.id = at.Value()
		case "data":
			image = at.Value()
		}
	}
	size := at.Offset() - start
	switch {
	case typ.Is("text"):
		sum.Text += w.add(text)
		if w.found != nil {
			w.found.text(w, role, said, size)
		}
	case role != sessionfmt.Assistant:
		if typ.Is("image") {
			sum.Images += w.add(w.c.Image)
			w.found.image(image, size)
		}
	case typ.Is("thinking"):
		sum.Thinking += w.add(thinking)
		w.found.thinking(size)
	case typ.Is("toolCall"):
		sum.Calls += w.add(name) + w.add(args)
		w.found.call(call, size)
	}
}

// weight is what a message counts for as a provider message, and its bytes.
func (l *loader) weight(c *tokens.Counter, m *message) (sum Weight, size int, err error) {
	return l.weigh(&weighing{c: c}, m)
}

// weigh is weight with a weighing of one's own making. A plain message is counted off
// its line in one pass, without being made into JSON first.
func (l *loader) weigh(w *weighing, m *message) (sum Weight, size int, err error) {
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
					w.found.reset()
					sum = w.message(&l.at, m.kind)
					size = l.at.Offset() - start
				}
			}
			if sum.Total() > w.c.Message { // else it may have no content, and gets some
				return sum, size, nil
			}
		}
	}
	v, err := l.provider(m)
	if err != nil {
		return sum, 0, err
	}
	w.found.reset()
	return w.message(l.at.Reset(v), sessionfmt.RoleKind(v.Get("role"))), len(v), nil
}

// tokens is what a message counts for as a provider message.
func (l *loader) tokens(c *tokens.Counter, m *message) (int, error) {
	sum, _, err := l.weight(c, m)
	return sum.Total(), err
}
