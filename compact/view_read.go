package compact

import (
	"cmp"
	"slices"
	"strings"

	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A part is a worker's state while it reads messages for a new view.
type part struct {
	blocks    []Block              // backing array for the blocks of the next messages
	names     map[string]*ToolName // names of tools
	tokenizer *tokens.Counter
	buf       []byte
	at        jsonl.Cursor
}

// partSize is the capacity of a backing array.
const partSize = 256

// message returns a message as a view has it; nil is one that is not sent.
func (p *part) message(at Place, m *jsonl.Message) Message {
	if m == nil {
		m = &jsonl.Message{}
	}
	if n := len(m.Blocks) + 1; cap(p.blocks)-len(p.blocks) < n { // earlier messages keep the old array
		p.blocks = make([]Block, 0, max(n, partSize))
	}
	first := len(p.blocks)
	if m.Kind == jsonl.ToolResult {
		p.result(m)
	} else {
		p.content(m)
	}
	end := len(p.blocks)
	return Message{Place: at, Blocks: p.blocks[first:end:end], Call: -1, nested: m.Kind == jsonl.ToolResult &&
		m.Nested.Exists()}
}

// content adds the blocks of a message. It skips blocks of unknown kinds that count as 0.
func (p *part) content(m *jsonl.Message) {
	for i := range m.Blocks {
		had := &m.Blocks[i]
		b := Block{Kind: had.Kind, At: int32(i)}
		switch had.Kind {
		case jsonl.OtherBlock:
			n := had.Sealed()
			if n == 0 {
				continue
			}
			b.length = length{jsonl.Sizes{Bytes: n, Units: n, Scalars: n}, weigh.SealedTokens(n)}
		case jsonl.TextBlock, jsonl.ThinkingBlock:
			b.length = p.length(had.Text)
		case jsonl.CallBlock:
			b.Tool, b.ID, b.length = p.name(had.Name), had.ID.Text(), p.minified(had.Args)
			if c := p.tokenizer; c != nil && c.Call != nil {
				b.Tokens = c.Text(c.Call(b.tool(), p.at.Minify(had.Args)))
			}
		}
		p.blocks = append(p.blocks, b)
	}
}

// result adds a tool result: one block for its texts, then its images.
func (p *part) result(m *jsonl.Message) {
	r := Block{Kind: ResultBlock, ID: m.CallID.Text(), Tool: p.name(m.Tool)}
	switch {
	case m.IsError.IsNull():
	case m.IsError.Truthy():
		r.IsError = isError
	default:
		r.IsError = noError
	}
	first := len(p.blocks)
	p.blocks = append(p.blocks, r)
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case jsonl.TextBlock:
			r := &p.blocks[first]
			r.length = r.length.add(p.length(b.Text))
		case jsonl.ImageBlock:
			p.blocks = append(p.blocks, Block{Kind: jsonl.ImageBlock, At: int32(i)})
		}
	}
}

// Values of block.IsError.
const (
	noError = iota + 1
	isError
)

// length measures a string.
func (p *part) length(s jsonl.String) length {
	if p.tokenizer == nil {
		return length{Sizes: s.Sizes()}
	}
	text := s.Bytes(&p.buf)
	return length{jsonl.SizesOf(text), p.tokenizer.Text(text)}
}

// minified measures a value as JSON.stringify writes it.
func (p *part) minified(v jsonl.Value) length {
	text := p.at.Minify(v)
	n := length{Sizes: jsonl.SizesOf(text)}
	if p.tokenizer != nil {
		n.Tokens = p.tokenizer.Text(text)
	}
	return n
}

// name returns a tool's name, shared between calls: there are few tools and many calls.
func (p *part) name(v jsonl.Value) *ToolName {
	if !v.IsString() {
		return nil
	}
	known, ok := p.names[string(v)]
	if !ok {
		if p.names == nil {
			p.names = map[string]*ToolName{}
		}
		known = &ToolName{v.Text(), p.length(p.at.Reset(v).String())}
		p.names[string(v)] = known
	}
	return known
}

// texts reads messages, and caches the last one, as callers read it block by block.
type texts struct {
	e     *replay.Envelope
	from  *replay.Reader
	only  *replay.Piece // how all messages are read; nil to follow the message
	index int           // message of the last text, -1 for none
	last  *jsonl.Message
	err   error // the first error of reading, for the caller who asked for texts; what is read after it is empty
	calls *calls
}

// A calls is the last message whose calls were compared with results: it may have many.
type calls struct {
	texts
	blocks []Block
	by     map[string]int // index of the first call of an id
}

// piece returns where a message is.
func (t *texts) piece(m *Message) replay.Piece {
	if t.only != nil {
		return *t.only
	}
	return t.e.Piece(m.Index)
}

// of returns a message as a provider gets it. It is valid until the next call.
func (t *texts) of(m *Message) *jsonl.Message {
	if t.index != m.Index {
		last, _, err := t.from.Message(t.piece(m))
		t.last, t.err = cmp.Or(last, &jsonl.Message{}), cmp.Or(t.err, err)
		t.index = m.Index
	}
	return t.last
}

// fail keeps the first error.
func (t *texts) fail(err error) { t.err = cmp.Or(t.err, err) }

// took returns a text that was read, and keeps the error.
func took[T any](t *texts, v T, err error) T {
	t.index = -1
	t.fail(err)
	return v
}

