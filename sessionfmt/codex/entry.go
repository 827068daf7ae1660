package codex

import (
	"bytes"
	"strconv"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// How much of the prompts a compaction keeps that has no replacement_history, tokens, and how
// many bytes Codex takes for one.
const (
	mostKept      = 20000
	bytesPerToken = 4
)

// item is what a line holds: the payload, or in the first months the line itself.
func item(line jsonl.Value) jsonl.Value {
	if p := line.Get("payload"); p.IsObject() {
		return p
	}
	return line
}

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
	payload := item(line)
	w.member("{", "type", typeOf(e.Kind, line))
	if e.Kind == jsonl.Header {
		w.text(",", "id", e.ID)
		w.raw(`,"version":3`)
		w.member(",", "timestamp", line.Get("timestamp"))
		w.member(",", "cwd", payload.Get("cwd"))
		w.member(",", "parentSession", payload.Get("forked_from_id"))
		return append(w.out, '}')
	}
	w.text(",", "id", e.ID)
	if e.Parent == "" {
		w.raw(`,"parentId":null`)
	} else {
		w.text(",", "parentId", e.Parent)
	}
	w.member(",", "timestamp", line.Get("timestamp"))
	switch e.Kind {
	case jsonl.System:
		w.raw(`,"message":{"role":"system"`)
		w.member(",", "content", instructions(payload))
		w.raw("}")
	case jsonl.ModelChange:
		w.raw(`,"provider":"openai"`)
		w.member(",", "modelId", payload.Get("model"))
	case jsonl.UsageEntry:
		w.raw(`,"kind":"compaction"`)
		w.usageOf(e.Lines)
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

// typeOf is the type of an entry, a JSON string.
func typeOf(kind jsonl.Kind, line jsonl.Value) jsonl.Value {
	if kind == jsonl.Unknown {
		return line.Get("type")
	}
	return jsonl.Value(strconv.Quote(kind.Type()))
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
	payload := item(e.Lines[0])
	switch e.Kind {
	case jsonl.Assistant:
		w.answer(e)
		return
	case jsonl.User:
		w.raw(`{"role":"user","content":`)
		w.content(payload.Get("content"))
	case jsonl.ToolResult:
		w.raw(`{"role":"toolResult"`)
		w.member(",", "toolCallId", payload.Get("call_id"))
		if len(e.Lines) > 1 {
			w.member(",", "toolName", callName(item(e.Lines[1])))
		}
		w.result(payload)
	default:
		w.raw(`{"role":"custom","customType":`)
		w.out = append(w.out, noteType(payload)...)
		w.raw(`,"content":`)
		w.note(payload)
		w.raw(`,"display":true`)
	}
	w.end([]jsonl.Value{payload})
}

// noteType names what a note is: by its role or its type.
func noteType(payload jsonl.Value) jsonl.Value {
	if role := payload.Get("role"); role.IsString() {
		return role
	}
	if typ := payload.Get("type"); typ.IsString() {
		return typ
	}
	return jsonl.Value(`"agent_message"`)
}

// note appends what a note says: its content, else all of it.
func (w *writer) note(payload jsonl.Value) {
	if content := payload.Get("content"); content.IsArray() || content.IsString() {
		w.content(content)
		return
	}
	w.raw(`[{"type":"text","text":`)
	if payload.Get("encrypted_content").Exists() {
		w.raw(`""`)
	} else {
		w.out = jsonl.AppendQuoted(w.out, string(payload))
	}
	w.raw("}]")
}

// content appends the blocks of a content.
func (w *writer) content(v jsonl.Value) {
	if !v.IsArray() {
		w.raw(`[{"type":"text","text":`)
		if v.IsString() {
			w.out = append(w.out, v...)
		} else {
			w.raw(`""`)
		}
		w.raw("}]")
		return
	}
	sep := "["
	for block := range v.Elements {
		w.raw(sep)
		w.block(block)
		sep = ","
	}
	if sep == "[" {
		w.raw("[")
	}
	w.raw("]")
}

// block appends a block: a text, an image, or as it stands.
func (w *writer) block(block jsonl.Value) {
	var f [3]jsonl.Value
	block.Fields(f[:], "type", "text", "image_url")
	switch {
	case f[1].IsString():
		w.raw(`{"type":"text"`)
		w.member(",", "text", f[1])
		w.raw("}")
	case f[2].IsString():
		w.image(f[2])
	default:
		w.out = append(w.out, block...)
	}
}

// image appends an image that is a data URL, or a text that names another one.
func (w *writer) image(url jsonl.Value) {
	text := url[1 : len(url)-1]
	mime, data, ok := bytes.Cut(text, []byte(";base64,"))
	if !ok || !bytes.HasPrefix(mime, []byte("data:")) {
		w.raw(`{"type":"text"`)
		w.member(",", "text", url)
		w.raw("}")
		return
	}
	w.raw(`{"type":"image","data":"`)
	w.out = append(w.out, data...)
	w.raw(`","mimeType":"`)
	w.out = append(w.out, mime[len("data:"):]...)
	w.raw(`"}`)
}

// result appends what a call returned.
func (w *writer) result(payload jsonl.Value) {
	out := payload.Get("output")
	failed := false
	if out.IsObject() { // of the first months
		failed = string(out.Get("success")) == "false"
		if body := out.Get("content"); body.Exists() {
			out = body
		}
	}
	w.raw(`,"content":`)
	if !out.Exists() { // of a search for tools
		w.note(payload)
	} else {
		w.content(out)
	}
	w.raw(`,"isError":` + strconv.FormatBool(failed))
}

// nativeItems appends the items that stand for a message in a request.
func (w *writer) nativeItems(items ...jsonl.Value) {
	if !w.native {
		return
	}
	w.raw(`,"native":[`)
	for k, it := range items {
		if k > 0 {
			w.raw(",")
		}
		w.sent(it)
	}
	w.raw("]")
}

// passthrough is a member of items that is not sent.
const passthrough = "internal_chat_message_metadata_passthrough"

// sent appends an item as it is sent.
func (w *writer) sent(it jsonl.Value) {
	if !it.Get(passthrough).Exists() {
		w.out = append(w.out, it...)
		return
	}
	sep := "{"
	for key, v := range it.Members {
		if string(key) != passthrough {
			w.raw(sep)
			w.out = append(jsonl.AppendQuoted(w.out, string(key)), ':')
			w.out = append(w.out, v...)
			sep = ","
		}
	}
	w.raw("}")
}

// messageText is the text of a message item.
func messageText(it jsonl.Value) string {
	var b strings.Builder
	for block := range it.Get("content").Elements {
		b.WriteString(block.Get("text").Text())
	}
	return b.String()
}
