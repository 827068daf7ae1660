package sessionfmt

import (
	"bytes"
	"cmp"
	"iter"

	"ctxtool/internal/base/scratch"
	"ctxtool/internal/base/work"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A Reader reads records of a session. Reading in file order is cheap. It is not safe for
// concurrent use; make one per goroutine.
type Reader struct {
	s   *Session
	buf []byte // bytes of the file, from off on
	off int64

	// For another agent's session: the lines of an entry, and the entry in pi's shape.
	several []byte
	line    []byte // a message of a document, on one line
	spans   []dialect.Span
	source  dialect.Source
	made    int        // the record of the last call
	unread  bool       // nothing was read since
	to      rule.Asked // see Ask
	write   dialect.JSON
	shown   []byte // an entry or message that had to be changed or composed
	showing int    // 1 + the record of that line; 0 for none

	// For a call that was skimmed: the values of its lines, the end of each line's values, and the values by
	// line.
	values []jsonl.Value
	ends   []int
	skims  [][]jsonl.Value
	call   jsonl.Call

	at  jsonl.Cursor
	err error // see Err
}

// NewReader returns a Reader of s.
func (s *Session) NewReader() *Reader { return &Reader{s: s} }

// Line returns the line of record i as in the file, without surrounding white space, valid
// until the next call. Bytes that are not UTF-8 are replaced. Of another agent's session it is the
// entry in pi's shape.
func (r *Reader) Line(i int) (jsonl.Value, error) {
	if r.showing == i+1 { // for example the message of a long history
		return r.shown, nil
	}
	if r.s.dialect != nil && !r.s.Held(i) {
		line, _, err := r.foreign(i, false, nil)
		if r.s.Kind(i) == jsonl.Transform && len(line) > readAhead { // hold its messages only once
			r.source, r.unread = dialect.Source{}, false
		}
		return line, err
	}
	line, err := r.Raw(i)
	line = jsonl.Trim(line)
	if err == nil && r.s.records[i].flags&flagBadUTF8 != 0 {
		r.shown, r.showing = jsonl.ReplaceInvalidUTF8(line), i+1
		line = r.shown
	}
	return line, err
}

// Entry is Line for loops over many records: it returns nil for a line that cannot be read; Err then returns
// the first reason.
func (r *Reader) Entry(i int) jsonl.Value {
	line, err := r.Line(i)
	if err != nil {
		r.err = cmp.Or(r.err, err)
		return nil
	}
	return line
}

// Err returns the first error of Entry.
func (r *Reader) Err() error { return r.err }

// Timestamp returns the time of record i as it is written on its line, on the first if there are several. It is
// valid until the next call.
func (r *Reader) Timestamp(i int) (jsonl.Value, error) {
	if r.s.dialect != nil && !r.s.Held(i) {
		e, err := r.typed(i, false)
		if err != nil {
			return nil, err
		}
		return e.Time, nil
	}
	line, err := r.Line(i)
	return line.First("timestamp"), err
}

// Message reads the message of record i (a prompt, an answer or a result) as Line returns it, and returns the
// length of its JSON in bytes. It is valid until the next call.
func (r *Reader) Message(i int, m *jsonl.Message) (size int, err error) {
	if r.s.dialect != nil && !r.s.Held(i) {
		if e, err := r.typed(i, false); err != nil {
			return 0, err
		} else if r.s.Kind(i).IsMessage() && len(e.Messages) > 0 {
			r.showing = 0
			r.shown, size = r.write.Message(scratch.Reset(r.shown), &e.Messages[0], m)
			return size, nil
		}
	}
	line, err := r.Line(i)
	if err != nil {
		return 0, err
	}
	return m.ReadEntry(r.at.Reset(line), r.s.Kind(i)), nil
}

// Raw returns the line of record i byte for byte, without its newline, valid until the next call. The lines of
// an entry made of several are separated by newlines. For a message of a document, newlines and the white space
// around them are removed.
func (r *Reader) Raw(i int) ([]byte, error) {
	if r.s.Held(i) {
		return r.s.heldLine(i), nil
	}
	return r.lines(i, r.s.doc != nil)
}

// Unseen yields the lines of record i that are not in seen, byte for byte, and adds them to seen. With one seen
// for all records, a line that makes many entries is read only once. A line is valid until the next one; an
// error is the last.
func (r *Reader) Unseen(i int, seen map[dialect.Span]bool) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if r.s.Held(i) {
			yield(r.s.heldLine(i), nil)
			return
		}
		had := len(seen)
		next := func(span dialect.Span) bool {
			if seen[span] {
				return true
			}
			if len(seen) == had { // once per record, as in lines
				work.Line()
			}
			seen[span] = true
			line, err := r.read(span)
			if err != nil {
				err = &Error{Pos: r.s.Pos(i), Err: err}
			}
			return yield(line, err) && err == nil
		}
		if !next(r.s.records[i].span()) || r.s.last == nil {
			return
		}
		for j := range r.s.joinedTo(i) {
			if !next(j.at()) {
				return
			}
		}
	}
}

