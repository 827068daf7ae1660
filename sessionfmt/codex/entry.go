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
func appendEntry(dst []byte, e *dialect.Old) []byte {
	w := writer{dialect.Writer{Out: dst, Native: e.Native}}
	line := e.Lines[0]
	w.typeOf(e.Kind, line)
	w.Place(e, line.First("timestamp"))
	if e.Kind == jsonl.Header {
		payload := payloadOf(line)
		w.Member(",", "cwd", payload.Get("cwd"))
		w.Member(",", "parentSession", payload.Get("forked_from_id"))
		return append(w.Out, '}')
	}
	switch e.Kind {
	case jsonl.System:
		w.Raw(`,"message":{"role":"system"`)
		w.Member(",", "content", instructions(payloadOf(line)))
		w.Raw("}")
	case jsonl.ModelChange:
		w.Raw(`,"provider":"openai"`)
		w.Member(",", "modelId", line.First("payload", "model"))
	case jsonl.UsageEntry:
		w.Raw(`,"kind":"compaction"`)
		var used usageLines
		for _, line := range e.Lines {
			used.read(line)
		}
		w.usageOf(&used, nil)
	case jsonl.Transform:
		w.transform(e.Lines)
	case jsonl.Unknown:
		w.Member(",", "payload", line.Get("payload"))
	default:
		w.Raw(`,"message":`)
		w.message(e)
	}
	return append(w.Out, '}')
}

// payloadOf is the payload of a line, or in the first months the line itself.
func payloadOf(line jsonl.Value) jsonl.Value {
	if p := line.Get("payload"); p.IsObject() {
		return p
	}
	return line
}

// A writer appends an entry.
type writer struct{ dialect.Writer }

// typeOf begins an entry with its type.
func (w *writer) typeOf(kind jsonl.Kind, line jsonl.Value) {
	if typ := typeOfLine(line); kind == jsonl.Unknown && typ.IsString() {
		w.Member("{", "type", typ)
		return
	}
	w.Text("{", "type", kind.Type())
}

// message appends the message of a message entry.
func (w *writer) message(e *dialect.Old) {
	if e.Kind == jsonl.Assistant {
		w.answer(e)
		return
	}
	it := lineItem(e.Lines[0])
	switch e.Kind {
	case jsonl.User:
		w.Raw(`{"role":"user","content":`)
		w.content(it.content)
	case jsonl.ToolResult:
		w.Raw(`{"role":"toolResult"`)
		w.Member(",", "toolCallId", it.callID)
		if len(e.Lines) > 1 {
			of := lineItem(e.Lines[1])
			w.Member(",", "toolName", of.tool())
		}
		w.result(&it)
	default:
		w.Raw(`{"role":"custom","customType":`)
		w.Out = append(w.Out, it.about()...)
		w.Raw(`,"content":`)
		w.note(&it)
		w.Raw(`,"display":true`)
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
		w.Raw(`[{"type":"opaque"}]`)
	default:
		w.Raw("[")
		w.Block("text", "text", jsonl.AppendQuoted(nil, string(it.raw)))
		w.Raw("]")
	}
}

// content appends the blocks of a content.
func (w *writer) content(v jsonl.Value) {
	w.Raw("[")
	if v.IsString() {
		w.Block("text", "text", v)
	}
	sep := ""
	var c jsonl.Cursor
	c.Once(v)
	for range c.Elements {
		w.Raw(sep)
		w.contentBlock(&c)
		sep = ","
	}
	w.Raw("]")
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
		w.Block("text", "text", text)
	case url.IsString():
		w.image(url)
	default:
		w.Out = append(w.Out, c.Since(start)...)
	}
}

// image appends an image that is a data URL, or a text that names another one.
func (w *writer) image(url jsonl.Value) {
	mime, data, ok := bytes.Cut(inner(url), []byte(";base64,"))
	if !ok || !bytes.HasPrefix(mime, []byte("data:")) {
		w.Block("text", "text", url)
		return
	}
	w.Raw(`{"type":"image","data":"`)
	w.Out = append(w.Out, data...)
	w.Raw(`","mimeType":"`)
	w.Out = append(w.Out, mime[len("data:"):]...)
	w.Raw(`"}`)
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
	w.Raw(`,"content":`)
	if !out.Exists() { // of a search for tools
		w.note(it)
	} else {
		w.content(out)
	}
	if failed {
		w.Raw(`,"isError":true`)
	} else {
		w.Raw(`,"isError":false`)
	}
}

// passthrough is a member of items that is not sent.
const passthrough = "internal_chat_message_metadata_passthrough"

// sent appends an item as it is sent.
func (w *writer) sent(it jsonl.Value) {
	sep := "{"
	for key, v := range it.Members {
		if string(key) != passthrough {
			w.Raw(sep)
			w.Out = append(jsonl.AppendQuoted(w.Out, string(key)), ':')
			w.Out = append(w.Out, v...)
			sep = ","
		}
	}
	if sep == "{" {
		w.Raw(sep)
	}
	w.Raw("}")
}
