package replay

import (
	"hash/maphash"
	"sync/atomic"
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

// Count counts the envelope as /context does (docs/session-format.md 8.2): the parts
// together, and each tool and each message by itself.
func (e *Envelope) Count(c *tokens.Counter) (Counts, error) {
	n, err := CountAll(c, e)
	return n[0], err
}

// CountAll are the counts of envelopes of one replay. What is the same message at the same
// place in several of them is counted once.
func CountAll(c *tokens.Counter, all ...*Envelope) ([]Counts, error) {
	n := make([]Counts, len(all))
	for i, e := range all {
		p, err := e.Prompt()
		if err != nil {
			return n, err
		}
		n[i] = p.Counts(c)
	}
	sums, err := countMessages(c, all)
	for i := range n {
		n[i].Messages = int(sums[i].Load())
		n[i].Total = n[i].System + n[i].Tools + n[i].Messages
	}
	return n, err
}

// Counts is what prompt and tools take together.
func (p *Prompt) Counts(c *tokens.Counter) (n Counts) {
	each, ofTools := p.Count(c)
	for _, k := range each {
		n.System += k
	}
	for _, k := range ofTools {
		n.Tools += k
	}
	n.Total = n.System + n.Tools
	return n
}

// Count is what each part and each tool takes. Where the counter rounds once a message
// the parts are one together: each has what it adds to those before it.
func (p *Prompt) Count(c *tokens.Counter) (parts, tools []int) {
	w := weighing{c: c}
	for _, part := range p.Parts {
		parts = append(parts, w.add(w.of([]byte(part.Text))))
	}
	for _, t := range p.Tools {
		tools = append(tools, t.tokens(c))
	}
	return parts, tools
}

// tokens is what a tool's definition counts for.
func (t Tool) tokens(c *tokens.Counter) (n int) {
	w := weighing{c: c}
	for _, name := range []string{"name", "description"} {
		n += w.add(w.value(t.Raw.Get(name)))
	}
	if parameters := t.Raw.Get("parameters"); parameters.Exists() {
		n += w.add(w.compact(parameters))
	}
	return n
}

// countMessages counts the shown messages, on all processors: each takes stretches of the
// lists in turn. The sums do not depend on who counted what.
func countMessages(c *tokens.Counter, all []*Envelope) ([]atomic.Int64, error) {
	sums := make([]atomic.Int64, len(all))
	most := 0
	for _, e := range all {
		most = max(most, e.Len())
	}
	return sums, all[0].inChunks((most+chunkSize-1)/chunkSize, func(l *Reader, k int) error {
		for i := k * chunkSize; i < min(most, (k+1)*chunkSize); i++ {
			var was *Piece
			n := 0
			for j, e := range all {
				if i >= e.Len() || !e.Piece(i).Sent() {
					continue
				}
				m := e.Piece(i)
				if was == nil || was.Place() != m.Place() {
					var err error
					if n, _, err = l.Tokens(c, m); err != nil {
						return err
					}
					was = m
				}
				sums[j].Add(int64(n))
			}
		}
		return nil
	})
}

// HiddenEstimate is about how many tokens a prompt and tools have that are not
// in the session: what the first answered request's usage says its prompt had,
// less what is counted of it here. It is 0 where no usage tells.
func (e *Envelope) HiddenEstimate(c *tokens.Counter) (int, error) {
	path, _ := e.r.Session.Path(e.Leaf)
	for pos, rec := range path {
		if e.r.Session.Kind(rec) != jsonl.Assistant {
			continue
		}
		used, err := e.r.usage(rec)
		if err != nil {
			return 0, err
		}
		if prompt := int(used.Prompt()); prompt > 0 {
			quiet := *e.r // findings have been reported once
			before, err := quiet.end(path[:pos])
			if err != nil {
				return 0, err
			}
			n, err := before.Count(c)
			return max(0, prompt-n.Total), err
		}
	}
	return 0, nil
}

// A weight is what a message takes, in tokens of a counter or in bytes, by what its
// blocks are. A result's text is Text.
type weight struct {
	Text, Thinking, Calls, Images int
}

// Total is all of it.
func (w weight) Total() int { return w.Text + w.Thinking + w.Calls + w.Images }

// A weighing counts the texts of a message as a counter does. Where the counter
// rounds once a message, each text has what it adds to the sum so far.
type weighing struct {
	c      *tokens.Counter
	length int // of the texts so far, in the counter's measure
	buf    []byte
	at     jsonl.Cursor
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

// string is the length of a string.
func (w *weighing) string(s jsonl.String) int {
	if w.c.Measure == tokens.Units {
		return s.Units() // without being unescaped
	}
	return w.of(s.Bytes(&w.buf))
}

// value is the length of a value: of a string its text, of any other nothing.
func (w *weighing) value(v value) int { return w.string(w.at.Reset(v).String()) }

// compact is the length of a value as JSON.stringify spells it.
func (w *weighing) compact(v value) int { return w.of(w.at.Compact(v)) }

// of is the length of a text.
func (w *weighing) of(text []byte) int { return TextLength(w.c, text) }

// TextLength is the length of a text, which is UTF-8, in the counter's measure.
func TextLength(c *tokens.Counter, text []byte) int {
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

// message counts a message.
func (w *weighing) message(m *jsonl.Message) weight {
	sum := w.content(m)
	sum.Text += w.c.Message
	return sum
}

// content counts the content of a message.
func (w *weighing) content(m *jsonl.Message) (sum weight) {
	w.length = 0
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case jsonl.TextBlock:
			sum.Text += w.add(w.string(b.Says))
		case jsonl.ImageBlock:
			sum.Images += w.add(w.c.Image)
		case jsonl.ThinkingBlock:
			sum.Thinking += w.add(w.string(b.Says))
		case jsonl.CallBlock:
			sum.Calls += w.add(w.value(b.Name)) + w.add(w.compact(b.Args))
		}
	}
	return sum
}

// Message reads a message as a provider gets it. size is that of its JSON, bytes. A plain
// message is read off its line, without being made into JSON first.
func (l *Reader) Message(m *Piece) (msg *jsonl.Message, size int, err error) {
	if m.form == plain && m.edit < 0 {
		switch m.kind {
		case jsonl.User, jsonl.Assistant, jsonl.ToolResult:
			line, err := l.lines.Line(int(m.rec))
			if err != nil {
				return nil, 0, err
			}
			l.msg.Content = nil
			l.at.Reset(line)
			for key := range l.at.Members {
				if string(key) == "message" {
					start := l.at.Offset()
					l.msg.Read(&l.at, m.kind)
					size = l.at.Offset() - start
				}
			}
			if !l.msg.Content.IsNull() { // else it gets some
				return &l.msg, size, nil
			}
		}
	}
	v, err := l.Provider(m)
	if err != nil {
		return nil, 0, err
	}
	l.msg.Read(l.at.Reset(v), v.Get("role").RoleKind())
	return &l.msg, len(v), nil
}

// Tokens is what a message counts for as a provider message. size is that of its JSON,
// bytes.
func (l *Reader) Tokens(c *tokens.Counter, m *Piece) (n, size int, err error) {
	msg, size, err := l.Message(m)
	if err != nil {
		return 0, 0, err
	}
	return l.weigher(c).message(msg).Total(), size, nil
}

// weigher is the loader's own weighing, for a counter.
func (l *Reader) weigher(c *tokens.Counter) *weighing {
	l.weighing.c, l.weighing.length = c, 0
	return &l.weighing
}

// A Saying is what is known of one message without its text. Hashes are good for one run
// only.
type Saying struct {
	Hash   uint64 // of what it says
	Spelt  uint64 // of its bytes
	Tokens int32
	Bytes  int32 // of its JSON
}

// Say reads a message that a provider gets.
func (l *Reader) Say(c *tokens.Counter, m *Piece) (Saying, error) {
	v, err := l.Provider(m)
	if err != nil {
		return Saying{}, err
	}
	if m.kind == jsonl.System {
		l.spelled = v.AppendCompact(l.spelled[:0])
		n, err := l.Estimate(c, m)
		return Saying{maphash.Bytes(digestSeed, l.spelled), maphash.Bytes(digestSeed, v), int32(n), int32(len(v))}, err
	}
	var f [5]value
	v.Fields(f[:], "role", "content", "toolCallId", "toolName", "isError")
	var h maphash.Hash
	h.SetSeed(digestSeed)
	for _, part := range f {
		part.Compactly(&l.spelled, func(piece []byte) { h.Write(piece) })
		h.WriteByte(0)
	}
	l.msg.Read(l.at.Reset(v), f[0].RoleKind())
	return Saying{
		h.Sum64(), maphash.Bytes(digestSeed, v),
		int32(l.weigher(c).message(&l.msg).Total()), int32(len(v)),
	}, nil
}
