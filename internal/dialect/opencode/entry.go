package opencode

import (
	"strings"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// What opencode says instead of what it does not send, or where nothing was said.
const (
	asksSummary = `"What did we do so far?"`
	ranByUser   = `"The following tool was executed by the user"`
	clearedText = `"[Old tool result content cleared]"`
	interrupted = `"[Tool execution was interrupted]"`
)

// A read message is one of lines: its row, and its parts in their last version.
type readMessage struct {
	id    jsonl.Value
	info  jsonl.Value
	parts []jsonl.Value
	ids   []jsonl.Value // of the parts
}

// A row is what a line has: a message or a part, absent for the other, and its id.
type row struct{ info, part, id jsonl.Value }

// rowOf reads a line, which may be that a part is removed.
func rowOf(line jsonl.Value) row {
	var f, in [3]jsonl.Value
	line.Fields(f[:], "table", "data", "id")
	switch {
	case f[0].Is("message"):
		return row{info: f[1], id: f[2]}
	case f[0].Is("part"):
		return row{part: f[1], id: f[2]}
	}
	f[1].Fields(in[:], "info", "part", "partID")
	if in[0].Exists() {
		return row{in[0], in[1], in[0].First("id")}
	}
	return row{in[0], in[1], jsonl.FirstText(in[1].First("id"), in[2])}
}

// readMessages reads the messages that lines have, in the order of their rows. Of two versions
// of a part the first one counts.
func readMessages(lines []jsonl.Value) (all []readMessage) {
	var changed []row // an edit begins with what it changes
	for _, line := range lines {
		r := rowOf(line)
		if r.info.Exists() {
			all = append(all, readMessage{id: r.id, info: r.info})
			continue
		}
		if len(all) == 0 {
			changed = append(changed, r)
			continue
		}
		m := &all[len(all)-1]
		m.parts, m.ids = append(m.parts, r.part), append(m.ids, r.id)
	}
	for _, r := range changed {
		for k := range all {
			all[k].change(r.id.Text(), r.part)
		}
	}
	return all
}

func (m *readMessage) change(id string, part jsonl.Value) {
	for k := range m.ids {
		if m.ids[k].Is(id) {
			m.parts[k] = part
		}
	}
}

// A maker makes an entry.
type maker struct {
	*dialect.Source
	e *dialect.Entry
}

// makeEntry is [dialect.Dialect]'s Make.
func makeEntry(s *dialect.Source) {
	m, line := maker{s, s.Add()}, s.Lines[0]
	m.e.Time = line.First("timestamp")
	if s.Kind == jsonl.Unknown {
		m.e.Type = jsonl.FirstText(line.Get("type"))
	}
	if line.First("table").Is("session_message") {
		m.row(line)
		return
	}
	switch s.Kind {
	case jsonl.Header:
		m.e.Set("cwd", line.Get("directory"))
		m.e.Set("parentSession", line.Get("parent_id"))
	case jsonl.SessionInfo:
		m.e.Set("name", line.Get("title"))
	case jsonl.UsageEntry:
		m.e.SetText("kind", "compaction")
		m.usageOf(m.e.Set, rowOf(s.Lines[len(s.Lines)-1]).info) // after what asked for a summary
	case jsonl.Transform:
		m.compaction()
	case jsonl.ContextEdit:
		m.edit()
	case jsonl.Unknown:
		m.e.Set("data", line.Get("data"))
	case jsonl.ToolResult:
		r := rowOf(line)
		m.result(r.part, r.id.Text())
	default:
		var of readMessage
		if all := readMessages(s.Lines); len(all) > 0 {
			of = all[0]
		}
		m.message(&of, s.Kind)
	}
}

// message makes a message, without the results of its calls.
func (m *maker) message(of *readMessage, kind jsonl.Kind) {
	msg := m.e.Message(kind)
	if kind == jsonl.Custom {
		msg.SetText("customType", "synthetic")
		msg.SetTruth("display", true)
	}
	msg.Body()
	addBlocks(msg, of.parts)
	if kind == jsonl.Assistant {
		msg.SetText("api", "opencode")
		m.usageOf(msg.Set, of.info)
		msg.Stop(stopReason(of.info))
	}
	msg.Set("id", of.id)
	m.native(msg, of.parts, kind == jsonl.Assistant)
}

// addBlocks adds what parts say.
func addBlocks(msg *dialect.Message, parts []jsonl.Value) {
	for _, p := range parts {
		var f [6]jsonl.String
		new(jsonl.Cursor).Reset(p).Fields(f[:], "type", "text", "callID", "tool", "url", "mime")
		switch {
		case f[0].Is("reasoning"):
			if len(f[1].Inside()) > 0 {
				msg.Add(jsonl.Block{Kind: jsonl.ThinkingBlock, Text: f[1]})
			}
		case f[0].Is("tool"):
			msg.Add(jsonl.Block{Kind: jsonl.CallBlock, ID: f[2].Value, Name: f[3].Value, Args: input(p)})
		case f[0].Is("file"):
			if attached(f[5].Value) {
				msg.Add(file(f[4].Value, f[5].Value))
			}
		default:
			if said := spoken(p); said.Exists() {
				msg.Said(said.Spelled())
			}
		}
	}
}

// spoken is the text that a part says, absent for none.
func spoken(p jsonl.Value) jsonl.Value {
	f := p.All("type", "text", "ignored")
	switch {
	case f[0].Is("text") && !f[2].Truthy() && f[1].IsString() && string(f[1]) != `""`:
		return f[1]
	case f[0].Is("compaction"):
		return jsonl.Value(asksSummary)
	case f[0].Is("subtask"):
		return jsonl.Value(ranByUser)
	}
	return nil
}

// attached reports whether a file is sent as such: the content of others is in a text part.
func attached(mime jsonl.Value) bool {
	return mime.IsString() && !mime.Is("text/plain") && !mime.Is("application/x-directory")
}

// file is an image, or that there is another file.
func file(url, mime jsonl.Value) jsonl.Block {
	if b, ok := dialect.DataURL(url); ok && strings.HasPrefix(mime.Text(), "image/") {
		b.Mime = mime
		return b
	}
	return jsonl.Block{Raw: jsonl.Value(`{"type":"opaque"}`).With("item", mime)}
}

// input is what a call is given, an object.
func input(p jsonl.Value) jsonl.Value {
	if in := p.Get("state").Get("input"); in.IsObject() {
		return in
	}
	return jsonl.Value("{}")
}

// outcome is what a call returned, as it is sent.
func outcome(state jsonl.Value) (said jsonl.Value, failed bool) {
	var f [5]jsonl.Value
	state.Fields(f[:], "status", "output", "error", "metadata", "time")
	said, failed = f[1], false
	switch {
	case f[0].Is("completed") && f[4].Get("compacted").Exists():
		said = jsonl.Value(clearedText)
	case f[0].Is("completed"):
	case f[0].Is("error") && f[3].Get("interrupted").Truthy() && f[3].Get("output").IsString():
		said = f[3].Get("output")
	case f[0].Is("error"):
		said, failed = f[2], true
	default:
		said, failed = jsonl.Value(interrupted), true
	}
	return jsonl.FirstText(said, jsonl.Value(`""`)), failed
}

// result makes the message of what a call returned.
func (m *maker) result(p jsonl.Value, id string) {
	msg := m.e.Message(jsonl.ToolResult)
	var f [2]jsonl.Value
	p.Fields(f[:], "callID", "tool")
	msg.Set("toolCallId", f[0])
	msg.Set("toolName", f[1])
	addReturned(msg, p)
	msg.SetText("id", id)
	m.nativeResult(msg, p)
}

// addReturned adds what a call returned.
func addReturned(msg *dialect.Message, p jsonl.Value) {
	state := p.Get("state")
	said, failed := outcome(state)
	var more [2]jsonl.Value
	state.Fields(more[:], "attachments", "metadata")
	msg.Body()
	msg.Said(said.Spelled())
	if !said.Is("[Old tool result content cleared]") {
		for f := range more[0].Elements {
			msg.Add(file(f.Get("url"), f.Get("mime")))
		}
	}
	msg.SetTruth("isError", failed)
	if exit := more[1].Get("exit"); exit.IsNumber() { // of a command
		msg.Set("details", jsonl.Value("{}").With("exitCode", exit))
	}
}

// compaction makes the patch of a summary: what asked for it, the summary, and the messages
// that it leaves stand for all.
func (m *maker) compaction() {
	m.e.Transformer, m.e.Reason = "compaction", "compaction"
	all := readMessages(m.Lines)
	if len(all) > 1 {
		all[0], all[1] = all[1], all[0]
	}
	for _, of := range all {
		if !of.info.Get("role").Is("assistant") {
			m.message(&of, jsonl.User)
			continue
		}
		m.message(&of, jsonl.Assistant)
		for k, p := range of.parts {
			if p.Get("type").Is("tool") {
				m.result(p, of.ids[k].Text())
			}
		}
	}
}

// edit makes an edit (see arranger.edit): of a result by its part, of a message by a part and
// all that it has, and the removal of either by the message.
func (m *maker) edit() {
	of, first := readMessages(m.Lines), rowOf(m.Lines[0])
	target := first.id
	switch {
	case first.info.Exists() && len(m.Lines) > 1:
		if second := rowOf(m.Lines[1]); second.part.Exists() {
			target = m.Quoted(second.id.Text())
		}
	case first.info.Exists():
	case len(of) == 0:
		target = m.Quoted(target.Text())
	default:
		target = of[0].id
	}
	m.e.Set("targetId", target)
	if first.info.Exists() {
		m.e.Set("replacement", jsonl.Value("null"))
		return
	}
	msg := m.e.Message(jsonl.OtherMessage)
	if len(of) == 0 {
		addReturned(msg, first.part)
		m.nativeResult(msg, first.part)
		return
	}
	msg.Body()
	addBlocks(msg, of[0].parts)
	m.native(msg, of[0].parts, of[0].info.Get("role").Is("assistant"))
}

// stopReason is why an answer ended, as pi says it, empty where its calls tell.
func stopReason(info jsonl.Value) string {
	switch failure := info.Get("error"); {
	case failure.Get("name").Is("MessageAbortedError"):
		return "aborted"
	case failure.IsObject():
		return "error"
	}
	return map[string]string{"length": "length", "tool-calls": "toolUse"}[info.Get("finish").Text()]
}

// usageOf sets model and usage of a request. Forks copy messages under new ids: by its times
// and tokens, a response is known again.
func (m *maker) usageOf(set func(string, jsonl.Value), info jsonl.Value) {
	f := info.All("providerID", "modelID", "tokens", "cost", "time")
	set("provider", f[0])
	set("model", f[1])
	if tokens := f[2]; tokens.IsObject() {
		set("responseId", dialect.ResponseID(f[4], tokens))
		set("usage", m.usage(tokens, f[3]))
	}
}

// usage is a usage in pi's terms: what was thought is a part of the output.
func (m *maker) usage(tokens, cost jsonl.Value) jsonl.Value {
	n, cache := tokens.Ints("input", "output", "reasoning"), tokens.Get("cache").Ints("read", "write")
	u := jsonl.Usage{Input: n[0], Output: n[1] + n[2], CacheRead: cache[0], CacheWrite: cache[1]}
	u.Total = u.Context()
	if total, ok := cost.Float(); !ok || total <= 0 {
		cost = nil
	}
	return m.Usage(u, cost)
}
