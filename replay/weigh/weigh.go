// Package weigh computes the size of messages by a counter.
package weigh

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// Counts are the sizes of an envelope by category, in tokens of a counter or in bytes. In JSON, System and
// Tools are null if no record has them. Total is the sum of the recorded parts.
type Counts struct {
	System   int `json:"system"`
	Tools    int `json:"tools"`
	Messages int `json:"messages"`
	Total    int `json:"total"`

	// What was sent is not recorded: System, or Tools, is 0 and is not a size.
	NoSystem bool `json:"-"`
	NoTools  bool `json:"-"`
}

// Unrecorded reports whether some part of what was sent is not recorded.
func (n Counts) Unrecorded() bool { return n.NoSystem || n.NoTools }

// MarshalJSON writes null for what is not recorded.
func (n Counts) MarshalJSON() ([]byte, error) {
	var out struct {
		System   *int `json:"system"`
		Tools    *int `json:"tools"`
		Messages int  `json:"messages"`
		Total    int  `json:"total"`
	}
	out.Messages, out.Total = n.Messages, n.Total
	if !n.NoSystem {
		out.System = &n.System
	}
	if !n.NoTools {
		out.Tools = &n.Tools
	}
	return json.Marshal(out)
}

// A Weight is the size of a message by kind of block, in tokens of a counter or in bytes. The
// text of a result counts as Text.
type Weight struct {
	Text, Thinking, Calls, Images int
}

// Total returns the sum.
func (w Weight) Total() int { return w.Text + w.Thinking + w.Calls + w.Images }

// A Weigher counts the texts of a message the way a counter does. If the counter rounds once per message, each
// text counts by how much it increases the rounded sum.
type Weigher struct {
	c      *tokens.Counter
	length int // length of the texts so far, in the counter's measure
	buf    []byte
	at     jsonl.Cursor
}

// Reset starts a new message.
func (w *Weigher) Reset(c *tokens.Counter) *Weigher {
	w.c, w.length = c, 0
	return w
}

// Add returns the additional tokens for another text of that length.
func (w *Weigher) Add(length int) int {
	if w.c.ByText {
		return w.c.Of(length)
	}
	before := w.c.Of(w.length)
	w.length += length
	return w.c.Of(w.length) - before
}

// String returns the length of a string in the counter's measure.
func (w *Weigher) String(s jsonl.String) int {
	if w.c.Measure == tokens.Units {
		return s.Units() // avoids unescaping
	}
	return w.Text(s.Bytes(&w.buf))
}

// Value returns the length of a string's text, 0 for any other value.
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

// SealedTokens returns the tokens of thinking whose text is not in the file, given the number of characters
// that it counts for.
func SealedTokens(characters int) int { return characters / 4 }

// Message counts a message.
func (w *Weigher) Message(m *jsonl.Message) Weight {
	sum := w.Content(m)
	sum.Text += w.c.Message
	return sum
}

// Content counts the content of a message. The texts of a result count as one text, since programs that round
// each text treat a result as a string.
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
		default:
			if n := b.Sealed(); n > 0 && !w.c.NoThinking {
				if w.c.Measure == tokens.Tokens {
					n = SealedTokens(n)
				}
				sum.Thinking += w.Add(n)
			}
		}
	}
	if joined > 0 {
		sum.Text += w.Add(joined)
	}
	return sum
}

// A Size is the size of a context (docs/figures.md).
type Size struct {
	Tokens    int      `json:"tokens"`
	Percent   *float64 `json:"percent"`   // of the window; null where that is not known
	Estimated int      `json:"estimated"` // tokens that no recorded usage covers
	// the part of estimated that is prompt and tools which the file does not record, as in the first answered request
	Hidden int   `json:"hidden,omitempty"`
	Window int64 `json:"-"` // tokens, 0 where it is not known
}

