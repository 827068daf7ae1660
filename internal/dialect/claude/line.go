package claude

import (
	"iter"
	"strconv"

	"ctxtool/sessionfmt/jsonl"
)

// A line is a record as it is shown.
type line struct {
	at [len(lineNames)]jsonl.String

	// The message of the API: whether there is one, its content, and its other members.
	found bool
	said  jsonl.Value
	msg   [len(messageNames)]jsonl.String
}

// The members of a record besides its message.
const (
	kind = iota
	subtype
	timestamp
	content
	attached
	rendered // of an attachment: the texts that were sent
	renderedAs
)

var lineNames = [...]string{"type", "subtype", "timestamp", "content", "attachment", "rendered", "renderedRole"}

// of is a member of the record.
func (l *line) of(member int) jsonl.Value { return l.at[member].Value }

// The members of a message besides its content.
const (
	role = iota
	id
	model
	stop
	usage
	diagnostics
)

var messageNames = [...]string{"role", "id", "model", "stop_reason", "usage", "diagnostics"}

// get is a member of the message.
func (l *line) get(member int) jsonl.Value { return l.msg[member].Value }

// The members of parts.
const (
	typ = iota
	text
	thinking
	signature
	callID
	name
	input
	source
	answers // of a result, as the next two: the id of its call
	returned
	failed
)

var partNames = [...]string{
	"type", "text", "thinking", "signature", "id", "name", "input", "source", "tool_use_id", "content", "is_error",
}

// readLine reads a record, as far as it has to: after it, the record has the result of a tool
// again.
func (m *maker) readLine(v jsonl.Value) {
	m.line, m.parts = line{}, m.parts[:0]
	var c jsonl.Cursor
	c.Once(v)
	for key := range c.Members {
		if string(key) == "message" {
			m.readMessage(&c)
		} else {
			c.Field(key, m.at[:], lineNames[:]...)
		}
		if m.found && m.of(kind).Exists() && m.of(timestamp).Exists() {
			break
		}
	}
}

func (m *maker) readMessage(c *jsonl.Cursor) {
	m.found = true
	for key := range c.Members {
		if string(key) != "content" {
			c.Field(key, m.msg[:], messageNames[:]...)
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
		var at [len(partNames)]jsonl.String
		start := c.Offset()
		c.Fields(at[:], partNames[:]...)
		to = append(to, block(&at, c.Since(start)))
	}
	return to
}

// block is the block of a part, which stands as it is where pi has none like it. One of a result also has
// the id of the call, what it returned and whether it failed.
func block(at *[len(partNames)]jsonl.String, raw jsonl.Value) jsonl.Block {
	switch of := at[typ]; {
	case of.Is("text"):
		return jsonl.Block{Kind: jsonl.TextBlock, Text: at[text]}
	case of.Is("thinking") && len(at[thinking].Value) > len(`""`):
		return jsonl.Block{Kind: jsonl.ThinkingBlock, Text: at[thinking], Data: at[signature].Value}
	case of.Is("thinking"):
		return sealed(at[signature].Value)
	case of.Is("redacted_thinking"):
		return sealed(raw.Get("data"))
	case of.Is("tool_use"):
		return jsonl.Block{Kind: jsonl.CallBlock, ID: at[callID].Value, Name: at[name].Value, Args: at[input].Value}
	case of.Is("image") && at[source].Get("type").Is("base64"):
		return jsonl.Block{Kind: jsonl.ImageBlock, Data: at[source].Get("data"), Mime: at[source].Get("media_type")}
	case of.Is("tool_result"):
		return jsonl.Block{Raw: raw, ID: at[answers].Value, Text: at[returned], Data: at[failed].Value, Name: of.Value}
	}
	return jsonl.Block{Raw: raw}
}

// sealed is the block of thinking whose text is not in the file. By what the provider counted for
// answers of four models, a byte of its signature stands for 0.64 characters (docs/session-format.md
// 16.7).
func sealed(signature jsonl.Value) jsonl.Block {
	raw := []byte(`{"type":"opaque","item":"thinking"`)
	if n := len(signature.Inside()); n > 0 {
		raw = strconv.AppendInt(append(raw, `,"characters":`...), int64(n)*64/100, 10)
	}
	return jsonl.Block{Raw: append(raw, '}')}
}

// outcomes are the blocks of the record that tell what tools returned.
func (m *maker) outcomes() []*jsonl.Block {
	m.results = m.results[:0]
	for k := range m.parts {
		if b := &m.parts[k]; b.Kind == jsonl.OtherBlock && b.Name.Exists() {
			m.results = append(m.results, b)
		}
	}
	return m.results
}

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

// calledBy is the tool of a call of lines, absent where they have no such. The first one of an id counts.
func calledBy(call jsonl.Value, lines []jsonl.Value) jsonl.Value {
	for id, name := range calls(lines) {
		if string(id) == string(call) {
			return name
		}
	}
	return nil
}

// called are the tools of all calls of lines, by their ids; see calledBy.
func called(lines []jsonl.Value) map[string]jsonl.Value {
	names := map[string]jsonl.Value{}
	for id, name := range calls(lines) {
		if names[string(id)] == nil {
			names[string(id)] = name
		}
	}
	return names
}
