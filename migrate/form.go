package migrate

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"ctxtool/sessionfmt/jsonl"
)

// A form converts the messages of a path, one after the other, to the form in which pi can send them on
// (docs/session-format.md 23, docs/import.md). It is a value: each branch of a session continues with a copy.
type form struct {
	open []call // calls of the last answer that have no result yet
	time int64  // time of the last message that has one, milliseconds since 1970
}

// A call is a call that still needs a result.
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
		f.open = nil // pi makes a result for an open call when the turn continues
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

// callOf returns the index of the call that a message answers, -1 for none.
func callOf(open []call, msg jsonl.Value) int {
	if !msg.Get("role").Is("toolResult") {
		return -1
	}
	return slices.IndexFunc(open, func(c call) bool { return bytes.Equal(c.id, msg.Get("toolCallId")) })
}

// resultsFirst returns the order in which pi can send the messages after an answer with these calls: their
// results come first.
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

// turnsInOrder returns messages with the results after each answer first.
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

// answer sets the model of an answer, and why it ended. An interrupted answer is marked complete: its agent
// keeps it in the context, but pi would not send it.
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

// stamp returns the time of a message in milliseconds: its own, else its entry's, else that of the message
// before it.
func (f *form) stamp(own, at jsonl.Value) jsonl.Value {
	if own.IsNumber() {
		return own
	}
	if ms, ok := at.Millis(); ok {
		f.time = ms
	}
	return strconv.AppendInt(nil, f.time, 10)
}

// text returns the value if it is a string, else another one.
func text(v, otherwise jsonl.Value) jsonl.Value {
	if v.IsString() && len(v) > len(`""`) {
		return v
	}
	return otherwise
}

// content returns the content of a message in blocks that its role can have. The calls of an answer become
// open.
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

// block returns a block other than a call as a message of that kind can have it. A block that pi does not know
// becomes a text; thinking that is not in the file becomes empty thinking, which is never sent.
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

// readable appends a value, replacing strings that no model reads, such as base64, by their sizes.
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

// completeUsage returns a usage with all fields that pi reads; unrecorded numbers are 0.
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

// complete sets fields of an object that are not numbers to 0.
func complete(v jsonl.Value, names ...string) jsonl.Value {
	var fields []jsonl.Field
	for _, name := range names {
		if !v.Get(name).IsNumber() {
			fields = append(fields, jsonl.Field{Name: name, Value: jsonl.Value("0")})
		}
	}
	return v.AppendEdited(nil, fields...)
}
