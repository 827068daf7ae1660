package migrate

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"ctxtool/sessionfmt/jsonl"
)

// A form gives the messages of a path, one after the other, the form in which pi can send them on
// (docs/session-format.md 23). It is a value: each branch of a session goes on with a copy.
type form struct {
	open []call // of the last answer, without a result so far
	time int64  // of the last message that has one, milliseconds since 1970
}

// A call is one that a result can answer.
type call struct{ id, name jsonl.Value }

// message returns a message in that form. at is the time of its entry. A copy of an answer cost
// nothing.
func (f *form) message(msg, at jsonl.Value, copied bool) jsonl.Value {
	m := msg.Message()
	fields := []jsonl.Field{{Name: "timestamp", Value: f.stamp(m.Time, at)}, {Name: "id"}}
	set := func(name string, v jsonl.Value) { fields = append(fields, jsonl.Field{Name: name, Value: v}) }
	switch m.Kind {
	case jsonl.System:
		set("content", f.content(m))
	case jsonl.User, jsonl.Custom:
		set("content", f.content(m))
		f.open = nil // pi makes a result for a call that has none when the turn goes on
	case jsonl.Assistant:
		f.open = nil
		set("content", f.content(m))
		f.answer(m, msg, set)
		if copied {
			m.Usage = nil
		}
		set("usage", completeUsage(m.Usage))
	case jsonl.ToolResult:
		set("content", f.content(m))
		k := callOf(f.open, msg)
		if k < 0 { // providers refuse a result without its call
			f.open = nil
			return jsonl.Value(`{"role":"custom","customType":"toolResult"}`).
				With("content", fields[2].Value).With("display", jsonl.Value("true")).With("timestamp", fields[0].Value)
		}
		set("toolName", text(m.Tool, f.open[k].name))
		failed := jsonl.Value("false")
		if m.IsError.Truthy() {
			failed = jsonl.Value("true")
		}
		set("isError", failed)
		f.open = slices.Delete(slices.Clone(f.open), k, k+1)
	}
	return msg.AppendEdited(nil, fields...)
}

// callOf is the index of the call that a message is the result of, -1 for none.
func callOf(open []call, msg jsonl.Value) int {
	if !msg.Get("role").Is("toolResult") {
		return -1
	}
	return slices.IndexFunc(open, func(c call) bool { return bytes.Equal(c.id, msg.Get("toolCallId")) })
}

// resultsFirst is the order in which pi can send the messages after an answer with these calls: what
// answers one comes before everything else.
func resultsFirst(open []call, messages []jsonl.Value) (order []int) {
	open = slices.Clone(open)
	var rest []int
	for k, msg := range messages {
		if answers := callOf(open, msg); answers >= 0 {
			open = slices.Delete(open, answers, answers+1)
			order = append(order, k)
		} else {
			rest = append(rest, k)
		}
	}
	return append(order, rest...)
}

// turnsInOrder are messages with the results after each answer first.
func turnsInOrder(messages []jsonl.Value) (all []jsonl.Value) {
	for from := 0; from < len(messages); {
		var f form
		if messages[from].Get("role").Is("assistant") {
			all = append(all, messages[from])
			f.message(messages[from], nil, false)
			from++
		}
		to := from
		for to < len(messages) && !messages[to].Get("role").Is("assistant") {
			to++
		}
		for _, k := range resultsFirst(f.open, messages[from:to]) {
			all = append(all, messages[from+k])
		}
		from = to
	}
	return all
}

// answer sets who gave an answer, and why it ended. One that was broken off counts as whole: its
// agent keeps it in the context, and pi would not send it.
func (f *form) answer(m *jsonl.Message, msg jsonl.Value, set func(string, jsonl.Value)) {
	unknown := jsonl.Value(`"unknown"`)
	set("api", text(msg.Get("api"), unknown))
	set("provider", text(m.Provider, unknown))
	set("model", text(m.Model, unknown))
	if !msg.Get("diagnostics").IsArray() {
		set("diagnostics", nil)
	}
	if own := m.Time.IsNumber(); own && m.Stop.IsString() { // of a variant of pi
		return
	}
	switch {
	case m.Stop.IsString() && !m.Failed():
		set("stopReason", m.Stop)
	case len(f.open) > 0:
		set("stopReason", jsonl.Value(`"toolUse"`))
	default:
		set("stopReason", jsonl.Value(`"stop"`))
	}
}

// stamp is the time of a message in milliseconds: its own, else that of its entry, else that of the
// one before it.
func (f *form) stamp(own, at jsonl.Value) jsonl.Value {
	if own.IsNumber() {
		return own
	}
	if ms, ok := at.Millis(); ok {
		f.time = ms
	}
	return strconv.AppendInt(nil, f.time, 10)
}

