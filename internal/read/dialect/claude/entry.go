package claude

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A maker makes an entry.
type maker struct {
	*dialect.Source
	e       *dialect.Entry
	line                   // the one that was read last
	parts   []jsonl.Block  // of its content
	results []*jsonl.Block // those of them that tell what tools returned
}

var makers = sync.Pool{New: func() any { return new(maker) }}

// makeEntry implements Make of the dialect.
func makeEntry(s *dialect.Source) {
	m := makers.Get().(*maker)
	defer func() {
		if s.Again != nil {
			return // it makes further entries
		}
		clear(m.parts)
		*m = maker{parts: m.parts[:0], results: m.results[:0]}
		makers.Put(m)
	}()
	m.Source, m.e = s, s.Add()
	m.readLine(s.Lines[0])
	m.e.Time = m.timestamp
	switch s.Kind {
	case jsonl.Header:
		m.header()
	case jsonl.System:
		m.system()
	case jsonl.CustomEntry:
		m.e.Set("customType", jsonl.FirstText(m.subtype, m.attachment.Get("type"), m.typ))
		m.e.Set("data", s.Lines[0])
	case jsonl.Transform:
		m.compaction()
	case jsonl.ContextEdit:
		m.edit()
	case jsonl.SessionInfo:
		m.e.Set("name", jsonl.FirstText(s.Lines[0].Get("customTitle"), s.Lines[0].Get("aiTitle")))
	case jsonl.Unknown:
		if m.typ.IsString() {
			m.e.Type = m.typ
		}
	case jsonl.Assistant:
		m.Keep(m.answer(s.Lines), m.parts)
	case jsonl.User:
		m.prompt()
	case jsonl.ToolResult:
		m.outcome()
	case jsonl.UsageEntry:
		m.delegated()
	default:
		m.note()
	}
}

// header makes the header, of the first record and of lines about the session.
func (m *maker) header() {
	f := m.Lines[0].All("cwd", "forkedFrom")
	cwd, parent, next := f[0], f[1].Get("sessionId"), jsonl.Value(nil)
	var bridge jsonl.Value
	for _, line := range m.Lines[1:] {
		for _, about := range []struct {
			of *jsonl.Value
			is jsonl.Value
		}{
			{&cwd, line.Get("relocatedCwd")}, {&parent, nth(line.Get("sessions"), 0).Get("id")},
			{&next, line.Get("continuedInSessionId")}, {&bridge, line.Get("bridgeSessionId")},
		} {
			if about.is.IsString() {
				*about.of = about.is
			}
		}
	}
	m.e.Set("cwd", cwd)
	m.e.Set("parentSession", parent)
	m.e.Set("continuedIn", next)
	m.e.Set("bridgeSession", bridge)
}

// summariesUnrecorded is the first version of which no file has the call for the summary of a compaction.
const summariesUnrecorded = "2.1.257"

// compaction makes the patch of a compaction: the summary, and what was kept.
func (m *maker) compaction() {
	m.e.Transformer, m.e.Reason = "compaction", "compaction"
	m.e.Set("trigger", m.Lines[0].Get("compactMetadata").Get("trigger"))
	if !dialect.Older(m.Lines[0].Get("version").Text(), summariesUnrecorded) {
		m.e.Set("unrecordedCall", jsonl.Value("true"))
	}
	tools := called(m.Lines[1:])
	for k := 1; k < len(m.Lines); {
		m.readLine(m.Lines[k])
		n := k + 1
		switch {
		case m.typ.Is("assistant"):
			for n < len(m.Lines) && continues(m.Lines[k], m.Lines[n]) {
				n++
			}
			m.answer(m.Lines[k:n])
		case m.typ.Is("user"):
			all := m.outcomes()
			for _, b := range all {
				m.result(b, tools[string(b.ID)])
			}
			if at := len(m.e.Messages); at > 0 && m.raw.Get("isCompactSummary").Truthy() {
				m.e.Set("summaryAt", strconv.AppendInt(nil, int64(at), 10))
			}
			if len(all) < len(m.parts) {
				m.prompt()
			}
		case m.attachment.Get("type").Is("prompt_snapshot"): // of an answer, see asWritten
		default:
			m.note()
		}
		k = n
	}
}

// continues reports whether a line is of the same answer as another one, after which it was kept.
func continues(first, next jsonl.Value) bool {
	name := func(line jsonl.Value) jsonl.Value {
		return answerName(line.First("message", "id"), line.First("requestId"))
	}
	of := name(next)
	return next.First("type").Is("assistant") && of.IsString() && string(of) == string(name(first))
}

