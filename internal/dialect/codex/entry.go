package codex

import (
	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// instructions are those that a session_meta records.
func instructions(meta jsonl.Value) jsonl.Value {
	if text := meta.Get("base_instructions").Get("text"); text.IsString() {
		return text
	}
	return meta.Get("instructions")
}

// payloadOf is the payload of a line, or in the first months the line itself.
func payloadOf(line jsonl.Value) jsonl.Value {
	if p := line.Get("payload"); p.IsObject() {
		return p
	}
	return line
}

// A maker makes an entry.
type maker struct {
	*dialect.Source
	e *dialect.Entry
}

// makeEntry is [dialect.Dialect]'s Make.
func makeEntry(s *dialect.Source) {
	m, line := maker{s, s.Add()}, s.Lines[0]
	m.e.Time = line.First("timestamp")
	switch s.Kind {
	case jsonl.Header:
		payload := payloadOf(line)
		m.e.Set("cwd", payload.Get("cwd"))
		m.e.Set("parentSession", payload.Get("forked_from_id"))
	case jsonl.System:
		msg := m.e.Message(jsonl.System)
		msg.Body()
		msg.Said(instructions(payloadOf(line)).Spelled())
	case jsonl.ModelChange:
		m.e.Set("provider", openai)
		m.e.Set("modelId", line.First("payload", "model"))
	case jsonl.UsageEntry:
		m.e.SetText("kind", "compaction")
		var used usageLines
		for _, line := range s.Lines {
			used.read(line)
		}
		m.usage(m.e.Set, &used, nil)
	case jsonl.Transform:
		m.transform()
	case jsonl.Unknown:
		if typ := typeOfLine(line); typ.IsString() {
			m.e.Type = typ
		}
		m.e.Set("payload", line.Get("payload"))
	case jsonl.Assistant:
		m.answer()
	default:
		m.message()
	}
}

var openai = jsonl.Value(`"openai"`)

// message makes a prompt, a note, or what a call returned.
func (m *maker) message() {
	it, msg := lineItem(m.Lines[0]), m.e.Message(m.Kind)
	switch m.Kind {
	case jsonl.User:
		msg.Body()
		m.content(msg, it.at[content])
	case jsonl.ToolResult:
		msg.Set("toolCallId", it.get(callID))
		if len(m.Lines) > 1 {
			of := lineItem(m.Lines[1])
			msg.Set("toolName", of.tool())
			it = asSent(it, &of, m.Lines[2:])
		}
		m.result(msg, &it)
	default:
		msg.Set("customType", jsonl.FirstText(it.get(role), it.get(typ), jsonl.Value(`"agent_message"`)))
		msg.Body()
		m.note(msg, &it)
		msg.SetTruth("display", true)
	}
	m.end(msg, []item{it})
}

// note adds what a note says: its content, else all of it.
func (m *maker) note(msg *dialect.Message, it *item) {
	switch said := it.at[content]; {
	case said.IsArray(), said.IsString():
		m.content(msg, said)
	case it.get(encrypted).Exists():
		msg.Add(jsonl.Block{Raw: jsonl.Value(`{"type":"opaque"}`)})
	default:
		msg.Said(m.Quoted(string(it.raw)).Spelled())
	}
}

// content adds the blocks of a content: texts, images, or others as they stand.
func (m *maker) content(msg *dialect.Message, v jsonl.String) {
	if v.IsString() {
		msg.Said(v)
		return
	}
	var c jsonl.Cursor
	c.Reset(v.Value)
	for range c.Elements {
		var f [2]jsonl.String
		start := c.Offset()
		c.Fields(f[:], "text", "image_url")
		switch {
		case f[0].IsString():
			msg.Said(f[0])
		case f[1].IsString():
			msg.Add(image(f[1]))
		default:
			msg.Add(jsonl.Block{Raw: c.Since(start)})
		}
	}
}

// image is an image that is a data URL, or a text that names another one.
func image(url jsonl.String) jsonl.Block {
	if b, ok := dialect.DataURL(url.Value); ok {
		return b
	}
	return jsonl.Block{Kind: jsonl.TextBlock, Text: url}
}

// result adds what a call returned.
func (m *maker) result(msg *dialect.Message, it *item) {
	out, failed := it.at[returned], false
	if out.IsObject() { // of the first months
		failed = string(out.Get("success")) == "false"
		if body := out.Get("content"); body.Exists() {
			out = body.Spelled()
		}
	}
	msg.Body()
	if !out.Exists() { // of a search for tools
		m.note(msg, it)
	} else {
		m.content(msg, out)
	}
	msg.SetTruth("isError", failed)
}

// answer makes an answer of the items of a response, its usage, and the model of its turn.
func (m *maker) answer() {
	var few [4]item
	items := few[:0]
	var used usageLines
	for _, line := range m.Lines {
		if !used.read(line) {
			items = append(items, lineItem(line))
		}
	}
	msg := m.e.Message(jsonl.Assistant)
	m.blocks(msg, items)
	msg.SetText("api", "openai-codex-responses")
	m.usage(msg.Set, &used, items)
	why := ""
	if m.Unanswered {
		why = "aborted"
	}
	msg.Stop(why)
	m.end(msg, items)
}

// end ends a message that items make. By the id of the first one the same message is
// known again after a compaction.
func (m *maker) end(msg *dialect.Message, items []item) {
	if len(items) > 0 {
		msg.Set("id", items[0].get(id))
	}
	if !m.Native {
		return
	}
	var all []jsonl.Value
	for k := range items {
		all = append(all, items[k].raw.AppendEdited(nil, jsonl.Field{Name: passthrough}))
	}
	msg.Native = dialect.List(all...)
}

// passthrough is a member of items that is not sent.
const passthrough = "internal_chat_message_metadata_passthrough"

// blocks adds the blocks of an answer's items.
func (m *maker) blocks(msg *dialect.Message, items []item) {
	msg.Body()
	for k := range items {
		it := &items[k]
		switch {
		case it.get(typ).Is("reasoning"):
			n := len(msg.Blocks)
			for _, list := range []jsonl.Value{it.get(summed), it.get(content)} {
				for s := range list.Elements {
					if text := s.Get("text"); text.IsString() {
						msg.Add(jsonl.Block{Kind: jsonl.ThinkingBlock, Text: text.Spelled()})
					}
				}
			}
			if len(msg.Blocks) == n && it.get(encrypted).IsString() {
				msg.Add(jsonl.Block{Raw: jsonl.Value(`{"type":"opaque","item":"reasoning"}`)})
			}
		case it.tool().Exists():
			msg.Add(jsonl.Block{Kind: jsonl.CallBlock, ID: it.get(callID), Name: it.tool(), Args: m.arguments(it)})
		case it.get(content).IsArray():
			m.content(msg, it.at[content])
		default:
			msg.Add(jsonl.Block{Raw: it.raw})
		}
	}
}

// arguments are those of a call, an object.
func (m *maker) arguments(it *item) jsonl.Value {
	for _, v := range []jsonl.Value{it.get(arguments), it.get(input), it.get(action)} {
		if v.IsObject() {
			return v
		}
		if !v.IsString() {
			continue
		}
		if text := m.Text(v); jsonl.Value(jsonl.Trim(text)).IsObject() {
			if args, err := jsonl.ParseValue(text); err == nil {
				return args
			}
		}
		return m.Make([]byte(`{"input":`), v, []byte("}"))
	}
	return jsonl.Value("{}")
}

// usageLines are what lines of a turn say of model and usage.
type usageLines struct{ model, usage, id, total jsonl.Value }

// read reads a line that says so, and reports whether it is one.
func (u *usageLines) read(line jsonl.Value) bool {
	typ := typeOfLine(line)
	if isItem(typ) {
		return false
	}
	if typ.Is("turn_context") {
		if model := line.First("payload", "model"); model.Exists() {
			u.model = model
		}
		return true
	}
	var f [3]jsonl.String
	var c jsonl.Cursor
	if c.Once(line).Enter("payload") {
		c.Fields(f[:], "usage", "response_id", "info")
	}
	if f[0].Exists() {
		u.usage = f[0].Value
	}
	if f[1].Exists() {
		u.id = f[1].Value
	}
	if info := f[2]; info.Exists() { // of a token_count
		var of [2]jsonl.Value
		info.Fields(of[:], "last_token_usage", "total_token_usage")
		u.usage, u.total = of[0], of[1]
	}
	return true
}

// unknown is the model of an answer whose rollout names none.
var unknown = jsonl.Value(`"unknown"`)

// usage sets model and usage of a response, in pi's terms: what was read from the cache is no part
// of the input.
func (m *maker) usage(set func(string, jsonl.Value), u *usageLines, items []item) {
	set("provider", openai)
	if u.total.Exists() && !u.id.Exists() && len(items) > 0 {
		u.id = dialect.ResponseID(items[0].raw, u.total) // forks copy both under new times
	}
	set("model", jsonl.FirstText(u.model, unknown))
	set("responseId", u.id)
	if u.usage.IsObject() {
		n := u.usage.Ints("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens",
			"total_tokens")
		set("usage", m.Usage(jsonl.Usage{
			Input: max(0, n[0]-n[1]-n[2]), Output: n[3], CacheRead: n[1], CacheWrite: n[2], Total: n[4],
		}, nil))
	}
}
