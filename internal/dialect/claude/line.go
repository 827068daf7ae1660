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
	at [len(lineNames)]jsonl.String

	// The message of the API: whether there is one, its content, and its other members.
	found bool
	said  jsonl.Value
	msg   [len(messageNames)]jsonl.String
}

// The members of a record besides its message.
const (
	kind = iota
	subtype
	timestamp
	content
	attached
	rendered // of an attachment: the texts that were sent
	renderedAs
)

var lineNames = [...]string{"type", "subtype", "timestamp", "content", "attachment", "rendered", "renderedRole"}

// of is a member of the record.
func (l *line) of(member int) jsonl.Value { return l.at[member].Value }

// The members of a message besides its content.
const (
	role = iota
	id
	model
	stop
	usage
	diagnostics
)

var messageNames = [...]string{"role", "id", "model", "stop_reason", "usage", "diagnostics"}

// get is a member of the message.
func (l *line) get(member int) jsonl.Value { return l.msg[member].Value }

// The members of parts.
const (
	typ = iota
	text
	thinking
	signature
	callID
	name
	input
	source
	answers // of a result, as the next two: the id of its call
	returned
	failed
)

var partNames = [...]string{
	"type", "text", "thinking", "signature", "id", "name", "input", "source", "tool_use_id", "content", "is_error",
}

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
			c.Field(key, m.at[:], lineNames[:]...)
		}
		if m.found && m.of(kind).Exists() && m.of(timestamp).Exists() {
			break
		}
	}
}

func (m *maker) readMessage(c *jsonl.Cursor) {
	m.found = true
	for key := range c.Members {
		if string(key) != "content" {
			c.Field(key, m.msg[:], messageNames[:]...)
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
		var at [len(partNames)]jsonl.String
		start := c.Offset()
		c.Fields(at[:], partNames[:]...)
		to = append(to, block(&at, c.Since(start)))
	}
	return to
}

// block is the block of a part, which stands as it is where pi has none like it. One of a result also has
// the id of the call, what it returned and whether it failed.
func block(at *[len(partNames)]jsonl.String, raw jsonl.Value) jsonl.Block {
	switch of := at[typ]; {
	case of.Is("text"):
		return jsonl.Block{Kind: jsonl.TextBlock, Text: at[text]}
	case of.Is("thinking") && len(at[thinking].Value) > len(`""`):
		return jsonl.Block{Kind: jsonl.ThinkingBlock, Text: at[thinking], Data: at[signature].Value}
	case of.Is("thinking"):
		return sealed(at[signature].Value)
	case of.Is("redacted_thinking"):
		return sealed(raw.Get("data"))
	case of.Is("tool_use"):
		return jsonl.Block{Kind: jsonl.CallBlock, ID: at[callID].Value, Name: at[name].Value, Args: at[input].Value}
	case of.Is("image") && at[source].Get("type").Is("base64"):
		return jsonl.Block{Kind: jsonl.ImageBlock, Data: at[source].Get("data"), Mime: at[source].Get("media_type")}
	case of.Is("tool_result"):
		return jsonl.Block{Raw: raw, ID: at[answers].Value, Text: at[returned], Data: at[failed].Value, Name: of.Value}
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
	if !m.of(rendered).IsArray() {
		msg.Said(stringsOf(m.of(attached)))
		return
	}
	as := jsonl.FirstText(m.of(renderedAs), jsonl.Value(`"user"`))
	plain := as.Is("system") && len(m.Lines) > 1
	var sent []jsonl.Value
	for one := range m.of(rendered).Elements {
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
	if m.of(renderedAs).Exists() && msg.Kind == jsonl.Custom {
		msg.Set("details", jsonl.Value("{}").With("role", m.of(renderedAs)))
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
