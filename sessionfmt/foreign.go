package sessionfmt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"

	"ctxtool/internal/parallel"
	"ctxtool/sessionfmt/claude"
	"ctxtool/sessionfmt/codex"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// dialects are the formats of other agents that are read. A new one is a line here.
var dialects = []*dialect.Dialect{&codex.Dialect, &claude.Dialect}

// Dialects returns the formats of other agents that are read.
func Dialects() []*dialect.Dialect { return slices.Clone(dialects) }

// Dialect is the format of the session where it is another agent's, nil for pi.
func (s *Session) Dialect() *dialect.Dialect { return s.dialect }

// ErrForeign refuses to write to another agent's session.
var ErrForeign = errors.New("sessions of other agents are read only")

// Foreign is the error of writing to a session that is another agent's, nil for pi's.
func (s *Session) Foreign() error {
	if s.dialect == nil {
		return nil
	}
	return &Error{
		Pos: Pos{File: s.Name}, Err: fmt.Errorf("a session of %s: %w", s.dialect.Name, ErrForeign),
		Hint: "ctxtool convert " + Quote(s.Name) + " --to pi -o NEW.jsonl writes it as a session of pi",
	}
}

// Answers reports whether record i is the answer to a request. In another agent's session
// parts of one that broke off, and answers that were put there, are none.
func (s *Session) Answers(i int) bool {
	return s.records[i].kind == jsonl.Assistant && s.records[i].flags&flagUnanswered == 0
}

// mostSniffed is how far into a file its first object is looked for, bytes.
const mostSniffed = 16 << 20

// firstLine returns the first line of a file that is an object, nil if none is near.
func firstLine(src *source) jsonl.Value {
	for size := int64(4 << 10); ; size *= 16 {
		buf := make([]byte, min(size, src.size))
		if readFullAt(src.bytes, buf, 0) != nil {
			return nil
		}
		rest := bytes.TrimPrefix(buf, []byte(jsonl.BOM))
		for whole := true; whole; {
			var line []byte
			if line, rest, whole = bytes.Cut(rest, []byte{'\n'}); !whole && size < src.size {
				break
			}
			if v, err := jsonl.ParseValue(bytes.Trim(line, "\x00")); err == nil && v.IsObject() {
				return v
			}
		}
		if size >= src.size || size > mostSniffed || bytes.HasPrefix(buf, []byte(`{"type":"session",`)) {
			return nil
		}
	}
}

// sniff finds the dialect of a file by its first line, and what the file continues.
func (s *Session) sniff(opt Options) error {
	first := firstLine(s.src)
	for _, d := range dialects {
		if first != nil && d.Sniff(first) {
			s.dialect = d
			return s.continues(first, opt)
		}
	}
	return nil
}

// atOnce is how many entries a worker visits at a time.
const atOnce = 512

