package migrate

import (
	"bytes"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"fmt"
	"slices"
)

type value = jsonl.Value

// Changes yields a change for each line of the file. A change is valid until the next one. An
// error comes last.
func (p *Plan) Changes(yield func(sessionfmt.Change, error) bool) {
	w := writer{Plan: p, why: p.reasons(), names: p.s.NewNamer()}
	for l, err := range p.s.Lines {
		c := sessionfmt.Change{Line: l, Same: true}
		if err == nil && !p.Current() {
			w.line(&c)
		}
		if !yield(c, err) || err != nil {
			return
		}
	}
}

// reasons returns, by line, why a line is not an entry.
func (p *Plan) reasons() map[int]string {
	why := map[int]string{}
	for _, f := range p.s.Findings {
		switch f.Code {
		case "torn", "malformed", "glued", "falsy-line", "scalar-line", "scalar-leaf":
			why[f.Line] = f.Text
		}
	}
	return why
}

// A writer makes the changes of a file, line by line, reusing its memory.
type writer struct {
	*Plan
	why   map[int]string
	names *sessionfmt.Namer

	out     [][]byte // lines of the change
	buf     []byte   // memory of out, or of its last line
	fields  []jsonl.Field
	placed  bool // id and parent were added as the first two fields
	id      []byte
	parent  []byte
	kept    []byte
	message []byte
	notes   []string
}

// line makes the change of a line.
func (w *writer) line(c *sessionfmt.Change) {
	w.out, w.fields, w.notes = w.out[:0], w.fields[:0], w.notes[:0]
	switch {
	case c.Record < 0 && jsonl.TrimJS(string(c.Raw)) == "" && string(c.Raw) != "\ufeff":
		return // a blank line
	case c.Record < 0 || w.s.Kind(c.Record) == jsonl.Scalar:
		w.quarantine(c)
		return
	}
	w.entry(c)
	if !c.Ended {
		w.notes = append(w.notes, "missing newline added")
		if len(w.out) == 0 {
			w.out = append(w.out, c.Raw)
		}
	}
	if len(w.out) > 0 {
		c.Same, c.New, c.Notes = false, w.out, w.notes
	}
}

// quarantine removes a line from the file.
func (w *writer) quarantine(c *sessionfmt.Change) {
	why := w.why[c.Number]
	switch {
	case string(c.Raw) == "\ufeff":
		why = "a byte order mark"
	case why == "":
		why = "no entry"
	}
	c.Same, c.Out, c.Notes = false, c.Raw, append(w.notes, "removed: "+why)
}

// entry edits the line of a header or an entry.
func (w *writer) entry(c *sessionfmt.Change) {
	rec := c.Record
	line, before, after := object(c.Raw)
	if w.placed = false; w.s.Kind(rec) == jsonl.Header {
		w.header()
	} else {
		if w.placed = w.From < 2; w.placed {
			w.place(rec, line)
		}
		if w.From < 3 && w.To >= 3 && w.s.Kind(rec) == jsonl.Custom {
			w.role(line)
		}
		if first, ok := w.turn[rec]; ok && w.compaction(rec, first, line) {
			return
		}
	}
	if len(w.fields) == 0 {
		return
	}
	w.buf = append(w.buf[:0], before...)
	if w.placed && len(w.fields) == 2 && w.s.Bare(rec) {
		w.buf = line.AppendAdded(w.buf, w.fields...)
	} else {
		w.buf = line.AppendEdited(w.buf, w.fields...)
	}
	w.buf = append(w.buf, after...)
	w.out = append(w.out, w.buf)
}

// object finds a line's JSON object, and the white space around it.
func object(raw []byte) (line value, before, after []byte) {
	i, j := 0, len(raw)
	for i < j && raw[i] != '{' {
		i++
	}
	for j > i && raw[j-1] != '}' {
		j--
	}
	return value(raw[i:j]), raw[:i], raw[j:]
}

// header sets the version, also in later headers, as pi does (docs/session-format.md 11.1,
// 11.2).
func (w *writer) header() {
	if w.From == w.To {
		return
	}
	w.fields = append(w.fields, jsonl.Field{Name: "version", Value: value{'0' + byte(w.To)}})
	w.notes = append(w.notes, fmt.Sprintf("version %d to %d", w.From, w.To))
}

