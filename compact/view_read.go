package compact

import (
	"ctxtool/internal/tokens"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A part is a stretch of a view in the making. It is one worker's.
type part struct {
	messages  []Message
	blocks    []Block
	first     []int            // of each message, its first block
	names     map[string]*Name // of tools, each kept once
	tokenizer *tokens.Counter
}

// partSize is about how many messages a part has.
const partSize = 256

// done are the messages, with their blocks.
func (p *part) done() []Message {
	for i := range p.messages {
		end := len(p.blocks)
		if i+1 < len(p.first) {
			end = p.first[i+1]
		}
		p.messages[i].Blocks = p.blocks[p.first[i]:end:end]
	}
	return p.messages
}

// add reads a message.
func (p *part) add(at replay.Place, c *sessionfmt.Cursor) {
	if p.messages == nil {
		p.messages, p.first = make([]Message, 0, partSize), make([]int, 0, partSize)
		p.blocks = make([]Block, 0, partSize*3/2)
	}
	if n := len(p.messages); n > 0 && p.messages[n-1].Index == at.Index {
		p.blocks = p.blocks[:p.first[n-1]]
		p.messages, p.first = p.messages[:n-1], p.first[:n-1]
	}
	p.messages = append(p.messages, Message{Place: at, Call: -1})
	p.first = append(p.first, len(p.blocks))
	switch {
	case c == nil:
	case at.Kind == sessionfmt.ToolResult:
		p.result(c)
	default:
		for key := range c.Members {
			if string(key) == "content" {
				p.blocks = p.blocks[:p.first[len(p.first)-1]]
				p.content(c, at.Kind)
			}
		}
	}
}

// content reads a content: a string, or blocks of the types that the role may have.
func (p *part) content(c *sessionfmt.Cursor, kind sessionfmt.Kind) {
	if c.Peek() == '"' {
		if kind == sessionfmt.Assistant { // has blocks only
			c.Value()
			return
		}
		p.blocks = append(p.blocks, Block{Kind: TextBlock, Length: p.length(c)})
		return
	}
	at := int32(0)
	for range c.Elements {
		p.block(c, kind == sessionfmt.Assistant, at)
		at++
	}
}

// block reads one block. What no role knows counts for nothing and is left alone.
func (p *part) block(c *sessionfmt.Cursor, answer bool, at int32) {
	var typ sessionfmt.Value
	var text, thinking Length
	call := Block{Kind: CallBlock, At: at}
	for key := range c.Members {
		switch string(key) {
		case "type":
			typ = c.Value()
		case "text":
			text = p.length(c)
		case "thinking":
			thinking = p.length(c)
		case "name":
			call.Tool = p.name(c.Value())
		case "id":
			call.ID = c.Value().Text()
		case "arguments":
			call.Length = p.compact(c)
		}
	}
	switch {
	case typ.Is("text"):
		p.blocks = append(p.blocks, Block{Kind: TextBlock, At: at, Length: text})
	case typ.Is("image") && !answer:
		p.blocks = append(p.blocks, Block{Kind: ImageBlock, At: at})
	case typ.Is("thinking") && answer:
		p.blocks = append(p.blocks, Block{Kind: ThinkingBlock, At: at, Length: thinking})
	case typ.Is("toolCall") && answer:
		p.blocks = append(p.blocks, call)
	}
}

// result reads a tool result: its texts are one block, its images follow.
func (p *part) result(c *sessionfmt.Cursor) {
	first := p.first[len(p.first)-1]
	p.blocks = append(p.blocks, Block{Kind: ResultBlock, At: -1})
	r := Block{Kind: ResultBlock}
	for key := range c.Members {
		switch string(key) {
		case "toolCallId":
			r.ID = c.Value().Text()
		case "toolName":
			r.Tool = p.name(c.Value())
		case "isError":
			switch v := c.Value(); {
			case v.IsNull():
			case v.Truthy():
				r.IsError = isError
			default:
				r.IsError = noError
			}
		case "nestedCalls":
			p.messages[len(p.messages)-1].nested = true
		case "content":
			p.blocks = p.blocks[:first+1]
			r.Length = Length{}
			p.results(c, &r)
		}
	}
	p.blocks[first] = r
}

// results reads the content of a result.
func (p *part) results(c *sessionfmt.Cursor, r *Block) {
	if c.Peek() == '"' {
		r.Length = p.length(c)
		return
	}
	at := int32(0)
	for range c.Elements {
		var typ sessionfmt.Value
		var text Length
		for key := range c.Members {
			switch string(key) {
			case "type":
				typ = c.Value()
			case "text":
				text = p.length(c)
			}
		}
		switch {
		case typ.Is("text"):
			r.Length = r.Length.add(text)
		case typ.Is("image"):
			p.blocks = append(p.blocks, Block{Kind: ImageBlock, At: at})
		}
		at++
	}
}

// What a result says of itself; see Block.IsError.
const (
	noError = iota + 1
	isError
)

// length measures the string that comes next.
func (p *part) length(c *sessionfmt.Cursor) Length {
	if p.tokenizer == nil {
		return Length{Sizes: c.Sizes()}
	}
	text := c.Text()
	return Length{sessionfmt.SizesOf(text), p.tokenizer.Text(text)}
}

// compact measures the value that comes next as JSON.stringify spells it.
func (p *part) compact(c *sessionfmt.Cursor) Length {
	if p.tokenizer == nil {
		return Length{Sizes: c.CompactSizes()}
	}
	text := c.Compact()
	return Length{sessionfmt.SizesOf(text), p.tokenizer.Text(text)}
}

// name is a tool's name: there are few, and many calls.
func (p *part) name(v sessionfmt.Value) *Name {
	if !v.IsString() {
		return nil
	}
	known, ok := p.names[string(v)]
	if !ok {
		if p.names == nil {
			p.names = map[string]*Name{}
		}
		var c sessionfmt.Cursor
		known = &Name{v.Text(), p.length(c.Reset(v))}
		p.names[string(v)] = known
	}
	return known
}

// texts reads messages, and keeps the content of the last one: its blocks are asked for
// one by one.
type texts struct {
	from    *replay.Texts
	index   int // of the last one, -1 for none
	content sessionfmt.Value
}

// of is the content of a message as it stands in the session. It is valid until the next
// call.
func (t *texts) of(m *Message) (sessionfmt.Value, error) {
	if t.index == m.Index {
		return t.content, nil
	}
	raw, err := t.provider(m)
	if err != nil {
		return nil, err
	}
	t.index, t.content = m.Index, raw.Get("content")
	return t.content, nil
}

// provider is a message as a provider gets it.
func (t *texts) provider(m *Message) (sessionfmt.Value, error) {
	t.index = -1
	return t.from.Provider(m.Index)
}

// agent is a message as pi's own context building returns it.
func (t *texts) agent(m *Message) (sessionfmt.Value, error) {
	t.index = -1
	return t.from.Agent(m.Index)
}

// Text is what a block says: of a call its arguments as JSON.
func (v *View) Text(i, block int) (string, error) {
	m := &v.Messages[i]
	b := &m.Blocks[block]
	if b.text != nil {
		return *b.text, nil
	}
	content, err := v.texts.of(m)
	if err != nil {
		return "", err
	}
	if content.IsString() {
		return content.Text(), nil
	}
	var all []byte
	at := int32(0)
	for el := range content.Elements {
		switch {
		case b.Kind == ResultBlock:
			if el.Get("type").Is("text") {
				all = el.Get("text").AppendText(all)
			}
		case at == b.At:
			return blockText(b.Kind, el), nil
		}
		at++
	}
	return string(all), nil
}

func blockText(kind BlockKind, el sessionfmt.Value) string {
	switch kind {
	case TextBlock:
		return el.Get("text").Text()
	case ThinkingBlock:
		return el.Get("thinking").Text()
	case CallBlock:
		return string(el.Get("arguments"))
	}
	return ""
}

// texts of a message, those of results included, one behind the other.
func (v *View) said(i int) (string, error) {
	all := ""
	for k := range v.Messages[i].Blocks {
		if kind := v.Messages[i].Blocks[k].Kind; kind != TextBlock && kind != ResultBlock {
			continue
		}
		text, err := v.Text(i, k)
		if err != nil {
			return "", err
		}
		all += text
	}
	return all, nil
}
