package claude

import (
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A writer appends an entry.
type writer struct{ dialect.Writer }

// said appends a message as it was sent.
func (w *writer) said(role string, m *message) {
	w.Raw(`{"role":"` + role + `","content":`)
	w.content(m.said)
	if w.Native {
		w.Raw(`,"native":[`)
		w.sent(m)
		w.Raw("]")
	}
	w.Raw("}")
}

// sent appends a message of the API.
func (w *writer) sent(m *message) {
	sep := "{"
	for _, f := range []struct {
		name string
		v    jsonl.Value
	}{{"role", m.role}, {"content", m.said}} {
		if f.v.Exists() {
			w.Member(sep, f.name, f.v)
			sep = ","
		}
	}
	if sep == "{" {
		w.Raw(sep)
	}
	w.Raw("}")
}

// content appends the blocks of a content.
func (w *writer) content(v jsonl.Value) {
	w.Raw("[")
	if v.IsString() {
		w.Block("text", "text", v)
	}
	w.blocks(v, "")
	w.Raw("]")
}

// blocks appends blocks, the first one after a separator, and returns what comes before the
// next one.
func (w *writer) blocks(content jsonl.Value, sep string) string {
	var c jsonl.Cursor
	c.Once(content)
	for range c.Elements {
		w.Raw(sep)
		w.oneBlock(&c)
		sep = ","
	}
	return sep
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
		w.Block("text", "text", text)
	case typ.Is("thinking") && len(thinking) > len(`""`):
		w.Raw(`{"type":"thinking"`)
		w.Member(",", "thinking", thinking)
		w.Member(",", "thinkingSignature", signature)
		w.Raw("}")
	case typ.Is("thinking"), typ.Is("redacted_thinking"):
		w.Raw(`{"type":"opaque","item":"thinking"}`)
	case typ.Is("tool_use"):
		w.Raw(`{"type":"toolCall"`)
		w.Member(",", "id", id)
		w.Member(",", "name", name)
		w.Member(",", "arguments", input)
		w.Raw("}")
	case typ.Is("image") && source.Get("type").Is("base64"):
		w.Raw(`{"type":"image"`)
		w.Member(",", "data", source.Get("data"))
		w.Member(",", "mimeType", source.Get("media_type"))
		w.Raw("}")
	default:
		w.Out = append(w.Out, c.Since(start)...)
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
	w.Raw(`{"role":"assistant","content":[`)
	sep := ""
	for k := range all {
		sep = w.blocks(all[k].said, sep)
	}
	w.Raw(`],"api":"anthropic-messages","provider":"anthropic"`)
	w.Member(",", "model", last.model)
	w.Member(",", "responseId", last.id)
	w.Raw(`,"stopReason":"` + last.stopReason(all) + `"`)
	if !last.model.Is("<synthetic>") {
		w.usage(last.message.usage)
	}
	if last.diagnostics.IsObject() {
		w.Member(",", "diagnostics", last.diagnostics)
	}
	if w.Native {
		w.Raw(`,"native":[{"role":"assistant","content":[`)
		w.bare(lines)
		w.Raw("]}]")
	}
	w.Raw("}")
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
	w.Number(`,"usage":{"input":`, in)
	w.Number(`,"output":`, out)
	w.Number(`,"cacheRead":`, read)
	w.Number(`,"cacheWrite":`, write)
	if hour := f[4].Get("ephemeral_1h_input_tokens").Int(); hour > 0 {
		w.Number(`,"cacheWrite1h":`, hour)
	}
	w.Number(`,"totalTokens":`, in+out+read+write)
	w.Raw("}")
}

// result appends a result of a record. An answer among other lines has the name of its tool.
func (w *writer) result(l *line, part int, k *kept) {
	o := k.outcome(part)
	w.Raw(`{"role":"toolResult"`)
	w.Member(",", "toolCallId", o.call)
	w.Member(",", "toolName", k.names[string(o.call)])
	w.Raw(`,"content":`)
	w.content(o.said)
	if o.failed.Truthy() {
		w.Raw(`,"isError":true`)
	} else {
		w.Raw(`,"isError":false`)
	}
	if w.Native {
		w.Raw(`,"native":[`)
		if len(k.outcomes) > 1 { // of several, each is a message
			w.Member("{", "role", l.role)
			w.Raw(`,"content":[`)
			w.Out = append(w.Out, o.raw...)
			w.Raw("]}")
		} else {
			w.sent(&l.message)
		}
		w.Raw("]")
	}
	w.Raw("}")
}

// callsOf adds the names of the tools that a line calls, by the id of the call. The first one of an
// id counts.
func callsOf(raw jsonl.Value, names map[string]jsonl.Value) {
	var c jsonl.Cursor
	if !c.Once(raw).Enter("message", "content") {
		return
	}
	for range c.Elements {
		var id, name jsonl.Value
		for key := range c.Members {
			switch string(key) {
			case "id":
				id = c.Value()
			case "name":
				name = c.Value()
			}
		}
		if names[string(id)] == nil && name.Exists() && len(id) > 0 {
			names[string(id)] = name
		}
	}
}

// note appends what the program told the model: a text that it wrote for the user, the text
// of a local command, or the strings of an attachment, whose wording is not in the file.
func (w *writer) note(l *line) {
	w.Raw(`{"role":"custom","customType":`)
	switch {
	case l.typ.Is("attachment"):
		w.Out = append(w.Out, orName(l.attachment.Get("type"), "attachment")...)
		w.Raw(`,"content":`)
		w.strings(l.attachment)
		w.Raw(`,"display":true`)
	case l.typ.Is("system"):
		w.Out = append(w.Out, orName(l.subtype, "system")...)
		w.Raw(`,"content":`)
		w.content(l.content)
		w.Raw(`,"display":true`)
	default:
		w.Raw(`"meta","content":`)
		w.content(l.said)
		w.Raw(`,"display":true`)
		if w.Native {
			w.Raw(`,"native":[`)
			w.sent(&l.message)
			w.Raw("]")
		}
	}
	w.Raw("}")
}

func orName(v jsonl.Value, name string) jsonl.Value {
	if v.IsString() {
		return v
	}
	return jsonl.Value(`"` + name + `"`)
}

// strings appends a text block of the strings of an attachment, one a line.
func (w *writer) strings(of jsonl.Value) {
	w.Raw(`[{"type":"text","text":"`)
	sep := ""
	for key, v := range of.Members {
		if string(key) == "type" {
			continue
		}
		for s := range v.Strings {
			w.Raw(sep)
			w.Out = append(w.Out, s[1:len(s)-1]...)
			sep = `\n`
		}
	}
	w.Raw(`"}]`)
}
