package gemini

import (
	"ctxtool/internal/dialect"
	"ctxtool/internal/dialect/chat"
	"ctxtool/sessionfmt/jsonl"
	"strings"
)

// A part is a part of a message: a text, or an object.
type part struct {
	raw, thought jsonl.Value

	text     jsonl.String
	call     jsonl.Value `member:"functionCall"`
	answered jsonl.Value `member:"functionResponse"`
	inline   jsonl.Value `member:"inlineData"`
}

// readParts appends the parts of a content: a text, a part, or a list of both.
func readParts(c *jsonl.Cursor, parts []part) []part {
	if c.Peek() != '[' {
		if p := readPart(c); p.raw.Truthy() {
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
func readPart(c *jsonl.Cursor) (p part) {
	if c.Peek() == '"' {
		p.text = c.String()
		p.raw = p.text.Value
		return p
	}
	at := c.Offset()
	partShape.Read(c, &p)
	p.raw = c.Since(at)
	return p
}

// sent is a part as it is sent: an object.
func (p *part) sent() jsonl.Value {
	if p.raw.IsString() {
		return jsonl.Value("{}").With("text", p.raw)
	}
	for _, of := range []struct {
		name string
		of   jsonl.Value
	}{{"functionCall", p.call}, {"functionResponse", p.answered}} {
		var f [2]jsonl.Value
		of.of.Fields(f[:], "id", "name")
		if id := sentID(f[0], f[1]); string(id) != string(f[0]) {
			sent := of.of.AppendEdited(nil, jsonl.Field{Name: "id", Value: id})
			return p.raw.AppendEdited(nil, jsonl.Field{Name: of.name, Value: sent})
		}
	}
	return p.raw
}

// block is a part in pi's shape.
func (p *part) block() jsonl.Block {
	switch {
	case p.call.IsObject():
		var c [3]jsonl.Value
		p.call.Fields(c[:], "id", "name", "args")
		return callBlock(c[0], c[1], c[2])
	case p.text.IsString() && p.thought.Truthy():
		return chat.Thinking(p.text)
	case p.text.IsString():
		return chat.Text(p.text)
	case strings.HasPrefix(p.inline.Get("mimeType").Text(), "image/"):
		return jsonl.Block{Kind: jsonl.ImageBlock, Data: p.inline.Get("data"), Mime: p.inline.Get("mimeType")}
	}
	return chat.Text(chat.Quoted(p.raw.AppendOneLine(nil)))
}

func callBlock(id, name, args jsonl.Value) jsonl.Block {
	if !args.IsObject() {
		args = jsonl.Value("{}")
	}
	return jsonl.Block{Kind: jsonl.CallBlock, ID: id, Name: name, Args: args}
}

// turn is a message as it is sent.
func turn(role string, parts []jsonl.Value) []byte {
	return jsonl.Value("{}").With("role", jsonl.AppendQuoted(nil, role)).With("parts", dialect.List(parts...))
}
