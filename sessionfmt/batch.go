package sessionfmt

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"ctxtool/sessionfmt/jsonl"
)

// UndoType is the custom type of the entry that follows an undone batch. It may return to an
// earlier branch.
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
	leaf   string      // id of the parent of the next entry, empty for a new root
	parent jsonl.Value // leaf as JSON, since a number is not the same id as its digits
	names  *Namer
	count  int
	lines  []byte
	err    error // why it cannot be appended
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
		if s.Version < 2 { // its line has no id
			b.parent = jsonl.AppendQuoted(nil, b.leaf)
		}
		if before, ok := line.Get("timestamp").Millis(); ok {
			ms = max(ms, before)
		}
	}
	b.time = isoTime(ms)
	return b
}

// Add adds an entry of that kind with those fields, leaving out absent values, and returns its
// id. Append reports what cannot be written.
func (b *Batch) Add(kind jsonl.Kind, fields ...jsonl.Field) (id string) {
	b.check(kind, fields)
	base := fmt.Appendf(nil, `"timestamp":%s`, b.time)
	bare := appendEntry(nil, kind, fields, base) // with OwnID unresolved
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

// Err returns why the entries cannot follow those of the session, even in another file, because
// pi would not accept them or the session. It is an *Error.
func (b *Batch) Err() error { return b.s.at(b.s.refuseShape(b)) }

// inBatch reports whether the entry of a line was made for a Batch: its id is the hash of the rest.
func inBatch(line jsonl.Value) bool {
	id := line.Get("id")
	rest := []jsonl.Field{{Name: "id"}, {Name: "parentId"}}
	for name, v := range line.Members {
		if id.IsString() && bytes.Equal(v, id) { // the value was OwnID
			rest = append(rest, jsonl.Field{Name: string(name)})
		}
	}
	return id.Is(hexID(hashBelow(line.Get("parentId").Text(), line.AppendEdited(nil, rest...))))
}

// LastActivity returns the time of the last entry in the file that no Batch added, in milliseconds
// since 1970. It is not ok if that entry has no time, or if something else follows the last entry, such
// as an incomplete line. Only the entries from there on are read.
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
		at, _ := r.Timestamp(i) // none where the line cannot be read
		return at.Millis()
	}
	return 0, false
}

// Millis returns the time of the entries, in milliseconds since 1970.
func (b *Batch) Millis() int64 {
	ms, _ := b.time.Millis()
	return ms
}

// Lines returns the bytes that Append writes: one line per entry, including its newline.
func (b *Batch) Lines() []byte { return b.lines }

// Len returns the number of entries.
func (b *Batch) Len() int { return b.count }

// appendEntry writes an entry as pi does: type, base, own fields. Entries by extensions and
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

// check checks that the kind can be written, and that the values are JSON on one line.
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

// With returns the session followed by the batch, as appending would leave it.
func (s *Session) With(b *Batch) io.Reader {
	return io.MultiReader(io.NewSectionReader(s.src.bytes, 0, s.src.size), bytes.NewReader(b.lines))
}

// A BranchFile is a new session made from one path of another.
type BranchFile struct {
	ID      string // of the new session
	Entries int    // copied from the path
	Labels  int    // set again at the end

	s      *Session
	time   jsonl.Value // of the new session
	header []byte
	path   []int
	edits  map[int][]jsonl.Field // new parents and first kept entries, where they differ
	labels *Batch
}

// Branch makes a session of the path to record leaf, as pi does (docs/session-format.md 11.4).
// It copies all entries of the path except labels. Labels of copied entries are set again at
// the end, with their times. The child of a label gets the label's parent, so nothing is cut
// off. file is how the new session refers to this one, now is its time. Its id is derived from
// both, so that it is reproducible.
func (s *Session) Branch(leaf int, file string, now time.Time) (*BranchFile, error) {
	if err := s.refuseVersion(); err != nil {
		return nil, s.at(err)
	}
	if s.Version < 3 {
		return nil, s.at(&Error{Err: fmt.Errorf("the format is version %d, and a new session requires 3", s.Version),
			Hint: "ctxtool migrate " + s.Name + " --write upgrades it"})
	}
	if s.header < 0 {
		return nil, s.at(&Error{Err: errors.New("it has no session header"), Hint: "run ctxtool repair"})
	}
	path, found := s.Path(leaf)
	if len(found) > 0 || len(path) > 0 && s.Parent(path[0]) >= 0 {
		return nil, s.at(&Error{Err: errors.New("the path to that point is a parent cycle"),
			Hint: "run ctxtool repair"})
	}
	b := &BranchFile{s: s, time: isoTime(now.UnixMilli()), edits: map[int][]jsonl.Field{}}
	if err := b.newHeader(leaf, file, now); err != nil {
		return nil, err
	}
	if err := b.take(path); err != nil {
		return nil, err
	}
	return b, b.label()
}

