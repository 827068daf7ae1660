package gemini

import (
	"strings"

	"ctxtool/sessionfmt/chat"
	"ctxtool/sessionfmt/jsonl"
)

// read reads a message as the program does to resume a session.
func read(said []chat.Said, line jsonl.Value, native bool) []chat.Said {
	var f [8]jsonl.Value
	line.Fields(f[:], "type", "content", "timestamp", "thoughts", "toolCalls", "model", "tokens", "role")
	m := chat.Said{Time: f[2]}
	switch {
	case f[0].Is("info"), f[0].Is("error"), f[0].Is("warning"):
		m.Kind, m.Type = jsonl.CustomEntry, f[0].Text()
		return append(said, m)
	case f[0].Is("user"):
		return user(said, m, f[1], native)
	case f[0].Is("gemini"):
		m.Kind, m.Provider, m.Model, m.Usage = jsonl.Assistant, "google", f[5], usage(f[6])
		sent := answer(&m, f[1], f[3], f[4])
		if native && len(sent) > 0 {
			m.Native = turn("model", sent)
		}
		return results(append(said, m), f[4], native)
	}
	return said
}

// ignored are beginnings of a user's message that a resume leaves out: commands, and what the
// program makes again.
var ignored = []string{"/", "?", "<session_context>", "<hook_context>"}

// user reads a message of the user. Answers of tools may stand in one.
func user(said []chat.Said, m chat.Said, content jsonl.Value, native bool) []chat.Said {
	text, other := "", false
	var sent []jsonl.Value
	before := len(said)
	for p := range parts(content) {
		sent = append(sent, p)
		if r := p.Get("functionResponse"); r.Exists() {
			said = append(said, result(p, r, m.Time, false))
			continue
		}
		b := block(p)
		if m.Blocks = append(m.Blocks, b); b.Kind == jsonl.TextBlock {
			text += b.Text.Text()
		} else {
			other = true
		}
	}
	text = strings.TrimSpace(text)
	if m.Kind = jsonl.User; len(said) == before && leftOut(text, other) {
		m.Kind, m.Type = jsonl.CustomEntry, "not sent"
		return append(said, m)
	}
	if len(said) == before || text != "" || other {
		said = append(said, m)
	}
	if native {
		said[before].Native = turn("user", sent)
	}
	return said
}

