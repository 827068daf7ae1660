package sessionfmt

import (
	"bytes"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// UndoType is the custom type of the entry that follows an undone batch. It may go back
// to an earlier branch.
const UndoType = "ctxtool.undo"

// A Field is a member of an object: its name, and its raw value.
type Field struct {
	Name  string
	Value Value
}

// OwnID is the value of a field that is the id of its own entry, which is not known
// before the entry is. It is no JSON, so nothing that was read equals it.
var OwnID = Value("$id")

func isOwnID(v Value) bool { return string(v) == string(OwnID) }

// A Batch is entries to append to a session, each the child of the one before. They
// have one time, so a batch made from the same session and time is the same, byte
// for byte, wherever it is made.
type Batch struct {
	s      *Session
	time   string
	leaf   string // id of the parent of the next entry, empty for a new root
	parent Value  // the same as it is spelled, since a number is another id than its digits
	fresh  map[string]bool
	lines  []byte
	err    error // why it cannot be appended
}

// NewBatch begins a batch below record parent, or with a new root below -1. Its time
// is now, in milliseconds, but not before the parent's own, by which pi sorts. What
// speaks against the parent is said by Append.
func (s *Session) NewBatch(parent int, now time.Time) *Batch {
	b := &Batch{s: s, parent: Value("null"), fresh: map[string]bool{}}
	ms := now.UnixMilli()
	if parent >= 0 {
		line, err := s.NewReader().Line(parent)
		if b.err = s.refuseParent(parent); b.err == nil {
			b.err = err
		}
		b.leaf, b.parent = s.ID(parent), bytes.Clone(line.Get("id"))
		if before, ok := line.Get("timestamp").Millis(); ok {
			ms = max(ms, before)
		}
	}
	b.time = isoTime(ms)
	return b
}

// Add adds an entry of that kind with those fields of its own, absent values left
// out, and returns its id. What cannot be written is said by Append.
func (b *Batch) Add(kind Kind, fields ...Field) (id string) {
	b.check(kind, fields)
	base := fmt.Appendf(nil, `"timestamp":"%s"`, b.time)
	bare := appendEntry(nil, kind, fields, base) // without OwnID
	id = makeID(b.leaf, bare, func(id string) bool { return b.fresh[id] || b.s.Find(id) >= 0 })
	for k, f := range fields {
		if isOwnID(f.Value) {
			fields[k].Value = AppendQuoted(nil, id)
		}
	}
	base = fmt.Appendf(nil, `"id":"%s","parentId":%s,%s`, id, b.parent, base)
	b.lines = append(appendEntry(b.lines, kind, fields, base), '\n')
	b.fresh[id] = true
	b.leaf, b.parent = id, AppendQuoted(nil, id)
	return id
}

// Err says why the entries cannot follow those of the session, wherever the two are
// written: pi would not take them, or not the session. It is an *Error.
func (b *Batch) Err() error { return b.s.at(b.s.refuseShape(b)) }

// Millis is the time of the entries, in milliseconds since 1970.
func (b *Batch) Millis() int64 {
	ms, _ := Value(fmt.Appendf(nil, "%q", b.time)).Millis()
	return ms
}

// Lines are the bytes that Append writes: one line an entry, each with its newline.
func (b *Batch) Lines() []byte { return b.lines }

// Len is the number of entries.
func (b *Batch) Len() int { return len(b.fresh) }

// appendEntry spells an entry as pi does: type, base, own fields. Entries that
// extensions and transforms make have their own fields before the base
// (spec/pi-format.md 1.5, pi-1.5.md 1.2).
func appendEntry(dst []byte, kind Kind, fields []Field, base []byte) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, kind.Type()...)
	dst = append(dst, '"', ',')
	ownFirst := kind == CustomEntry || kind == CustomMessage || kind == Transform || kind == Ephemeral
	if !ownFirst {
		dst = append(append(dst, base...), ',')
	}
	for _, f := range fields {
		if f.Value.Exists() && !isOwnID(f.Value) {
			dst = append(AppendQuoted(dst, f.Name), ':')
			dst = append(append(dst, f.Value...), ',')
		}
	}
	if ownFirst {
		dst = append(append(dst, base...), ',')
	}
	dst[len(dst)-1] = '}'
	return dst
}

// check sees that the kind can be written, and that the values are JSON on one line.
func (b *Batch) check(kind Kind, fields []Field) {
	if b.err == nil && (!kind.IsEntry() || kind.Type() == "") {
		b.err = fmt.Errorf("a record of kind %s is not appended", kind)
	}
	var scan Scanner
	for _, f := range fields {
		if b.err != nil || !f.Value.Exists() || isOwnID(f.Value) {
			continue
		}
		if err := scan.Check(f.Value); err != nil {
			b.err = fmt.Errorf("the field %s of a new %s: %w", f.Name, kind, err)
		} else if bytes.ContainsAny(f.Value, "\r\n") || !utf8.Valid(f.Value) {
			b.err = fmt.Errorf("the field %s of a new %s is not one line of UTF-8", f.Name, kind)
		}
	}
}

// With reads the session with the batch behind it, as appending would leave it.
func (s *Session) With(b *Batch) io.Reader {
	return io.MultiReader(io.NewSectionReader(s.src.bytes, 0, s.src.size), bytes.NewReader(b.lines))
}
