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
	ids   []string // of the parts
}

// infoOf is the row of a message that a line has, absent for other lines.
func infoOf(line jsonl.Value) (info, id jsonl.Value) {
	f := line.All("table", "data", "id")
	if f[0].Is("message") {
		return f[1], f[2]
	}
	info = f[1].Get("info")
	return info, info.Get("id")
}

// partOf is the part that a line has, absent for other lines.
func partOf(line jsonl.Value) jsonl.Value {
	if line.Get("table").Is("part") {
		return line.Get("data")
	}
	return line.Get("data").Get("part")
}

// partID is the id of the part that a line has, or that it removes.
func partID(line jsonl.Value) string {
	if line.Get("table").Is("part") {
		return line.Get("id").Text()
	}
	data := line.Get("data")
	return jsonl.FirstText(data.Get("part").Get("id"), data.Get("partID")).Text()
}

// readMessages reads the messages that lines have, in the order of their rows. Of two versions
// of a part the first one counts.
func readMessages(lines []jsonl.Value) (all []readMessage) {
	var changed []jsonl.Value // an edit begins with what it changes
	for _, line := range lines {
		if info, id := infoOf(line); info.Exists() {
			all = append(all, readMessage{id: id, info: info})
			continue
		}
		if len(all) == 0 {
			changed = append(changed, line)
			continue
		}
		m := &all[len(all)-1]
		m.parts, m.ids = append(m.parts, partOf(line)), append(m.ids, partID(line))
	}
	for _, line := range changed {
		for k := range all {
			all[k].change(partID(line), partOf(line))
		}
	}
	return all
}

func (m *readMessage) change(id string, part jsonl.Value) {
	for k := range m.ids {
		if m.ids[k] == id {
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
	if typ := line.Get("type"); s.Kind == jsonl.Unknown && typ.IsString() {
		m.e.Type = typ
	}
	if line.Get("table").Is("session_message") {
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
		info, _ := infoOf(s.Lines[len(s.Lines)-1]) // after what asked for a summary
		m.usageOf(m.e.Set, info)
	case jsonl.Transform:
		m.compaction()
	case jsonl.ContextEdit:
		m.edit()
	case jsonl.Unknown:
		m.e.Set("data", line.Get("data"))
	case jsonl.ToolResult:
		m.result(partOf(line), partID(line))
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
		said := spoken(p)
		switch {
		case f[0].Is("reasoning") && f[1].IsString() && len(f[1].Value) > len(`""`):
			msg.Add(jsonl.Block{Kind: jsonl.ThinkingBlock, Text: f[1]})
		case said.Exists():
			msg.Said(said.Spelled())
		case f[0].Is("tool"):
			msg.Add(jsonl.Block{Kind: jsonl.CallBlock, ID: f[2].Value, Name: f[3].Value, Args: input(p)})
		case f[0].Is("file") && attached(f[5].Value):
			msg.Add(file(f[4].Value, f[5].Value))
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
func outcome(p jsonl.Value) (said jsonl.Value, failed bool) {
	state := p.Get("state")
	f := state.All("status", "output", "error", "metadata")
	said, failed = f[1], false
	switch {
	case f[0].Is("completed") && state.Get("time").Get("compacted").Exists():
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
	msg.Set("toolCallId", p.Get("callID"))
	msg.Set("toolName", p.Get("tool"))
	addReturned(msg, p)
	msg.SetText("id", id)
	m.nativeResult(msg, p)
}

// addReturned adds what a call returned.
func addReturned(msg *dialect.Message, p jsonl.Value) {
	said, failed := outcome(p)
	msg.Body()
	msg.Said(said.Spelled())
	if !said.Is("[Old tool result content cleared]") {
		for f := range p.Get("state").Get("attachments").Elements {
			msg.Add(file(f.Get("url"), f.Get("mime")))
		}
	}
	msg.SetTruth("isError", failed)
	if exit := p.Get("state").Get("metadata").Get("exit"); exit.IsNumber() { // of a command
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
				m.result(p, of.ids[k])
			}
		}
	}
}

// edit makes an edit (see arranger.edit): of a result by its part, of a message by a part and
// all that it has, and the removal of either by the message.
func (m *maker) edit() {
	lines, of := m.Lines, readMessages(m.Lines)
	info, target := infoOf(lines[0])
	switch {
	case info.Exists() && len(lines) > 1 && partOf(lines[1]).Exists():
		target = m.Quoted(partID(lines[1]))
	case info.Exists():
	case len(of) == 0:
		target = m.Quoted(partID(lines[0]))
	default:
		target = of[0].id
	}
	m.e.Set("targetId", target)
	if info.Exists() {
		m.e.Set("replacement", jsonl.Value("null"))
		return
	}
	msg := m.e.Message(jsonl.OtherMessage)
	if len(of) == 0 {
		addReturned(msg, partOf(lines[0]))
		m.nativeResult(msg, partOf(lines[0]))
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
