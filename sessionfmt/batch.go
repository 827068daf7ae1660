package sessionfmt

import (
	"bytes"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"ctxtool/sessionfmt/jsonl"
)

// UndoType is the custom type of the entry that records an undo. It follows the undone batch, or returns to the
// branch before it.
const UndoType = "ctxtool.undo"

// OwnID is the value of a field that holds the id of its own entry, which is only known once
// the entry is built. It is not JSON, so no value read from a file equals it.
var OwnID = jsonl.Value("$id")

func isOwnID(v jsonl.Value) bool { return string(v) == string(OwnID) }

// A Batch is a list of entries to append to a session, each the child of the one before. All
// have the same time, so a batch built from the same session and time has the same bytes.
type Batch struct {
	s      *Session
	time   jsonl.Value
	leaf   string      // id of the parent of the next entry; empty for a new root
	parent jsonl.Value // id of the leaf as JSON: a number is not the same id as its digits
	names  *Namer
	count  int
	lines  []byte
	err    error // why the batch cannot be appended
}

// NewBatch returns an empty batch below record parent, or with a new root if parent is -1. Its
// time is now, in milliseconds, but not before the parent's, since pi sorts by time. Append
// reports an invalid parent.
func (s *Session) NewBatch(parent int, now time.Time) *Batch {
	b := &Batch{s: s, parent: jsonl.Value("null"), names: s.NewNamer()}
	ms := now.UnixMilli()
	if parent >= 0 {
		line, err := s.NewReader().Line(parent)
		if b.err = s.refuseParent(parent); b.err == nil {
			b.err = err
		}
		b.leaf, b.parent = s.ID(parent), bytes.Clone(line.Get("id"))
		if s.Version < 2 { // the parent's line has no id
			b.parent = jsonl.AppendQuoted(nil, b.leaf)
		}
		if before, ok := line.Get("timestamp").Millis(); ok {
			ms = max(ms, before)
		}
	}
	b.time = isoTime(ms)
	return b
}

// Add adds an entry of that kind with these fields, without absent ones, and returns its id. Append reports
// fields that cannot be written.
func (b *Batch) Add(kind jsonl.Kind, fields ...jsonl.Field) (id string) {
	b.check(kind, fields)
	base := fmt.Appendf(nil, `"timestamp":%s`, b.time)
	bare := appendEntry(nil, kind, fields, base) // with OwnID still unresolved
	id = b.names.Name(b.leaf, bare)
	for k, f := range fields {
		if isOwnID(f.Value) {
			fields[k].Value = jsonl.AppendQuoted(nil, id)
		}
	}
	base = fmt.Appendf(nil, `"id":"%s","parentId":%s,%s`, id, b.parent, base)
	b.lines = append(appendEntry(b.lines, kind, fields, base), '\n')
	b.count++
	b.leaf, b.parent = id, jsonl.AppendQuoted(nil, id)
	return id
}

// Err returns why pi would not accept the entries, or the session that they follow, so that they cannot be
// appended to any file. It is an *Error.
func (b *Batch) Err() error { return b.s.at(b.s.refuseShape(b)) }

// inBatch reports whether a Batch made the entry on this line: only then is its id the hash of the rest.
func inBatch(line jsonl.Value) bool {
	id := line.Get("id")
	rest := []jsonl.Field{{Name: "id"}, {Name: "parentId"}}
	for name, v := range line.Members {
		if id.IsString() && bytes.Equal(v, id) { // the value is OwnID
			rest = append(rest, jsonl.Field{Name: string(name)})
		}
	}
	return id.Is(hexID(hashBelow(line.Get("parentId").Text(), line.AppendEdited(nil, rest...))))
}

// LastActivity returns the time of the last entry in the file that no Batch added, in milliseconds since 1970.
// ok is false if that entry has no time, or if something else follows it, such as an incomplete line. It reads
// only the entries from there on.
func (s *Session) LastActivity() (ms int64, ok bool) {
	last := s.records[s.Len()-1]
	if s.doc == nil && s.refuseTail() != nil ||
		s.dialect == nil && s.src.size-last.off()-int64(last.size) > int64(len("\r\n")) {
		return 0, false
	}
	r := s.NewReader()
	for i := s.Len() - 1; i >= 0; i-- {
		if line, err := r.Line(i); s.dialect == nil && err == nil && inBatch(line) {
			continue
		}
		at, _ := r.Timestamp(i) // no entry if the line cannot be read
		return at.Millis()
	}
	return 0, false
}

// Millis returns the time that all entries of the batch have, in milliseconds since 1970.
func (b *Batch) Millis() int64 {
	ms, _ := b.time.Millis()
	return ms
}

// Lines returns the bytes that Append writes: one line per entry, including its newline.
func (b *Batch) Lines() []byte { return b.lines }

// Len returns the number of entries.
func (b *Batch) Len() int { return b.count }

// appendEntry writes an entry in pi's order of keys: type, base, own fields. Entries of extensions and
// transforms have their own fields before the base (docs/session-format.md 3.2, 3.3).
func appendEntry(dst []byte, kind jsonl.Kind, fields []jsonl.Field, base []byte) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, kind.Type()...)
	dst = append(dst, '"', ',')
	ownFirst := kind == jsonl.CustomEntry || kind == jsonl.CustomMessage || kind == jsonl.Transform ||
		kind == jsonl.Ephemeral
	if !ownFirst {
		dst = append(append(dst, base...), ',')
	}
	for _, f := range fields {
		if f.Value.Exists() && !isOwnID(f.Value) {
			dst = append(jsonl.AppendQuoted(dst, f.Name), ':')
			dst = append(append(dst, f.Value...), ',')
		}
	}
	if ownFirst {
		dst = append(append(dst, base...), ',')
	}
	dst[len(dst)-1] = '}'
	return dst
}

// check records an error if the kind cannot be written, or a value is not JSON on one line.
func (b *Batch) check(kind jsonl.Kind, fields []jsonl.Field) {
	if b.err == nil && (!kind.IsEntry() || kind.Type() == "") {
		b.err = fmt.Errorf("cannot append a record of kind %s", kind)
	}
	var scan jsonl.Scanner
	for _, f := range fields {
		if b.err != nil || !f.Value.Exists() || isOwnID(f.Value) {
			continue
		}
		if err := scan.Check(f.Value); err != nil {
			b.err = fmt.Errorf("field %s of a new %s: %w", f.Name, kind, err)
		} else if bytes.ContainsAny(f.Value, "\r\n") || !utf8.Valid(f.Value) {
			b.err = fmt.Errorf("field %s of a new %s must be one line of UTF-8", f.Name, kind)
		}
	}
}

// With returns the bytes of the session as they would be after appending the batch.
func (s *Session) With(b *Batch) io.Reader {
	return io.MultiReader(io.NewSectionReader(s.src.bytes, 0, s.src.size), bytes.NewReader(b.lines))
}
