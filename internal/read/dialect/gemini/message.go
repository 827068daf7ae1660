package gemini

import (
	"slices"
	"strings"

	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

var (
	messageShape = jsonl.ShapeOf[message]()
	callShape    = jsonl.ShapeOf[call]()
	partShape    = jsonl.ShapeOf[Part]()
)

// read reads a message as the program does to resume a session.
func read(r *chat.Reader, line jsonl.Value) {
	var few [4]Part
	var of message
	content := few[:0]
	for key := range r.Reset(line).Members {
		switch string(key) {
		case "content":
			content = ReadParts(&r.Cursor, content[:0])
		case "$set", "$rewindTo":
			r.Else = true
		case "toolCalls":
			for range r.Elements {
				r.Calls = append(r.Calls, readCall(r))
			}
		default:
			messageShape.Member(&r.Cursor, key, &of)
		}
	}
	r.ID, r.Stamp = of.id, of.timestamp
	m := chat.Said{Time: r.Stamp}
	switch typ := of.typ; {
	case typ.Is("info"), typ.Is("error"), typ.Is("warning"):
		m.Kind, m.Type = jsonl.CustomEntry, typ.Text()
		r.Said = append(r.Said, m)
	case typ.Is("user"):
		user(r, m, content)
	case typ.Is("gemini"):
		m.Kind, m.Provider, m.Model, m.Usage = jsonl.Assistant, google, of.model, of.used(r)
		answer(r, &m, content)
		r.Said = append(r.Said, m)
		results(r)
	}
}

var google = jsonl.Value(`"google"`)

// ignored are beginnings of a user's message that a resume leaves out: commands, and what the
// program makes again.
var ignored = []string{"/", "?", "<hook_context>"}

// environment begins what the program says of its environment, before the first prompt.
const environment = "<session_context>"

// user reads a message of the user. Answers of tools may stand in one, each with media that it returned.
func user(r *chat.Reader, m chat.Said, content []Part) {
	text, other := "", false
	var sent []jsonl.Value // parts of the prompt, or of the last answer of a tool
	take := func(to *chat.Said) {
		if r.Native && len(sent) > 0 {
			to.Native, sent = turn("user", sent), nil
		}
	}
	for k := range content {
		p := &content[k]
		last := len(r.Said) - 1
		b := p.Block()
		switch {
		case p.Answered.Exists():
			if last >= 0 {
				take(&r.Said[last])
			}
			r.Said = append(r.Said, Result(r, p.Answered.Value, m.Time))
		case last >= 0 && p.Inline.IsObject():
			r.Rules |= rule.Of(media)
			r.Said[last].Blocks = slices.Concat(r.Said[last].Blocks, r.Keep(b))
		default:
			if last >= 0 && text == "" && !other {
				take(&r.Said[last])
			}
			if r.Own(b); b.Kind == jsonl.TextBlock {
				text = beginning(text, b.Text.Value)
			} else {
				r.Rules |= rule.Of(media)
				other = true
			}
		}
		if r.Native {
			sent = append(sent, p.sent())
		}
	}
	m.Kind, m.Blocks = jsonl.User, r.Take()
	if strings.HasPrefix(text, environment) {
		m.Kind, m.Type = jsonl.Custom, strings.Trim(environment, "<>")
	}
	if len(r.Said) == 0 && leftOut(text, other) {
		m.Kind, m.Type = jsonl.CustomEntry, "not sent"
		r.Said = append(r.Said, m)
		return
	}
	if len(r.Said) == 0 || text != "" || other {
		r.Said = append(r.Said, m)
	}
	take(&r.Said[len(r.Said)-1])
}

// beginning returns the beginning of a text and more of it, without white space before that: as much as tells
// whether it is left out.
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
	return dialect.Begins(text, ignored...) || text == "" && !other
}

// answer reads the parts of an answer. Where the content has neither calls nor thoughts, calls are
// taken from beside it. Thoughts are not sent.
func answer(r *chat.Reader, m *chat.Said, content []Part) {
	calls := r.Calls
	for k := range content {
		if p := &content[k]; p.Call.Exists() || p.Thought.Truthy() {
			calls = nil
		}
	}
	var sent []jsonl.Value
	for k := range content {
		if content[k].Thought.Truthy() {
			continue
		}
		if r.Own(content[k].Block()); r.Native {
			sent = append(sent, content[k].sent())
		}
	}
	for k := range calls {
		c := &calls[k]
		if r.Own(callBlock(c.ID, c.Name, c.Args)); r.Native {
			call := jsonl.Value("{}").With("id", sentID(c.ID, c.Name)).With("name", c.Name).With("args", c.Args)
			sent = append(sent, jsonl.Value("{}").With("functionCall", call))
		}
	}
	m.Blocks = r.Take()
	if len(sent) > 0 {
		m.Native = turn("model", sent)
	}
}

