package migrate

import (
	"bytes"
	"fmt"
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

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
	dst = fmt.Appendf(dst, `{"type":"context_transform","schemaVersion":1,"transformerName":"compaction","patch":[{"op":"compaction_apply","scope":"cached","summary":%s,"timestamp":%d,"firstKeptMessageIndex":%d`, f[0], ms, first)
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