// place adds id and parent to an entry of version 1, and replaces a first kept index by an id.
// New fields are in pi's order.
func (w *writer) place(rec int, line value) {
	w.id = jsonl.AppendQuoted(w.id[:0], w.s.ID(rec))
	w.parent = append(w.parent[:0], "null"...)
	if up := w.s.Parent(rec); up >= 0 {
		w.parent = jsonl.AppendQuoted(w.parent[:0], w.s.ID(up))
	}
	w.fields = append(w.fields, jsonl.Field{Name: "id", Value: w.id}, jsonl.Field{Name: "parentId", Value: w.parent})
	w.notes = append(w.notes, "id and parent added")
	if w.s.Kind(rec) != jsonl.Compaction {
		return
	}
	index := line.Get("firstKeptEntryIndex")
	if !index.IsNumber() {
		return
	}
	note := "first kept index removed: it names no earlier entry"
	if kept := w.s.FirstKept(rec, nil, index); kept >= 0 {
		w.kept = jsonl.AppendQuoted(w.kept[:0], w.s.ID(kept))
		w.fields = append(w.fields, jsonl.Field{Name: "firstKeptEntryId", Value: w.kept})
		note = "first kept index replaced by an id"
	}
	w.fields = append(w.fields, jsonl.Field{Name: "firstKeptEntryIndex"})
	w.notes = append(w.notes, note)
}

// role renames the role of an older extension's message.
func (w *writer) role(line value) {
	message := line.Get("message")
	if !message.Get("role").Is("hookMessage") {
		return
	}
	w.message = message.AppendEdited(w.message[:0], jsonl.Field{Name: "role", Value: value(`"custom"`)})
	w.fields = append(w.fields, jsonl.Field{Name: "message", Value: w.message})
	w.notes = append(w.notes, "role hookMessage changed to custom")
}

// own are the fields of a transform that a compaction does not have, and moved the fields of a
// compaction that its patch holds instead (docs/session-format.md 3.3, 9.7).
var (
	own   = []string{"schemaVersion", "transformerName", "patch", "display"}
	moved = []jsonl.Field{
		{Name: "type"}, {Name: "id"}, {Name: "parentId"}, {Name: "timestamp"},
		{Name: "summary"}, {Name: "tokensBefore"}, {Name: "firstKeptEntryId"}, {Name: "firstKeptEntryIndex"},
	}
)

// compaction makes the patch for a compaction. In a pair it comes before the entry, which
// becomes its child. A transform alone replaces the entry and takes its id, so that children,
// labels and first kept entries still refer to it, and keeps the compaction's other data, such
// as cost and files. It reports whether the line is complete.
func (w *writer) compaction(rec, first int, line value) bool {
	var f [3]value
	line.Fields(f[:], "id", "parentId", "timestamp")
	if w.From < 2 {
		f[0], f[1] = w.id, w.parent
	} else if !f[1].Exists() {
		f[1] = value("null")
	}
	up := ""
	if i := w.s.Parent(rec); i >= 0 {
		up = w.s.ID(i)
	}
	t := appendTransform(nil, line, first)
	ends := len(t)
	t = append(append(t, `,"timestamp":`...), f[2]...)
	if w.Compaction == Transform {
		t = appendRest(t, line)
	}
	t = append(t, '}')
	id := f[0]
	if w.Compaction == Pair || w.s.ID(rec) == "" {
		id = jsonl.AppendQuoted(nil, w.names.Name(up, t))
	}
	t = slices.Insert(t, ends, slices.Concat([]byte(`,"id":`), id, []byte(`,"parentId":`), f[1])...)
	w.out = append(w.out, t)
	if w.Compaction == Transform {
		w.notes = append(w.notes, "replaced by a patch with the same id")
		return true
	}
	w.notes = append(w.notes, "an equivalent patch added before it")
	w.fields = slices.DeleteFunc(w.fields, func(f jsonl.Field) bool { return f.Name == "parentId" })
	at := min(1, len(w.fields)) // after the id, if that was added
	w.fields = slices.Insert(w.fields, at, jsonl.Field{Name: "parentId", Value: id})
	return false
}

// appendTransform appends a transform equivalent to a compaction, up to the place of its id.
// The compaction's values keep their spelling.
func appendTransform(dst []byte, line value, first int) []byte {
	var f [3]value
	line.Fields(f[:], "summary", "timestamp", "tokensBefore")
	ms, _ := f[1].Date()
	dst = fmt.Appendf(dst,
		`{"type":"context_transform","schemaVersion":1,"transformerName":"compaction","patch":[`+
			`{"op":"compaction_apply","scope":"cached","summary":%s,"timestamp":%d,"firstKeptMessageIndex":%d`,
		f[0], ms, first)
	if f[2].Exists() {
		dst = fmt.Appendf(dst, `,"tokensBefore":%s`, f[2])
	}
	return append(dst, `,"invalidateCacheReason":"compaction"}],"display":{"title":"Compaction"}`...)
}

// appendRest appends the other fields of a compaction's line unchanged.
func appendRest(dst []byte, line value) []byte {
	rest := line.AppendEdited(nil, moved...)
	if rest = bytes.TrimSpace(rest[1 : len(rest)-1]); len(rest) > 0 {
		dst = append(append(dst, ','), rest...)
	}
	return dst
}
