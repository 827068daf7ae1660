package opencode

import (
	"slices"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// opencode sends messages in the form of the provider's interface. Which one that is depends on the provider.

// A sender writes messages as they are sent by one interface, each as a list of items.
type sender interface {
	prompt(parts []row) jsonl.Value
	answer(parts []row, foreign bool) jsonl.Value // foreign: to another model than the one that gave it
	result(p *partData) jsonl.Value
}

// interfaceOf returns the interface by which a request asks, as package body names it. Providers that are not listed
// have Chat Completions or one of their own; only those of which a request was compared are exact.
func interfaceOf(to rule.Asked) string {
	switch to.Host {
	case "anthropic":
		return "anthropic"
	case "openai":
		return "openai-responses"
	}
	return "openai-chat"
}

func (m *maker) sender() sender {
	ids := callIDs(m.To)
	switch interfaceOf(m.To) {
	case "anthropic":
		return messagesSender{ids}
	case "openai-responses":
		return responsesSender{ids}
	}
	return chatSender{ids, m.agent == kilo}
}

// callIDs returns the id of a call as a model takes it: Claude's take letters, digits, _ and - alone.
type callIDs rule.Asked

func (c callIDs) id(of jsonl.Value) jsonl.Value {
	if !strings.Contains(strings.ToLower(c.Model), "claude") {
		return of
	}
	return jsonl.AppendQuoted(nil, strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, of.Text()))
}

// native adds what was sent for a message of parts.
func (m *maker) native(msg *dialect.Message, parts []row, answer, foreign bool) {
	switch {
	case !m.Native:
	case answer:
		msg.Native = m.sender().answer(parts, foreign)
	default:
		msg.Native = m.sender().prompt(parts)
	}
}

// nativeResult adds what was sent for a result.
func (m *maker) nativeResult(msg *dialect.Message, p *partData) {
	if m.Native {
		msg.Native = m.sender().result(p)
	}
}

// nativeMedia adds what is sent after the last result of an answer where results cannot have files: those of all of
// them.
func (m *maker) nativeMedia(msg *dialect.Message, parts []row) {
	if !m.Native || interfaceOf(m.To) != "openai-chat" {
		return
	}
	var all []jsonl.Value
	for k := range parts {
		if p := &parts[k].data.part; p.typ.Is("tool") && p.media() {
			for f := range p.state.attachments.Elements {
				all = append(all, chatFile(f.Get("url"), f.Get("mime"), f.Get("filename")))
			}
		}
	}
	if len(all) > 0 {
		all = slices.Insert(all, 0, mediaText)
		user := jsonl.Value(`{"role":"user"}`).With("content", dialect.List(all...))
		msg.Native = dialect.List(append(slices.Collect(msg.Native.Elements), user)...)
	}
}

var mediaText = jsonl.Value(`{"type":"text","text":"Attached media from tool result:"}`)

// typed returns an object with a type.
func typed(typ string) jsonl.Value { return jsonl.Value(`{"type":"` + typ + `"}`) }

// textOf returns a text as a block of a type.
func textOf(typ string, text jsonl.Value) jsonl.Value { return typed(typ).With("text", text) }

// content returns what a prompt says, by functions for a text and a file.
func content(parts []row, text func(jsonl.Value) jsonl.Value, file func(url, mime, name jsonl.Value) jsonl.Value) (
	all []jsonl.Value) {
	for k := range parts {
		p := &parts[k].data.part
		if said := p.spoken().Value; said.Exists() {
			all = append(all, text(said))
		} else if p.typ.Is("file") && attached(p.mime) {
			all = append(all, file(p.url, p.mime, p.filename))
		}
	}
	return all
}

// chatSender is for Chat Completions.
type chatSender struct {
	callIDs
	null bool // the content of an answer that has only calls is null
}

// prompt returns a text, or several parts.
func (s chatSender) prompt(parts []row) jsonl.Value {
	var said jsonl.Value
	all := content(parts, func(text jsonl.Value) jsonl.Value {
		said = text
		return textOf("text", text)
	}, chatFile)
	of := dialect.List(all...)
	if len(all) == 1 && said.Exists() {
		of = said
	}
	return dialect.List(jsonl.Value(`{"role":"user"}`).With("content", of))
}

func chatFile(url, mime, name jsonl.Value) jsonl.Value {
	if strings.HasPrefix(mime.Text(), "image/") {
		return typed("image_url").With("image_url", jsonl.Value("{}").With("url", url))
	}
	return typed("file").With("file", jsonl.Value("{}").With("filename",
		jsonl.FirstText(name, jsonl.Value(`"document.pdf"`))).With("file_data", url))
}

