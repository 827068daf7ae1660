package jsonl

import (
	"ctxtool/internal/base/work"
	"slices"
	"strings"
)

// A Message is a message as spelled: its meaningful fields, and the blocks of its content. It is reused: what
// it holds is valid until the next message is read, and as long as its source. If keys are equal, the last one
// counts.
type Message struct {
	Kind    Kind
	Content Value
	Blocks  []Block // by index in the content; string content is one block

	// Fields of a tool result.
	CallID, Tool, IsError, Details, Nested Value
	// Fields of an answer.
	Provider, Model, Stop, Failure, Time Value
	// Of an answer, or of a tool that calls a provider itself.
	Usage Value
}

// A BlockKind is the kind of a block of a message's content.
type BlockKind uint8

// Kinds of blocks. A block that a message of its role cannot have is an OtherBlock: only answers have thinking
// and calls, and they have no images. Content of a message of unknown role may have any kind.
const (
	OtherBlock BlockKind = iota
	TextBlock
	ThinkingBlock
	CallBlock
	ImageBlock
)

// A Block is a part of a message's content.
type Block struct {
	Kind BlockKind
	Raw  Value  // the whole block
	Text String // the text or the thinking
	// Fields of a call.
	ID, Name, Args Value
	// Fields of an image: base64 data, and its media type.
	Data, Mime Value
}

// Sealed returns the number of characters that thinking counts if its text is not in the file: the field
// characters of a block of type opaque (docs/session-format.md 16.7); 0 for every other block.
func (b *Block) Sealed() int {
	if b.Kind != OtherBlock || !b.Raw.Get("type").Is("opaque") {
		return 0
	}
	return int(max(0, b.Raw.Get("characters").Int()))
}

// Read reads the next value, a message of that kind.
func (m *Message) Read(c *Cursor, kind Kind) {
	work.Decode()
	start := c.i
	*m = Message{Kind: kind, Blocks: m.Blocks[:0]}
	for key := range c.Members {
		if string(key) == "content" {
			m.ReadContent(c, kind)
		} else if field := m.Field(key); field != nil {
			*field = c.Value()
		}
	}
	work.Look(c.i - start)
}

// Field returns a pointer to a field by name, nil for a field that a Message does not keep.
func (m *Message) Field(name []byte) *Value {
	switch string(name) {
	case "content":
		return &m.Content
	case "toolCallId":
		return &m.CallID
	case "toolName":
		return &m.Tool
	case "isError":
		return &m.IsError
	case "details":
		return &m.Details
	case "nestedCalls":
		return &m.Nested
	case "provider":
		return &m.Provider
	case "model":
		return &m.Model
	case "stopReason":
		return &m.Stop
	case "errorMessage":
		return &m.Failure
	case "timestamp":
		return &m.Time
	case "usage":
		return &m.Usage
	}
	return nil
}

// ReadEntry reads the message of the next value, a message entry of that kind, and returns the length of the
// message's JSON in bytes.
func (m *Message) ReadEntry(c *Cursor, kind Kind) (size int) {
	*m = Message{Kind: kind, Blocks: m.Blocks[:0]}
	for key := range c.Members {
		if string(key) == "message" {
			start := c.Offset()
			m.Read(c, kind)
			size = c.Offset() - start
		}
	}
	return size
}

// ReadContent reads the next value as the content of a message of that kind.
func (m *Message) ReadContent(c *Cursor, kind Kind) {
	m.Kind, m.Blocks = kind, m.Blocks[:0]
	start := c.Offset()
	if c.Peek() == '"' {
		b := Block{Text: c.String()}
		b.Raw = b.Text.Value
		if kind != Assistant { // answers have no string content
			b.Kind = TextBlock
		}
		m.Blocks = append(m.Blocks, b)
	} else {
		for range c.Elements {
			m.ReadBlock(c)
		}
	}
	m.Content = c.Since(start)
}