// text is a value that is a text, else another one.
func text(v, otherwise jsonl.Value) jsonl.Value {
	if v.IsString() && len(v) > len(`""`) {
		return v
	}
	return otherwise
}

// content is the content of a message in blocks that its role has. The calls of an answer are open
// then.
func (f *form) content(m *jsonl.Message) jsonl.Value {
	if m.Content.IsString() && m.Kind != jsonl.Assistant && m.Kind != jsonl.ToolResult {
		return m.Content
	}
	out := []byte{'['}
	for k := range m.Blocks {
		b := &m.Blocks[k]
		if k > 0 {
			out = append(out, ',')
		}
		if b.Kind != jsonl.CallBlock {
			out = append(out, block(b, m.Kind)...)
			continue
		}
		c := call{
			id:   bytes.Clone(text(b.ID, fmt.Appendf(nil, `"call-%d"`, k))),
			name: bytes.Clone(text(b.Name, jsonl.Value(`"unknown"`))),
		}
		f.open = append(f.open, c)
		args := b.Args
		if !args.IsObject() {
			args = jsonl.Value("{}").With("input", args)
		}
		out = b.Raw.AppendEdited(out, jsonl.Field{Name: "id", Value: c.id}, jsonl.Field{Name: "name", Value: c.name},
			jsonl.Field{Name: "arguments", Value: args})
	}
	return append(out, ']')
}

// block is a block that is no call, as a message of that kind has it. What pi has no block for is a
// text; thoughts that are not in the file are an empty thought, which is sent to nobody.
func block(b *jsonl.Block, kind jsonl.Kind) jsonl.Value {
	item := b.Raw.Get("item")
	image := b.Kind == jsonl.ImageBlock && b.Data.IsString() && bytes.HasPrefix(b.Mime, []byte(`"image/`))
	switch {
	case b.Raw.IsString():
		return jsonl.Value(`{"type":"text"}`).With("text", b.Raw)
	case (b.Kind == jsonl.TextBlock || b.Kind == jsonl.ThinkingBlock) && b.Text.IsString():
		return b.Raw
	case image && kind != jsonl.System:
		return b.Raw
	case b.Kind == jsonl.ThinkingBlock, kind == jsonl.Assistant && (item.Is("thinking") || item.Is("reasoning")):
		return jsonl.Value(`{"type":"thinking","thinking":""}`)
	case b.Raw.Get("type").Is("opaque"):
		said := "[" + cmp.Or(item.Text(), "not in the file") + "]"
		return jsonl.Value(`{"type":"text"}`).With("text", jsonl.AppendQuoted(nil, said))
	}
	return jsonl.Value(`{"type":"text"}`).With("text", jsonl.AppendQuoted(nil, readable(nil, b.Raw)))
}

// readable appends a value with the sizes of strings that no model reads, such as base64.
func readable(dst []byte, v jsonl.Value) []byte {
	const long = 512 // bytes without a space
	switch sep := byte(0); {
	case v.IsObject():
		sep = '{'
		for key, of := range v.Members {
			dst = append(append(append(dst, sep, '"'), key...), `":`...)
			dst, sep = readable(dst, of), ','
		}
		if sep == '{' {
			dst = append(dst, sep)
		}
		return append(dst, '}')
	case v.IsArray():
		sep = '['
		for of := range v.Elements {
			dst, sep = readable(append(dst, sep), of), ','
		}
		if sep == '[' {
			dst = append(dst, sep)
		}
		return append(dst, ']')
	case v.IsString() && len(v) > long && bytes.IndexByte(v, ' ') < 0:
		return fmt.Appendf(dst, `"[%d bytes]"`, len(v)-len(`""`))
	}
	return v.AppendMinified(dst)
}

// completeUsage is a usage with all members that pi reads; what is not recorded is 0.
func completeUsage(v jsonl.Value) jsonl.Value {
	if !v.IsObject() {
		v = jsonl.Value("{}")
	}
	cost := v.Get("cost")
	if !cost.IsObject() {
		cost = jsonl.Value("{}")
	}
	cost = complete(cost, "input", "output", "cacheRead", "cacheWrite", "total")
	v = complete(v, "input", "output", "cacheRead", "cacheWrite", "totalTokens")
	return v.AppendEdited(nil, jsonl.Field{Name: "cost", Value: cost})
}

// complete sets members of an object that are no numbers to 0.
func complete(v jsonl.Value, names ...string) jsonl.Value {
	var fields []jsonl.Field
	for _, name := range names {
		if !v.Get(name).IsNumber() {
			fields = append(fields, jsonl.Field{Name: name, Value: jsonl.Value("0")})
		}
	}
	return v.AppendEdited(nil, fields...)
}
