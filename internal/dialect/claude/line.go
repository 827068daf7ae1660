package claude

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A line is a record as it is shown.
type line struct {
	record

	// The message of the API: whether there is one, its content, and its other members.
	found bool
	said  jsonl.Value
	msg   message
}

// A record is what is read of one besides its message.
type record struct {
	subtype, timestamp, content, attachment, renderedRole jsonl.Value

	typ      jsonl.Value `member:"type"`
	rendered jsonl.Value // of an attachment: the texts that were sent
}

// A message is what is read of one besides its content.
type message struct {
	role, id, model, usage, diagnostics jsonl.Value

	stop jsonl.Value `member:"stop_reason"`
}

// A part is one of a content.
type part struct {
	signature, id, name, input, source jsonl.Value

	typ            jsonl.Value `member:"type"`
	text, thinking jsonl.String

	answers jsonl.Value `member:"tool_use_id"` // of a result, as the next two: the id of its call
	content jsonl.String
	failed  jsonl.Value `member:"is_error"`
}

var (
	recordShape  = jsonl.ShapeOf[record]()
	messageShape = jsonl.ShapeOf[message]()
	partShape    = jsonl.ShapeOf[part]()
)

// readLine reads a record, as far as it has to: after it, the record has the result of a tool
// again.
func (m *maker) readLine(v jsonl.Value) {
	m.line, m.parts = line{}, m.parts[:0]
	var c jsonl.Cursor
	c.Once(v)
	for key := range c.Members {
		if string(key) == "message" {
			m.readMessage(&c)
		} else {
			recordShape.Member(&c, key, &m.record)
		}
		if m.found && m.typ.Exists() && m.timestamp.Exists() {
			break
		}
	}
}

func (m *maker) readMessage(c *jsonl.Cursor) {
	m.found = true
	for key := range c.Members {
		if string(key) != "content" {
			messageShape.Member(c, key, &m.msg)
			continue
		}
		start := c.Offset()
		m.parts = appendContent(m.parts, c)
		m.said = c.Since(start)
	}
}

// appendContent appends the blocks of a content, a text or parts.
func appendContent(to []jsonl.Block, c *jsonl.Cursor) []jsonl.Block {
	if c.Peek() == '"' {
		return append(to, jsonl.Block{Kind: jsonl.TextBlock, Text: c.String()})
	}
	for range c.Elements {
		var p part
		start := c.Offset()
		partShape.Read(c, &p)
		to = append(to, p.block(c.Since(start)))
	}
	return to
}

// block is the block of a part, which stands as it is where pi has none like it. One of a result also has
// the id of the call, what it returned and whether it failed.
func (p *part) block(raw jsonl.Value) jsonl.Block {
	switch of := p.typ; {
	case of.Is("text"):
		return jsonl.Block{Kind: jsonl.TextBlock, Text: p.text}
	case of.Is("thinking") && len(p.thinking.Value) > len(`""`):
		return jsonl.Block{Kind: jsonl.ThinkingBlock, Text: p.thinking, Data: p.signature}
	case of.Is("thinking"):
		return sealed(p.signature)
	case of.Is("redacted_thinking"):
		return sealed(raw.Get("data"))
	case of.Is("tool_use"):
		return jsonl.Block{Kind: jsonl.CallBlock, ID: p.id, Name: p.name, Args: p.input}
	case of.Is("image") && p.source.Get("type").Is("base64"):
		return jsonl.Block{Kind: jsonl.ImageBlock, Data: p.source.Get("data"), Mime: p.source.Get("media_type")}
	case of.Is("tool_result"):
		return jsonl.Block{Raw: raw, ID: p.answers, Text: p.content, Data: p.failed, Name: of}
	}
	return jsonl.Block{Raw: raw}
}

// sealed is the block of thinking whose text is not in the file. By what the provider counted for
// answers of four models, a byte of its signature stands for 0.64 characters (docs/session-format.md
// 16.7).
func sealed(signature jsonl.Value) jsonl.Block {
	raw := []byte(`{"type":"opaque","item":"thinking"`)
	if n := len(signature.Inside()); n > 0 {
		raw = strconv.AppendInt(append(raw, `,"characters":`...), int64(n)*64/100, 10)
	}
	return jsonl.Block{Raw: append(raw, '}')}
}

// outcomes are the blocks of the record that tell what tools returned.
func (m *maker) outcomes() []*jsonl.Block {
	m.results = m.results[:0]
	for k := range m.parts {
		if b := &m.parts[k]; b.Kind == jsonl.OtherBlock && b.Name.Exists() {
			m.results = append(m.results, b)
		}
	}
	return m.results
}