// provider returns a message as a provider gets it, as JSON.
func (t *texts) provider(m *Message) jsonl.Value {
	v, err := t.from.Provider(t.piece(m))
	return took(t, v, err)
}

// line returns the line of a record.
func (t *texts) line(rec int) jsonl.Value {
	v, err := t.from.Line(rec)
	return took(t, v, err)
}

// Text returns the exact text of a block, for a call its arguments as JSON.
func (v *View) Text(i, block int) string {
	m := &v.Messages[i]
	if b := &m.Blocks[block]; b.text != nil {
		return *b.text
	}
	return says(&m.Blocks[block], v.texts.of(m))
}

// callOf returns the tool and the arguments of the call of a result; ok is false if it has none.
func (v *View) callOf(i int) (tool string, args jsonl.Value, ok bool) {
	m := &v.Messages[i]
	k := m.result()
	if m.Call < 0 || k < 0 {
		return "", nil, false
	}
	of := &v.Messages[m.Call]
	c := v.texts.calls
	if c == nil {
		c = &calls{texts: texts{e: v.texts.e, from: v.texts.e.Replay().NewReader(), index: -1}}
		v.texts.calls = c
	}
	if len(c.blocks) != len(of.Blocks) || len(c.blocks) > 0 && &c.blocks[0] != &of.Blocks[0] {
		c.blocks, c.by = of.Blocks, map[string]int{}
		for b := range slices.Backward(of.Blocks) {
			if of.Blocks[b].Kind == jsonl.CallBlock {
				c.by[of.Blocks[b].ID] = b
			}
		}
	}
	b, ok := c.by[m.Blocks[k].ID]
	if !ok {
		return "", nil, false
	}
	text := says(&of.Blocks[b], c.of(of))
	v.texts.fail(c.err)
	return of.Blocks[b].tool(), jsonl.Value(text), true
}

// says returns the exact text of a block of a message, for a call its arguments as JSON.
func says(b *Block, m *jsonl.Message) string {
	switch {
	case b.text != nil:
		return *b.text
	case b.Kind == ResultBlock:
		return m.Exact("")
	case int(b.At) >= len(m.Blocks): // it could not be read
		return ""
	case b.Kind == jsonl.CallBlock:
		return string(m.Blocks[b.At].Args)
	}
	return m.Blocks[b.At].Text.Exact()
}

// said returns the concatenated exact texts of a message, including those of results.
func (v *View) said(i int) string {
	_, all := v.pieces(i, 0)
	texts, _ := told(all, (*piece).tool)
	return strings.Join(texts, "")
}

// A length is the length of a text in every unit that a counter may need. Tokens are those of
// the view's tokenizer, 0 if it has none.
type length struct {
	jsonl.Sizes
	Tokens int
}

// add returns the sum of two lengths.
func (n length) add(m length) length { return length{n.Sizes.Add(m.Sizes), n.Tokens + m.Tokens} }

// in returns the length in a counter's measure.
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
	n := length{Sizes: jsonl.SizesOf(text)}
	if v.tokenizer != nil {
		n.Tokens = v.tokenizer.Text([]byte(jsonl.UTF8(text)))
	}
	return n
}

// arguments measures those of a call.
func (v *View) arguments(tool string, args jsonl.Value) length {
	text := args.AppendMinified(nil)
	n := v.length(string(text))
	if c := v.tokenizer; c != nil && c.Call != nil {
		n.Tokens = c.Text(c.Call(tool, text))
	}
	return n
}

// Tokens returns the tokens of a message, the same number as replay's.
func (m *Message) Tokens(c *tokens.Counter) int { return m.weight(c).tokens(c) }

// A weight is the counted size of a message: tokens of some parts, and the length of all others.
type weight struct{ parts, rest int }

func (w weight) tokens(c *tokens.Counter) int { return w.parts + c.Of(w.rest) }

func (m *Message) weight(c *tokens.Counter) weight {
	w := weight{parts: c.Message}
	for i := range m.Blocks {
		m.Blocks[i].weigh(c, 1, &w)
	}
	return w
}

// weigh adds a block to a weight so many times.
func (b *Block) weigh(c *tokens.Counter, times int, w *weight) {
	add := func(n int) {
		if c.ByText {
			w.parts += times * c.Of(n)
		} else {
			w.rest += times * n
		}
	}
	switch {
	case b.Kind == jsonl.ImageBlock:
		add(c.Image)
	case (b.Kind == jsonl.ThinkingBlock || b.Kind == jsonl.OtherBlock) && c.NoThinking:
	case b.Tool != nil && b.Kind == jsonl.CallBlock && c.Call == nil:
		add(b.Tool.in(c))
		fallthrough
	default:
		add(b.length.in(c))
	}
}

// tokensOf returns the tokens of a text by itself.
func tokensOf(c *tokens.Counter, n length) int { return c.Of(n.in(c)) }

// tokens returns those of the request, and of the prompt if the view counts it.
func (v *View) tokens(c *tokens.Counter) int { return totals(v, c).tokens }

// estimate returns pi's estimate of a message's tokens when it chooses where to cut.
func (m *Message) estimate() int {
	if m.isAssistant() || m.isResult() || m.Kind == jsonl.User || m.Edited {
		return m.Tokens(&tokens.Pi)
	}
	return m.Place.Tokens
}
