// Package weigh computes the size of messages by a counter.
package weigh

import (
	"fmt"
	"unicode/utf8"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// Counts are the tokens of an envelope by category.
type Counts struct {
	System   int `json:"system"`
	Tools    int `json:"tools"`
	Messages int `json:"messages"`
	Total    int `json:"total"`
}

// A Weight is the size of a message by kind of block, in tokens of a counter or in bytes. The
// text of a result counts as Text.
type Weight struct {
	Text, Thinking, Calls, Images int
}

// Total returns the sum.
func (w Weight) Total() int { return w.Text + w.Thinking + w.Calls + w.Images }

// A Weigher counts the texts of a message as a counter does. If the counter rounds once per
// message, each text counts what it adds to the sum so far.
type Weigher struct {
	c      *tokens.Counter
	length int // of the texts so far, in the counter's measure
	buf    []byte
	at     jsonl.Cursor
}

// Reset starts a new message.
func (w *Weigher) Reset(c *tokens.Counter) *Weigher {
	w.c, w.length = c, 0
	return w
}

// Add returns how many tokens another text of that length adds.
func (w *Weigher) Add(length int) int {
	if w.c.ByText {
		return w.c.Of(length)
	}
	before := w.c.Of(w.length)
	w.length += length
	return w.c.Of(w.length) - before
}

// String returns the length of a string.
func (w *Weigher) String(s jsonl.String) int {
	if w.c.Measure == tokens.Units {
		return s.Units() // avoids unescaping
	}
	return w.Text(s.Bytes(&w.buf))
}

// Value returns the length of a value: of a string that of its text, else 0.
func (w *Weigher) Value(v jsonl.Value) int { return w.String(w.at.Reset(v).String()) }

// Minified returns the length of a value as JSON.stringify would write it.
func (w *Weigher) Minified(v jsonl.Value) int { return w.Text(w.at.Minify(v)) }

// Text returns the length of a text.
func (w *Weigher) Text(text []byte) int { return Length(w.c, text) }

// Length returns the length of a UTF-8 text in the counter's measure.
func Length(c *tokens.Counter, text []byte) int {
	switch c.Measure {
	case tokens.Units:
		return jsonl.Units(text)
	case tokens.Bytes:
		return len(text)
	case tokens.Scalars:
		return utf8.RuneCount(text)
	}
	return c.Text(text)
}

// Message counts a message.
func (w *Weigher) Message(m *jsonl.Message) Weight {
	sum := w.Content(m)
	sum.Text += w.c.Message
	return sum
}

// Content counts the content of a message. The texts of a result count as one text: to a program
// that rounds each text, a result is a string.
func (w *Weigher) Content(m *jsonl.Message) (sum Weight) {
	w.length = 0
	joined := 0 // length of the texts of a result
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case jsonl.TextBlock:
			if n := w.String(b.Text); w.c.ByText && m.Kind == jsonl.ToolResult {
				joined += n
			} else {
				sum.Text += w.Add(n)
			}
		case jsonl.ImageBlock:
			sum.Images += w.Add(w.c.Image)
		case jsonl.ThinkingBlock:
			if !w.c.NoThinking {
				sum.Thinking += w.Add(w.String(b.Text))
			}
		case jsonl.CallBlock:
			if w.c.Call != nil {
				sum.Calls += w.Add(w.Text(w.c.Call(b.Name.Text(), w.at.Minify(b.Args))))
			} else {
				sum.Calls += w.Add(w.Value(b.Name)) + w.Add(w.Minified(b.Args))
			}
		}
	}
	if joined > 0 {
		sum.Text += w.Add(joined)
	}
	return sum
}

// Shown is what pi's indicator shows. Tokens and Percent are null if it shows nothing.
type Shown struct {
	Tokens    *int     `json:"tokens"`
	Percent   *float64 `json:"percent"`   // of the window
	Estimated int      `json:"estimated"` // tokens not covered by a recorded usage
}

// Text describes it in words, for the session of an agent: only pi shows it.
func (s Shown) Text(agent string) string {
	who := "pi shows"
	if agent != "pi" {
		who = "the context has"
	}
	if s.Tokens == nil {
		return who + " no size until the next answer"
	}
	text := fmt.Sprintf("%s %d tokens", who, *s.Tokens)
	if s.Percent != nil {
		text += fmt.Sprintf(", %.1f%% of the window", *s.Percent)
	}
	switch s.Estimated {
	case 0:
		return text + ", as the provider recorded"
	case *s.Tokens:
		return text + ", all of them estimated"
	}
	return fmt.Sprintf("%s: %d as the provider recorded, about %d since", text, *s.Tokens-s.Estimated, s.Estimated)
}

// TextTokens returns what a text by itself counts for.
func TextTokens(c *tokens.Counter, text []byte) int { return c.Of(Length(c, text)) }

// MessageTokens returns what a message counts for.
func MessageTokens(c *tokens.Counter, m *jsonl.Message) int {
	return new(Weigher).Reset(c).Message(m).Total()
}

// A Digest describes a message without its text. Its hashes are valid in one process only.
type Digest struct {
	Content  uint64 // hash of the content, independent of the spelling
	Spelling uint64 // hash of the bytes
	Tokens   int32
	Bytes    int32 // length of its JSON
}