// ReadBlock reads the next block, and adds it to the message.
func (m *Message) ReadBlock(c *Cursor) {
	m.Blocks = append(m.Blocks, Block{})
	b := &m.Blocks[len(m.Blocks)-1]
	var typ Value
	var thinking String
	start := c.Offset()
	for key := range c.Members {
		switch string(key) {
		case "type":
			typ = c.Value()
		case "text":
			b.Text = c.String()
		case "thinking":
			thinking = c.String()
		case "id":
			b.ID = c.Value()
		case "name":
			b.Name = c.Value()
		case "arguments":
			b.Args = c.Value()
		case "data":
			b.Data = c.Value()
		case "mimeType":
			b.Mime = c.Value()
		}
	}
	b.Raw = c.Since(start)
	answer, any := m.Kind == Assistant, m.Kind == Unknown
	switch {
	case typ.Is("text"):
		b.Kind = TextBlock
	case typ.Is("image") && !answer:
		b.Kind = ImageBlock
	case typ.Is("thinking") && (answer || any):
		b.Kind, b.Text = ThinkingBlock, thinking
	case typ.Is("toolCall") && (answer || any):
		b.Kind = CallBlock
	}
}

// Message returns v as a message, of the kind that its role implies.
func (v Value) Message() *Message {
	var m Message
	m.Read(new(Cursor).Reset(v), v.Get("role").RoleKind())
	return &m
}

// Text joins the texts of a message by sep.
func (m *Message) Text(sep string) string { return UTF8(m.Exact(sep)) }

// Exact joins the texts of a message by sep; see Value.Exact.
func (m *Message) Exact(sep string) string {
	var texts []string
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == TextBlock {
			texts = append(texts, b.Text.Exact())
		}
	}
	return strings.Join(texts, sep)
}

// ContentText returns the exact text of a content: a string, or its text blocks joined by newlines.
func (v Value) ContentText() string {
	m := Message{Blocks: v.Blocks(User)}
	return m.Exact("\n")
}

// Blocks returns the blocks of v, the content of a message of that kind.
func (v Value) Blocks(kind Kind) []Block {
	var m Message
	m.ReadContent(new(Cursor).Reset(v), kind)
	return m.Blocks
}

// Calls yields the tool calls of an answer.
func (m *Message) Calls(yield func(*Block) bool) {
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == CallBlock && !yield(b) {
			return
		}
	}
}

// Failed reports whether an answer's request failed or was aborted.
func (m *Message) Failed() bool { return m.Stop.Is("error") || m.Stop.Is("aborted") }

// A Usage is the recorded size of a model call in tokens, and its cost in US dollars. Implausible numbers are
// ignored; see Implausible.
type Usage struct {
	Input        int64 // neither read from a cache nor written to it
	Output       int64
	CacheRead    int64
	CacheWrite   int64
	CacheWrite1h int64 // part of CacheWrite
	Total        int64 // as the provider recorded it; 0 if absent
	Searches     int64 // web searches that the provider made for the call and bills separately

	Terms       Terms
	Cost        Cost
	Implausible string // name of the first implausible number; empty for none
}

// Terms are the conditions under which a provider served a call, as far as the price depends on them. The zero
// value means none; so do values that name the default, such as standard.
type Terms struct {
	Tier  string // service tier: priority, flex, batch, or another
	Speed string // fast, or another speed
	Geo   string // region in which the provider had to serve the call: us, or another
}

// TermsOf reads terms in the spelling of providers.
func TermsOf(tier, speed, geo Value) Terms {
	return Terms{
		Tier: tier.unless("standard", "default", "auto"), Speed: speed.unless("standard"),
		Geo: geo.unless("global", "not_available"),
	}
}

// unless returns the text of the value, or "" if it is one of plain.
func (v Value) unless(plain ...string) string {
	if !v.IsString() || slices.ContainsFunc(plain, func(word string) bool { return v.Is(word) }) {
		return ""
	}
	return v.Text()
}

// A Cost is the recorded cost of a model call in dollars.
type Cost struct {
	Input, CacheRead, CacheWrite, Total float64

	Known  bool // Total was recorded
	Billed bool // the provider recorded Total as billed
}

// MostUsage is the largest plausible number of a usage, in tokens or dollars: the limit of
// exact integers in JavaScript.
const MostUsage = 1 << 53

