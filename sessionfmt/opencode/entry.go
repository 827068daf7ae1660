package opencode

import (
	"fmt"
	"hash/fnv"

	"ctxtool/sessionfmt/dialect"
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
	var f [3]jsonl.Value
	line.Fields(f[:], "table", "data", "id")
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
	if id := data.Get("part").Get("id"); id.Exists() {
		return id.Text()
	}
	return data.Get("partID").Text()
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

// A writer appends an entry.
type writer struct{ dialect.Writer }

// appendEntry is [dialect.Dialect]'s Append.
func appendEntry(dst []byte, e *dialect.Old) []byte {
	w := writer{dialect.Writer{Out: dst, Native: e.Native}}
	line := e.Lines[0]
	if typ := line.Get("type"); e.Kind == jsonl.Unknown && typ.IsString() {
		w.Member("{", "type", typ)
	} else {
		w.Text("{", "type", e.Kind.Type())
	}
	w.Place(e, line.First("timestamp"))
	if line.Get("table").Is("session_message") {
		w.row(e, line)
		return append(w.Out, '}')
	}
	switch e.Kind {
	case jsonl.Header:
		w.Member(",", "cwd", line.Get("directory"))
		w.Member(",", "parentSession", line.Get("parent_id"))
	case jsonl.SessionInfo:
		w.Member(",", "name", line.Get("title"))
	case jsonl.UsageEntry:
		w.Raw(`,"kind":"compaction"`)
		info, _ := infoOf(e.Lines[len(e.Lines)-1]) // after what asked for a summary
		w.usageOf(info)
	case jsonl.Transform:
		w.compaction(e.Lines)
	case jsonl.ContextEdit:
		w.edit(e.Lines)
	case jsonl.Unknown:
		w.Member(",", "data", line.Get("data"))
	case jsonl.ToolResult:
		w.Raw(`,"message":`)
		w.result(partOf(line), partID(line))
	default:
		w.Raw(`,"message":`)
		m := readMessages(e.Lines)[0]
		w.message(&m, e.Kind)
	}
	return append(w.Out, '}')
}

// message appends a message, without the results of its calls.
func (w *writer) message(m *readMessage, kind jsonl.Kind) {
	w.Raw(`{"role":"` + kind.Role() + `"`)
	if kind == jsonl.Custom {
		w.Raw(`,"customType":"synthetic","display":true`)
	}
	w.Raw(`,"content":`)
	w.blocks(m.parts)
	if kind == jsonl.Assistant {
		w.Raw(`,"api":"opencode"`)
		w.usageOf(m.info)
		w.Raw(`,"stopReason":"` + stopReason(m) + `"`)
	}
	w.Member(",", "id", m.id)
	if w.Native && kind == jsonl.Assistant {
		w.nativeAnswer(m.parts)
	} else if w.Native {
		w.nativePrompt(m.parts)
	}
	w.Raw("}")
}

// blocks appends what parts say as the blocks of a message.
func (w *writer) blocks(parts []jsonl.Value) {
	sep := "["
	for _, p := range parts {
		at := len(w.Out)
		w.Raw(sep)
		begins := len(w.Out)
		if w.block(p); len(w.Out) == begins {
			w.Out = w.Out[:at]
		} else {
			sep = ","
		}
	}
	if sep == "[" {
		w.Raw(sep)
	}
	w.Raw("]")
}

// block appends the block of a part, if it has one.
func (w *writer) block(p jsonl.Value) {
	var f [6]jsonl.Value
	p.Fields(f[:], "type", "text", "callID", "tool", "url", "mime")
	said := spoken(p)
	switch {
	case f[0].Is("reasoning") && f[1].IsString() && string(f[1]) != `""`:
		w.Block("thinking", "thinking", f[1])
	case said.Exists():
		w.Block("text", "text", said)
	case f[0].Is("tool"):
		w.Raw(`{"type":"toolCall"`)
		w.Member(",", "id", f[2])
		w.Member(",", "name", f[3])
		w.Member(",", "arguments", input(p))
		w.Raw("}")
	case f[0].Is("file") && attached(f[5]):
		w.file(f[4], f[5])
	}
}

// spoken is the text that a part says, absent for none.
func spoken(p jsonl.Value) jsonl.Value {
	var f [3]jsonl.Value
	p.Fields(f[:], "type", "text", "ignored")
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

// file appends an image, or that there is another file.
func (w *writer) file(url, mime jsonl.Value) {
	if data, ok := imageData(url, mime); ok {
		w.Raw(`{"type":"image"`)
		w.Member(",", "data", data)
		w.Member(",", "mimeType", mime)
		w.Raw("}")
		return
	}
	w.Raw(`{"type":"opaque"`)
	w.Member(",", "item", mime)
	w.Raw("}")
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
	var f [4]jsonl.Value
	state.Fields(f[:], "status", "output", "error", "metadata")
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
	if !said.IsString() {
		said = jsonl.Value(`""`)
	}
	return said, failed
}

// result appends the message of what a call returned.
func (w *writer) result(p jsonl.Value, id string) {
	w.Raw(`{"role":"toolResult"`)
	w.Member(",", "toolCallId", p.Get("callID"))
	w.Member(",", "toolName", p.Get("tool"))
	w.Raw(",")
	w.returned(p)
	w.Text(",", "id", id)
	w.nativeResult(p)
	w.Raw("}")
}

// returned appends what a call returned, as members of its message.
func (w *writer) returned(p jsonl.Value) {
	said, failed := outcome(p)
	w.Raw(`"content":[`)
	w.Block("text", "text", said)
	if !said.Is("[Old tool result content cleared]") {
		for file := range p.Get("state").Get("attachments").Elements {
			w.Raw(",")
			w.file(file.Get("url"), file.Get("mime"))
		}
	}
	if failed {
		w.Raw(`],"isError":true`)
	} else {
		w.Raw(`],"isError":false`)
	}
	if exit := p.Get("state").Get("metadata").Get("exit"); exit.IsNumber() { // of a command
		w.Raw(`,"details":{"exitCode":` + string(exit) + `}`)
	}
}

// compaction appends the patch of a summary: what asked for it, the summary, and the messages
// that it leaves stand for all.
func (w *writer) compaction(lines []jsonl.Value) {
	w.Raw(`,"transformerName":"compaction","schemaVersion":1,"patch":[{"op":"messages_cached_replace","scope":"cached","invalidateCacheReason":"compaction","messages":[`)
	sep := ""
	all := readMessages(lines)
	all[0], all[1] = all[1], all[0]
	for _, m := range all {
		w.Raw(sep)
		sep = ","
		if !m.info.Get("role").Is("assistant") {
			w.message(&m, jsonl.User)
			continue
		}
		w.message(&m, jsonl.Assistant)
		for k, p := range m.parts {
			if p.Get("type").Is("tool") {
				w.Raw(sep)
				w.result(p, m.ids[k])
			}
		}
	}
	w.Raw("]}]")
}

// edit appends an edit (see arranger.edit): of a result by its part, of a message by a part and
// all that it has, and the removal of either by the message.
func (w *writer) edit(lines []jsonl.Value) {
	of := readMessages(lines)
	switch info, id := infoOf(lines[0]); {
	case info.Exists() && len(lines) > 1 && partOf(lines[1]).Exists():
		w.Text(",", "targetId", partID(lines[1]))
		w.Raw(`,"replacement":null`)
	case info.Exists():
		w.Member(",", "targetId", id)
		w.Raw(`,"replacement":null`)
	case len(of) == 0:
		w.Text(",", "targetId", partID(lines[0]))
		w.Raw(`,"replacement":{`)
		w.returned(partOf(lines[0]))
		w.Raw("}")
		w.nativeResult(partOf(lines[0]))
	default:
		w.Member(",", "targetId", of[0].id)
		w.Raw(`,"replacement":{"content":`)
		w.blocks(of[0].parts)
		w.Raw("}")
		if of[0].info.Get("role").Is("assistant") {
			w.nativeAnswer(of[0].parts)
		} else {
			w.nativePrompt(of[0].parts)
		}
	}
}

// stopReason is why an answer ended, as pi says it.
func stopReason(m *readMessage) string {
	var f [2]jsonl.Value
	m.info.Fields(f[:], "finish", "error")
	switch {
	case f[1].Get("name").Is("MessageAbortedError"):
		return "aborted"
	case f[1].IsObject():
		return "error"
	case f[0].Is("length"):
		return "length"
	case f[0].Is("tool-calls"):
		return "toolUse"
	}
	for _, p := range m.parts {
		if p.Get("type").Is("tool") {
			return "toolUse"
		}
	}
	return "stop"
}

// usageOf appends model and usage of a request. Forks copy messages under new ids: by its times
// and tokens, a response is known again.
func (w *writer) usageOf(info jsonl.Value) {
	var f [5]jsonl.Value
	info.Fields(f[:], "providerID", "modelID", "tokens", "cost", "time")
	w.Member(",", "provider", f[0])
	w.Member(",", "model", f[1])
	tokens := f[2]
	if !tokens.IsObject() {
		return
	}
	w.response(f[4], tokens)
	w.usage(tokens, f[3])
}

// response appends an id for a response, by what copies of its answer share.
func (w *writer) response(shared ...jsonl.Value) {
	h := fnv.New64a()
	for _, v := range shared {
		h.Write(v)
	}
	w.Raw(fmt.Sprintf(`,"responseId":"usage-%016x"`, h.Sum64()))
}

// usage appends a usage in pi's terms: what was thought is a part of the output.
func (w *writer) usage(tokens, cost jsonl.Value) {
	var f [4]jsonl.Value
	tokens.Fields(f[:], "input", "output", "reasoning", "cache")
	in, out := f[0].Int(), f[1].Int()+f[2].Int()
	read, write := f[3].Get("read").Int(), f[3].Get("write").Int()
	w.Number(`,"usage":{"input":`, in)
	w.Number(`,"output":`, out)
	w.Number(`,"cacheRead":`, read)
	w.Number(`,"cacheWrite":`, write)
	w.Number(`,"totalTokens":`, in+out+read+write)
	if total, ok := cost.Float(); ok && total > 0 {
		w.Raw(`,"cost":{`)
		w.Member("", "total", cost)
		w.Raw("}")
	}
	w.Raw("}")
}
