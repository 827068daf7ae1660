package claude

import (
	"iter"
	"strconv"

	"ctxtool/sessionfmt/jsonl"
)

// A line is a record as it is shown.
type line struct {
	record
	raw jsonl.Value // all of it

	// The message of the API: whether there is one, its content, and its other members.
	found bool
	said  jsonl.Value
	msg   message
}

// A record is what is read of one besides its message.
type record struct {
	subtype, requestId, timestamp, content, attachment, renderedRole jsonl.Value

	typ      jsonl.Value `jsonl:"type"`
	rendered jsonl.Value // of an attachment: the texts that were sent
}

// A message is what is read of one besides its content.
type message struct {
	role, id, model, usage, diagnostics jsonl.Value

	stop jsonl.Value `jsonl:"stop_reason"`
}

// A part is one of a content.
type part struct {
	signature, id, name, input, source jsonl.Value

	typ            jsonl.Value `jsonl:"type"`
	text, thinking jsonl.String

	answers jsonl.Value `jsonl:"tool_use_id"` // of a result, as the next two: the id of its call
	content jsonl.String
	failed  jsonl.Value `jsonl:"is_error"`
}

var (
	recordShape  = jsonl.ShapeOf[record]()
	messageShape = jsonl.ShapeOf[message]()
	partShape    = jsonl.ShapeOf[part]()
)

// readLine reads a record, as far as it has to: after it, the record has the result of a tool
// again.
func (m *maker) readLine(v jsonl.Value) {
	m.line, m.parts = line{raw: v}, m.parts[:0]
	var c jsonl.Cursor
	c.Once(v)
	for key := range c.Members {
		if string(key) == "message" {
			m.readMessage(&c)
		} else {
			recordShape.Member(&c, key, &m.record)
		}
		if m.found && m.typ.Exists() && m.timestamp.Exists() {
			break
		}
	}
}

func (m *maker) readMessage(c *jsonl.Cursor) {
	m.found = true
	for key := range c.Members {
		if string(key) != "content" {
			messageShape.Member(c, key, &m.msg)
			continue
		}
		start := c.Offset()
		m.parts = appendContent(m.parts, c)
		m.said = c.Since(start)
	}
}

// appendContent appends the blocks of a content, a text or parts.
func appendContent(to []jsonl.Block, c *jsonl.Cursor) []jsonl.Block {
	if c.Peek() == '"' {
		return append(to, jsonl.Block{Kind: jsonl.TextBlock, Text: c.String()})
	}
	for range c.Elements {
		var p part
		start := c.Offset()
		partShape.Read(c, &p)
		to = append(to, p.block(c.Since(start)))
	}
	return to
}

// block returns the block of a part, which stands as it is where pi has none like it. One of a result also has
// the id of the call, what it returned and whether it failed.
func (p *part) block(raw jsonl.Value) jsonl.Block {
	switch of := p.typ; {
	case of.Is("text"):
		return jsonl.Block{Kind: jsonl.TextBlock, Text: p.text}
	case of.Is("thinking") && len(p.thinking.Value) > len(`""`):
		return jsonl.Block{Kind: jsonl.ThinkingBlock, Text: p.thinking, Data: p.signature}
	case of.Is("thinking"):
		return sealed(p.signature)
	case of.Is("redacted_thinking"):
		return sealed(raw.Get("data"))
	case of.Is("tool_use"):
		return jsonl.Block{Kind: jsonl.CallBlock, ID: p.id, Name: p.name, Args: p.input}
	case of.Is("image") && p.source.Get("type").Is("base64"):
		return jsonl.Block{Kind: jsonl.ImageBlock, Data: p.source.Get("data"), Mime: p.source.Get("media_type")}
	case of.Is("tool_result"):
		return jsonl.Block{Raw: raw, ID: p.answers, Text: p.content, Data: p.failed, Name: of}
	}
	return jsonl.Block{Raw: raw}
}

// sealed returns the block of thinking whose text is not in the file. By what the provider counted for answers
// of four models, a byte of its signature stands for 0.64 characters (docs/session-format.md 16.7).
func sealed(signature jsonl.Value) jsonl.Block {
	raw := []byte(`{"type":"opaque","item":"thinking"`)
	if n := len(signature.Inside()); n > 0 {
		raw = strconv.AppendInt(append(raw, `,"characters":`...), int64(n)*64/100, 10)
	}
	return jsonl.Block{Raw: append(raw, '}')}
}

// outcomes returns the blocks of the record that tell what tools returned.
func (m *maker) outcomes() []*jsonl.Block {
	m.results = m.results[:0]
	for k := range m.parts {
		if b := &m.parts[k]; isOutcome(b) {
			m.results = append(m.results, b)
		}
	}
	return m.results
}

func isOutcome(b *jsonl.Block) bool { return b.Kind == jsonl.OtherBlock && b.Name.Exists() }

// calls yields the calls of lines: their ids, and the names of their tools.
func calls(lines []jsonl.Value) iter.Seq2[jsonl.Value, jsonl.Value] {
	return func(yield func(id, name jsonl.Value) bool) {
		for _, raw := range lines {
			var c jsonl.Cursor
			if !c.Once(raw).Enter("message", "content") {
				continue
			}
			for range c.Elements {
				var f [2]jsonl.String
				c.Fields(f[:], "id", "name")
				if f[0].Exists() && f[1].Exists() && !yield(f[0].Value, f[1].Value) {
					return
				}
			}
		}
	}
}

// calledBy returns the tool of a call of lines, absent where they have no such. The first one of an id counts.
func calledBy(call jsonl.Value, lines []jsonl.Value) jsonl.Value {
	for id, name := range calls(lines) {
		if string(id) == string(call) {
			return name
		}
	}
	return nil
}

// called returns the tools of all calls of lines, by their ids; see calledBy.
func called(lines []jsonl.Value) map[string]jsonl.Value {
	names := map[string]jsonl.Value{}
	for id, name := range calls(lines) {
		if names[string(id)] == nil {
			names[string(id)] = name
		}
	}
	return names
}
