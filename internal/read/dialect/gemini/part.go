package gemini

import (
	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"slices"
	"strings"
)

// ReadParts appends the parts of a content: a text, a part, or a list of both.
func ReadParts(c *jsonl.Cursor, parts []Part) []Part {
	if c.Peek() != '[' {
		if p := readPart(c); p.Raw.Truthy() {
			parts = append(parts, p)
		}
		return parts
	}
	for range c.Elements {
		parts = append(parts, readPart(c))
	}
	return parts
}

// readPart reads a part.
func readPart(c *jsonl.Cursor) (p Part) {
	if c.Peek() == '"' {
		p.Text = c.String()
		p.Raw = p.Text.Value
		return p
	}
	at := c.Offset()
	partShape.Read(c, &p)
	p.Raw = c.Since(at)
	return p
}

// sent returns a part as it is sent: an object.
func (p *Part) sent() jsonl.Value {
	if p.Raw.IsString() {
		return jsonl.Value("{}").With("text", p.Raw)
	}
	for _, of := range []struct {
		name string
		of   jsonl.Value
	}{{"functionCall", p.Call.Value}, {"functionResponse", p.Answered.Value}} {
		var f [2]jsonl.Value
		of.of.Fields(f[:], "id", "name")
		if id := sentID(f[0], f[1]); string(id) != string(f[0]) {
			sent := of.of.AppendEdited(nil, jsonl.Field{Name: "id", Value: id})
			return p.Raw.AppendEdited(nil, jsonl.Field{Name: of.name, Value: sent})
		}
	}
	return p.Raw
}

// Block returns a part in pi's shape.
func (p *Part) Block() jsonl.Block {
	switch {
	case p.Call.IsObject():
		var c [3]jsonl.Value
		p.Call.Fields(c[:], "id", "name", "args")
		return callBlock(c[0], c[1], c[2])
	case p.Text.IsString() && p.Thought.Truthy():
		return chat.Thinking(p.Text)
	case p.Text.IsString():
		return chat.Text(p.Text)
	case strings.HasPrefix(p.Inline.Get("mimeType").Text(), "image/"):
		return jsonl.Block{Kind: jsonl.ImageBlock, Data: p.Inline.Get("data"), Mime: p.Inline.Get("mimeType")}
	}
	return chat.Text(chat.Quoted(p.Raw.AppendOneLine(nil)))
}

func callBlock(id, name, args jsonl.Value) jsonl.Block {
	if !args.IsObject() {
		args = jsonl.Value("{}")
	}
	return jsonl.Block{Kind: jsonl.CallBlock, ID: id, Name: name, Args: args}
}

// turn returns a message as it is sent.
func turn(role string, parts []jsonl.Value) []byte {
	return jsonl.Value("{}").With("role", jsonl.AppendQuoted(nil, role)).With("parts", dialect.List(parts...))
}

// A composer joins messages of one role in a row, as the program does.
type composer struct {
	role  jsonl.Value
	parts []jsonl.Value
}

// Add implements [dialect.Composer], like End and Copy.
func (c *composer) Add(item jsonl.Value) (done []jsonl.Value) {
	f := item.All("role", "parts")
	if string(f[0]) != string(c.role) {
		done = c.End()
	}
	c.role = slices.Clone(f[0])
	for p := range f[1].Elements {
		c.parts = append(c.parts, slices.Clone(p))
	}
	return done
}

func (c *composer) End() (done []jsonl.Value) {
	if c.parts != nil {
		done = append(done, turn(c.role.Text(), c.parts))
	}
	c.role, c.parts = nil, nil
	return done
}

func (c *composer) Copy(dialect.Request) dialect.Composer {
	return &composer{c.role, slices.Clone(c.parts)}
}