// answer has the reasoning of another model as a part of the text. One without parts is not sent.
func (s chatSender) answer(parts []row, foreign bool) jsonl.Value {
	var said, thought []byte
	var calls []jsonl.Value
	if !slices.ContainsFunc(parts, func(r row) bool { return says(&r.data.part) }) {
		return dialect.List()
	}
	one := jsonl.Value(`{"role":"assistant"}`)
	for k := range parts {
		switch p := &parts[k].data.part; {
		case p.typ.Is("reasoning") && foreign:
			said = p.text.AppendText(said)
		case p.typ.Is("reasoning"):
			thought = p.text.AppendText(thought)
		case p.typ.Is("tool"):
			calls = append(calls, dialect.SentCall(s.id(p.callID), p.tool, object(p.state.input)))
		default:
			said = p.spoken().AppendText(said)
		}
	}
	content := jsonl.Value(jsonl.AppendQuoted(nil, said))
	if s.null && len(said) == 0 && calls != nil {
		content = jsonl.Value("null")
	}
	one = one.With("content", content)
	if len(thought) > 0 {
		one = one.With("reasoning_content", jsonl.AppendQuoted(nil, thought))
	}
	if calls != nil {
		one = one.With("tool_calls", dialect.List(calls...))
	}
	return dialect.List(one)
}

// says reports whether a part of an answer is of a kind that is sent, even if it is empty.
func says(p *partData) bool {
	return p.typ.Is("tool") || p.typ.Is("reasoning") || p.typ.Is("text") && !p.ignored.Truthy()
}

func (s chatSender) result(p *partData) jsonl.Value {
	said, _ := p.outcome()
	return dialect.List(jsonl.Value(`{"role":"tool"}`).With("tool_call_id", s.id(p.callID)).With("content", said.Value))
}

// messagesSender is for Anthropic's Messages API. Its messages are joined by their roles; see merger.
type messagesSender struct{ callIDs }

func (messagesSender) prompt(parts []row) jsonl.Value {
	return messageOf("user", content(parts, func(text jsonl.Value) jsonl.Value { return textOf("text", text) },
		func(url, mime, name jsonl.Value) jsonl.Value {
			block := messagesFile(url, mime)
			if block.Get("type").Is("document") && name.Exists() {
				block = block.With("title", name)
			}
			return block
		}))
}

// messageOf returns a message of blocks, none where there are none.
func messageOf(role string, blocks []jsonl.Value) jsonl.Value {
	if blocks == nil {
		return dialect.List()
	}
	return dialect.List(jsonl.Value(`{"role":"`+role+`"}`).With("content", dialect.List(blocks...)))
}

func messagesFile(url, mime jsonl.Value) jsonl.Value {
	typ := "document"
	if strings.HasPrefix(mime.Text(), "image/") {
		typ = "image"
	}
	source := typed("url").With("url", url)
	if b, ok := dialect.DataURL(url); ok {
		source = typed("base64").With("media_type", mime).With("data", b.Data)
	}
	return typed(typ).With("source", source)
}

// answer has no reasoning without a signature, and no empty texts.
func (s messagesSender) answer(parts []row, foreign bool) jsonl.Value {
	var all []jsonl.Value
	for k := range parts {
		p := &parts[k].data.part
		made := p.metadata.Get("anthropic").All("signature", "redactedData")
		switch empty := len(p.text.Inside()) == 0; {
		case p.typ.Is("tool"):
			all = append(all, typed("tool_use").With("id", s.id(p.callID)).With("name", p.tool).With("input",
				object(p.state.input)))
		case p.typ.Is("reasoning") && foreign && !empty:
			all = append(all, textOf("text", p.text.Value))
		case p.typ.Is("reasoning") && foreign:
		case p.typ.Is("reasoning") && made[0].IsString():
			all = append(all, typed("thinking").With("thinking", p.text.Value).With("signature", made[0]))
		case p.typ.Is("reasoning") && made[1].IsString():
			all = append(all, typed("redacted_thinking").With("data", made[1]))
		case !p.typ.Is("reasoning") && p.spoken().Exists():
			all = append(all, textOf("text", p.spoken().Value))
		}
	}
	return messageOf("assistant", all)
}

func (s messagesSender) result(p *partData) jsonl.Value {
	said, failed := p.outcome()
	one := typed("tool_result").With("tool_use_id", s.id(p.callID)).With("content", withFiles(p, said.Value, "text",
		messagesFile))
	if failed {
		one = one.With("is_error", jsonl.Value("true"))
	}
	return messageOf("user", []jsonl.Value{one})
}

