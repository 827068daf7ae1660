package sessionfmt

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"ctxtool/sessionfmt/jsonl"
)

// A Line is one physical line of a session file.
type Line struct {
	Number int    // from 1
	Record int    // its record's number, -1 where the line holds none
	Raw    []byte // byte for byte, without the newline; valid during the call
	Ended  bool   // a newline follows
}

// Blank reports whether nothing is left of the line after JavaScript's trim.
func (l Line) Blank() bool { return jsonl.Blank(l.Raw) }

// Lines goes through the lines of what r has, in order: what is in Raw, and a newline where
// Ended says so, is that byte for byte. A byte order mark comes first, as a piece of line 1
// without end. So much is read at once.
func Lines(r io.Reader, atOnce int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := bufio.NewReaderSize(r, int(atOnce))
		if mark, _ := in.Peek(len(jsonl.BOM)); string(mark) == jsonl.BOM {
			if !yield(Line{Number: 1, Record: -1, Raw: mark}, nil) {
				return
			}
			in.Discard(len(mark))
		}
		for n := 1; ; n++ {
			raw, err := readLine(in)
			if err != nil && err != io.EOF || len(raw) == 0 {
				if err != io.EOF {
					yield(Line{Number: n, Record: -1}, err)
				}
				return
			}
			raw, ended := bytes.CutSuffix(raw, []byte{'\n'})
			if !yield(Line{Number: n, Record: -1, Raw: raw, Ended: ended}, nil) {
				return
			}
		}
	}
}

// IsMark reports whether a piece of a file is its byte order mark.
func (l Line) IsMark() bool { return l.Number == 1 && !l.Ended && string(l.Raw) == jsonl.BOM }

// Lines goes through all of the file, the lines too that hold no record; see [Lines].
func (s *Session) Lines(yield func(Line, error) bool) {
	at, next, n := int64(0), 0, 1
	for l, err := range Lines(s.Plain(), min(readAhead, s.src.size+1)) {
		if err != nil {
			yield(l, &Error{Pos: Pos{File: s.Name, Line: l.Number}, Err: err})
			return
		}
		if next < len(s.records) && s.records[next].off == at {
			l.Record = next
			next++
		}
		at += int64(len(l.Raw))
		if l.Ended {
			at, n = at+1, l.Number+1
		}
		if !yield(l, nil) {
			return
		}
	}
	if at < s.src.size {
		yield(Line{Number: n, Record: -1}, &Error{Pos: Pos{File: s.Name, Line: n}, Err: io.ErrUnexpectedEOF})
	}
}

// readLine reads a line with its newline, which is valid until the next call; io.EOF comes
// with a last line that has none. A long line is read in parts and put together once its
// length is known.
func readLine(in *bufio.Reader) ([]byte, error) {
	raw, err := in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return raw, err
	}
	var parts [][]byte
	size := 0
	for {
		parts = append(parts, bytes.Clone(raw))
		if size += len(raw); err != bufio.ErrBufferFull {
			break
		}
		raw, err = in.ReadSlice('\n')
	}
	if err := jsonl.Room(int64(size)); err != nil {
		return nil, err
	}
	return bytes.Join(parts, nil), err
}

// A Change is what becomes of one line in a file that is made anew: it stays as
// it is, or other lines stand in its place, and what of it cannot stay goes to
// the quarantine. What makes new files says it as a sequence of changes, one for
// each line, and everything else looks at those.
type Change struct {
	Line
	Same  bool     // it stays, byte for byte
	New   [][]byte // the lines in its place, without newlines
	Out   []byte   // what goes to the quarantine: the line as it was, or a part of it
	Notes []string // what was done to it, and why; for people
}

