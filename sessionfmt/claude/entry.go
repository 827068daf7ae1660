package claude

import (
	"iter"
	"strconv"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A line is a record as it is shown.
type line struct {
	typ, subtype, timestamp, content, attachment jsonl.Value

	message
}

// A message is what the API got or gave.
type message struct {
	id, role, said, model, stop, usage, diagnostics jsonl.Value
}

// readLine reads a record, as far as it has to: after it, the record has the result of a tool
// again.
func readLine(v jsonl.Value) (l line) {
	said := false
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
			l.message.read(&c)
			said = true
		default:
			continue
		}
		if said && l.typ.Exists() && l.timestamp.Exists() {
			break
		}
	}
	return l
}

func (m *message) read(c *jsonl.Cursor) {
	for key := range c.Members {
		switch string(key) {
		case "id":
			m.id = c.Value()
		case "role":
			m.role = c.Value()
		case "content":
			m.said = c.Value()
		case "model":
			m.model = c.Value()
		case "stop_reason":
			m.stop = c.Value()
		case "usage":
			m.usage = c.Value()
		case "diagnostics":
			m.diagnostics = c.Value()
		}
	}
}

// appendEntry is [dialect.Dialect]'s Append.
func appendEntry(dst []byte, e *dialect.Old) []byte {
	w := writer{dialect.Writer{Out: dst, Native: e.Native}}
	k, _ := e.Kept.(*kept)
	if k == nil || !e.Again {
		k = &kept{line: readLine(e.Lines[0])}
		e.Kept = k
	}
	l := k.line
	switch {
	case e.Kind != jsonl.Unknown:
		w.Raw(`{"type":"` + e.Kind.Type() + `"`)
	case l.typ.IsString():
		w.Member("{", "type", l.typ)
	default:
		w.Raw(`{"type":""`)
	}
	w.Place(e, l.timestamp)
	if e.Kind == jsonl.Header {
		var f [2]jsonl.Value
		e.Lines[0].Fields(f[:], "cwd", "forkedFrom")
		w.Member(",", "cwd", f[0])
		w.Member(",", "parentSession", f[1].Get("sessionId"))
		return append(w.Out, '}')
	}
	switch e.Kind {
	case jsonl.CustomEntry:
		w.Member(",", "customType", l.subtype)
		w.Member(",", "data", e.Lines[0])
	case jsonl.Transform:
		w.compaction(e.Lines)
	case jsonl.ContextEdit:
		w.edit(e, &l)
	case jsonl.SessionInfo:
		name := e.Lines[0].Get("customTitle")
		if !name.Exists() {
			name = e.Lines[0].Get("aiTitle")
		}
		w.Member(",", "name", name)
	case jsonl.Unknown:
	default:
		w.Raw(`,"message":`)
		w.message(e, &l)
	}
	return append(w.Out, '}')
}

// message appends the message of a message entry.
func (w *writer) message(e *dialect.Old, l *line) {
	switch e.Kind {
	case jsonl.Assistant:
		w.answer(l, e.Lines)
	case jsonl.User:
		w.said("user", &l.message)
	case jsonl.ToolResult:
		e.Kept.(*kept).read(e.Lines[1:])
		w.result(l, e.Part, e.Kept.(*kept))
	default:
		w.note(l)
	}
}

// compaction appends the patch of a compaction: one op that puts the summary, and what was
// kept, in place of all.
func (w *writer) compaction(lines []jsonl.Value) {
	w.Raw(`,"transformerName":"compaction","schemaVersion":1,"patch":[{"op":"messages_cached_replace","scope":"cached","invalidateCacheReason":"compaction","messages":[`)
	for k := 1; k < len(lines); {
		if k > 1 {
			w.Raw(",")
		}
		l := readLine(lines[k])
		n := k + 1
		switch {
		case l.typ.Is("assistant"):
			for n < len(lines) && sameAnswer(&l, lines[n]) {
				n++
			}
			w.answer(&l, lines[k:n])
		case l.typ.Is("user") && hasOutcome(l.message.said):
			results := &kept{line: l}
			results.read(lines[1:])
			w.result(&l, 0, results)
		case l.typ.Is("user"):
			w.said("user", &l.message)
		default:
			w.note(&l)
		}
		k = n
	}
	w.Raw("]}]")
}

func sameAnswer(l *line, next jsonl.Value) bool {
	if !next.First("type").Is("assistant") {
		return false
	}
	id := next.First("message", "id")
	return id.IsString() && string(id) == string(l.id)
}