// edit makes an edit: of the entry of the second line, if there is one.
func (m *maker) edit() {
	first := m.Lines[0]
	var call, by jsonl.Value
	cleared, said := false, m.typ.Is("assistant")
	switch {
	case m.subtype.Is("microcompact_boundary"):
		call = nth(first.Get("microcompactMetadata").Get("compactedToolIds"), m.Part)
		cleared = call.Exists()
	case m.typ.Is("content-replacement"):
		one := nth(first.Get("replacements"), m.Part)
		call, by = one.Get("toolUseId"), one.Get("replacement")
	}
	target := ""
	if len(m.Lines) > 1 {
		target = m.Lines[1].First("uuid").Text()
		m.readLine(m.Lines[1])
		of := func(b *jsonl.Block) bool { return string(b.ID) == string(call) }
		if k := slices.IndexFunc(m.outcomes(), of); call.Exists() && k > 0 {
			target += "." + strconv.Itoa(k)
		}
	}
	m.e.SetText("targetId", target)
	// Of an answer only these lines are left.
	left := len(m.Lines) > 1 && said && m.typ.Is("assistant")
	if !left && !cleared && !by.Exists() {
		m.e.Set("replacement", jsonl.Value("null"))
		return
	}
	msg := m.e.Message(jsonl.OtherMessage)
	msg.Body()
	switch {
	case left:
		for _, raw := range m.Lines[1:] {
			m.readLine(raw)
			m.addParts(msg)
		}
		m.nativeAnswer(msg, m.Lines[1:])
		return
	case cleared: // what it says instead is not in the file
		msg.Add(jsonl.Block{Raw: jsonl.Value(`{"type":"opaque","item":"cleared tool result"}`)})
	default:
		addContent(msg, by)
	}
	if m.Native {
		result := jsonl.Value(`{"type":"tool_result"}`).With("tool_use_id", call).With("content", by)
		msg.Native = dialect.List(jsonl.Value(`{"role":"user"}`).With("content", dialect.List(result)))
	}
}

// nth returns an element of an array, absent where it has no such.
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
func (m *maker) prompt() {
	msg := m.e.Message(jsonl.User)
	msg.Body()
	if m.attachment.Exists() {
		m.attached(msg)
		return
	}
	m.sayRest(msg)
	m.sent(msg)
}

// sayRest adds the blocks of the line, but for results, which are entries of their own.
func (m *maker) sayRest(msg *dialect.Message) {
	if len(m.outcomes()) == 0 {
		msg.Blocks = append(msg.Blocks, m.parts...)
		return
	}
	var raw []jsonl.Value
	for k := range m.parts {
		if b := &m.parts[k]; !isOutcome(b) {
			msg.Blocks = append(msg.Blocks, *b)
		}
	}
	for block := range m.said.Elements {
		if !isResult(block) {
			raw = append(raw, block)
		}
	}
	m.said = dialect.List(raw...)
}

// sent adds the message of the line as it was sent.
func (m *maker) sent(msg *dialect.Message) {
	if m.Native {
		msg.Native = dialect.List(jsonl.Value("{}").With("role", m.msg.role).With("content", m.said).
			With(madeFrom, framed(m.raw)))
	}
}

// addParts adds the parts of the line, which is one of an answer: no text by itself.
func (m *maker) addParts(msg *dialect.Message) {
	if m.said.IsArray() {
		msg.Blocks = append(msg.Blocks, m.parts...)
	}
}

// addContent adds the blocks of a content that was not read.
func addContent(msg *dialect.Message, content jsonl.Value) {
	msg.Blocks = appendContent(msg.Blocks, new(jsonl.Cursor).Reset(content))
}

// answer makes an answer: the blocks of its lines, in order, and the usage of the last. The
// first of them has been read. It returns the index of that with the usage.
func (m *maker) answer(lines []jsonl.Value) (last int) {
	msg := m.e.Message(jsonl.Assistant)
	request, at := m.requestId, m.timestamp
	if !request.Exists() { // it may stand after what readLine has to read
		request = lines[0].First("requestId")
	}
	msg.Body()
	m.addParts(msg)
	for k, raw := range lines[1:] {
		if m.readLine(raw); m.typ.Is("assistant") {
			last = k + 1
			m.addParts(msg)
		} else {
			written(msg, lines[k]) // it is a snapshot, see asWritten
			m.readLine(lines[last])
		}
	}
	msg.SetText("api", "anthropic-messages")
	msg.Set("provider", anthropic)
	msg.Set("model", m.msg.model)
	msg.Set("responseId", m.msg.id)
	if request.IsString() {
		m.e.Share(m.msg.id, request, at)
	}
	why, none := stops[string(m.msg.stop.Inside())], m.msg.model.Is("<synthetic>")
	switch {
	case none:
		why = "aborted"
	case m.msg.stop.IsString():
		why = cmp.Or(why, "stop")
	}
	msg.Stop(why)
	if u, ok := usageOf(m.msg.model, m.msg.usage); ok {
		msg.Set("usage", m.Usage(u, nil))
	}
	if m.msg.diagnostics.IsObject() {
		msg.Set("diagnostics", m.msg.diagnostics)
	}
	m.nativeAnswer(msg, lines)
	return last
}