// leftOut reports whether a resume leaves a message out.
func leftOut(text string, other bool) bool {
	for _, begin := range ignored {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return text == "" && !other
}

// answer reads the parts of an answer, and returns those that are sent. Where the content has
// neither calls nor thoughts, they are taken from beside it.
func answer(m *chat.Said, content, thoughts, calls jsonl.Value) (sent []jsonl.Value) {
	whole := false
	var own []jsonl.Value
	for p := range parts(content) {
		own = append(own, p)
		whole = whole || p.Get("functionCall").Exists() || p.Get("thought").Truthy()
	}
	if !whole {
		for t := range thoughts.Elements {
			text := t.Get("description").Text()
			if subject := t.Get("subject").Text(); subject != "" {
				text = "**" + subject + "** " + text
			}
			sent = append(sent, object("text", jsonl.AppendQuoted(nil, text), "thought", jsonl.Value("true")))
		}
	}
	sent = append(sent, own...)
	if !whole {
		for c := range calls.Elements {
			var f [3]jsonl.Value
			c.Fields(f[:], "id", "name", "args")
			sent = append(sent, object("functionCall", object("id", f[0], "name", f[1], "args", f[2])))
		}
	}
	for _, p := range sent {
		m.Blocks = append(m.Blocks, block(p))
	}
	return sent
}

// results appends what the calls of an answer returned. The agent sends them as one message.
func results(said []chat.Said, calls jsonl.Value, native bool) []chat.Said {
	first := len(said)
	var sent []jsonl.Value
	for c := range calls.Elements {
		var f [5]jsonl.Value
		c.Fields(f[:], "id", "name", "result", "status", "timestamp")
		if !f[2].Truthy() {
			continue
		}
		list := f[2]
		if list.IsString() {
			list = object("functionResponse", object("id", f[0], "name", f[1], "response", object("output", f[2])))
		}
		r := chat.Said{Kind: jsonl.ToolResult, Call: f[0], Tool: f[1], Time: f[4], Failed: f[3].Is("error") || f[3].Is("cancelled")}
		for p := range parts(list) {
			sent = append(sent, p)
			if v := p.Get("functionResponse"); v.Exists() {
				one := result(p, v, f[4], r.Failed)
				r.Blocks, r.Failed = append(r.Blocks, one.Blocks...), one.Failed
			} else {
				r.Blocks = append(r.Blocks, block(p))
			}
		}
		said = append(said, r)
	}
	if native && len(sent) > 0 {
		said[first].Native = turn("user", sent)
	}
	return said
}

// result reads the answer of a tool, a part.
func result(part, v, time jsonl.Value, failed bool) chat.Said {
	var f [3]jsonl.Value
	v.Fields(f[:], "id", "name", "response")
	out := f[2]
	if text := f[2].Get("output"); text.IsString() {
		out = text
	} else if text := f[2].Get("error"); text.IsString() {
		out, failed = text, true
	}
	return chat.Said{Kind: jsonl.ToolResult, Call: f[0], Tool: f[1], Time: time, Failed: failed, Blocks: chat.Result(out)}
}

// parts yields the parts of a content: a text, a part, or a list of both.
func parts(content jsonl.Value) func(yield func(jsonl.Value) bool) {
	return func(yield func(jsonl.Value) bool) {
		part := func(v jsonl.Value) bool {
			if v.IsString() {
				v = object("text", v)
			}
			return yield(v)
		}
		if !content.IsArray() {
			if content.Truthy() {
				part(content)
			}
			return
		}
		content.Elements(part)
	}
}

// block is a part in pi's shape.
func block(p jsonl.Value) jsonl.Block {
	var f [4]jsonl.Value
	p.Fields(f[:], "text", "thought", "functionCall", "inlineData")
	switch {
	case f[2].IsObject():
		var c [3]jsonl.Value
		f[2].Fields(c[:], "id", "name", "args")
		if !c[2].IsObject() {
			c[2] = jsonl.Value("{}")
		}
		return jsonl.Block{Kind: jsonl.CallBlock, ID: c[0], Name: c[1], Args: c[2]}
	case f[0].IsString() && f[1].Truthy():
		return chat.Thinking(f[0])
	case f[0].IsString():
		return chat.Text(f[0])
	case strings.HasPrefix(f[3].Get("mimeType").Text(), "image/"):
		return jsonl.Block{Kind: jsonl.ImageBlock, Data: f[3].Get("data"), Mime: f[3].Get("mimeType")}
	}
	return chat.Text(jsonl.AppendQuoted(nil, string(p)))
}

// turn is a message as it is sent.
func turn(role string, parts []jsonl.Value) []byte {
	list := []byte{'['}
	for k, p := range parts {
		if k > 0 {
			list = append(list, ',')
		}
		list = append(list, p...)
	}
	return object("role", jsonl.AppendQuoted(nil, role), "parts", append(list, ']'))
}

// object is an object of names and values, without those that are absent.
func object(pairs ...any) jsonl.Value {
	var fields []jsonl.Field
	for k := 0; k < len(pairs); k += 2 {
		var v jsonl.Value
		switch of := pairs[k+1].(type) {
		case jsonl.Value:
			v = of
		case []byte:
			v = of
		}
		if v.Exists() {
			fields = append(fields, jsonl.Field{Name: pairs[k].(string), Value: v})
		}
	}
	return jsonl.Value("{}").AppendEdited(nil, fields...)
}

// usage reads the tokens of an answer: those served from the cache are in the input, and
// thoughts are beside the output.
func usage(v jsonl.Value) *jsonl.Usage {
	if !v.IsObject() {
		return nil
	}
	var f [6]jsonl.Value
	v.Fields(f[:], "input", "output", "cached", "thoughts", "tool", "total")
	in, cached := f[0].Int(), f[2].Int()
	return &jsonl.Usage{Input: max(0, in-cached) + f[4].Int(), CacheRead: min(in, cached), Output: f[1].Int() + f[3].Int(), Total: f[5].Int()}
}