// Rewrite writes a file from changes, and what is left out of it to quarantine,
// each piece with a newline.
func Rewrite(changes iter.Seq2[Change, error], out, quarantine io.Writer) error {
	for c, err := range changes {
		if err != nil {
			return err
		}
		switch {
		case c.Same && !c.Ended:
			_, err = out.Write(c.Raw)
		case c.Same:
			err = writeLine(out, c.Raw)
		case c.Out != nil:
			err = writeLine(quarantine, c.Out)
		}
		for _, line := range c.New {
			if err == nil {
				err = writeLine(out, line)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeLine(w io.Writer, line []byte) error {
	if _, err := w.Write(line); err != nil {
		return err
	}
	_, err := w.Write([]byte{'\n'})
	return err
}

// UndoType is the custom type of the entry that follows an undone batch. It may go back
// to an earlier branch.
const UndoType = "ctxtool.undo"

// OwnID is the value of a field that is the id of its own entry, which is not known
// before the entry is. It is no JSON, so nothing that was read equals it.
var OwnID = jsonl.Value("$id")

func isOwnID(v jsonl.Value) bool { return string(v) == string(OwnID) }

// A Batch is entries to append to a session, each the child of the one before. They
// have one time, so a batch made from the same session and time is the same, byte
// for byte, wherever it is made.
type Batch struct {
	s      *Session
	time   jsonl.Value
	leaf   string      // id of the parent of the next entry, empty for a new root
	parent jsonl.Value // the same as it is spelled, since a number is another id than its digits
	names  *Namer
	count  int
	lines  []byte
	err    error // why it cannot be appended
}

// NewBatch begins a batch below record parent, or with a new root below -1. Its time
// is now, in milliseconds, but not before the parent's own, by which pi sorts. What
// speaks against the parent is said by Append.
func (s *Session) NewBatch(parent int, now time.Time) *Batch {
	b := &Batch{s: s, parent: jsonl.Value("null"), names: s.NewNamer()}
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
func (b *Batch) Add(kind jsonl.Kind, fields ...jsonl.Field) (id string) {
	b.check(kind, fields)
	base := fmt.Appendf(nil, `"timestamp":%s`, b.time)
	bare := appendEntry(nil, kind, fields, base) // without OwnID
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

// Err says why the entries cannot follow those of the session, wherever the two are
// written: pi would not take them, or not the session. It is an *Error.
func (b *Batch) Err() error { return b.s.at(b.s.refuseShape(b)) }

// Millis is the time of the entries, in milliseconds since 1970.
func (b *Batch) Millis() int64 {
	ms, _ := b.time.Millis()
	return ms
}

// Lines are the bytes that Append writes: one line an entry, each with its newline.
func (b *Batch) Lines() []byte { return b.lines }

// Len is the number of entries.
func (b *Batch) Len() int { return b.count }

// appendEntry spells an entry as pi does: type, base, own fields. Entries that
// extensions and transforms make have their own fields before the base
// (spec/pi-format.md 1.5, pi-1.5.md 1.2).
func appendEntry(dst []byte, kind jsonl.Kind, fields []jsonl.Field, base []byte) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, kind.Type()...)
	dst = append(dst, '"', ',')
	ownFirst := kind == jsonl.CustomEntry || kind == jsonl.CustomMessage || kind == jsonl.Transform || kind == jsonl.Ephemeral
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

// check sees that the kind can be written, and that the values are JSON on one line.
func (b *Batch) check(kind jsonl.Kind, fields []jsonl.Field) {
	if b.err == nil && (!kind.IsEntry() || kind.Type() == "") {
		b.err = fmt.Errorf("a record of kind %s is not appended", kind)
	}
	var scan jsonl.Scanner
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

// A packing is how a session's file is compressed.
type packing uint8

const (
	plain packing = iota
	gzipped
	zstandard
)

// Replace puts a new file, which write writes, in the place of the session's, and
// keeps the original beside it as kept; see NewFile.commitKeeping. It takes the
// lock, and refuses a file that is no longer what was read. A compressed session is
// compressed again the same way. Every error is an *Error.
func (s *Session) Replace(opt AppendOptions, write func(w io.Writer) error) (kept string, err error) {
	if s.src.info == nil || !s.src.info.Mode().IsRegular() {
		return "", s.at(&Error{Err: errors.New("is a stream: there is no file to put another one in the place of"), Hint: "write it elsewhere: -o FILE"})
	}
	disk := s.src.disk
	unlock, err := opt.lock(disk, s.Name)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := s.same(); err != nil {
		return "", s.at(err)
	}
	f, err := disk.Create(s.Name)
	if err != nil {
		return "", err
	}
	defer f.Abort()
	if err := s.Pack(f, write); err != nil {
		return "", s.at(err)
	}
	if err := s.same(); err != nil { // writing may have taken a while
		return "", s.at(err)
	}
	return f.commitKeeping()
}

// same says whether the file that has the session's name is still the one that was
// read, as it was.
func (s *Session) same() error {
	f, err := s.src.disk.Open(s.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	if s.src.packing == plain {
		return s.unchanged(f)
	}
	info, err := f.Stat()
	if err == nil && !(os.SameFile(info, s.src.info) && info.Size() == s.src.info.Size() && info.ModTime().Equal(s.src.info.ModTime())) {
		err = &Error{Err: fmt.Errorf("%w: it was written to", ErrChanged), Hint: "run the command again, on what the file is now"}
	}
	return err
}

// Pack hands write a writer to w that compresses as the session's file is, or not
// at all where that is plain.
func (s *Session) Pack(w io.Writer, write func(w io.Writer) error) error {
	var z io.WriteCloser
	switch s.src.packing {
	case plain:
		return write(w)
	case gzipped:
		z = gzip.NewWriter(w)
	case zstandard:
		enc, err := zstd.NewWriter(w)
		if err != nil {
			return err
		}
		z = enc
	}
	b := bufio.NewWriterSize(z, 64<<10)
	err := write(b)
	if err == nil {
		err = b.Flush()
	}
	return errors.Join(err, z.Close())
}
