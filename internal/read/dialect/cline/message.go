package cline

import (
	"bytes"
	"strconv"
	"strings"

	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A message is what is read of one besides its content.
type message struct {
	id, role, ts jsonl.Value

	metadata struct {
		raw     jsonl.Value
		display jsonl.Value `jsonl:"displayOnly"`
		as      jsonl.Value `jsonl:"displayRole"`
	}
	model   struct{ raw, id, provider jsonl.Value } `jsonl:"modelInfo"`
	metrics struct {
		raw, cost jsonl.Value

		input  jsonl.Value `jsonl:"inputTokens"`
		output jsonl.Value `jsonl:"outputTokens"`
		read   jsonl.Value `jsonl:"cacheReadTokens"`
		write  jsonl.Value `jsonl:"cacheWriteTokens"`
	}
}

// A block is a part of a content.
type block struct {
	part
	returned
}

// A part is what is read of a block as it stands.
type part struct {
	raw, id, name, input, data, path jsonl.Value

	typ      jsonl.Value `jsonl:"type"`
	text     jsonl.String
	thinking jsonl.String
	call     jsonl.Value  `jsonl:"tool_use_id"`
	content  jsonl.String // of a result, or of a file
	failed   jsonl.Value  `jsonl:"is_error"`
	mime     jsonl.Value  `jsonl:"mediaType"`
}

var (
	messageShape = jsonl.ShapeOf[message]()
	partShape    = jsonl.ShapeOf[part]()
)

// read reads a message.
func read(r *chat.Reader, line jsonl.Value) {
	var few [4]block
	var of message
	blocks := few[:0]
	for key := range r.Reset(line).Members {
		if string(key) == "content" {
			blocks = readBlocks(&r.Cursor, blocks[:0])
		} else {
			messageShape.Member(&r.Cursor, key, &of)
		}
	}
	r.ID, r.Stamp, r.Rules = of.id, of.ts, rule.Of(form)
	m := chat.Said{}
	if !r.Looks() && of.ts.IsNumber() {
		m.Time = dialect.Stamp(of.ts.Int())
	}
	switch {
	case of.metadata.display.Truthy():
		m.Kind, m.Type = jsonl.CustomEntry, of.metadata.as.Text()
		r.Rules = 0
		r.Said = append(r.Said, m)
	case of.role.Is("assistant"):
		m.Kind, m.Provider, m.Model, m.Usage = jsonl.Assistant, of.model.provider, of.model.id, of.used(r)
		answer(r, &m, blocks)
	case of.role.Is("user"):
		m.Kind = jsonl.User
		prompt(r, m, blocks)
	}
}

// readBlocks appends the blocks of a content, which may be a text.
func readBlocks(c *jsonl.Cursor, blocks []block) []block {
	if c.Peek() == '"' {
		return append(blocks, block{part: part{typ: jsonl.Value(`"text"`), text: c.String()}})
	}
	for range c.Elements {
		var b block
		at := c.Offset()
		for key := range c.Members {
			switch string(key) {
			case "content":
				b.content = b.read(c)
			default:
				partShape.Member(c, key, &b.part)
			}
		}
		b.raw = c.Since(at)
		blocks = append(blocks, b)
	}
	return blocks
}

// used returns the usage of an answer: what was read from the cache, and written to it, is in the input.
func (m *message) used(r *chat.Reader) *jsonl.Usage {
	n := &m.metrics
	if !n.raw.IsObject() {
		return nil
	}
	if r.Looks() {
		return r.Used(jsonl.Usage{})
	}
	u := jsonl.Usage{Output: n.output.Int(), CacheRead: n.read.Int(), CacheWrite: n.write.Int()}
	u.Input = max(0, n.input.Int()-u.CacheRead-u.CacheWrite)
	u.Cost.Total, u.Cost.Known = n.cost.Float()
	return r.Used(u)
}

// answer reads an answer. Its thinking is sent only by providers that take it as a text.
func answer(r *chat.Reader, m *chat.Said, blocks []block) {
	var thought, text []byte
	var parts, calls []jsonl.Value
	n := 0
	for k := range blocks {
		b := &blocks[k]
		switch {
		case b.typ.Is("text"):
			r.Own(chat.Text(b.text))
			r.Rules |= rule.If(isLonger(b.text, mostAnswer), oversized)
			if r.Native {
				text = b.text.AppendText(text)
				parts = append(parts, textPart(b.text.Value))
			}
		case b.typ.Is("thinking"):
			if chat.HasText(b.thinking.Value) {
				r.Own(chat.Thinking(b.thinking))
			}
			if r.Native {
				thought = b.thinking.AppendText(thought)
			}
		case b.typ.Is("tool_use"):
			args := b.input
			if !args.IsObject() {
				args = jsonl.Value("{}")
			}
			n++
			r.Own(jsonl.Block{Kind: jsonl.CallBlock, ID: b.id, Name: b.name, Args: args})
			if r.Native {
				calls = append(calls, dialect.SentCall(b.id, b.name, args.AppendMinified(nil)))
			}
		default:
			r.Own(jsonl.Block{Kind: jsonl.OtherBlock, Raw: b.raw})
		}
	}
	if r.Looks() {
		group := strconv.AppendInt([]byte{'"'}, int64(n), 10)
		r.Ref, r.Group = m.Model, append(append(append(group, ' '), m.Provider.Inside()...), '"')
	}
	m.Blocks = r.Take()
	if r.Native {
		m.Native = sentAnswer(r.To(), parts, text, thought, calls)
	}
	r.Said = append(r.Said, *m)
}

// anthropic returns a provider to which thinking without a signature is not sent, nor Cline keeps one. It takes
// several texts of an answer, and pictures of a result.
func anthropic(to rule.Asked) bool { return to.Host == "anthropic" }

// sentAnswer returns an answer as it is sent.
func sentAnswer(to rule.Asked, parts []jsonl.Value, text, thought []byte, calls []jsonl.Value) jsonl.Value {
	content := jsonl.Value("null")
	switch {
	case anthropic(to) && len(parts) > 1:
		content = dialect.List(parts...)
	case len(text) > 0:
		content = jsonl.AppendQuoted(nil, text)
	}
	if len(thought) == 0 && calls == nil && len(bytes.TrimSpace(text)) == 0 {
		content = nothing
	}
	one := jsonl.Value(`{"role":"assistant"}`).With("content", content)
	if calls != nil {
		one = one.With("tool_calls", dialect.List(calls...))
	}
	if len(thought) > 0 && !anthropic(to) {
		one = one.With("reasoning_content", jsonl.AppendQuoted(nil, thought))
	}
	return one
}

// nothing stands for a message without a text.
var nothing = jsonl.Value(`"ERROR: EMPTY CONTENT"`)

func textPart(text jsonl.Value) jsonl.Value { return jsonl.Value(`{"type":"text"}`).With("text", text) }

func imagePart(data, mime jsonl.Value) jsonl.Value {
	url := jsonl.AppendQuoted(nil, "data:"+mime.Text()+";base64,"+data.Text())
	return jsonl.Value(`{"type":"image_url"}`).With("image_url", jsonl.Value("{}").With("url", url))
}

// prompt reads a message of the user: what tools returned, each sent by itself, and a prompt.
func prompt(r *chat.Reader, m chat.Said, blocks []block) {
	var parts []jsonl.Value
	blank, results := true, 0
	var reads []byte
	for k := range blocks {
		b := &blocks[k]
		text := b.text
		switch {
		case b.typ.Is("tool_result"):
			r.Rules |= rule.If(k > results, rule.Unread) // after a prompt
			results++
			result(r, m, b)
			if r.Looks() {
				reads = readKeys(reads, b)
			}
			continue
		case b.typ.Is("image"):
			blank = false
			r.Own(jsonl.Block{Kind: jsonl.ImageBlock, Data: b.data, Mime: b.mime})
			if r.Native {
				parts = append(parts, imagePart(b.data, b.mime))
			}
			continue
		case b.typ.Is("text"):
			if !r.Looks() {
				text = normalized(b.text)
			}
		case b.typ.Is("file"):
			r.Rules |= rule.Of(attached)
			reads = appendKey(reads, b.path.Text(), 0)
			content := shorten(b.content.Value, mostOfFile)
			r.Rules |= rule.If(isLonger(b.content, mostOfFile), shortened)
			text = chat.Quoted([]byte("<file_content path=\"" + b.path.Text() + "\">\n" + content.Exact() +
				"\n</file_content>"))
		default:
			r.Own(jsonl.Block{Kind: jsonl.OtherBlock, Raw: b.raw})
			continue
		}
		r.Own(chat.Text(text))
		if r.Native {
			blank = blank && strings.TrimSpace(text.Text()) == ""
			parts = append(parts, textPart(text.Value))
		}
	}
	if reads != nil {
		r.Group = jsonl.AppendQuoted(nil, reads)
	}
	if m.Blocks = r.Take(); results > 0 && len(m.Blocks) == 0 {
		return
	}
	if r.Native {
		m.Native = jsonl.Value(`{"role":"user"}`).With("content", sentPrompt(parts, blank))
	}
	r.Said = append(r.Said, m)
}

// sentPrompt returns the content of a prompt as it is sent, by its parts.
func sentPrompt(parts []jsonl.Value, blank bool) jsonl.Value {
	switch {
	case blank:
		return nothing
	case len(parts) == 1 && parts[0].Get("type").Is("text"):
		return parts[0].Get("text")
	}
	return dialect.List(parts...)
}

// result reads what a tool returned. It is sent as one text.
func result(r *chat.Reader, m chat.Said, b *block) {
	v := b.content.Value
	m.Kind, m.Call, m.Tool = jsonl.ToolResult, b.call, b.name
	if r.Looks() {
		r.Rules |= rule.If(b.media, pictured) | rule.If(b.media, rule.Image) | rule.If(b.long, shortened) |
			rule.If(b.listed, rule.Unread) // no tool is known that returns blocks
		r.Said = append(r.Said, m)
		return
	}
	m.Failed = b.failed.Truthy() || b.unsuccessful
	text, pictures := b.content, []jsonl.Block(nil)
	switch {
	case b.long || b.media:
		text, pictures = sentResult(v)
	case !v.IsString():
		text = r.Stringify(v)
	}
	m.Blocks = append(r.Keep(chat.Text(text)), pictures...)
	if r.Native {
		m.Native = jsonl.Value(`{"role":"tool"}`).With("tool_call_id", b.call).
			With("content", sentContent(r.To(), text.Value, pictures))
	}
	r.Said = append(r.Said, m)
}

// sentContent returns the content of a result as it is sent.
func sentContent(to rule.Asked, text jsonl.Value, pictures []jsonl.Block) jsonl.Value {
	if pictures == nil {
		return text
	}
	parts := []jsonl.Value{textPart(text)}
	for _, p := range pictures {
		parts = append(parts, imagePart(p.Data, p.Mime))
	}
	if anthropic(to) {
		return dialect.List(parts...)
	}
	return jsonl.AppendQuoted(nil, []byte(dialect.List(parts...)))
}

// returned describes the result of a tool.
type returned struct {
	unsuccessful bool // a part of it says so
	long         bool // a text of it is shortened
	media        bool // it may have pictures
	listed       bool // it is a list of texts and pictures
}

// read reads the content of a result.
func (r *returned) read(c *jsonl.Cursor) (all jsonl.String) {
	at, first := c.Offset(), true
	switch c.Peek() {
	case '"':
		all = c.String()
		r.long = isLonger(all, mostOfResult)
		r.unsuccessful = bytes.HasSuffix(all.Value, []byte(`\"success\":false}"`)) // as it is escaped
		return all
	case '[':
		for range c.Elements {
			r.element(c, first)
			first = false
		}
	default:
		r.value(c)
	}
	return jsonl.String{Value: c.Since(at)}
}

// element reads an element of a list.
func (r *returned) element(c *jsonl.Cursor, first bool) {
	if c.Peek() != '{' {
		r.value(c)
		return
	}
	for key := range c.Members {
		switch v := r.value(c); string(key) {
		case "success":
			r.unsuccessful = r.unsuccessful || string(v) == "false"
		case "type":
			r.listed = r.listed || first && (v.Is("text") || v.Is("image"))
		}
	}
}

// value reads any other value in a result.
func (r *returned) value(c *jsonl.Cursor) jsonl.Value {
	s := c.String()
	switch v := s.Value; {
	case s.IsString():
		r.long = r.long || isLonger(s, mostOfResult)
		r.media = r.media || string(v) == `"image"`
	case len(v) > len(`{"success":}`):
		for text := range v.Strings {
			r.long = r.long || isLonger(text.Spelled(), mostOfResult)
			r.media = r.media || string(text) == `"image"`
		}
		r.unsuccessful = r.unsuccessful || bytes.Contains(v, []byte(`"success":false`)) ||
			bytes.Contains(v, []byte(`"success": false`))
	}
	return s.Value
}
