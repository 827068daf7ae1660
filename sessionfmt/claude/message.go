package claude

import (
	"strconv"

	"ctxtool/sessionfmt/jsonl"
)

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

func (w *writer) number(before string, n int64) {
	w.out = strconv.AppendInt(append(w.out, before...), n, 10)
}

// said appends a message as it was sent.
func (w *writer) said(role string, m *message) {
	w.raw(`{"role":"` + role + `","content":`)
	w.content(m.said)
	if w.native {
		w.raw(`,"native":[`)
		w.sent(m)
		w.raw("]")
	}
	w.raw("}")
}

// sent appends a message of the API.
func (w *writer) sent(m *message) {
	sep := "{"
	for _, f := range []struct {
		name string
		v    jsonl.Value
	}{{"role", m.role}, {"content", m.said}} {
		if f.v.Exists() {
			w.member(sep, f.name, f.v)
			sep = ","
		}
	}
	if sep == "{" {
		w.raw(sep)
	}
	w.raw("}")
}

// content appends the blocks of a content.
func (w *writer) content(v jsonl.Value) {
	w.raw("[")
	if v.IsString() {
		w.block("text", "text", v)
	}
	w.blocks(v, "")
	w.raw("]")
}

// blocks appends blocks, the first one after a separator, and returns what comes before the
// next one.
func (w *writer) blocks(content jsonl.Value, sep string) string {
	var c jsonl.Cursor
	c.Once(content)
	for range c.Elements {
		w.raw(sep)
		w.oneBlock(&c)
		sep = ","
	}
	return sep
}

func (w *writer) block(typ, name string, text jsonl.Value) {
	w.raw(`{"type":"` + typ + `"`)
	w.member(",", name, text)
	w.raw("}")
}

// oneBlock appends the block that comes next in pi's shape, or as it stands where that has
// none.
func (w *writer) oneBlock(c *jsonl.Cursor) {
	var typ, text, thinking, signature, id, name, input, source jsonl.Value
	start := c.Offset()
	for key := range c.Members {
		switch string(key) {
		case "type":
			typ = c.Value()
		case "text":
			text = c.Value()
		case "thinking":
			thinking = c.Value()
		case "signature":
			signature = c.Value()
		case "id":
			id = c.Value()
		case "name":
			name = c.Value()
		case "input":
			input = c.Value()
		case "source":
			source = c.Value()
		}
	}
	switch {
	case typ.Is("text"):
		w.block("text", "text", text)
	case typ.Is("thinking") && len(thinking) > len(`""`):
		w.raw(`{"type":"thinking"`)
		w.member(",", "thinking", thinking)
		w.member(",", "thinkingSignature", signature)
		w.raw("}")
	case typ.Is("thinking"), typ.Is("redacted_thinking"):
		w.raw(`{"type":"opaque","item":"thinking"}`)
	case typ.Is("tool_use"):
		w.raw(`{"type":"toolCall"`)
		w.member(",", "id", id)
		w.member(",", "name", name)
		w.member(",", "arguments", input)
		w.raw("}")
	case typ.Is("image") && source.Get("type").Is("base64"):
		w.raw(`{"type":"image"`)
		w.member(",", "data", source.Get("data"))
		w.member(",", "mimeType", source.Get("media_type"))
		w.raw("}")
	default:
		w.out = append(w.out, c.Since(start)...)
	}
}

// answer appends an answer: the blocks of its lines, in order, and the usage of the last. The
// first of them has been read.
func (w *writer) answer(first *line, lines []jsonl.Value) {
	var few [8]line
	all := append(few[:0], *first)
	for _, raw := range lines[1:] {
		if l := readLine(raw); l.typ.Is("assistant") {
			all = append(all, l)
		}
	}
	if len(all) == 0 { // a line with two types
		all = append(all, readLine(lines[0]))
	}
	last := &all[len(all)-1]
	w.raw(`{"role":"assistant","content":[`)
	sep := ""
	for k := range all {
		sep = w.blocks(all[k].said, sep)
	}
	w.raw(`],"api":"anthropic-messages","provider":"anthropic"`)
	w.member(",", "model", last.model)
	w.member(",", "responseId", last.id)
	w.raw(`,"stopReason":"` + last.stopReason(all) + `"`)
	if !last.model.Is("<synthetic>") {
		w.usage(last.message.usage)
	}
	if last.diagnostics.IsObject() {
		w.member(",", "diagnostics", last.diagnostics)
	}
	if w.native {
		w.raw(`,"native":[{"role":"assistant","content":[`)
		w.bare(lines)
		w.raw("]}]")
	}
	w.raw("}")
}

