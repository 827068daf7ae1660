package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"ctxtool/sessionfmt/jsonl"
)

// Messages is the name of the list in a document that has its messages.
const Messages = "messages"

var (
	// ErrNoDocument is the error for text that does not begin with an object.
	ErrNoDocument = errors.New("not a JSON document")
	// ErrTruncated is the error for a document that ends early.
	ErrTruncated = errors.New("the document is truncated")
)

// ReadDocument reads a JSON object. It passes each element of the field called list to element, on one line,
// with the number of the line on which it begins; the line is valid during the call. It returns an object of
// all other fields, on one line, as far as it got. Only one value is in memory at a time.
func ReadDocument(r io.ReaderAt, size int64, list string,
	element func(line jsonl.Value, number int) error) (head jsonl.Value, err error) {
	d := NewDocument(r, size, nil)
	found, err := d.List(list)
	for found && err == nil {
		if err = d.elements(element); err == nil {
			found, err = d.List(list)
		}
	}
	return d.Head, err
}

// PassList skips the list.
func (d *Document) PassList() error {
	return d.elements(func(jsonl.Value, int) error { return nil })
}

// elements passes each element of the list to read.
func (d *Document) elements(read func(line jsonl.Value, number int) error) error {
	var line []byte
	for {
		more, err := d.More()
		if !more {
			return err
		}
		number := d.line
		v, err := d.Value()
		if err == nil {
			line = v.AppendOneLine(line[:0])
			err = read(line, number)
		}
		if err != nil {
			return err
		}
	}
}

// window is the part of a document that is read at a time, bytes.
const window = 256 << 10

// A Document reads a JSON object in a file from front to back. One of its fields is a list, whose elements are
// read one by one; there may be several such lists. It reads in a window: only a value that exceeds it is in
// memory as a whole.
type Document struct {
	Head jsonl.Value // an object of the other fields read so far, on one line

	r      io.ReaderAt
	size   int64 // size of the file
	scan   jsonl.Scanner
	window []byte
	long   []byte // a value that exceeds the window
	buf    []byte // bytes of the file from off on, in window or large
	off    int64
	i      int  // how much of buf is read
	line   int  // line number of that position
	sep    byte // byte that precedes the next field or element
	err    error
}

// NewDocument returns a reader of the document in a file of that size. Its window is buf, or a new one if that
// is nil.
func NewDocument(r io.ReaderAt, size int64, buf []byte) *Document {
	if buf == nil {
		buf = make([]byte, min(size, window))
	}
	return &Document{Head: jsonl.Value("{}"), r: r, size: size, window: buf, line: 1, sep: '{'}
}

// Go moves to an offset on the line with that number: after an element or field if sep is a comma, before a
// list if it is a bracket.
func (d *Document) Go(off int64, line int, sep byte) {
	if i := off - d.off; i >= 0 && i <= int64(len(d.buf)) {
		d.i = int(i)
	} else {
		d.buf, d.off, d.i = nil, off, 0
	}
	d.line, d.sep = line, sep
}

// Offset returns the offset in the file up to which it is read.
func (d *Document) Offset() int64 { return d.off + int64(d.i) }

// Line returns the line number of that offset.
func (d *Document) Line() int { return d.line }

