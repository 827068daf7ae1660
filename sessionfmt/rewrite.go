package sessionfmt

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"iter"
	"slices"
)

// A Line is one physical line of a session file.
type Line struct {
	Number int    // from 1
	Record int    // its record's number, -1 where the line holds none
	Raw    []byte // byte for byte, without the newline; valid during the call
	Ended  bool   // a newline follows
}

// Blank reports whether nothing is left of the line after JavaScript's trim.
func (l Line) Blank() bool { return isBlank(l.Raw) }

// Lines goes through all of the file, the lines too that hold no record, in
// order: what is in Raw, and a newline where Ended says so, is the file byte for
// byte. A byte order mark comes first, as a piece of line 1 without end.
func (s *Session) Lines(yield func(Line, error) bool) {
	in := bufio.NewReaderSize(io.NewSectionReader(s.src.bytes, 0, s.src.size), int(min(readAhead, s.src.size+1)))
	at, next := int64(0), 0
	if mark, _ := in.Peek(len(bom)); bytes.Equal(mark, bom) {
		if !yield(Line{Number: 1, Record: -1, Raw: bom}, nil) {
			return
		}
		in.Discard(len(bom))
		at = int64(len(bom))
	}
	for n := 1; at < s.src.size; n++ {
		raw, err := ReadLine(in)
		if err != nil && err != io.EOF || len(raw) == 0 {
			yield(Line{Number: n, Record: -1}, &Error{Pos: Pos{File: s.Name, Line: n}, Err: cmp.Or(err, io.ErrUnexpectedEOF)})
			return
		}
		l := Line{Number: n, Record: -1, Ended: err == nil}
		if next < len(s.records) && s.records[next].off == at {
			l.Record = next
			next++
		}
		at += int64(len(raw))
		l.Raw = bytes.TrimSuffix(raw, []byte{'\n'})
		if !yield(l, nil) {
			return
		}
	}
}

// ReadLine reads a line with its newline, which is valid until the next call; io.EOF comes
// with a last line that has none. A long line is read in parts and put together once its
// length is known.
func ReadLine(in *bufio.Reader) ([]byte, error) {
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
	if err := room(int64(size)); err != nil {
		return nil, err
	}
	return bytes.Join(parts, nil), err
}

// AppendEdited appends the object v with some members set, or taken away where
// the field's Value is nil. All else stays as it is spelled: other members, their
// order, the white space. A member that is there keeps its place, a new one goes
// to the end, as JavaScript does it (spec/pi-format.md 3.5). Of a member that is
// there twice both are set.
func (v Value) AppendEdited(dst []byte, fields ...Field) []byte {
	done := 0     // bytes of v that are in dst
	prev := 1     // behind the member before, or the brace
	empty := true // no member is kept so far
	var found uint64
	for key, val := range v.Members {
		start := cap(v) - cap(val)
		end := start + len(val)
		k := slices.IndexFunc(fields, func(f Field) bool { return f.Name == string(key) })
		switch {
		case k < 0:
			empty = false
		case fields[k].Value != nil:
			dst = append(append(dst, v[done:start]...), fields[k].Value...)
			done, empty = end, false
		case empty: // the comma behind goes with it
			dst = append(dst, v[done:prev]...)
			if i := skipSpace(v, end); v[i] == ',' {
				end = i + 1
			}
			done = end
		default: // the comma in front goes with it
			dst = append(dst, v[done:prev]...)
			done = end
		}
		if k >= 0 {
			found |= 1 << k
		}
		prev = end
	}
	dst = append(dst, v[done:prev]...)
	for k, f := range fields {
		if found>>k&1 == 1 || f.Value == nil {
			continue
		}
		if !empty {
			dst = append(dst, ',')
		}
		empty = false
		dst = append(append(AppendQuoted(dst, f.Name), ':'), f.Value...)
	}
	return append(dst, v[prev:]...)
}

// AppendAdded is AppendEdited for members of which none is there: v is not looked
// through.
func (v Value) AppendAdded(dst []byte, fields ...Field) []byte {
	end := len(bytes.TrimRight(v[:len(v)-1], " \t\r"))
	dst = append(dst, v[:end]...)
	empty := end == 1
	for _, f := range fields {
		if !empty {
			dst = append(dst, ',')
		}
		empty = false
		dst = append(append(AppendQuoted(dst, f.Name), ':'), f.Value...)
	}
	return append(dst, v[end:]...)
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

// MakeID is the id of a new entry below the one called parent, from its line
// without id and parentId: see makeID. It is none of the file's, and none that made
// says yes to.
func (s *Session) MakeID(parent string, line []byte, made func(id string) bool) string {
	return makeID(parent, line, func(id string) bool { return made(id) || s.Find(id) >= 0 })
}
