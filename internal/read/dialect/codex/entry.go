package codex

import (
	"bytes"
	"strconv"
	"sync"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// instructions returns those that a session_meta records.
func instructions(meta jsonl.Value) jsonl.Value {
	if text := meta.Get("base_instructions").Get("text"); text.IsString() {
		return text
	}
	return meta.Get("instructions")
}

// payloadOf returns the payload of a line, or in the first months the line itself.
func payloadOf(line jsonl.Value) jsonl.Value {
	if p := line.Get("payload"); p.IsObject() {
		return p
	}
	return line
}

// A maker makes an entry.
type maker struct {
	*dialect.Source
	e     *dialect.Entry
	line         // the first one
	items []item // of an answer
}

var makers = sync.Pool{New: func() any { return new(maker) }}

// makeEntry implements Make of the dialect.
func makeEntry(s *dialect.Source) {
	m := makers.Get().(*maker)
	defer func() {
		clear(m.items)
		*m = maker{items: m.items[:0]}
		makers.Put(m)
	}()
	m.Source, m.e = s, s.Add()
	m.line.read(s.Lines[0])
	m.e.Time = m.timestamp
	switch s.Kind {
	case jsonl.Header:
		payload := payloadOf(s.Lines[0])
		m.e.Set("cwd", payload.Get("cwd"))
		m.e.Set("parentSession", payload.Get("forked_from_id"))
	case jsonl.System:
		msg := m.e.Message(jsonl.System)
		msg.Body()
		msg.Said(instructions(payloadOf(s.Lines[0])).Spelled())
	case jsonl.SessionInfo:
		m.e.Set("name", payloadOf(s.Lines[0]).Get("thread_name"))
	case jsonl.ModelChange:
		m.e.Set("provider", openai)
		m.e.Set("modelId", m.payload.model)
		if len(s.Lines) > 1 {
			m.e.Set("contextWindow", window(s.Lines[1].Get("payload").Get("model_context_window")))
		}
	case jsonl.UsageEntry:
		m.e.SetText("kind", "compaction")
		m.usage(m.e.Set, m.used())
	case jsonl.Transform:
		m.transform()
	case jsonl.Unknown:
		if m.typ.IsString() {
			m.e.Type = m.typ
		}
		m.e.Set("payload", s.Lines[0].Get("payload"))
	case jsonl.Assistant:
		m.answer()
	default:
		m.message()
	}
}

// usable is the share of a window that Codex takes for the whole, percent: it is what a file records.
const usable = 95

// window returns the window of a model, of which a file records what is usable.
func window(recorded jsonl.Value) jsonl.Value {
	return strconv.AppendInt(nil, (recorded.Int()*100+usable/2)/usable, 10)
}

var openai = jsonl.Value(`"openai"`)

// message makes a prompt, a note, or what a call returned.
func (m *maker) message() {
	it, msg := m.payload, m.e.Message(m.Kind)
	switch m.Kind {
	case jsonl.User:
		msg.Body()
		m.content(msg, it.content)
	case jsonl.ToolResult:
		msg.Set("toolCallId", it.callID)
		if len(m.Lines) > 1 {
			of := lineItem(m.Lines[1])
			msg.Set("toolName", of.tool())
			it = asSent(it, &of, m.Lines[2:])
		}
		m.result(msg, &it)
	default:
		msg.Set("customType", jsonl.FirstText(it.role, it.typ, jsonl.Value(`"agent_message"`)))
		msg.Body()
		m.note(msg, &it)
		msg.SetTruth("display", true)
	}
	m.end(msg, []item{it})
}

// note adds what a note says: its content, else all of it.
func (m *maker) note(msg *dialect.Message, it *item) {
	switch said := it.content; {
	case said.IsArray(), said.IsString():
		m.content(msg, said)
	case it.encrypted.Exists():
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

// image returns an image that is a data URL, or a text that names another one.
func image(url jsonl.String) jsonl.Block {
	if b, ok := dialect.DataURL(url.Value); ok {
		return b
	}
	return jsonl.Block{Kind: jsonl.TextBlock, Text: url}
}

// result adds what a call returned.
func (m *maker) result(msg *dialect.Message, it *item) {
	out, failed := it.output, false
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
	used, msg := m.used(), m.e.Message(jsonl.Assistant)
	m.blocks(msg, m.items)
	msg.SetText("api", "openai-codex-responses")
	m.usage(msg.Set, used)
	why := ""
	if m.Unanswered {
		why = "aborted"
	}
	msg.Stop(why)
	m.end(msg, m.items)
}

// end ends a message that items make. By the id of the first one the same message is
// known again after a compaction.
func (m *maker) end(msg *dialect.Message, items []item) {
	if len(items) > 0 {
		msg.Set("id", items[0].id)
	}
	if !m.Native {
		return
	}
	var all []jsonl.Value
	for k := range items {
		sent := jsonl.Value(items[k].raw.AppendEdited(nil, jsonl.Field{Name: passthrough}))
		all = append(all, detailed(sent, m.To.Model))
	}
	msg.Native = dialect.List(all...)
}

// detailed returns an item as it is sent to a model, empty for an unknown one: how closely the model is to look
// at pictures is by what it knows, where the file says original.
func detailed(it jsonl.Value, model string) jsonl.Value {
	if model == "" || model == "gpt-5.5" || !bytes.Contains(it, []byte(`"input_image"`)) {
		return it
	}
	detail := jsonl.Value(`"high"`)
	if model == "gpt-6-sol" || model == "gpt-6-luna" {
		detail = nil
	}
	for _, list := range []string{"content", "output"} {
		var parts []jsonl.Value
		for p := range it.Get(list).Elements {
			if p.Get("type").Is("input_image") && p.Get("detail").Is("original") {
				p = p.AppendEdited(nil, jsonl.Field{Name: "detail", Value: detail})
			}
			parts = append(parts, p)
		}
		if parts != nil {
			it = it.AppendEdited(nil, jsonl.Field{Name: list, Value: dialect.List(parts...)})
		}
	}
	return it
}

// passthrough is a member of items that is not sent.
const passthrough = "internal_chat_message_metadata_passthrough"

// blocks adds the blocks of an answer's items.
func (m *maker) blocks(msg *dialect.Message, items []item) {
	msg.Body()
	for k := range items {
		it := &items[k]
		switch {
		case it.typ.Is("reasoning"):
			n := len(msg.Blocks)
			for _, list := range []jsonl.Value{it.summary, it.content.Value} {
				for s := range list.Elements {
					if text := s.Get("text"); text.IsString() {
						msg.Add(jsonl.Block{Kind: jsonl.ThinkingBlock, Text: text.Spelled()})
					}
				}
			}
			if len(msg.Blocks) == n && it.encrypted.IsString() {
				msg.Add(jsonl.Block{Raw: jsonl.Value(`{"type":"opaque","item":"reasoning"}`)})
			}
		case it.tool().Exists():
			msg.Add(jsonl.Block{Kind: jsonl.CallBlock, ID: it.callID, Name: it.tool(), Args: m.arguments(it)})
		case it.content.Value.IsArray():
			m.content(msg, it.content)
		default:
			msg.Add(jsonl.Block{Raw: it.raw})
		}
	}
}

// arguments returns those of a call, an object.
func (m *maker) arguments(it *item) jsonl.Value {
	for _, v := range []jsonl.Value{it.arguments, it.input, it.action} {
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

// used reads the lines that say so, and takes all others as items of the answer.
func (m *maker) used() (u used) {
	for k, raw := range m.Lines {
		if k > 0 {
			m.line = line{}
			m.line.read(raw)
		}
		if isItem(m.typ) {
			m.items = append(m.items, m.payload)
		} else {
			u.take(tells(&m.line, raw))
		}
	}
	return u
}

// unknown is the model of an answer whose rollout names none.
var unknown = jsonl.Value(`"unknown"`)

// usage sets model and usage of a response.
func (m *maker) usage(set func(string, jsonl.Value), u used) {
	set("provider", openai)
	set("model", jsonl.FirstText(u.model, unknown))
	set("responseId", u.id)
	if u.line.Exists() {
		m.e.Share(u.line)
	}
	if n, ok := u.counted(); ok {
		set("usage", m.Usage(n, nil))
	}
}