// calls yields the calls of lines: their ids, and the names of their tools.
func calls(lines []jsonl.Value) iter.Seq2[jsonl.Value, jsonl.Value] {
	return func(yield func(id, name jsonl.Value) bool) {
		for _, raw := range lines {
			var c jsonl.Cursor
			if !c.Once(raw).Enter("message", "content") {
				continue
			}
			for range c.Elements {
				var f [2]jsonl.String
				c.Fields(f[:], "id", "name")
				if f[0].Exists() && f[1].Exists() && !yield(f[0].Value, f[1].Value) {
					return
				}
			}
		}
	}
}

// calledBy is the tool of a call of lines, absent where they have no such. The first one of an id counts.
func calledBy(call jsonl.Value, lines []jsonl.Value) jsonl.Value {
	for id, name := range calls(lines) {
		if string(id) == string(call) {
			return name
		}
	}
	return nil
}

// called are the tools of all calls of lines, by their ids; see calledBy.
func called(lines []jsonl.Value) map[string]jsonl.Value {
	names := map[string]jsonl.Value{}
	for id, name := range calls(lines) {
		if names[string(id)] == nil {
			names[string(id)] = name
		}
	}
	return names
}

// neverSent are the attachments that no version sends (docs/session-format.md 16.8).
var neverSent = []string{
	"command_permissions", "credential_org", "deferred_tools_record", "goal_status", "hook_non_blocking_error",
	"prompt_render_point",
	"thinking_drop",
}

// attachmentCode is what an attachment record is. Since 2.1.268 what is sent has its text in rendered.
func attachmentCode(p *jsonl.Picked) dialect.Code {
	of := p.Record[atAttachment]
	kind := of.Get("type").Inside()
	switch {
	case string(kind) == "prompt_snapshot":
		return snapshot
	case p.Record[atRendered].Exists():
		if string(kind) == "queued_command" && of.Get("origin").Get("kind").Is("human") {
			return user // typed while the turn before was running
		}
		return attachment
	case slices.Contains(neverSent, string(kind)),
		string(kind) == "hook_success" && !of.Get("hookEvent").Is("SessionStart"):
		return unsent
	case !dialect.Older(p.Record[atVersion].Text(), "2.1.268"):
		return unsent
	}
	return attachment
}

// beside adds an attachment to an answer or to a result of it: it takes its place among the results, so
// that those that follow it do not stand on another branch.
func (a *arranger) beside(t dialect.Tree, kind jsonl.Kind, l *dialect.Line, above link, side int) {
	up := above.entry
	var by []dialect.Span // what makes it a message of the system, see attached
	if a.sent[side].turns && kind == jsonl.Custom {
		by = append(by, a.sent[side].at)
	}
	e := a.add(t, kind, l, a.end(up), side, by...)
	if by == nil && kind == jsonl.Custom {
		a.sent[side].early = append(a.sent[side].early, e)
	}
	if up < 0 || a.entries.At(up).of < 0 {
		return
	}
	of := a.entries.At(up).of
	a.entries.At(e).of, a.entries.At(of).end = of, e
	a.entries.At(e).upto = a.entries.At(up).upto
	if up == of {
		a.entries.At(e).upto = above.at.Off
	}
}

// attached makes the text of an attachment: as it was sent, where the record has that, else its
// strings, one a line, whose wording is not in the file.
func (m *maker) attached(msg *dialect.Message) {
	if !m.rendered.IsArray() {
		msg.Said(stringsOf(m.attachment))
		return
	}
	as := jsonl.FirstText(m.renderedRole, jsonl.Value(`"user"`))
	plain := as.Is("system") && len(m.Lines) > 1
	var sent []jsonl.Value
	for one := range m.rendered.Elements {
		content := one.Get("content")
		addContent(msg, content)
		if plain && content.IsString() {
			content = jsonl.AppendQuoted(nil, unwrapped(content.Text()))
		}
		sent = append(sent, jsonl.Value("{}").With("role", as).With("content", content))
	}
	if m.Native {
		msg.Native = dialect.List(sent...)
	}
	if m.renderedRole.Exists() && msg.Kind == jsonl.Custom {
		msg.Set("details", jsonl.Value("{}").With("role", m.renderedRole))
	}
}

// unwrapped is a reminder without the marks that set it apart in a message of the user.
func unwrapped(text string) string {
	inner, opened := strings.CutPrefix(text, "<system-reminder>")
	inner, closed := strings.CutSuffix(inner, "</system-reminder>")
	if !opened || !closed {
		return text
	}
	return strings.Trim(inner, "\n")
}