// Of returns a size of n tokens.
func (s Size) Of(tokens int) Size {
	s.Tokens, s.Percent = tokens, nil
	if s.Window > 0 {
		percent := float64(tokens) / float64(s.Window) * 100
		s.Percent = &percent
	}
	return s
}

// Stored returns the size that pi shows and uses for its thresholds, in tokens: without what the file does not
// record.
func (s Size) Stored() int { return s.Tokens - s.Hidden }

// Recorded reports whether a provider recorded any part of it.
func (s Size) Recorded() bool { return s.Estimated < s.Tokens }

// Guessed reports whether all of it is estimated.
func (s Size) Guessed() bool { return s.Tokens > 0 && !s.Recorded() }

// String describes it in words.
func (s Size) String() string {
	text := fmt.Sprintf("%d tokens", s.Tokens)
	if s.Percent != nil {
		text += fmt.Sprintf(", %.1f%% of the window", *s.Percent)
	}
	switch {
	case !s.Recorded():
		text = "~" + text + ", estimated"
		if s.Hidden > 0 {
			text += fmt.Sprintf(": about %d of them not in the file, by the first request", s.Hidden)
		}
		return text
	case s.Estimated == 0:
		return text + ", as the provider recorded"
	}
	return fmt.Sprintf("%s: %d as the provider recorded, about %d since", text, s.Tokens-s.Estimated, s.Estimated)
}

// Or returns the size of a context if a part of it is not recorded and it exceeds the counted tokens of its
// parts, else these.
func (s Size) Or(n Counts) Size {
	switch {
	case n.Unrecorded() && s.Tokens >= n.Total:
		return s
	case n.Unrecorded() && !s.Recorded():
		return Size{Tokens: n.Total, Estimated: n.Total}
	}
	return Size{Tokens: n.Total}
}

// Rest returns by how much the size of a context exceeds its counted parts, and a name for the difference. It
// is negative if these count more than the provider did.
func (s Size) Rest(counted int) (name string, n int) {
	n = s.Tokens - counted
	switch {
	case Contradicts(int64(counted-s.Estimated), int64(s.Tokens-s.Estimated)):
		return "removed outside of the file", n
	case n < 0:
		return "counted too much", n
	}
	return "not in the file", n
}

// Contradicts reports whether a request of a counted size cannot be the one for which the provider recorded so
// many tokens: it is more than 1.3 times as large, and jsonl.LeastGone larger.
func Contradicts(counted, recorded int64) bool {
	return recorded > 0 && counted-recorded >= jsonl.LeastGone && 10*counted > 13*recorded
}

// TextTokens returns the tokens of a single text.
func TextTokens(c *tokens.Counter, text []byte) int { return c.Of(Length(c, text)) }

// MessageTokens returns the tokens of a message.
func MessageTokens(c *tokens.Counter, m *jsonl.Message) int {
	return new(Weigher).Reset(c).Message(m).Total()
}

// A Measure is the size and identity of a message, without its text.
type Measure struct {
	// hash of its content, independent of the spelling, valid in one process only; 0 if only the size was
	// requested
	Content uint64
	Tokens  int32
	Bytes   int32 // length of its JSON, bytes
}

// Shares are the tokens of a request's messages by kind, by pi's estimate.
type Shares struct {
	User      int `json:"user"`      // prompts, shell commands, and what extensions add
	Answers   int `json:"answers"`   // texts, thinking and calls
	Results   int `json:"results"`   // of tools
	Summaries int `json:"summaries"` // of compactions and branches
}

// Total returns the tokens of all kinds.
func (s *Shares) Total() int { return s.User + s.Answers + s.Results + s.Summaries }

// Add adds the tokens of a message of a kind.
func (s *Shares) Add(kind jsonl.Kind, n int) {
	switch kind {
	case jsonl.Assistant:
		s.Answers += n
	case jsonl.ToolResult:
		s.Results += n
	case jsonl.CompactionMessage, jsonl.BranchMessage:
		s.Summaries += n
	default:
		s.User += n
	}
}
