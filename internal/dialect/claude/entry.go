package claude

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A maker makes an entry.
type maker struct {
	*dialect.Source
	e     *dialect.Entry
	parts []jsonl.Block // of the lines
}

var makers = sync.Pool{New: func() any { return new(maker) }}

// makeEntry is [dialect.Dialect]'s Make.
func makeEntry(s *dialect.Source) {
	m := makers.Get().(*maker)
	defer func() {
		if s.Again != nil {
			return // it makes further entries
		}
		clear(m.parts)
		*m = maker{parts: m.parts[:0]}
		makers.Put(m)
	}()
	m.Source, m.e = s, s.Add()
	l := m.readLine(s.Lines[0])
	m.e.Time = l.of(timestamp)
	switch s.Kind {
	case jsonl.Header:
		m.header()
	case jsonl.System:
		m.system()
	case jsonl.CustomEntry:
		m.e.Set("customType", jsonl.FirstText(l.of(subtype), l.of(attached).Get("type"), l.of(kind)))
		m.e.Set("data", s.Lines[0])
	case jsonl.Transform:
		m.compaction()
	case jsonl.ContextEdit:
		m.edit(&l)
	case jsonl.SessionInfo:
		m.e.Set("name", jsonl.FirstText(s.Lines[0].Get("customTitle"), s.Lines[0].Get("aiTitle")))
	case jsonl.Unknown:
		if l.of(kind).IsString() {
			m.e.Type = l.of(kind)
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

// compaction makes the patch of a compaction: the summary, and what was kept.
func (m *maker) compaction() {
	m.e.Transformer, m.e.Reason = "compaction", "compaction"
	m.e.Set("trigger", m.Lines[0].Get("compactMetadata").Get("trigger"))
	names := callsOf(m.Lines[1:])
	for k := 1; k < len(m.Lines); {
		l := m.readLine(m.Lines[k])
		n := k + 1
		switch {
		case l.of(kind).Is("assistant"):
			for n < len(m.Lines) && sameAnswer(&l, m.Lines[n]) {
				n++
			}
			m.answer(&l, m.Lines[k:n])
		case l.of(kind).Is("user"):
			if all := l.outcomes(); len(all) > 0 {
				m.result(&l, all[0], names, false)
			} else {
				m.prompt(&l)
			}
		case l.of(attached).Get("type").Is("prompt_snapshot"): // of an answer, see asWritten
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
	var call, by jsonl.Value
	cleared := false
	switch {
	case l.of(subtype).Is("microcompact_boundary"):
		call = nth(first.Get("microcompactMetadata").Get("compactedToolIds"), m.Part)
		cleared = call.Exists()
	case l.of(kind).Is("content-replacement"):
		one := nth(first.Get("replacements"), m.Part)
		call, by = one.Get("toolUseId"), one.Get("replacement")
	}
	target := ""
	if len(m.Lines) > 1 {
		target = m.Lines[1].First("uuid").Text()
		edited := m.readLine(m.Lines[1])
		of := func(b *jsonl.Block) bool { return string(b.ID) == string(call) }
		if k := slices.IndexFunc(edited.outcomes(), of); call.Exists() && k > 0 {
			target += "." + strconv.Itoa(k)
		}
	}
	m.e.SetText("targetId", target)
	// Of an answer only these lines are left.
	left := len(m.Lines) > 1 && l.of(kind).Is("assistant") && m.Lines[1].First("type").Is("assistant")
	if !left && !cleared && !by.Exists() {
		m.e.Set("replacement", jsonl.Value("null"))
		return
	}
	msg := m.e.Message(jsonl.OtherMessage)
	msg.Body()
	switch {
	case left:
		for _, raw := range m.Lines[1:] {
			l := m.readLine(raw)
			addBlocks(msg, jsonl.String{}, l.parts)
		}
		m.nativeAnswer(msg, m.Lines[1:])
		return
	case cleared: // what it says instead is not in the file
		msg.Add(jsonl.Block{Raw: jsonl.Value(`{"type":"opaque","item":"cleared tool result"}`)})
	default:
		m.addContent(msg, by)
	}
	if m.Native {
		result := jsonl.Value(`{"type":"tool_result"}`).With("tool_use_id", call).With("content", by)
		msg.Native = dialect.List(jsonl.Value(`{"role":"user"}`).With("content", dialect.List(result)))
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
	if l.of(attached).Exists() {
		m.attached(msg, l)
		return
	}
	addBlocks(msg, l.text, l.parts)
	m.sent(msg, l)
}

// sent adds the message of a line as it was sent.
func (m *maker) sent(msg *dialect.Message, l *line) {
	if m.Native {
		msg.Native = dialect.List(jsonl.Value("{}").With("role", l.get(role)).With("content", l.said))
	}
}

// addBlocks adds the blocks of a content, a text or parts.
func addBlocks(msg *dialect.Message, said jsonl.String, parts []jsonl.Block) {
	if said.IsString() {
		msg.Said(said)
	}
	msg.Blocks = append(msg.Blocks, parts...)
}

// addContent is addBlocks for a content that was not read.
func (m *maker) addContent(msg *dialect.Message, content jsonl.Value) {
	said, parts := m.readContent(new(jsonl.Cursor).Reset(content))
	addBlocks(msg, said, parts)
}

// answer makes an answer: the blocks of its lines, in order, and the usage of the last. The
// first of them has been read.
func (m *maker) answer(first *line, lines []jsonl.Value) {
	msg, last := m.e.Message(jsonl.Assistant), *first
	msg.Body()
	addBlocks(msg, jsonl.String{}, last.parts)
	for k, raw := range lines[1:] {
		if l := m.readLine(raw); l.of(kind).Is("assistant") {
			last = l
			addBlocks(msg, jsonl.String{}, last.parts)
		} else {
			written(msg, lines[k]) // it is a snapshot, see asWritten
		}
	}
	msg.SetText("api", "anthropic-messages")
	msg.SetText("provider", "anthropic")
	msg.Set("model", last.get(model))
	msg.Set("responseId", last.get(id))
	why := stops[string(last.get(stop).Inside())]
	switch {
	case last.get(model).Is("<synthetic>"):
		why = "aborted"
	case last.get(stop).IsString():
		why = cmp.Or(why, "stop")
	}
	msg.Stop(why)
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
	var blocks []jsonl.Value
	for k, raw := range lines {
		for b := range raw.First("message", "content").Elements {
			blocks = append(blocks, writtenBlock(b, raw, lines[k+1:]))
		}
	}
	msg.Native = dialect.List(jsonl.Value(`{"role":"assistant"}`).With("content", dialect.List(blocks...)))
}

// stops are reasons why answers end, as pi says them.
var stops = map[string]string{"max_tokens": "length", "model_context_window_exceeded": "length", "tool_use": "toolUse"}

// readUsage reads a usage.
func readUsage(used jsonl.Value) (u jsonl.Usage) {
	var f [6]jsonl.Value // read in one pass, for every answer
	used.Fields(f[:], "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
		"cache_creation", "iterations")
	u.Input, u.Output, u.CacheRead, u.CacheWrite = f[0].Int(), f[1].Int(), f[2].Int(), f[3].Int()
	u.CacheWrite1h = f[4].Get("ephemeral_1h_input_tokens").Int()
	u.Total = u.Context()
	var calls []jsonl.Value // of the model in one response: the count of the last one is the context
	for one := range f[5].Elements {
		if typ := one.Get("type"); typ.Is("message") || typ.Is("fallback_message") {
			calls = append(calls, one)
		}
	}
	if n := len(calls); n > 1 {
		last := readUsage(calls[n-1])
		u.Total = last.Total
	}
	return u
}

// results makes the entry of a result of a record, and those of its other results when they are asked for.
func (m *maker) results(l *line) {
	all, names, first := l.outcomes(), callsOf(m.Lines[1:]), *l
	one := func() {
		m.e.Time = first.of(timestamp)
		b := new(jsonl.Block)
		if m.Part < len(all) {
			b = all[m.Part]
		}
		m.result(&first, b, names, len(all) > 1)
	}
	one()
	if len(all) > 1 {
		m.Again = func() {
			m.e = m.Add()
			one()
		}
	}
}

// result makes a result of a record, with the name of its tool. Each of several was sent as a
// message.
func (m *maker) result(l *line, b *jsonl.Block, names map[string]jsonl.Value, several bool) {
	msg := m.e.Message(jsonl.ToolResult)
	msg.Set("toolCallId", b.ID)
	msg.Set("toolName", names[string(b.ID)])
	msg.Body()
	if b.Text.IsString() {
		msg.Said(b.Text)
	} else {
		m.addContent(msg, b.Text.Value)
	}
	msg.SetTruth("isError", b.Data.Truthy())
	if several && m.Native {
		msg.Native = dialect.List(jsonl.Value("{}").With("role", l.get(role)).With("content", dialect.List(b.Raw)))
	} else {
		m.sent(msg, l)
	}
}

// note makes what the program told the model: a text that it wrote for the user, the text
// of a local command, or the strings of an attachment, whose wording is not in the file.
func (m *maker) note(l *line) {
	msg, own := m.e.Message(jsonl.Custom), false
	switch {
	case l.of(kind).Is("attachment"):
		msg.Set("customType", jsonl.FirstText(l.of(attached).Get("type"), jsonl.Value(`"attachment"`)))
		msg.Body()
		m.attached(msg, l)
	case l.of(kind).Is("system"):
		msg.Set("customType", jsonl.FirstText(l.of(subtype), jsonl.Value(`"system"`)))
		msg.Body()
		m.addContent(msg, l.of(content))
	default:
		msg.SetText("customType", "meta")
		msg.Body()
		addBlocks(msg, l.text, l.parts)
		own = true
	}
	if msg.SetTruth("display", true); own {
		m.sent(msg, l)
	}
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