// withFiles returns the result of a call: its text, or with files a list of blocks.
func withFiles(p *partData, said jsonl.Value, typ string, file func(url, mime jsonl.Value) jsonl.Value) jsonl.Value {
	if !p.media() {
		return said
	}
	all := []jsonl.Value{textOf(typ, said)}
	for f := range p.state.attachments.Elements {
		all = append(all, file(f.Get("url"), f.Get("mime")))
	}
	return dialect.List(all...)
}

// responsesSender is for OpenAI's Responses API.
type responsesSender struct{ callIDs }

func (responsesSender) prompt(parts []row) jsonl.Value {
	return messageOf("user", content(parts, func(text jsonl.Value) jsonl.Value { return textOf("input_text", text) },
		func(url, mime, name jsonl.Value) jsonl.Value {
			if strings.HasPrefix(mime.Text(), "image/") {
				return responsesFile(url, mime)
			}
			return typed("input_file").With("filename", name).With("file_data", url)
		}))
}

func responsesFile(url, mime jsonl.Value) jsonl.Value {
	if strings.HasPrefix(mime.Text(), "image/") {
		return typed("input_image").With("image_url", url)
	}
	return typed("input_file").With("filename", jsonl.Value(`"data"`)).With("file_data", url)
}

// answer has an item for each text, call and reasoning item. Several parts can be of one of the latter; those without
// its id are not sent.
func (s responsesSender) answer(parts []row, foreign bool) jsonl.Value {
	var all, summary []jsonl.Value
	var item string // the id of the reasoning that summary is of
	var sealed jsonl.Value
	thought := func() {
		if item != "" {
			one := typed("reasoning")
			if sealed.Exists() {
				one = one.With("encrypted_content", sealed)
			}
			all = append(all, one.With("summary", dialect.List(summary...)))
		}
		item, summary, sealed = "", nil, nil
	}
	for k := range parts {
		p := &parts[k].data.part
		made := p.metadata.Get("openai").All("itemId", "reasoningEncryptedContent")
		switch {
		case p.typ.Is("reasoning") && !foreign:
			if id := made[0].Text(); id != item {
				thought()
				item = id
			}
			if made[1].IsString() {
				sealed = made[1]
			}
			if len(p.text.Inside()) > 0 {
				summary = append(summary, textOf("summary_text", p.text.Value))
			}
			continue
		case p.typ.Is("tool"):
			thought()
			all = append(all, typed("function_call").With("call_id", s.id(p.callID)).With("name",
				p.tool).With("arguments", jsonl.AppendQuoted(nil, []byte(object(p.state.input)))))
		case says(p):
			thought()
			all = append(all, jsonl.Value(`{"role":"assistant"}`).With("content",
				dialect.List(textOf("output_text", jsonl.FirstText(p.text.Value, nothing.Value)))))
		}
	}
	thought()
	return dialect.List(all...)
}

func (s responsesSender) result(p *partData) jsonl.Value {
	said, _ := p.outcome()
	return dialect.List(typed("function_call_output").With("call_id", s.id(p.callID)).With("output", withFiles(p,
		said.Value, "input_text", responsesFile)))
}

// A merger joins messages of one role, as the Messages API takes them; those of other interfaces stay.
type merger struct {
	to     rule.Asked
	role   string
	blocks []jsonl.Value
}

// compose implements Compose of the dialect.
func compose(to dialect.Request) dialect.Composer { return &merger{to: to.To} }

// Add implements [dialect.Composer], like Copy and End.
func (c *merger) Add(item jsonl.Value) (done []jsonl.Value) {
	if interfaceOf(c.to) != "anthropic" {
		return []jsonl.Value{item}
	}
	if role := item.Get("role").Text(); role != c.role {
		done = c.End()
		c.role = role
	}
	for b := range item.Get("content").Elements {
		c.blocks = append(c.blocks, slices.Clone(b))
	}
	return done
}

// End implements [dialect.Composer].
func (c *merger) End() []jsonl.Value {
	if c.blocks == nil {
		return nil
	}
	one := jsonl.Value(`{"role":"`+c.role+`"}`).With("content", dialect.List(c.blocks...))
	c.blocks = nil
	return []jsonl.Value{one}
}

// Copy implements [dialect.Composer].
func (c *merger) Copy(to dialect.Request) dialect.Composer {
	if to.To != c.to {
		return nil
	}
	return &merger{c.to, c.role, slices.Clone(c.blocks)}
}