// edit appends an edit: of the entry of the second line, if there is one.
func (w *writer) edit(e *dialect.Old, l *line) {
	first := e.Lines[0]
	part := e.Part
	var call, said jsonl.Value
	cleared := false
	switch {
	case l.subtype.Is("microcompact_boundary"):
		call = nth(first.Get("microcompactMetadata").Get("compactedToolIds"), part)
		cleared = call.Exists()
	case l.typ.Is("content-replacement"):
		one := nth(first.Get("replacements"), part)
		call, said = one.Get("toolUseId"), one.Get("replacement")
	}
	id := ""
	if len(e.Lines) > 1 {
		id = e.Lines[1].First("uuid").Text()
		if k := partOf(e.Lines[1].First("message", "content"), call); k > 0 {
			id += "." + strconv.Itoa(k)
		}
	}
	w.Text(",", "targetId", id)
	switch {
	case l.typ.Is("assistant") && e.Lines[1].First("type").Is("assistant"): // only these lines of it are left
		w.part(e.Lines[1:])
	case cleared:
		w.Raw(`,"replacement":{"content":[{"type":"opaque","item":"cleared tool result"}]}`)
		w.nativeResult(call, nil) // what it says instead is not in the file
	case said.Exists():
		w.Raw(`,"replacement":{"content":`)
		w.content(said)
		w.Raw("}")
		w.nativeResult(call, said)
	default:
		w.Raw(`,"replacement":null`)
	}
}

// part appends, as the replacement of an answer, what only some of its lines say.
func (w *writer) part(lines []jsonl.Value) {
	w.Raw(`,"replacement":{"content":[`)
	sep := ""
	for _, raw := range lines {
		sep = w.blocks(raw.First("message", "content"), sep)
	}
	w.Raw("]}")
	if w.Native {
		w.Raw(`,"native":[{"role":"assistant","content":[`)
		w.bare(lines)
		w.Raw("]}]")
	}
}

// bare appends the blocks of lines as they stand.
func (w *writer) bare(lines []jsonl.Value) {
	sep := ""
	for _, raw := range lines {
		for b := range raw.First("message", "content").Elements {
			w.Raw(sep)
			w.Out = append(w.Out, b...)
			sep = ","
		}
	}
}

// nativeResult appends, where it is asked for, a message with one result.
func (w *writer) nativeResult(call, said jsonl.Value) {
	if w.Native {
		w.Raw(`,"native":[{"role":"user","content":[{"type":"tool_result"`)
		w.Member(",", "tool_use_id", call)
		w.Member(",", "content", said)
		w.Raw("}]}]")
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

// partOf is which of the results of a content is that of a call.
func partOf(content, call jsonl.Value) (part int) {
	if !call.Exists() {
		return 0
	}
	for block := range content.Elements {
		if !block.Get("type").Is("tool_result") {
			continue
		}
		if string(block.Get("tool_use_id")) == string(call) {
			return part
		}
		part++
	}
	return 0
}

// An outcome is what a tool returned.
type outcome struct{ raw, call, said, failed jsonl.Value }

// A kept is what was read of the lines of an entry, and serves the other entries of these.
type kept struct {
	line     line
	outcomes []outcome              // of its results
	names    map[string]jsonl.Value // of the tools that were called
}

// read reads the results, and the calls of other lines, unless that is done.
func (k *kept) read(lines []jsonl.Value) {
	if k.names != nil {
		return
	}
	k.names = map[string]jsonl.Value{}
	for o := range outcomesOf(k.line.said) {
		k.outcomes = append(k.outcomes, o)
	}
	for _, raw := range lines {
		callsOf(raw, k.names)
	}
}

// outcome is a result by its number, empty if there are fewer.
func (k *kept) outcome(part int) (o outcome) {
	if part < len(k.outcomes) {
		o = k.outcomes[part]
	}
	return o
}

// hasOutcome reports whether a content has a result.
func hasOutcome(content jsonl.Value) bool {
	for range outcomesOf(content) {
		return true
	}
	return false
}

// outcomesOf yields the results of a content.
func outcomesOf(content jsonl.Value) iter.Seq[outcome] {
	return func(yield func(outcome) bool) {
		var c jsonl.Cursor
		c.Once(content)
		for range c.Elements {
			var o outcome
			is, start := false, c.Offset()
			for key := range c.Members {
				switch string(key) {
				case "type":
					is = c.Value().Is("tool_result")
				case "tool_use_id":
					o.call = c.Value()
				case "content":
					o.said = c.Value()
				case "is_error":
					o.failed = c.Value()
				}
			}
			if o.raw = c.Since(start); is && !yield(o) {
				return
			}
		}
	}
}