// stopReason is why an answer ended, as pi says it.
func (l *line) stopReason(all []line) string {
	switch {
	case l.model.Is("<synthetic>"):
		return "aborted"
	case l.stop.Is("max_tokens"), l.stop.Is("model_context_window_exceeded"):
		return "length"
	case l.stop.Is("tool_use"):
		return "toolUse"
	case l.stop.IsString():
		return "stop"
	}
	for k := range all {
		for b := range all[k].said.Elements {
			if b.Get("type").Is("tool_use") {
				return "toolUse"
			}
		}
	}
	return "stop"
}

// usage appends a usage in pi's terms.
func (w *writer) usage(used jsonl.Value) {
	if !used.IsObject() {
		return
	}
	var f [5]jsonl.Value
	used.Fields(f[:], "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation")
	in, out, read, write := f[0].Int(), f[1].Int(), f[2].Int(), f[3].Int()
	w.number(`,"usage":{"input":`, in)
	w.number(`,"output":`, out)
	w.number(`,"cacheRead":`, read)
	w.number(`,"cacheWrite":`, write)
	if hour := f[4].Get("ephemeral_1h_input_tokens").Int(); hour > 0 {
		w.number(`,"cacheWrite1h":`, hour)
	}
	w.number(`,"totalTokens":`, in+out+read+write)
	w.raw("}")
}

// result appends a result of a record. An answer among other lines has the name of its tool.
func (w *writer) result(l *line, part int, lines []jsonl.Value) {
	o := outcomeOf(l.said, part)
	w.raw(`{"role":"toolResult"`)
	w.member(",", "toolCallId", o.call)
	w.member(",", "toolName", toolName(lines, o.call))
	w.raw(`,"content":`)
	w.content(o.said)
	if o.failed.Truthy() {
		w.raw(`,"isError":true`)
	} else {
		w.raw(`,"isError":false`)
	}
	if w.native {
		w.raw(`,"native":[`)
		if outcomeOf(l.said, 1).raw.Exists() { // of several, each is a message
			w.member("{", "role", l.role)
			w.raw(`,"content":[`)
			w.out = append(w.out, o.raw...)
			w.raw("]}")
		} else {
			w.sent(&l.message)
		}
		w.raw("]")
	}
	w.raw("}")
}

// toolName is the tool of a call that one of some lines has.
func toolName(lines []jsonl.Value, call jsonl.Value) jsonl.Value {
	for _, raw := range lines {
		for b := range raw.First("message", "content").Elements {
			if string(b.First("id")) == string(call) {
				return b.First("name")
			}
		}
	}
	return nil
}

// note appends what the program told the model: a text that it wrote for the user, the text
// of a local command, or the strings of an attachment, whose wording is not in the file.
func (w *writer) note(l *line, raw jsonl.Value) {
	w.raw(`{"role":"custom","customType":`)
	switch {
	case l.typ.Is("attachment"):
		of := raw.Get("attachment")
		w.out = append(w.out, orName(of.Get("type"), "attachment")...)
		w.raw(`,"content":`)
		w.strings(of)
		w.raw(`,"display":true`)
	case l.typ.Is("system"):
		w.out = append(w.out, orName(l.subtype, "system")...)
		w.raw(`,"content":`)
		w.content(l.content)
		w.raw(`,"display":true`)
	default:
		w.raw(`"meta","content":`)
		w.content(l.said)
		w.raw(`,"display":true`)
		if w.native {
			w.raw(`,"native":[`)
			w.sent(&l.message)
			w.raw("]")
		}
	}
	w.raw("}")
}

func orName(v jsonl.Value, name string) jsonl.Value {
	if v.IsString() {
		return v
	}
	return jsonl.Value(`"` + name + `"`)
}

// strings appends a text block of the strings of an attachment, one a line.
func (w *writer) strings(of jsonl.Value) {
	w.raw(`[{"type":"text","text":"`)
	sep := ""
	for key, v := range of.Members {
		if string(key) == "type" {
			continue
		}
		for s := range v.Strings {
			w.raw(sep)
			w.out = append(w.out, s[1:len(s)-1]...)
			sep = `\n`
		}
	}
	w.raw(`"}]`)
}
