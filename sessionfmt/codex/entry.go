package codex

import (
	"bytes"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// How much of the prompts a compaction keeps that has no replacement_history, tokens, and how
// many bytes Codex takes for one.
const (
	mostKept      = 20000
	bytesPerToken = 4
)

// instructions are those that a session_meta records.
func instructions(meta jsonl.Value) jsonl.Value {
	if text := meta.Get("base_instructions").Get("text"); text.IsString() {
		return text
	}
	return meta.Get("instructions")
}

// appendEntry is [dialect.Dialect]'s Append.
func appendEntry(dst []byte, e *dialect.Entry) []byte {
	w := writer{out: dst, native: e.Native}
	line := e.Lines[0]
	w.member("{", "type", typeOf(e.Kind, line))
	w.text(",", "id", e.ID)
	if e.Kind == jsonl.Header {
		payload := payloadOf(line)
		w.raw(`,"version":3`)
		w.member(",", "timestamp", line.First("timestamp"))
		w.member(",", "cwd", payload.Get("cwd"))
		w.member(",", "parentSession", payload.Get("forked_from_id"))
		return append(w.out, '}')
	}
	if e.Parent == "" {
		w.raw(`,"parentId":null`)
	} else {
		w.text(",", "parentId", e.Parent)
	}
	w.member(",", "timestamp", line.First("timestamp"))
	switch e.Kind {
	case jsonl.System:
		w.raw(`,"message":{"role":"system"`)
		w.member(",", "content", instructions(payloadOf(line)))
		w.raw("}")
	case jsonl.ModelChange:
		w.raw(`,"provider":"openai"`)
		w.member(",", "modelId", line.First("payload", "model"))
	case jsonl.UsageEntry:
		w.raw(`,"kind":"compaction"`)
		var used usageLines
		for _, line := range e.Lines {
			it := lineItem(line)
			used.read(&it)
		}
		w.usageOf(&used, nil)
	case jsonl.Transform:
		w.transform(e.Lines)
	case jsonl.Unknown:
		w.member(",", "payload", line.Get("payload"))
	default:
		w.raw(`,"message":`)
		w.message(e)
	}
	return append(w.out, '}')
}

// payloadOf is the payload of a line, or in the first months the line itself.
func payloadOf(line jsonl.Value) jsonl.Value {
	if p := line.Get("payload"); p.IsObject() {
		return p
	}
	return line
}

// typeOf is the type of an entry, a JSON string.
func typeOf(kind jsonl.Kind, line jsonl.Value) jsonl.Value {
	if kind == jsonl.Unknown {
		if typ := typeOfLine(line); typ.IsString() {
			return typ
		}
		return jsonl.Value(`""`)
	}
	return jsonl.Value(`"` + kind.Type() + `"`)
}

// A writer appends an entry.
type writer struct {
	out    []byte
	native bool
}

func (w *writer) raw(s string) { w.out = append(w.out, s...) }

// member appends a member, if the value is there.
func (w *writer) member(before, name string, v jsonl.Value) {
	if v.Exists() {
		w.out = append(append(append(append(w.out, before...), '"'), name...), `":`...)
		w.out = append(w.out, v...)
	}
}

func (w *writer) text(before, name, text string) {
	w.out = append(append(append(append(w.out, before...), '"'), name...), `":`...)
	w.out = jsonl.AppendQuoted(w.out, text)
}

// message appends the message of a message entry.
func (w *writer) message(e *dialect.Entry) {
	if e.Kind == jsonl.Assistant {
		w.answer(e)
		return
	}
	it := lineItem(e.Lines[0])
	switch e.Kind {
	case jsonl.User:
		w.raw(`{"role":"user","content":`)
		w.content(it.content)
	case jsonl.ToolResult:
		w.raw(`{"role":"toolResult"`)
		w.member(",", "toolCallId", it.callID)
		if len(e.Lines) > 1 {
			of := lineItem(e.Lines[1])
			w.member(",", "toolName", of.tool())
		}
		w.result(&it)
	default:
		w.raw(`{"role":"custom","customType":`)
		w.out = append(w.out, it.about()...)
		w.raw(`,"content":`)
		w.note(&it)
		w.raw(`,"display":true`)
	}
	w.end([]item{it})
}

// about names what a note is: by its role or its type.
func (it *item) about() jsonl.Value {
	switch {
	case it.role.IsString():
		return it.role
	case it.typ.IsString():
		return it.typ
	}
	return jsonl.Value(`"agent_message"`)
}

// note appends what a note says: its content, else all of it.
func (w *writer) note(it *item) {
	switch {
	case it.content.IsArray(), it.content.IsString():
		w.content(it.content)
	case it.encrypted.Exists():
		w.raw(`[{"type":"opaque"}]`)
	default:
		w.raw("[")
		w.block("text", "text", jsonl.AppendQuoted(nil, string(it.raw)))
		w.raw("]")
	}
}

// block appends a block that is a string.
func (w *writer) block(typ, name string, text jsonl.Value) {
	w.raw(`{"type":"` + typ + `"`)
	w.member(",", name, text)
	w.raw("}")
}

// content appends the blocks of a content.
func (w *writer) content(v jsonl.Value) {
	w.raw("[")
	if v.IsString() {
		w.block("text", "text", v)
	}
	sep := ""
	var c jsonl.Cursor
	c.Once(v)
	for range c.Elements {
		w.raw(sep)
		w.contentBlock(&c)
		sep = ","
	}
	w.raw("]")
}

// contentBlock appends the block that comes next: a text, an image, or as it stands.
func (w *writer) contentBlock(c *jsonl.Cursor) {
	var text, url jsonl.Value
	start := c.Offset()
	for key := range c.Members {
		switch string(key) {
		case "text":
			text = c.Value()
		case "image_url":
			url = c.Value()
		}
	}
	switch {
	case text.IsString():
		w.block("text", "text", text)
	case url.IsString():
		w.image(url)
	default:
		w.out = append(w.out, c.Since(start)...)
	}
}

// image appends an image that is a data URL, or a text that names another one.
func (w *writer) image(url jsonl.Value) {
	mime, data, ok := bytes.Cut(inner(url), []byte(";base64,"))
	if !ok || !bytes.HasPrefix(mime, []byte("data:")) {
		w.block("text", "text", url)
		return
	}
	w.raw(`{"type":"image","data":"`)
	w.out = append(w.out, data...)
	w.raw(`","mimeType":"`)
	w.out = append(w.out, mime[len("data:"):]...)
	w.raw(`"}`)
}

// result appends what a call returned.
func (w *writer) result(it *item) {
	out, failed := it.output, false
	if out.IsObject() { // of the first months
		failed = string(out.Get("success")) == "false"
		if body := out.Get("content"); body.Exists() {
			out = body
		}
	}
	w.raw(`,"content":`)
	if !out.Exists() { // of a search for tools
		w.note(it)
	} else {
		w.content(out)
	}
	if failed {
		w.raw(`,"isError":true`)
	} else {
		w.raw(`,"isError":false`)
	}
}

// passthrough is a member of items that is not sent.
const passthrough = "internal_chat_message_metadata_passthrough"

// sent appends an item as it is sent.
func (w *writer) sent(it jsonl.Value) {
	sep := "{"
	for key, v := range it.Members {
		if string(key) != passthrough {
			w.raw(sep)
			w.out = append(jsonl.AppendQuoted(w.out, string(key)), ':')
			w.out = append(w.out, v...)
			sep = ","
		}
	}
	if sep == "{" {
		w.raw(sep)
	}
	w.raw("}")
}