// lines returns the lines of record i joined by newlines. With one, a message of a document is put on one line.
func (r *Reader) lines(i int, one bool) ([]byte, error) {
	work.Line()
	line, err := r.read(r.s.records[i].span())
	if err == nil && one {
		line = r.oneLine(line)
	}
	if err == nil && r.s.last != nil && r.s.last[i] > 0 {
		r.several = append(scratch.Reset(r.several), line...)
		for j := range r.s.joinedTo(i) {
			if line, err = r.read(j.at()); err != nil {
				break
			}
			if one {
				line = r.oneLine(line)
			}
			r.several = append(append(r.several, '\n'), line...)
		}
		line = r.several
	}
	if err != nil {
		return nil, &Error{Pos: r.s.Pos(i), Err: err}
	}
	return line, nil
}

// oneLine removes the newlines of a value, with the white space around them.
func (r *Reader) oneLine(v []byte) []byte {
	if bytes.IndexByte(v, '\n') < 0 {
		return v
	}
	if len(v) > readAhead { // never hold two long lines at the same time
		r.buf = r.buf[:0]
		return jsonl.Value(v).AppendOneLine(v[:0])
	}
	r.line = jsonl.Value(v).AppendOneLine(scratch.Reset(r.line))
	return r.line
}

// read returns a line of the file, valid until the next call: a range of the file, or the header of a document.
func (r *Reader) read(span dialect.Span) ([]byte, error) {
	if r.s.doc != nil && span == r.s.first {
		return r.s.doc.head, nil
	}
	return r.stretch(span)
}

// stretch returns a range of the file, valid until the next call.
func (r *Reader) stretch(span dialect.Span) ([]byte, error) {
	at, n := span.Off-r.off, int64(span.Size)
	r.unread = false
	if scratch.Poisoned {
		r.buf, at = scratch.Reset(r.buf), -1
	}
	if at < 0 || at+n > int64(len(r.buf)) {
		// A read near the last one is probably in order. It starts on a page, since such reads
		// are copied faster.
		want, off := n, span.Off
		if r.buf != nil && at >= 0 && at < int64(len(r.buf))+readAhead {
			off &^= 4<<10 - 1
			want = max(n+span.Off-off, readAhead)
		}
		want = min(want, r.s.src.size-off)
		if int64(cap(r.buf)) < want || int64(cap(r.buf)) > 4*max(want, readAhead) {
			r.buf = nil // never hold two long lines at the same time
			if err := jsonl.Room(want); err != nil {
				return nil, err
			}
			r.buf = make([]byte, want)
		}
		r.buf, r.off, at = r.buf[:want], off, span.Off-off
		if err := readFullAt(r.s.src.bytes, r.buf, r.off); err != nil {
			r.buf = r.buf[:0]
			return nil, err
		}
	}
	return r.buf[at : at+n : at+n], nil
}
