package claude

import (
	"slices"
	"strconv"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A line is a record as it is shown.
type line struct {
	typ, subtype, timestamp, content, attachment jsonl.Value

	msg [len(messageNames)]jsonl.String
}

// The members of a message of the API.
const (
	role = iota
	said
	id
	model
	stop
	usage
	diagnostics
)

var messageNames = [...]string{"role", "content", "id", "model", "stop_reason", "usage", "diagnostics"}

// get is a member of the message.
func (l *line) get(member int) jsonl.Value { return l.msg[member].Value }

// readLine reads a record, as far as it has to: after it, the record has the result of a tool
// again.
func readLine(v jsonl.Value) (l line) {
	found := false
	var c jsonl.Cursor
	c.Once(v)
	for key := range c.Members {
		switch string(key) {
		case "type":
			l.typ = c.Value()
		case "subtype":
			l.subtype = c.Value()
		case "timestamp":
			l.timestamp = c.Value()
		case "content":
			l.content = c.Value()
		case "attachment":
			l.attachment = c.Value()
		case "message":
			c.Fields(l.msg[:], messageNames[:]...)
			found = true
		default:
			continue
		}
		if found && l.typ.Exists() && l.timestamp.Exists() {
			break
		}
	}
	return l
}

// A maker makes an entry.
type maker struct {
	*dialect.Source
	e *dialect.Entry
}

// makeEntry is [dialect.Dialect]'s Make.
func makeEntry(s *dialect.Source) {
	m, l := maker{s, s.Add()}, readLine(s.Lines[0])
	m.e.Time = l.timestamp
	switch s.Kind {
	case jsonl.Header:
		var f [2]jsonl.Value
		s.Lines[0].Fields(f[:], "cwd", "forkedFrom")
		m.e.Set("cwd", f[0])
		m.e.Set("parentSession", f[1].Get("sessionId"))
	case jsonl.CustomEntry:
		m.e.Set("customType", l.subtype)
		m.e.Set("data", s.Lines[0])
	case jsonl.Transform:
		m.compaction()
	case jsonl.ContextEdit:
		m.edit(&l)
	case jsonl.SessionInfo:
		name := s.Lines[0].Get("customTitle")
		if !name.Exists() {
			name = s.Lines[0].Get("aiTitle")
		}
		m.e.Set("name", name)
	case jsonl.Unknown:
		if l.typ.IsString() {
			m.e.Type = l.typ
		}
	case jsonl.Assistant:
		m.answer(&l, s.Lines)
	case jsonl.User:
		m.prompt(&l)
	case jsonl.ToolResult:
		m.results(&l)
	default:
		m.note(&l)
	}
}

// compaction makes the patch of a compaction: the summary, and what was kept.
func (m *maker) compaction() {
	m.e.Transformer, m.e.Reason = "compaction", "compaction"
	names := callsOf(m.Lines[1:])
	for k := 1; k < len(m.Lines); {
		l := readLine(m.Lines[k])
		n := k + 1
		switch {
		case l.typ.Is("assistant"):
			for n < len(m.Lines) && sameAnswer(&l, m.Lines[n]) {
				n++
			}
			m.answer(&l, m.Lines[k:n])
		case l.typ.Is("user"):
			if all := outcomesOf(l.get(said)); len(all) > 0 {
				m.result(&l, all[0], names, false)
			} else {
				m.prompt(&l)
			}
		default:
			m.note(&l)
		}
		k = n
	}
}

func sameAnswer(l *line, next jsonl.Value) bool {
	if !next.First("type").Is("assistant") {
		return false
	}
	of := next.First("message", "id")
	return of.IsString() && string(of) == string(l.get(id))
}

// edit makes an edit: of the entry of the second line, if there is one.
func (m *maker) edit(l *line) {
	first := m.Lines[0]
	var call, text jsonl.Value
	cleared := false
	switch {
	case l.subtype.Is("microcompact_boundary"):
		call = nth(first.Get("microcompactMetadata").Get("compactedToolIds"), m.Part)
		cleared = call.Exists()
	case l.typ.Is("content-replacement"):
		one := nth(first.Get("replacements"), m.Part)
		call, text = one.Get("toolUseId"), one.Get("replacement")
	}
	target := ""
	if len(m.Lines) > 1 {
		target = m.Lines[1].First("uuid").Text()
		all := outcomesOf(m.Lines[1].First("message", "content"))
		of := func(o outcome) bool { return string(o.call) == string(call) }
		if k := slices.IndexFunc(all, of); call.Exists() && k > 0 {
			target += "." + strconv.Itoa(k)
		}
	}
	m.e.SetText("targetId", target)
	left := len(m.Lines) > 1 && l.typ.Is("assistant") && m.Lines[1].First("type").Is("assistant") // only these lines of it
	if !left && !cleared && !text.Exists() {
		m.e.Set("replacement", jsonl.Value("null"))
		return
	}
	by := m.e.Message(jsonl.OtherMessage)
	by.Body()
	switch {
	case left:
		for _, raw := range m.Lines[1:] {
			addBlocks(by, raw.First("message", "content").Spelled(), false)
		}
		m.nativeAnswer(by, m.Lines[1:])
		return
	case cleared: // what it says instead is not in the file
		by.Add(jsonl.Block{Raw: jsonl.Value(`{"type":"opaque","item":"cleared tool result"}`)})
	default:
		addBlocks(by, text.Spelled(), true)
	}
	if m.Native {
		result := jsonl.Value(`{"type":"tool_result"}`).With("tool_use_id", call).With("content", text)
		by.Native = m.Make([]byte(`[{"role":"user","content":[`), result, []byte("]}]"))
	}
}

// nth is an element of an array, absent where it has no such.
func nth(list jsonl.Value, n int) jsonl.Value {
	for v := range list.Elements {
		if n == 0 {
			return v
		}
		n--
	}
	return nil
}

// prompt makes a message as it was sent.
func (m *maker) prompt(l *line) {
	msg := m.e.Message(jsonl.User)
	msg.Body()
	addBlocks(msg, l.msg[said], true)
	m.sent(msg, l)
}

// sent adds the message of a line as it was sent.
func (m *maker) sent(msg *dialect.Message, l *line) {
	if m.Native {
		one := jsonl.Value("{}").With("role", l.get(role)).With("content", l.get(said))
		msg.Native = m.Make([]byte("["), one, []byte("]"))
	}
}

// addBlocks adds the blocks of a content, which may be a text if that is allowed.
func addBlocks(msg *dialect.Message, content jsonl.String, text bool) {
	if content.IsString() && text {
		msg.Said(content)
	}
	var c jsonl.Cursor
	c.Reset(content.Value)
	for range c.Elements {
		msg.Add(block(&c))
	}
}

// block reads a block, which stands as it is where pi has none like it.
func block(c *jsonl.Cursor) jsonl.Block {
	var f [8]jsonl.String
	start := c.Offset()
	c.Fields(f[:], "type", "text", "thinking", "signature", "id", "name", "input", "source")
	switch typ := f[0]; {
	case typ.Is("text"):
		return jsonl.Block{Kind: jsonl.TextBlock, Text: f[1]}
	case typ.Is("thinking") && len(f[2].Value) > len(`""`):
		return jsonl.Block{Kind: jsonl.ThinkingBlock, Text: f[2], Data: f[3].Value}
	case typ.Is("thinking"), typ.Is("redacted_thinking"):
		return jsonl.Block{Raw: jsonl.Value(`{"type":"opaque","item":"thinking"}`)}
	case typ.Is("tool_use"):
		return jsonl.Block{Kind: jsonl.CallBlock, ID: f[4].Value, Name: f[5].Value, Args: f[6].Value}
	case typ.Is("image") && f[7].Get("type").Is("base64"):
		return jsonl.Block{Kind: jsonl.ImageBlock, Data: f[7].Get("data"), Mime: f[7].Get("media_type")}
	}
	return jsonl.Block{Raw: c.Since(start)}
}

// answer makes an answer: the blocks of its lines, in order, and the usage of the last. The
// first of them has been read.
func (m *maker) answer(first *line, lines []jsonl.Value) {
	msg, last := m.e.Message(jsonl.Assistant), *first
	msg.Body()
	addBlocks(msg, last.msg[said], false)
	for _, raw := range lines[1:] {
		if l := readLine(raw); l.typ.Is("assistant") {
			last = l
			addBlocks(msg, last.msg[said], false)
		}
	}
	msg.SetText("api", "anthropic-messages")
	msg.SetText("provider", "anthropic")
	msg.Set("model", last.get(model))
	msg.Set("responseId", last.get(id))
	msg.SetText("stopReason", last.stopReason(msg))
	if used := last.get(usage); used.IsObject() && !last.get(model).Is("<synthetic>") {
		msg.Set("usage", m.Usage(readUsage(used), nil))
	}
	if last.get(diagnostics).IsObject() {
		msg.Set("diagnostics", last.get(diagnostics))
	}
	m.nativeAnswer(msg, lines)
}

// nativeAnswer adds lines of an answer as they were sent.
func (m *maker) nativeAnswer(msg *dialect.Message, lines []jsonl.Value) {
	if !m.Native {
		return
	}
	out, sep := []byte(`[{"role":"assistant","content":[`), ""
	for _, raw := range lines {
		for b := range raw.First("message", "content").Elements {
			out = append(append(out, sep...), b...)
			sep = ","
		}
	}
	msg.Native = append(out, "]}]"...)
}

// stopReason is why an answer ended, as pi says it.
func (l *line) stopReason(msg *dialect.Message) string {
	why := l.get(stop)
	switch {
	case l.get(model).Is("<synthetic>"):
		return "aborted"
	case why.Is("max_tokens"), why.Is("model_context_window_exceeded"):
		return "length"
	case why.Is("tool_use"):
		return "toolUse"
	case why.IsString():
		return "stop"
	}
	for range msg.Calls {
		return "toolUse"
	}
	return "stop"
}

// readUsage reads a usage.
func readUsage(used jsonl.Value) (u jsonl.Usage) {
	var f [5]jsonl.Value
	used.Fields(f[:], "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation")
	u.Input, u.Output, u.CacheRead, u.CacheWrite = f[0].Int(), f[1].Int(), f[2].Int(), f[3].Int()
	u.CacheWrite1h = f[4].Get("ephemeral_1h_input_tokens").Int()
	u.Total = u.Context()
	return u
}

// An outcome is what a tool returned.
type outcome struct {
	raw, call, failed jsonl.Value
	said              jsonl.String
}

// outcomesOf are the results of a content.
func outcomesOf(content jsonl.Value) (all []outcome) {
	var c jsonl.Cursor
	c.Reset(content)
	for range c.Elements {
		var f [4]jsonl.String
		start := c.Offset()
		if c.Fields(f[:], "type", "tool_use_id", "content", "is_error"); f[0].Is("tool_result") {
			all = append(all, outcome{c.Since(start), f[1].Value, f[3].Value, f[2]})
		}
	}
	return all
}

// results makes the entries of all results of a record.
func (m *maker) results(l *line) {
	all, names := outcomesOf(l.get(said)), callsOf(m.Lines[1:])
	several := len(all) > 1
	for k := range max(len(all), m.Part+1) {
		if k > 0 {
			m.e = m.Add()
			m.e.Time = l.timestamp
		}
		var o outcome
		if k < len(all) {
			o = all[k]
		}
		m.result(l, o, names, several)
	}
}

// result makes a result of a record, with the name of its tool. Each of several was sent as a
// message.
func (m *maker) result(l *line, o outcome, names map[string]jsonl.Value, several bool) {
	msg := m.e.Message(jsonl.ToolResult)
	msg.Set("toolCallId", o.call)
	msg.Set("toolName", names[string(o.call)])
	msg.Body()
	addBlocks(msg, o.said, true)
	msg.SetTruth("isError", o.failed.Truthy())
	if several && m.Native {
		one := jsonl.Value("{}").With("role", l.get(role)).With("content", m.Make([]byte("["), o.raw, []byte("]")))
		msg.Native = m.Make([]byte("["), one, []byte("]"))
	} else {
		m.sent(msg, l)
	}
}

// callsOf are the names of the tools that lines call, by the id of the call. The first one of an
// id counts.
func callsOf(lines []jsonl.Value) map[string]jsonl.Value {
	names := map[string]jsonl.Value{}
	for _, raw := range lines {
		var c jsonl.Cursor
		if !c.Once(raw).Enter("message", "content") {
			continue
		}
		for range c.Elements {
			var f [2]jsonl.String
			c.Fields(f[:], "id", "name")
			if of, name := f[0].Value, f[1].Value; names[string(of)] == nil && name.Exists() && len(of) > 0 {
				names[string(of)] = name
			}
		}
	}
	return names
}

// note makes what the program told the model: a text that it wrote for the user, the text
// of a local command, or the strings of an attachment, whose wording is not in the file.
func (m *maker) note(l *line) {
	about, content := jsonl.Value(`"meta"`), l.msg[said]
	switch {
	case l.typ.Is("attachment"):
		about, content = orName(l.attachment.Get("type"), `"attachment"`), stringsOf(l.attachment)
	case l.typ.Is("system"):
		about, content = orName(l.subtype, `"system"`), l.content.Spelled()
	}
	msg := m.e.Message(jsonl.Custom)
	msg.Set("customType", about)
	msg.Body()
	addBlocks(msg, content, true)
	msg.SetTruth("display", true)
	if !l.typ.Is("attachment") && !l.typ.Is("system") {
		m.sent(msg, l)
	}
}

func orName(v jsonl.Value, name string) jsonl.Value {
	if v.IsString() {
		return v
	}
	return jsonl.Value(name)
}

// stringsOf is a text of the strings of an attachment, one a line.
func stringsOf(of jsonl.Value) jsonl.String {
	text, sep := jsonl.Value{'"'}, ""
	for key, v := range of.Members {
		if string(key) == "type" {
			continue
		}
		for s := range v.Strings {
			text = append(append(text, sep...), s[1:len(s)-1]...)
			sep = `\n`
		}
	}
	return append(text, '"').Spelled()
}
