package gemini

import (
	"strings"

	"ctxtool/sessionfmt/chat"
	"ctxtool/sessionfmt/jsonl"
)

// A part is a part of a message, and that in pi's shape.
type part struct {
	raw   jsonl.Value
	block jsonl.Block
}

// read reads a message as the program does to resume a session.
func read(r *chat.Reader, line jsonl.Value) {
	var typ, content, thoughts, model, tokens jsonl.Value
	m := chat.Said{}
	for key := range r.Reset(line).Members {
		switch string(key) {
		case "type":
			typ = r.Value()
		case "content":
			content = r.Value()
		case "id":
			r.ID = r.Value()
		case "$set", "$rewindTo":
			r.Else = true
		case "timestamp":
			m.Time = r.Value()
			r.Stamp = m.Time
		case "thoughts":
			thoughts = r.Value()
		case "model":
			model = r.Value()
		case "tokens":
			tokens = r.Value()
		case "toolCalls":
			for range r.Elements {
				r.Calls = append(r.Calls, readCall(r))
			}
		}
	}
	switch {
	case typ.Is("info"), typ.Is("error"), typ.Is("warning"):
		m.Kind, m.Type = jsonl.CustomEntry, typ.Text()
		r.Said = append(r.Said, m)
	case typ.Is("user"):
		user(r, m, content)
	case typ.Is("gemini"):
		m.Kind, m.Provider, m.Model, m.Usage = jsonl.Assistant, "google", model, usage(r, tokens)
		answer(r, &m, content, thoughts)
		r.Said = append(r.Said, m)
		results(r)
	}
}

// ignored are beginnings of a user's message that a resume leaves out: commands, and what the
// program makes again.
var ignored = []string{"/", "?", "<session_context>", "<hook_context>"}

// user reads a message of the user. Answers of tools may stand in one.
func user(r *chat.Reader, m chat.Said, content jsonl.Value) {
	text, other := "", false
	var sent []jsonl.Value
	for p := range parts(content) {
		if r.Native {
			sent = append(sent, sentPart(p))
		}
		if p.IsObject() {
			if v := p.Get("functionResponse"); v.Exists() {
				r.Said = append(r.Said, result(r, v, m.Time))
				continue
			}
		}
		b := block(p)
		if r.Own(b); b.Kind == jsonl.TextBlock {
			text = beginning(text, b.Text.Value)
		} else {
			other = true
		}
	}
	m.Kind, m.Blocks = jsonl.User, r.Take()
	if len(r.Said) == 0 && leftOut(text, other) {
		m.Kind, m.Type = jsonl.CustomEntry, "not sent"
		r.Said = append(r.Said, m)
		return
	}
	if len(r.Said) == 0 || text != "" || other {
		r.Said = append(r.Said, m)
	}
	if r.Native {
		r.Said[0].Native = turn("user", sent)
	}
}