// List reads up to the next field with that name, the list, and reports whether there is one. Nothing may
// follow the end of the document. Null counts as an empty list, as if it were absent.
func (d *Document) List(name string) (found bool, err error) {
	if d.sep == '{' {
		if c, err := d.peek(); err != nil || c != '{' {
			return false, ErrNoDocument
		}
	}
	d.Head = bytes.Clone(d.Head) // fields are appended in place
	seen := map[string]bool{}
	for key := range d.Head.Members {
		seen[string(key)] = true
	}
	for {
		more, err := d.next('}')
		if err != nil {
			return false, err
		}
		if !more {
			return false, d.after()
		}
		key, err := d.key()
		if err != nil {
			return false, err
		}
		if key != name {
			v, err := d.Value()
			if err != nil {
				return false, err
			}
			d.add(key, v, seen[key])
			seen[key] = true
			continue
		}
		c, err := d.peek()
		if err == nil && c == 'n' {
			_, err = d.Value()
		} else if err == nil && c != '[' {
			err = fmt.Errorf("%s must be an array", name)
		} else if err == nil {
			d.sep = '['
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// add adds a field to the head, or replaces it.
func (d *Document) add(key string, v jsonl.Value, replace bool) {
	if replace {
		d.Head = d.Head.AppendEdited(nil, jsonl.Field{Name: key, Value: v.AppendOneLine(nil)})
		return
	}
	open := d.Head[:len(d.Head)-1]
	if len(open) > 1 {
		open = append(open, ',')
	}
	d.Head = append(v.AppendOneLine(append(jsonl.AppendQuoted(open, key), ':')), '}')
}

// Failed returns the error that prevents reading the rest of the file; nil for a document that is merely
// damaged.
func (d *Document) Failed() error { return d.err }

// More reports whether the list has another element, which is then next. It may follow List or an element.
func (d *Document) More() (bool, error) { return d.next(']') }

// Value reads the next value, which is valid until the next call.
func (d *Document) Value() (jsonl.Value, error) {
	if _, err := d.peek(); err != nil {
		return nil, err
	}
	for {
		end, bad := d.scan.Value(d.buf, d.i)
		open := bad != nil && bad.Reason == jsonl.BrokenOff
		switch {
		case (open || bad == nil && end == len(d.buf)) && d.load():
			continue
		case open:
			d.Pass(len(d.buf) - d.i)
			return nil, d.ended()
		case bad != nil:
			d.Pass(bad.Offset - d.i)
			return nil, wrong(bad.Reason)
		}
		v := jsonl.Value(d.buf[d.i:end])
		d.Pass(len(v))
		return v, nil
	}
}

// Ahead returns the bytes in memory after the current position: at least a part of the next value, nothing at
// the end. They are valid until the next read.
func (d *Document) Ahead() jsonl.Value {
	if d.i == len(d.buf) {
		d.load()
	}
	return d.buf[d.i:]
}

// Pass skips n bytes of the result of Ahead.
func (d *Document) Pass(n int) {
	d.line += bytes.Count(d.buf[d.i:d.i+n], []byte{'\n'})
	d.i += n
}

// load reads more of the file if there is any: a window, or all of the next value if that is larger.
func (d *Document) load() bool {
	at, had := d.Offset(), len(d.buf)-d.i
	switch {
	case d.err != nil || at+int64(had) >= d.size || had > len(d.window):
		return false
	case had < len(d.window):
		d.buf = d.window[:min(int64(len(d.window)), d.size-at)]
	default:
		if d.err = d.makeRoom(at); d.err != nil {
			return false
		}
		d.buf = d.long
	}
	d.off, d.i = at, 0
	if d.err = d.readAt(d.buf, at); d.err != nil {
		d.buf = nil // the buffer has bytes of another position
	}
	return d.err == nil
}

// makeRoom allocates space for the value at an offset, which exceeds the window. It finds the end before it
// keeps any data, so the value is in memory only once.
func (d *Document) makeRoom(at int64) error {
	var skip jsonl.Skipper
	end := at
	for done := false; !done && end < d.size; {
		part := d.window[:min(int64(len(d.window)), d.size-end)]
		if err := d.readAt(part, end); err != nil {
			return err
		}
		var n int
		if n, done = skip.Skip(part); n == 0 {
			n = len(part)
		}
		end += int64(n)
	}
	n := min(max(end-at, int64(len(d.window))+1), d.size-at)
	if n > int64(cap(d.long)) || cap(d.long) > 4*len(d.window) {
		d.long = nil
		if err := jsonl.Room(n); err != nil {
			return err
		}
		d.long = make([]byte, n)
	}
	d.long = d.long[:n]
	return nil
}

func (d *Document) readAt(buf []byte, off int64) error {
	n, err := d.r.ReadAt(buf, off)
	if n == len(buf) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// peek returns the next byte that is not white space.
func (d *Document) peek() (byte, error) {
	for {
		if d.i < len(d.buf) && d.buf[d.i] <= ' ' {
			d.Pass(jsonl.SkipSpace(d.buf, d.i) - d.i)
		}
		if d.i < len(d.buf) {
			return d.buf[d.i], nil
		}
		if !d.load() {
			return 0, d.ended()
		}
	}
}

// skip reads the next byte, which must be want.
func (d *Document) skip(want byte) error {
	switch c, err := d.peek(); {
	case err != nil:
		return err
	case c != want:
		return wrong(fmt.Sprintf("expected %q", want))
	}
	d.i++
	return nil
}

// next reads the separator before the next value of a container, or its end, and reports whether there is a
// value.
func (d *Document) next(end byte) (more bool, err error) {
	sep := d.sep
	d.sep = ','
	c, err := d.peek()
	if err == nil && c == end {
		d.i++
		return false, nil
	}
	if err == nil {
		err = d.skip(sep)
	}
	if err == nil {
		c, err = d.peek()
	}
	if err == nil && c == end && sep != ',' {
		d.i++
		return false, nil
	}
	return err == nil, err
}

// key reads the name of a field.
func (d *Document) key() (name string, err error) {
	key, err := d.Value()
	if err != nil {
		return "", err
	}
	if !key.IsString() {
		return "", wrong("expected an object key")
	}
	name = key.Text()
	return name, d.skip(':')
}

// after returns an error if anything follows the document.
func (d *Document) after() error {
	if _, err := d.peek(); err == nil {
		return wrong("text follows its end")
	}
	return d.err
}

// ended returns the error for the end of what can be read.
func (d *Document) ended() error {
	if d.err != nil {
		return d.err
	}
	return ErrTruncated
}

func wrong(reason string) error { return errors.New("the document is not JSON: " + reason) }

// chunkSize is the number of elements of [Chunks] per allocation.
const chunkSize = 512

// Chunks is a list that grows without copying its elements.
type Chunks[T any] struct {
	chunks [][]T
	n      int32
}

// Len returns the number of elements.
func (c *Chunks[T]) Len() int32 { return c.n }

// At returns element k.
func (c *Chunks[T]) At(k int32) *T { return &c.chunks[k/chunkSize][k%chunkSize] }

// Add appends an element and returns its index.
func (c *Chunks[T]) Add(one T) int32 {
	if c.n%chunkSize == 0 {
		c.chunks = append(c.chunks, make([]T, 0, chunkSize))
	}
	last := &c.chunks[c.n/chunkSize]
	*last = append(*last, one)
	c.n++
	return c.n - 1
}

var seed = maphash.MakeSeed()

// Key returns a hash of an id, so that records can be identified without keeping the text. It differs in each
// run.
func Key[T string | []byte](id T) uint64 { return maphash.Bytes(seed, []byte(id)) }
