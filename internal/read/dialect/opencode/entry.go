package opencode

import (
	"slices"
	"strings"
	"sync"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// What opencode says instead of what it does not send, or where nothing was said.
var (
	asksSummary = jsonl.Value(`"What did we do so far?"`).Spelled()
	ranByUser   = jsonl.Value(`"The following tool was executed by the user"`).Spelled()
	clearedText = jsonl.Value(`"[Old tool result content cleared]"`).Spelled()
	interrupted = jsonl.Value(`"[Tool execution was interrupted]"`).Spelled()
	nothing     = jsonl.Value(`""`).Spelled()
)

// A maker makes an entry.
type maker struct {
	*dialect.Source
	agent agent
	e     *dialect.Entry
	rows  []row // the lines
	place *row  // the row of the session, of Kilo
}

var makers = sync.Pool{New: func() any { return new(maker) }}

// makeEntry implements Make of the dialect.
func makeEntry(of agent, s *dialect.Source) {
	m := makers.Get().(*maker)
	defer func() {
		rows := m.rows[:len(s.Lines)]
		clear(rows)
		*m = maker{rows: rows[:0]}
		makers.Put(m)
	}()
	m.agent, m.Source, m.e, m.rows = of, s, s.Add(), slices.Grow(m.rows, len(s.Lines))[:len(s.Lines)]
	for k, line := range s.Lines {
		m.rows[k].read(line)
	}
	if last := len(m.rows) - 1; last > 0 && m.rows[last].table.Is("session") {
		m.place, m.rows = &m.rows[last], m.rows[:last]
		if dialect.Older(m.place.version.Text(), environs) {
			m.place = nil
		}
	}
	first, line := &m.rows[0], s.Lines[0]
	m.e.Time = first.timestamp
	if s.Kind == jsonl.Unknown {
		m.e.Type = jsonl.FirstText(first.typ)
	}
	if first.table.Is("session_message") {
		m.turn(line)
		return
	}
	switch s.Kind {
	case jsonl.Header:
		if at := line.Get("time_created"); at.IsNumber() { // the row's own time is that of its last change
			m.e.Time = dialect.Stamp(at.Int())
		}
		m.e.Set("cwd", line.Get("directory"))
		m.e.Set("parentSession", line.Get("parent_id"))
	case jsonl.SessionInfo:
		m.e.Set("name", line.Get("title"))
	case jsonl.UsageEntry:
		m.e.SetText("kind", "compaction")
		m.usageOf(m.e.Set, &m.rows[len(m.rows)-1].data.info) // after what asked for a summary
	case jsonl.Transform:
		m.compaction()
	case jsonl.ContextEdit:
		m.edit()
	case jsonl.Unknown:
		m.e.Set("data", first.data.raw)
	case jsonl.ToolResult:
		m.result(first)
		m.nativeMedia(&m.e.Messages[0], m.rows[1:])
	default:
		m.message(m.rows, s.Kind)
	}
}

// messagesOf returns the messages that rows make, in their order: its own row, and its parts in their last
// version. An edit begins with what it changes.
func messagesOf(rows []row) (all [][]row) {
	changed := 0
	for k := range rows {
		switch last := len(all) - 1; {
		case rows[k].isMessage():
			all = append(all, rows[k:k+1])
		case last < 0:
			changed = k + 1
		default:
			all[last] = all[last][:len(all[last])+1]
		}
	}
	for _, now := range rows[:changed] {
		for _, m := range all {
			for k := range m[1:] {
				if p := &m[1+k]; p.name().Is(now.name().Text()) {
					*p = now
				}
			}
		}
	}
	return all
}

// message makes a message of its row and its parts, without the results of its calls.
func (m *maker) message(of []row, kind jsonl.Kind) {
	msg, own, parts := m.e.Message(kind), &of[0], m.parts(of)
	if kind == jsonl.Custom {
		msg.SetText("customType", "synthetic")
		msg.SetTruth("display", true)
	}
	msg.Body()
	addBlocks(msg, parts)
	if kind == jsonl.Assistant {
		msg.SetText("api", string(m.agent))
		m.usageOf(msg.Set, &own.data.info)
		msg.Stop(own.data.info.stopReason())
	}
	msg.Set("id", own.name())
	m.native(msg, parts, kind == jsonl.Assistant, m.foreign(&own.data.info))
}

// foreign reports whether a request asks another model than the one that gave an answer.
func (m *maker) foreign(of *infoData) bool {
	return m.To != (rule.Asked{}) && (!of.providerID.Is(m.To.Host) || !of.modelID.Is(m.To.Model))
}

// addBlocks adds what parts say.
func addBlocks(msg *dialect.Message, parts []row) {
	for k := range parts {
		p := &parts[k].data.part
		switch of := p.typ; {
		case of.Is("reasoning"):
			if len(p.text.Inside()) > 0 {
				msg.Add(jsonl.Block{Kind: jsonl.ThinkingBlock, Text: p.text})
			}
		case of.Is("tool"):
			msg.Add(jsonl.Block{Kind: jsonl.CallBlock, ID: p.callID, Name: p.tool, Args: object(p.state.input)})
		case of.Is("file"):
			if attached(p.mime) {
				msg.Add(file(p.url, p.mime))
			}
		default:
			if text := p.spoken(); text.Exists() {
				msg.Said(text)
			}
		}
	}
}

// spoken returns the text that a part says, absent for none.
func (p *partData) spoken() (text jsonl.String) {
	switch of := p.typ; {
	case of.Is("text") && !p.ignored.Truthy() && len(p.text.Inside()) > 0:
		return p.text
	case of.Is("compaction"):
		return asksSummary
	case of.Is("subtask"):
		return ranByUser
	}
	return text
}

// attached reports whether a file is sent as such: the content of others is in a text part.
func attached(mime jsonl.Value) bool {
	return mime.IsString() && !mime.Is("text/plain") && !mime.Is("application/x-directory")
}

// file returns an image, or that there is another file.
func file(url, mime jsonl.Value) jsonl.Block {
	if b, ok := dialect.DataURL(url); ok && strings.HasPrefix(mime.Text(), "image/") {
		b.Mime = mime
		return b
	}
	return jsonl.Block{Raw: jsonl.Value(`{"type":"opaque"}`).With("item", mime)}
}

// object returns what a call is given, an empty object if it is none.
func object(given jsonl.Value) jsonl.Value {
	if given.IsObject() {
		return given
	}
	return jsonl.Value("{}")
}

// outcome returns what a call returned, as it is sent.
func (p *partData) outcome() (text jsonl.String, failed bool) {
	switch of := p.state.status; {
	case of.Is("completed") && p.cleared():
		text = clearedText
	case of.Is("completed"):
		text = p.state.output
	case of.Is("error"):
		text = p.state.metadata.Get("output").Spelled()
		if !text.IsString() || !p.state.metadata.Get("interrupted").Truthy() {
			text, failed = p.state.error, true
		}
	default:
		text, failed = interrupted, true
	}
	if !text.IsString() {
		text = nothing
	}
	return text, failed
}

// result makes the message of what a call returned.
func (m *maker) result(r *row) {
	msg, p := m.e.Message(jsonl.ToolResult), &r.data.part
	msg.Set("toolCallId", p.callID)
	msg.Set("toolName", p.tool)
	addReturned(msg, p)
	msg.Set("id", r.name())
	m.nativeResult(msg, p)
}

// addReturned adds what a call returned.
func addReturned(msg *dialect.Message, p *partData) {
	text, failed := p.outcome()
	msg.Body()
	msg.Said(text)
	if !text.Is("[Old tool result content cleared]") {
		for f := range p.state.attachments.Elements {
			msg.Add(file(f.Get("url"), f.Get("mime")))
		}
	}
	msg.SetTruth("isError", failed)
	if exit := p.state.metadata.Get("exit"); exit.IsNumber() { // of a command
		msg.Set("details", jsonl.Value("{}").With("exitCode", exit))
	}
}

// compaction makes the patch of a summary: what asked for it, the summary, and the messages
// that it leaves stand for all.
func (m *maker) compaction() {
	m.e.Transformer, m.e.Reason = "compaction", "compaction"
	all := messagesOf(m.rows)
	for k := range m.rows {
		if p := &m.rows[k].data.part; p.typ.Is("compaction") {
			switch auto := p.raw.Get("auto"); {
			case p.raw.Get("overflow").Truthy(): // the provider refused the request before
				m.e.SetText("trigger", "overflow")
			case auto.Truthy():
				m.e.SetText("trigger", "auto")
			case auto.Exists():
				m.e.SetText("trigger", "manual")
			}
			break
		}
	}
	if len(all) > 1 {
		all[0], all[1] = all[1], all[0]
	}
	for _, of := range all {
		if !of[0].data.info.role.Is("assistant") {
			m.message(of, jsonl.User)
			continue
		}
		m.message(of, jsonl.Assistant)
		n := len(m.e.Messages)
		for k := range of[1:] {
			if p := &of[1+k]; p.data.part.typ.Is("tool") {
				m.result(p)
			}
		}
		if len(m.e.Messages) > n {
			m.nativeMedia(&m.e.Messages[len(m.e.Messages)-1], of[1:])
		}
	}
}

// edit makes an edit (see arranger.edit): of a result by its part, of a message by a part and
// all that it has, and the removal of either by the message.
func (m *maker) edit() {
	of, first := messagesOf(m.rows), &m.rows[0]
	target, removes := first, first.isMessage()
	switch {
	case !removes && len(of) > 0:
		target = &of[0][0]
	case removes && len(m.rows) > 1 && m.rows[1].data.part.raw.Exists():
		target = &m.rows[1]
	}
	if m.e.Set("targetId", target.name()); removes {
		m.e.Set("replacement", jsonl.Value("null"))
		return
	}
	msg := m.e.Message(jsonl.OtherMessage)
	if len(of) == 0 {
		addReturned(msg, &first.data.part)
		m.nativeResult(msg, &first.data.part)
		return
	}
	msg.Body()
	parts := m.parts(of[0])
	addBlocks(msg, parts)
	m.native(msg, parts, target.data.info.role.Is("assistant"), m.foreign(&target.data.info))
}

// stopReason returns why an answer ended, as pi says it, empty where its calls tell.
func (m *infoData) stopReason() string {
	switch {
	case m.error.Get("name").Is("MessageAbortedError"):
		return "aborted"
	case m.error.IsObject():
		return "error"
	case m.finish.Is("length"):
		return "length"
	case m.finish.Is("tool-calls"):
		return "toolUse"
	}
	return ""
}

// usageOf sets model and usage of a request. Forks copy messages with their times under new ids.
func (m *maker) usageOf(set func(string, jsonl.Value), of *infoData) {
	set("provider", of.providerID)
	set("model", of.modelID)
	if tokens := of.tokens; tokens.IsObject() {
		m.e.Share(of.time, tokens)
		set("usage", m.usage(tokens, of.cost))
	}
}

// usage returns a usage in pi's terms: what was thought is a part of the output.
func (m *maker) usage(tokens, cost jsonl.Value) jsonl.Value {
	n, cache := tokens.Ints("input", "output", "reasoning"), tokens.Get("cache").Ints("read", "write")
	u := jsonl.Usage{Input: n[0], Output: n[1] + n[2], CacheRead: cache[0], CacheWrite: cache[1]}
	u.Total = u.Context()
	if total, ok := cost.Float(); !ok || total <= 0 {
		cost = nil
	}
	return m.Usage(u, cost)
}
