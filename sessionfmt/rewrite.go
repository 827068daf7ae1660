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
	Record int    // its record's number, -1 where the line holds none
	Raw    []byte // byte for byte, without the newline; valid during the call
	Ended  bool   // a newline follows
}

// Blank reports whether nothing is left of the line after JavaScript's trim.
func (l Line) Blank() bool { return jsonl.Blank(l.Raw) }

// Lines visits the lines of what r has, in order: what is in Raw, and a newline where
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

// Lines visits all of the file, the lines too that hold no record; see [Lines].
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

// A Change is what becomes of one line in a file that is made again: it stays as
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

// same reports whether the file that has the session's name is still the one that was
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