// delegated makes the usage of a sub-agent's answer, of a line of its progress.
func (m *maker) delegated() {
	of := m.Lines[0].Get("data").Get("message").All("uuid", "timestamp", "message")
	said := of[2].All("id", "model", "usage")
	m.ID = []byte(jsonl.FirstText(of[0], m.Lines[0].Get("uuid")).Text())
	m.e.Time = jsonl.FirstText(of[1], m.timestamp)
	m.e.SetText("kind", "subagent")
	m.e.SetText("provider", "anthropic")
	m.e.Set("model", said[1])
	m.e.Set("responseId", said[0])
	m.e.Set("usage", m.Usage(readUsage(said[2]), nil))
}

// nativeAnswer adds lines of an answer as they were sent.
func (m *maker) nativeAnswer(msg *dialect.Message, lines []jsonl.Value) {
	if !m.Native {
		return
	}
	var blocks []jsonl.Value
	for k, raw := range lines {
		for b := range raw.First("message", "content").Elements {
			blocks = append(blocks, writtenBlock(b, raw, lines[k+1:]))
		}
	}
	from := jsonl.Value("{}").With("model", m.msg.model)
	if effort := lines[0].Get("perTurnEffort"); effort.IsString() {
		from = from.With("effort", effort)
	}
	msg.Native = dialect.List(jsonl.Value(`{"role":"assistant"}`).With("content", dialect.List(blocks...)).
		With(madeFrom, from))
}

// stops are reasons why answers end, as pi says them.
var stops = map[string]string{"max_tokens": "length", "model_context_window_exceeded": "length", "tool_use": "toolUse"}

// outcome makes the entry of a result of a record, and those of its other results when they are asked for.
func (m *maker) outcome() {
	all := m.outcomes()
	if len(all) == 1 {
		tool, ok := m.Tool(all[0].ID)
		if !ok || !all[0].ID.Exists() {
			tool = calledBy(all[0].ID, m.Lines[1:])
		}
		m.result(all[0], tool)
		return
	}
	tools := called(m.Lines[1:])
	one := func() {
		m.e.Time = m.timestamp
		b := new(jsonl.Block)
		if m.Part < len(all) {
			b = all[m.Part]
		}
		m.result(b, tools[string(b.ID)])
	}
	one()
	m.Again = func() {
		m.e = m.Add()
		one()
	}
}

// result makes a result of the line, of a call of that tool. Each of several is an item, and so is the rest.
func (m *maker) result(b *jsonl.Block, tool jsonl.Value) {
	msg := m.e.Message(jsonl.ToolResult)
	msg.Set("toolCallId", b.ID)
	msg.Set("toolName", tool)
	msg.Body()
	if b.Text.IsString() {
		msg.Said(b.Text)
	} else {
		addContent(msg, b.Text.Value)
	}
	msg.SetTruth("isError", b.Data.Truthy())
	if len(m.parts) > 1 && m.Native {
		msg.Native = dialect.List(jsonl.Value("{}").With("role", m.msg.role).With("content", dialect.List(b.Raw)))
	} else {
		m.sent(msg)
	}
}

// note makes what the program told the model: a text that it wrote for the user, the text
// of a local command, or the strings of an attachment, whose wording is not in the file.
func (m *maker) note() {
	msg, own := m.e.Message(jsonl.Custom), false
	switch {
	case m.typ.Is("attachment"):
		msg.Set("customType", jsonl.FirstText(m.attachment.Get("type"), jsonl.Value(`"attachment"`)))
		msg.Body()
		m.attached(msg)
	case m.typ.Is("system"):
		msg.Set("customType", jsonl.FirstText(m.subtype, jsonl.Value(`"system"`)))
		msg.Body()
		addContent(msg, m.content)
		if m.Native && m.content.IsString() {
			msg.Native = dialect.List(jsonl.Value(`{"role":"user"}`).With("content", m.content))
		}
	default:
		msg.SetText("customType", "meta")
		msg.Body()
		m.sayRest(msg)
		own = true
	}
	if msg.SetTruth("display", true); own {
		m.sent(msg)
	}
}

// stringsOf returns a text of the strings of an attachment, one a line.
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
