package compact

import (
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// A part is a stretch of a view in the making. It is one worker's.
type part struct {
	messages  []message
	blocks    []block
	first     []int                // of each message, its first block
	names     map[string]*toolName // of tools, each kept once
	tokenizer *tokens.Counter
	buf       []byte
	at        jsonl.Cursor
}

// partSize is about how many messages a part has.
const partSize = 256

// done are the messages, with their blocks.
func (p *part) done() []message {
	for i := range p.messages {
		end := len(p.blocks)
		if i+1 < len(p.first) {
			end = p.first[i+1]
		}
		p.messages[i].Blocks = p.blocks[p.first[i]:end:end]
	}
	return p.messages
}

// add takes in a message; nil is one that is not sent.
func (p *part) add(at replay.Place, m *jsonl.Message) {
	if p.messages == nil {
		p.messages, p.first = make([]message, 0, partSize), make([]int, 0, partSize)
		p.blocks = make([]block, 0, partSize*3/2)
	}
	p.messages = append(p.messages, message{Place: at, Call: -1})
	p.first = append(p.first, len(p.blocks))
	switch {
	case m == nil:
	case m.Kind == jsonl.ToolResult:
		p.result(m)
	default:
		p.content(m)
	}
}

// content takes in blocks. What no role knows counts for nothing and is left alone.
func (p *part) content(m *jsonl.Message) {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		at := int32(i)
		switch b.Kind {
		case jsonl.TextBlock:
			p.blocks = append(p.blocks, block{Kind: textBlock, At: at, length: p.length(b.Says)})
		case jsonl.ThinkingBlock:
			p.blocks = append(p.blocks, block{Kind: thinkingBlock, At: at, length: p.length(b.Says)})
		case jsonl.ImageBlock:
			p.blocks = append(p.blocks, block{Kind: imageBlock, At: at})
		case jsonl.CallBlock:
			p.blocks = append(p.blocks, block{Kind: callBlock, At: at, Tool: p.name(b.Name), ID: b.ID.Text(), length: p.compact(b.Args)})
		}
	}
}

// result takes in a tool result: its texts are one block, its images follow.
func (p *part) result(m *jsonl.Message) {
	r := block{Kind: resultBlock, ID: m.CallID.Text(), Tool: p.name(m.Tool)}
	switch {
	case m.IsError.IsNull():
	case m.IsError.Truthy():
		r.IsError = isError
	default:
		r.IsError = noError
	}
	p.messages[len(p.messages)-1].nested = m.Nested.Exists()
	first := len(p.blocks)
	p.blocks = append(p.blocks, r)
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case jsonl.TextBlock:
			r := &p.blocks[first]
			r.length = r.length.add(p.length(b.Says))
		case jsonl.ImageBlock:
			p.blocks = append(p.blocks, block{Kind: imageBlock, At: int32(i)})
		}
	}
}

// What a result says of itself; see block.IsError.
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

// compact measures a value as JSON.stringify spells it.
func (p *part) compact(v jsonl.Value) length {
	text := p.at.Compact(v)
	n := length{Sizes: jsonl.SizesOf(text)}
	if p.tokenizer != nil {
		n.Tokens = p.tokenizer.Text(text)
	}
	return n
}

// name is a tool's name: there are few, and many calls.
func (p *part) name(v jsonl.Value) *toolName {
	if !v.IsString() {
		return nil
	}
	known, ok := p.names[string(v)]
	if !ok {
		if p.names == nil {
			p.names = map[string]*toolName{}
		}
		known = &toolName{v.Text(), p.length(p.at.Reset(v).String())}
		p.names[string(v)] = known
	}
	return known
}

// texts reads messages, and keeps the last one: its blocks are asked for one by one.
type texts struct {
	from  *replay.Texts
	index int // of the last one, -1 for none
	last  *jsonl.Message
}

// of is a message as it stands in the session. It is valid until the next call.
func (t *texts) of(m *message) (*jsonl.Message, error) {
	if t.index == m.Index {
		return t.last, nil
	}
	raw, err := t.provider(m)
	if err != nil {
		return nil, err
	}
	t.index, t.last = m.Index, raw.Message()
	return t.last, nil
}

// provider is a message as a provider gets it.
func (t *texts) provider(m *message) (jsonl.Value, error) {
	t.index = -1
	return t.from.Provider(m.Index)
}

// agent is a message as pi's own context building returns it.
func (t *texts) agent(m *message) (jsonl.Value, error) {
	t.index = -1
	return t.from.Agent(m.Index)
}

// text is what a block says: of a call its arguments as JSON.
func (v *View) text(i, block int) (string, error) {
	m := &v.Messages[i]
	b := &m.Blocks[block]
	if b.text != nil {
		return *b.text, nil
	}
	msg, err := v.texts.of(m)
	if err != nil {
		return "", err
	}
	return says(b, msg), nil
}

// says is what a block says that is as it stands in the session: of a call its arguments
// as JSON.
func says(b *block, m *jsonl.Message) string {
	switch b.Kind {
	case resultBlock:
		return string(m.AppendText(nil, ""))
	case callBlock:
		return string(m.Blocks[b.At].Args)
	case imageBlock:
		return ""
	}
	return m.Blocks[b.At].Says.Text()
}

// texts of a message, those of results included, one behind the other.
func (v *View) said(i int) (string, error) {
	all := ""
	for k := range v.Messages[i].Blocks {
		if kind := v.Messages[i].Blocks[k].Kind; kind != textBlock && kind != resultBlock {
			continue
		}
		text, err := v.text(i, k)
		if err != nil {
			return "", err
		}
		all += text
	}
	return all, nil
}

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
	jsonl.Sizes
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
	n := length{Sizes: jsonl.SizesOf(text)}
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
	if m.isAssistant() || m.isResult() || m.Kind == jsonl.User || m.Edited {
		return m.Tokens(&tokens.Pi)
	}
	return m.Place.Tokens
}