// newHeader makes the header, with its fields in pi's order.
func (b *BranchFile) newHeader(leaf int, file string, now time.Time) error {
	line, err := b.s.NewReader().Line(b.s.header)
	if err != nil {
		return err
	}
	at := ""
	if leaf >= 0 {
		at = b.s.ID(leaf)
	}
	sum := sha256.Sum256([]byte(line.Get("id").Text() + "\n" + at + "\n" + now.UTC().Format(time.RFC3339Nano)))
	var id [16]byte // a UUID version 7: the time, then a hash instead of random bits
	ms := uint64(now.UnixMilli())
	for k := range 6 {
		id[k] = byte(ms >> (40 - 8*k))
	}
	copy(id[6:], sum[:10])
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	b.ID = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	b.header = fmt.Appendf(nil, `{"type":"session","version":3,"id":"%s","timestamp":%s`, b.ID, b.time)
	if cwd := line.Get("cwd"); cwd.Exists() {
		b.header = append(append(b.header, `,"cwd":`...), cwd...)
	}
	if file != "" {
		b.header = jsonl.AppendQuoted(append(b.header, `,"parentSession":`...), file)
	}
	b.header = append(b.header, '}')
	return nil
}

// isoTime returns a time as pi writes it.
func isoTime(ms int64) jsonl.Value {
	return time.UnixMilli(ms).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`)
}

// take selects the entries of a path to copy: all except labels. The child of a label gets the
// label's parent, and a compaction that keeps from a label on keeps from the next entry on.
func (b *BranchFile) take(path []int) error {
	s, r := b.s, b.s.NewReader()
	above, skipped := jsonl.Value("null"), false
	next := map[int]jsonl.Value{} // by label id, the id of the entry that follows
	var waiting []int
	for _, i := range path {
		if s.records[i].kind == jsonl.Label {
			skipped = true
			waiting = append(waiting, i)
			continue
		}
		line, err := r.Line(i)
		if err != nil {
			return err
		}
		id := bytes.Clone(line.Get("id"))
		if !jsonl.Value(id).Truthy() {
			return &Error{Pos: s.Pos(i), Err: errors.New("it has no id, so no entry can follow it"),
				Hint: "run ctxtool repair"}
		}
		if skipped {
			b.edits[i] = append(b.edits[i], jsonl.Field{Name: "parentId", Value: above})
		}
		for _, l := range waiting {
			next[l] = id
		}
		if kind := s.records[i].kind; kind == jsonl.Compaction || kind == jsonl.Reset {
			kept := s.FindValue(line.Get("firstKeptEntryId"))
			if to, ok := next[kept]; ok && kept != i {
				b.edits[i] = append(b.edits[i], jsonl.Field{Name: "firstKeptEntryId", Value: to})
			}
		}
		above, skipped, waiting = id, false, nil
		b.path = append(b.path, i)
	}
	b.Entries = len(b.path)
	return nil
}

// label sets the labels of copied entries again, one after the other.
func (b *BranchFile) label() error {
	s, r := b.s, b.s.NewReader()
	taken, parent := map[int]bool{}, jsonl.Value("null")
	for _, i := range b.path {
		taken[i] = true
	}
	if n := len(b.path); n > 0 {
		parent = bytes.Clone(r.Entry(b.path[n-1]).Get("id"))
	}
	last := s.lastLabels(r)
	maps.DeleteFunc(last, func(target, _ int) bool { return !taken[target] })
	b.labels = &Batch{s: s, leaf: parent.Text(), parent: parent, names: s.NewNamer()}
	for _, i := range slices.Sorted(maps.Values(last)) {
		line := r.Entry(i)
		if b.labels.time = line.Get("timestamp"); !b.labels.time.Exists() {
			b.labels.time = b.time // the first known time
		}
		b.labels.Add(jsonl.Label, jsonl.Field{Name: "targetId", Value: line.Get("targetId")},
			jsonl.Field{Name: "label", Value: line.Get("label")})
	}
	b.Labels = b.labels.Len()
	return r.Err()
}

// Print writes the new session.
func (b *BranchFile) Print(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.Write(append(b.header, '\n'))
	r := b.s.NewReader()
	for _, i := range b.path {
		line, err := r.Line(i)
		if err != nil {
			return err
		}
		if edits := b.edits[i]; edits != nil {
			line = line.AppendEdited(nil, edits...)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	out.Write(b.labels.Lines())
	return out.Flush()
}