var nothing = jsonl.Value(`""`).Spelled()

// readCall reads a call with its result.
func readCall(r *chat.Reader) (c chat.Call) {
	var of call
	for key := range r.Members {
		if string(key) != "result" {
			callShape.Member(&r.Cursor, key, &of)
			continue
		}
		at := r.Offset()
		c.Blocks, c.Failed = resultBlocks(r)
		c.Result.Value = r.Since(at)
	}
	c.ID, c.Name, c.Args, c.Status, c.Time = of.id, of.name, of.args.Value, of.status, of.timestamp
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
		return chat.Text(r.String()), false
	}
	at := r.Offset()
	for key := range r.Members {
		if string(key) == "functionResponse" {
			answered = chat.Text(nothing)
			for key := range r.Members {
				if string(key) == "response" {
					answered, failed = Response(r)
				}
			}
		}
	}
	if answered.Kind == jsonl.OtherBlock {
		p := readPart(new(jsonl.Cursor).Reset(r.Since(at)))
		return p.Block(), false
	}
	return answered, failed
}

// Response reads what a tool returned: a text, a failure, or any other value.
func Response(r *chat.Reader) (b jsonl.Block, failed bool) {
	var f [2]jsonl.String
	at := r.Offset()
	r.Fields(f[:], "output", "error")
	switch output, failure := f[0], f[1]; {
	case output.IsString():
		return chat.Text(output), false
	case failure.IsString():
		return chat.Text(failure), true
	}
	return chat.Result(jsonl.String{Value: r.Since(at)}), false
}

// results appends what the calls of an answer returned. The agent sends them as one message.
func results(r *chat.Reader) {
	for k := range r.Calls {
		c := &r.Calls[k]
		if !c.Result.Truthy() {
			continue
		}
		said := chat.Said{
			Kind: jsonl.ToolResult, Call: c.ID, Tool: c.Name, Time: c.Time, Blocks: c.Blocks,
			Failed: c.Failed || c.Status.Is("error") || c.Status.Is("cancelled"),
		}
		if r.Native {
			said.Native = turn("user", sentResult(c))
		}
		r.Said = append(r.Said, said)
	}
}

// sentResult returns what a call returned, as parts.
func sentResult(c *chat.Call) (parts []jsonl.Value) {
	if c.Result.IsString() {
		answered := jsonl.Value("{}").With("id", sentID(c.ID, c.Name)).With("name", c.Name)
		answered = answered.With("response", jsonl.Value("{}").With("output", c.Result.Value))
		return []jsonl.Value{jsonl.Value("{}").With("functionResponse", answered)}
	}
	for _, p := range ReadParts(new(jsonl.Cursor).Reset(c.Result.Value), nil) {
		parts = append(parts, p.sent())
	}
	return parts
}

// Result reads the answer of a tool that stands in a message of the user.
func Result(r *chat.Reader, v, time jsonl.Value) chat.Said {
	f := v.All("id", "name", "response")
	b, failed := Response(&chat.Reader{Cursor: *new(jsonl.Cursor).Reset(f[2])})
	return chat.Said{Kind: jsonl.ToolResult, Call: f[0], Tool: f[1], Time: time, Failed: failed, Blocks: r.Keep(b)}
}

// used returns the usage of an answer: tokens served from the cache are in the input, and thoughts are beside
// the output.
func (m *message) used(r *chat.Reader) *jsonl.Usage {
	n := &m.tokens
	if !n.raw.IsObject() {
		return nil
	}
	input, cached := n.input.Int(), n.cached.Int()
	return r.Used(jsonl.Usage{Input: max(0, input-cached) + n.tool.Int(), CacheRead: min(input, cached),
		Output: n.output.Int() + n.thoughts.Int(), Total: n.total.Int()})
}

// sentID returns the id of a call as it is sent: the file has the name of the tool before it.
func sentID(id, name jsonl.Value) jsonl.Value {
	if rest, ok := strings.CutPrefix(string(id.Inside()), string(name.Inside())+"__"); ok && id.IsString() {
		return jsonl.Value(`"` + rest + `"`)
	}
	return id
}