// visit hands the entries to visitors, as indexing does for pi's.
func (s *Session) visit(workers int, opt Options) error {
	pieces := (len(s.records) + atOnce - 1) / atOnce
	for err := range parallel.InOrder(pieces, workers, 2*workers+2, func() func(k int) error {
		r, head, see := s.NewReader(), jsonl.NewHeadReader(opt.Pick), opt.Visit()
		return func(k int) error {
			for i := k * atOnce; i < min((k+1)*atOnce, len(s.records)); i++ {
				line, err := r.Line(i)
				if err != nil {
					return err
				}
				h, bad := head.Read(line)
				if bad != nil {
					return &Error{Pos: s.Pos(i), Err: fmt.Errorf("the %s entry made of it is broken: %w", s.dialect.Name, bad)}
				}
				h.Off, h.Unanswered = s.records[i].off, s.records[i].flags&flagUnanswered != 0
				see(h)
			}
			return nil
		}
	}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// A joined is a line that belongs to an entry, beside its first one.
type joined struct {
	entry, size uint32
	off         int64
}

func (j joined) at() dialect.Span { return dialect.Span{Off: j.off, Size: j.size} }

// addForeign keeps a line of another agent's session until it is arranged: its code is
// kept as its kind, and what it refers to and its group as its parent.
func (x *indexer) addForeign(u *unit, h *jsonl.Picked, rec record) {
	head := x.dialect.Read(h)
	if head.Code == dialect.Skip {
		return
	}
	rec.kind = jsonl.Kind(head.Code)
	rec.id, rec.parent, rec.up = u.intern(head.ID), u.intern(head.Ref), uint32(u.intern(head.Group))
	if head.Code == dialect.Unknown {
		u.cover.unknown(Quote(h.Type.Text()), 1)
	}
	u.records = append(u.records, rec)
	if x.times {
		ms, ok := h.Timestamp.Millis()
		if !ok {
			ms = noTime
		}
		u.times = append(u.times, ms)
	}
}

// An arrangement makes entries of the lines of another agent's session. Both are in one
// slice, which gets room between them where there are more entries than lines so far.
type arrangement struct {
	s     *Session
	n     int // entries so far
	line  int // the one at hand
	of    record
	time  int64
	leaf  int
	none  ref // an empty id
	names *Namer
	r     *Reader
}

// arrange makes the index of lines one of entries.
func (s *Session) arrange() error {
	s.table = newIDTable(len(s.records) + 1)
	a := &arrangement{s: s, leaf: -1, none: s.keepID(nil), names: s.NewNamer(), r: s.NewReader()}
	s.records = slices.Insert(s.records, 0, record{})
	if len(s.times) > 0 {
		s.times = slices.Insert(s.times, 0, noTime)
	}
	by := s.dialect.New()
	for a.line = 1; a.line < len(s.records); a.line++ {
		rec := s.records[a.line]
		if a.of = rec; len(s.times) > 0 {
			a.time = s.times[a.line]
		}
		s.badUTF8 = s.badUTF8 || rec.flags&flagBadUTF8 != 0
		l := dialect.Line{
			Code: dialect.Code(rec.kind), At: dialect.Span{Off: rec.off, Size: rec.size}, Number: rec.line,
			ID: s.idOf(a.line), Ref: s.parentOf(a.line), Group: idAt(s.ids, ref(rec.up)), Own: s.sectionAt(rec.off) == nil,
		}
		if err := by.Next(a, &l); err != nil {
			return err
		}
	}
	if err := by.End(a); err != nil {
		return err
	}
	s.leaf = a.leaf
	s.records = s.records[:a.n]
	if len(s.times) > 0 {
		s.times = s.times[:a.n]
	}
	slices.SortStableFunc(s.joined, func(x, y joined) int { return cmp.Compare(x.entry, y.entry) })
	s.table = newIDTable(len(s.records))
	return nil
}

// Add is of [dialect.Tree], as what follows is.
func (a *arrangement) Add(kind jsonl.Kind, l *dialect.Line, more ...dialect.Span) (entry int, err error) {
	s := a.s
	if a.n > a.line || a.n == len(s.records) {
		a.room()
	}
	rec := record{off: l.At.Off, size: l.At.Size, line: l.Number, kind: kind}
	if kind != jsonl.Header && a.of.off == l.At.Off {
		rec.flags, rec.id = a.of.flags, a.of.id
	} else {
		rec.id = s.keepID(l.ID)
	}
	if kind.IsEntry() {
		if rec.parent = a.none; a.leaf >= 0 {
			rec.parent = s.records[a.leaf].id
		}
		if id := idAt(s.ids, rec.id); len(id) == 0 || *s.slot(id) != 0 {
			if rec.id, err = a.name(l, kind, rec.parent); err != nil {
				return 0, err
			}
		}
		a.leaf = a.n
	}
	s.records[a.n] = rec
	if len(s.times) > 0 {
		s.times[a.n] = a.time
	}
	if kind.IsEntry() {
		*s.slot(s.idOf(a.n)) = uint32(a.n + 1)
	}
	a.n++
	a.Join(a.n-1, more...)
	return a.n - 1, nil
}

// name is the id of an entry whose line has none that it can have.
func (a *arrangement) name(l *dialect.Line, kind jsonl.Kind, parent ref) (ref, error) {
	s := a.s
	if part := s.part(a.n, l.At.Off); part > 0 && len(l.ID) > 0 {
		if id := append(l.ID[:len(l.ID):len(l.ID)], fmt.Sprintf(".%d", part)...); *s.slot(id) == 0 {
			return s.keepID(id), nil
		}
	}
	line, err := a.Read(l.At)
	if err != nil {
		return 0, err
	}
	return s.keepID([]byte(a.names.Name(idString(idAt(s.ids, parent)), append(line, kind.String()...)))), nil
}

// part is how many entries before record i are made of the line at an offset.
func (s *Session) part(i int, off int64) (n int) {
	for ; i > 0 && s.records[i-1].off == off && s.records[i-1].kind.IsEntry(); i-- {
		n++
	}
	return n
}

// room makes room for entries before the lines that are still to come.
func (a *arrangement) room() {
	s, n := a.s, len(a.s.records)/8+16
	s.records = slices.Insert(s.records, a.n, make([]record, n)...)
	if len(s.times) > 0 {
		s.times = slices.Insert(s.times, a.n, make([]int64, n)...)
	}
	a.line += n
	s.table = newIDTable(len(s.records) + 1)
	for i := range a.n {
		if s.records[i].kind.IsEntry() {
			*s.slot(s.idOf(i)) = uint32(i + 1)
		}
	}
}

// keepID puts an id into the arena.
func (s *Session) keepID(id []byte) ref {
	at := ref(len(s.ids))
	s.ids = append(binary.AppendUvarint(s.ids, uint64(len(id))), id...)
	return at
}

func (a *arrangement) Join(entry int, more ...dialect.Span) {
	for _, at := range more {
		a.s.joined = append(a.s.joined, joined{uint32(entry), at.Size, at.Off})
	}
}

func (a *arrangement) Unanswered(entry int) { a.s.records[entry].flags |= flagUnanswered }
func (a *arrangement) Leaf() int            { return a.leaf }
func (a *arrangement) Move(entry int)       { a.leaf = entry }
func (a *arrangement) Find(id []byte) int   { return int(*a.s.slot(id)) - 1 }

func (a *arrangement) Report(code string, l *dialect.Line, text string) {
	id := ""
	if len(l.ID) > 0 && a.Find(l.ID) >= 0 {
		id = idString(l.ID)
	}
	a.s.found.add(code, int(l.Number), id, "%s", text)
}

func (a *arrangement) Replace(entry int, old, by dialect.Span) {
	if rec := &a.s.records[entry]; rec.off == old.Off {
		rec.off, rec.size = by.Off, by.Size
	}
	for k := range a.s.joined {
		if j := &a.s.joined[k]; int(j.entry) == entry && j.at() == old {
			j.off, j.size = by.Off, by.Size
		}
	}
}

func (a *arrangement) Spans(entry int) []dialect.Span {
	rec := &a.s.records[entry]
	all := []dialect.Span{{Off: rec.off, Size: rec.size}}
	for _, j := range a.s.joined {
		if int(j.entry) == entry {
			all = append(all, j.at())
		}
	}
	return all
}

func (a *arrangement) Read(at dialect.Span) (jsonl.Value, error) {
	line, err := a.r.read(at)
	if !utf8.Valid(line) {
		line = jsonl.ReplaceInvalidUTF8(line)
	}
	return jsonl.Value(jsonl.Trim(line)), err
}

// joinedTo are the lines that belong to an entry beside its first one.
func (s *Session) joinedTo(entry int) []joined {
	from := sort.Search(len(s.joined), func(k int) bool { return int(s.joined[k].entry) >= entry })
	to := from
	for to < len(s.joined) && int(s.joined[to].entry) == entry {
		to++
	}
	return s.joined[from:to]
}

// Native is record i as Line has it, with messages as their agent sends them.
func (r *Reader) Native(i int) (jsonl.Value, error) {
	if r.s.dialect == nil || r.s.Held(i) {
		return r.Line(i)
	}
	return r.foreign(i, true)
}

// foreign is a record of another agent's session in pi's shape.
func (r *Reader) foreign(i int, native bool) (jsonl.Value, error) {
	raw, err := r.Raw(i)
	if err != nil {
		return nil, err
	}
	rec := &r.s.records[i]
	e := &r.entry
	*e = dialect.Entry{
		Kind: rec.kind, ID: r.s.ID(i), Parent: idString(r.s.parentOf(i)), Part: r.s.part(i, rec.off),
		Unanswered: rec.flags&flagUnanswered != 0, Native: native, Lines: r.lines[:0],
	}
	add := func(size uint32) {
		line := raw[:size:size]
		if raw = raw[size:]; len(raw) > 0 {
			raw = raw[1:] // a newline
		}
		if r.s.badUTF8 && !utf8.Valid(line) {
			line = jsonl.ReplaceInvalidUTF8(line)
		}
		e.Lines = append(e.Lines, jsonl.Trim(line))
	}
	add(rec.size)
	for _, j := range r.s.joinedTo(i) {
		add(j.size)
	}
	r.lines = e.Lines
	r.shown = r.s.dialect.Append(r.shown[:0], e)
	return r.shown, nil
}