// beginning is the beginning of a text and more of it, without white space before that: as much
// as tells whether it is left out.
func beginning(text string, more jsonl.Value) string {
	const enough = 64
	if len(text) >= enough {
		return text
	}
	if all := strings.TrimSpace(text + more.Beginning(2*enough)); all != "" {
		return all
	}
	return strings.TrimSpace(text + more.Text())
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

// answer reads the parts of an answer. Where the content has neither calls nor thoughts, they
// are taken from beside it.
func answer(r *chat.Reader, m *chat.Said, content, thoughts jsonl.Value) {
	calls := r.Calls
	var few [4]part
	own, whole := few[:0], false
	for p := range parts(content) {
		own = append(own, part{p, block(p)})
		whole = whole || p.IsObject() && (p.Get("functionCall").Exists() || p.Get("thought").Truthy())
	}
	if whole {
		thoughts, calls = nil, nil
	}
	var sent []jsonl.Value
	for t := range thoughts.Elements {
		text := thought(r, t)
		if r.Own(chat.Thinking(text)); r.Native {
			sent = append(sent, object("text", text, "thought", jsonl.Value("true")))
		}
	}
	for k := range own {
		if r.Own(own[k].block); r.Native {
			sent = append(sent, sentPart(own[k].raw))
		}
	}
	for k := range calls {
		c := &calls[k]
		if r.Own(callBlock(c.ID, c.Name, c.Args)); r.Native {
			sent = append(sent, object("functionCall", object("id", c.ID, "name", c.Name, "args", c.Args)))
		}
	}
	if m.Blocks = r.Take(); len(sent) > 0 {
		m.Native = turn("model", sent)
	}
}

// thought is a thought as a text.
func thought(r *chat.Reader, v jsonl.Value) jsonl.Value {
	var f [2]jsonl.Value
	v.Fields(f[:], "subject", "description")
	switch {
	case chat.HasText(f[0]) && f[1].IsString():
		return r.Join([]byte(`"**`), f[0][1:len(f[0])-1], []byte(`** `), f[1][1:])
	case chat.HasText(f[0]):
		return r.Join([]byte(`"**`), f[0][1:len(f[0])-1], []byte(`** "`))
	case f[1].IsString():
		return f[1]
	}
	return jsonl.Value(`""`)
}

// readCall reads a call with its result.
func readCall(r *chat.Reader) (c chat.Call) {
	for key := range r.Members {
		switch string(key) {
		case "id":
			c.ID = r.Value()
		case "name":
			c.Name = r.Value()
		case "args":
			c.Args = r.Value()
		case "status":
			c.Status = r.Value()
		case "timestamp":
			c.Time = r.Value()
		case "result":
			at := r.Offset()
			c.Blocks, c.Failed = resultBlocks(r)
			c.Result = r.Since(at)
		}
	}
	return c
}

// resultBlocks reads a result: a text, a part, or a list of parts.
func resultBlocks(r *chat.Reader) (blocks []jsonl.Block, failed bool) {
	if c := r.Peek(); c == '"' || c == '{' {
		b, failed := resultBlock(r)
		return r.Keep(b), failed
	}
	for range r.Elements {
		b, bad := resultBlock(r)
		failed = failed || bad
		if next := r.Keep(b); blocks == nil {
			blocks = next
		} else {
			blocks = append(blocks, next...)
		}
	}
	return blocks, failed
}

// resultBlock reads a part of a result.
func resultBlock(r *chat.Reader) (answered jsonl.Block, failed bool) {
	if r.Peek() == '"' {
		return chat.Text(r.Value()), false
	}
	at := r.Offset()
	for key := range r.Members {
		if string(key) == "functionResponse" {
			answered = chat.Text(jsonl.Value(`""`))
			for key := range r.Members {
				if string(key) == "response" {
					answered, failed = response(r)
				}
			}
		}
	}
	if answered.Kind == jsonl.OtherBlock {
		return block(r.Since(at)), false
	}
	return answered, failed
}

// response reads what a tool answered: a text, a failure, or any other value.
func response(r *chat.Reader) (b jsonl.Block, failed bool) {
	var output, failure jsonl.Value
	at := r.Offset()
	for key := range r.Members {
		switch string(key) {
		case "output":
			output = r.Value()
		case "error":
			failure = r.Value()
		}
	}
	switch {
	case output.IsString():
		return chat.Text(output), false
	case failure.IsString():
		return chat.Text(failure), true
	}
	return chat.Result(r.Since(at)), false
}

// results appends what the calls of an answer returned. The agent sends them as one message.
func results(r *chat.Reader) {
	first := len(r.Said)
	var sent []jsonl.Value
	for k := range r.Calls {
		c := &r.Calls[k]
		if !c.Result.Truthy() {
			continue
		}
		r.Said = append(r.Said, chat.Said{
			Kind: jsonl.ToolResult, Call: c.ID, Tool: c.Name, Time: c.Time, Blocks: c.Blocks,
			Failed: c.Failed || c.Status.Is("error") || c.Status.Is("cancelled"),
		})
		if !r.Native {
			continue
		}
		if c.Result.IsString() {
			sent = append(sent, object("functionResponse", object("id", c.ID, "name", c.Name, "response", object("output", c.Result))))
			continue
		}
		for p := range parts(c.Result) {
			sent = append(sent, sentPart(p))
		}
	}
	if len(sent) > 0 {
		r.Said[first].Native = turn("user", sent)
	}
}

// result reads the answer of a tool that stands in a message of the user.
func result(r *chat.Reader, v, time jsonl.Value) chat.Said {
	var f [3]jsonl.Value
	v.Fields(f[:], "id", "name", "response")
	b, failed := response(&chat.Reader{Cursor: *new(jsonl.Cursor).Reset(f[2])})
	return chat.Said{Kind: jsonl.ToolResult, Call: f[0], Tool: f[1], Time: time, Failed: failed, Blocks: r.Keep(b)}
}

// parts yields the parts of a content: a text, a part, or a list of both.
func parts(content jsonl.Value) func(yield func(jsonl.Value) bool) {
	return func(yield func(jsonl.Value) bool) {
		if content.IsArray() {
			content.Elements(yield)
		} else if content.Truthy() {
			yield(content)
		}
	}
}

// sentPart is a part as it is sent: an object.
func sentPart(p jsonl.Value) jsonl.Value {
	if p.IsString() {
		return object("text", p)
	}
	return p
}

// block is a part in pi's shape.
func block(p jsonl.Value) jsonl.Block {
	if p.IsString() {
		return chat.Text(p)
	}
	var f [4]jsonl.Value
	p.Fields(f[:], "text", "thought", "functionCall", "inlineData")
	switch {
	case f[2].IsObject():
		var c [3]jsonl.Value
		f[2].Fields(c[:], "id", "name", "args")
		return callBlock(c[0], c[1], c[2])
	case f[0].IsString() && f[1].Truthy():
		return chat.Thinking(f[0])
	case f[0].IsString():
		return chat.Text(f[0])
	case strings.HasPrefix(f[3].Get("mimeType").Text(), "image/"):
		return jsonl.Block{Kind: jsonl.ImageBlock, Data: f[3].Get("data"), Mime: f[3].Get("mimeType")}
	}
	return chat.Text(jsonl.AppendQuoted(nil, string(p.AppendOneLine(nil))))
}

func callBlock(id, name, args jsonl.Value) jsonl.Block {
	if !args.IsObject() {
		args = jsonl.Value("{}")
	}
	return jsonl.Block{Kind: jsonl.CallBlock, ID: id, Name: name, Args: args}
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
func usage(r *chat.Reader, v jsonl.Value) *jsonl.Usage {
	if !v.IsObject() {
		return nil
	}
	var f [6]jsonl.Value
	v.Fields(f[:], "input", "output", "cached", "thoughts", "tool", "total")
	in, cached := f[0].Int(), f[2].Int()
	return r.Used(jsonl.Usage{Input: max(0, in-cached) + f[4].Int(), CacheRead: min(in, cached), Output: f[1].Int() + f[3].Int(), Total: f[5].Int()})
}
