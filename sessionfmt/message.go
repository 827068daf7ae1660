package sessionfmt

// A Message is a message as it is spelled: its members that mean something, and the
// blocks of its content. It reads one message after the other; what it holds is valid
// until the next one, and as long as what it was read from. Of a member that is there
// twice the last one counts.
type Message struct {
	Kind    Kind
	Content Value
	Blocks  []Block // by their places in the content; a content that is a string is one block

	// Of a tool result.
	CallID, Tool, IsError, Details, Nested Value
	// Of an answer.
	Provider, Model, Stop, Failure Value
	// Of an answer, or of a tool that asks a provider itself.
	Usage Value
}

// A BlockKind is what a block of a message's content is.
type BlockKind uint8

// The kinds of blocks. What a message of its role cannot have is an OtherBlock: only
// answers think and call, and they have no images. Of a content whose role nobody knows
// (Unknown) it may be any.
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
	Raw  Value  // all of it
	Says String // the text, or what is thought
	// Of a call.
	ID, Name, Args Value
	// Of an image: base64, and its media type.
	Data, Mime Value
}

// Read reads the message that comes next, of that kind.
func (m *Message) Read(c *Cursor, kind Kind) {
	*m = Message{Kind: kind, Blocks: m.Blocks[:0]}
	for key := range c.Members {
		switch string(key) {
		case "content":
			m.ReadContent(c, kind)
		case "toolCallId":
			m.CallID = c.Value()
		case "toolName":
			m.Tool = c.Value()
		case "isError":
			m.IsError = c.Value()
		case "details":
			m.Details = c.Value()
		case "nestedCalls":
			m.Nested = c.Value()
		case "provider":
			m.Provider = c.Value()
		case "model":
			m.Model = c.Value()
		case "stopReason":
			m.Stop = c.Value()
		case "errorMessage":
			m.Failure = c.Value()
		case "usage":
			m.Usage = c.Value()
		}
	}
}

// ReadContent reads the content that comes next, of a message of that kind.
func (m *Message) ReadContent(c *Cursor, kind Kind) {
	m.Kind, m.Blocks = kind, m.Blocks[:0]
	start := c.Offset()
	if c.Peek() == '"' {
		b := Block{Says: c.String()}
		if b.Raw = b.Says.Value; kind != Assistant { // answers have blocks only
			b.Kind = TextBlock
		}
		m.Blocks = append(m.Blocks, b)
	} else {
		for range c.Elements {
			m.block(c)
		}
	}
	m.Content = c.since(start)
}

// block reads the block that comes next.
func (m *Message) block(c *Cursor) {
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
			b.Says = c.String()
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
	b.Raw = c.since(start)
	answer, any := m.Kind == Assistant, m.Kind == Unknown
	switch {
	case typ.Is("text"):
		b.Kind = TextBlock
	case typ.Is("image") && !answer:
		b.Kind = ImageBlock
	case typ.Is("thinking") && (answer || any):
		b.Kind, b.Says = ThinkingBlock, thinking
	case typ.Is("toolCall") && (answer || any):
		b.Kind = CallBlock
	}
}

// Message is a value as a message, of the kind that its role says.
func (v Value) Message() *Message {
	var m Message
	m.Read(new(Cursor).Reset(v), v.Get("role").RoleKind())
	return &m
}

// AppendText appends the texts of a message, one behind the other with sep between them.
func (m *Message) AppendText(dst []byte, sep string) []byte {
	first := true
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == TextBlock {
			if !first {
				dst = append(dst, sep...)
			}
			dst, first = b.Says.AppendText(dst), false
		}
	}
	return dst
}

// ContentText is what a message's content says: a string, or its texts on lines of their
// own.
func (v Value) ContentText() string {
	m := Message{Blocks: v.Blocks(User)}
	return string(m.AppendText(nil, "\n"))
}

// Blocks are those of a content, of a message of that kind.
func (v Value) Blocks(kind Kind) []Block {
	var m Message
	m.ReadContent(new(Cursor).Reset(v), kind)
	return m.Blocks
}

// Calls are the calls of an answer.
func (m *Message) Calls(yield func(*Block) bool) {
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == CallBlock && !yield(b) {
			return
		}
	}
}

// Failed says of an answer that it is none: the request failed or was aborted.
func (m *Message) Failed() bool { return m.Stop.Is("error") || m.Stop.Is("aborted") }