// Prompt returns the size of the request in tokens.
func (u *Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Context returns the size of the request and its answer in tokens, as pi computes it.
func (u *Usage) Context() int64 {
	if u.Total != 0 {
		return u.Total
	}
	return u.Prompt() + u.Output
}

// LeastGone is the smallest difference in tokens between a request and the file's account of it that shows
// messages were removed without a record. Counters, and attachments that agents do not record, explain smaller
// ones.
const LeastGone = 8000

// Usage reads a usage object; any other value gives the zero Usage.
func (v Value) Usage() (u Usage) {
	var c Cursor
	u.Read(c.Reset(v))
	return u
}

// Read reads the next value, a usage object. If keys are equal, the last one counts.
func (u *Usage) Read(c *Cursor) {
	*u = Usage{}
	var terms [3]Value
	for key := range c.Members {
		switch n := u.count(string(key)); {
		case n != nil:
			*n = u.tokens(key, c)
		case string(key) == "cost":
			u.readCost(c)
		case string(key) == "serviceTier":
			terms[0] = c.Value()
		case string(key) == "speed":
			terms[1] = c.Value()
		case string(key) == "inferenceGeo":
			terms[2] = c.Value()
		}
	}
	u.Terms = TermsOf(terms[0], terms[1], terms[2])
}

// Plausible returns a usage without implausible numbers, as Read does.
func (u Usage) Plausible() Usage {
	for _, name := range [...]string{"input", "output", "cacheRead", "cacheWrite", "cacheWrite1h", "totalTokens",
		"webSearches"} {
		if n := u.count(name); *n < 0 || *n > MostUsage {
			*n = 0
			u.implausible("", []byte(name))
		}
	}
	return u
}

// count returns a pointer to the number of tokens with that name, nil for other fields.
func (u *Usage) count(name string) *int64 {
	switch name {
	case "input":
		return &u.Input
	case "output":
		return &u.Output
	case "cacheRead":
		return &u.CacheRead
	case "cacheWrite":
		return &u.CacheWrite
	case "cacheWrite1h":
		return &u.CacheWrite1h
	case "totalTokens":
		return &u.Total
	case "webSearches":
		return &u.Searches
	}
	return nil
}

func (u *Usage) readCost(c *Cursor) {
	u.Cost = Cost{}
	for key := range c.Members {
		switch string(key) {
		case "input":
			u.Cost.Input, _ = u.dollars(key, c)
		case "output":
			u.dollars(key, c) // not kept, but may be implausible
		case "cacheRead":
			u.Cost.CacheRead, _ = u.dollars(key, c)
		case "cacheWrite":
			u.Cost.CacheWrite, _ = u.dollars(key, c)
		case "total":
			u.Cost.Total, u.Cost.Known = u.dollars(key, c)
		case "totalFromProvider":
			u.Cost.Billed = string(c.Value()) == "true"
		}
	}
}

// tokens reads a number of tokens, truncated to an integer.
func (u *Usage) tokens(name []byte, c *Cursor) int64 {
	v := c.Value()
	if !v.IsNumber() {
		return 0
	}
	whole, exact := v.digits()
	if exact && whole <= MostUsage {
		return whole
	}
	n, ok := v.Float()
	if !ok || exact || n < 0 || n > MostUsage {
		u.implausible("", name)
		return 0
	}
	return int64(n)
}

func (u *Usage) dollars(name []byte, c *Cursor) (d float64, ok bool) {
	v := c.Value()
	if !v.IsNumber() {
		return 0, false
	}
	if d, ok = v.Float(); !ok || d < 0 || d > MostUsage {
		u.implausible("cost.", name)
		return 0, false
	}
	return d, true
}

// implausible records the name of the first implausible number.
func (u *Usage) implausible(in string, name []byte) {
	if u.Implausible == "" {
		u.Implausible = in + string(name)
	}
}

// digits reads a number of a few digits, as most are.
func (v Value) digits() (n int64, ok bool) {
	if len(v) > 18 {
		return 0, false
	}
	for _, c := range v {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
