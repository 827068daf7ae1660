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

	"github.com/klauspost/compress/zstd"

	"ctxtool/sessionfmt/jsonl"
)

// A Line is one physical line of a session file.
type Line struct {
	Number int    // from 1
	Record int    // number of its record; -1 if it has none
	Raw    []byte // without the newline; valid during the call
	Ended  bool   // a newline follows
}

// Blank reports whether the line is empty after JavaScript's trim.
func (l Line) Blank() bool { return jsonl.Blank(l.Raw) }

// Lines yields the lines of r in order. Concatenating Raw, and a newline if Ended, gives r byte for byte. A
// byte order mark comes first, as a part of line 1 that is not ended. It reads atOnce bytes at a time.
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

// IsMark reports whether l is the file's byte order mark.
func (l Line) IsMark() bool { return l.Number == 1 && !l.Ended && string(l.Raw) == jsonl.BOM }

// Lines yields all lines of the file, including those without a record; see [Lines]. In another agent's session
// no line has a record.
func (s *Session) Lines(yield func(Line, error) bool) {
	at, next, n := int64(0), 0, 1
	size, records := s.src.self().size, s.records
	if s.dialect != nil { // an entry is several lines, or a part of one
		records = nil
	}
	for l, err := range Lines(s.Plain(), min(readAhead, size+1)) {
		if err != nil {
			yield(l, &Error{Pos: Pos{File: s.Name, Line: l.Number}, Err: err})
			return
		}
		if next < len(records) && records[next].off() == at {
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
	if at < size && s.doc == nil {
		yield(Line{Number: n, Record: -1}, &Error{Pos: Pos{File: s.Name, Line: n}, Err: io.ErrUnexpectedEOF})
	}
}

// readLine reads a line with its newline, valid until the next call. For a last line without a
// newline it returns io.EOF as well. It reads a long line in parts and joins them once its
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
		size += len(raw)
		if err != bufio.ErrBufferFull {
			break
		}
		raw, err = in.ReadSlice('\n')
	}
	if err := jsonl.Room(int64(size)); err != nil {
		return nil, err
	}
	return bytes.Join(parts, nil), err
}

// A Change is what a rewrite does to one line: it stays, or other lines replace it and the removed text goes
// to the quarantine. A rewrite is a sequence of changes, one per line.
type Change struct {
	Line
	Same  bool     // the line stays, byte for byte
	New   [][]byte // lines that replace it, without newlines
	Out   []byte   // text for the quarantine: the line or a part of it
	Notes []string // the change and its reason, in words
}

// Rewrite writes a file from changes, and the removed text to quarantine, each piece with a newline.
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

// A packing is the compression of a session file.
type packing uint8

const (
	plain packing = iota
	gzipped
	zstandard
)

// Replace replaces the session's file with the output of write, and keeps the original beside it under the name
// kept; see NewFile.CommitKeeping. It takes the lock, and refuses a file that changed since it was read. A
// compressed session stays compressed. Every error is an *Error.
func (s *Session) Replace(opt AppendOptions, write func(w io.Writer) error) (kept string, err error) {
	if err := s.Foreign(); err != nil {
		return "", err
	}
	if s.src.info == nil || !s.src.info.Mode().IsRegular() {
		return "", s.at(&Error{Err: errors.New("cannot replace a stream"), Hint: "write it to a file: -o FILE"})
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
	if err := s.same(); err != nil { // writing can take long
		return "", s.at(err)
	}
	return f.CommitKeeping()
}

// same returns an error if the session's file has changed since it was read.
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
	if err == nil && !(os.SameFile(info, s.src.info) && info.Size() == s.src.info.Size() &&
		info.ModTime().Equal(s.src.info.ModTime())) {
		err = &Error{Err: fmt.Errorf("%w: it was written to", ErrChanged), Hint: "run the command again"}
	}
	return err
}

// Pack calls write with a writer that compresses to w like the session's file, or with w itself if the file is
// not compressed.
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
