package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"ctxtool/sessionfmt/jsonl"
)

// Messages is the member of a document that is the list of its messages.
const Messages = "messages"

var (
	// ErrNoDocument is the error for text that does not begin as an object.
	ErrNoDocument = errors.New("not a JSON document")
	// ErrTruncated is the error for a document that ends early.
	ErrTruncated = errors.New("the document is truncated")
)

// ReadDocument reads a JSON object: it passes each element of the member that is its list to
// element, on one line, with the number of the line that it begins on. It returns an object of all other
// members, on one line, as far as it got, and the line where it ended. Only one value is in
// memory at a time.
func ReadDocument(r io.Reader, list string, element func(line jsonl.Value, number int) error) (head jsonl.Value, end int, err error) {
	d := &document{r: r, line: 1}
	if c, err := d.peek(); err != nil || c != '{' {
		return nil, 0, ErrNoDocument
	}
	if head, err = d.members(list, element); err == nil {
		if _, end := d.peek(); end == nil {
			err = d.wrong("text follows its end")
		} else {
			err = d.err
		}
	}
	return head, d.line, err
}

// members reads the members of the document.
func (d *document) members(list string, element func(line jsonl.Value, number int) error) (head jsonl.Value, err error) {
	head = jsonl.Value("{}")
	for sep := byte('{'); ; sep = ',' {
		more, err := d.next(sep, '}')
		if !more {
			return head, err
		}
		name, err := d.key()
		if err != nil {
			return head, err
		}
		if name == list {
			err = d.list(list, element)
		} else {
			var v jsonl.Value
			v, err = d.value()
			head = head.AppendEdited(nil, jsonl.Field{Name: name, Value: d.onOneLine(v)})
		}
		if err != nil {
			return head, err
		}
	}
}

// key reads the name of a member.
func (d *document) key() (name string, err error) {
	key, err := d.value()
	if err != nil {
		return "", err
	}
	if !key.IsString() {
		return "", d.wrong("expected an object key")
	}
	name = key.Text()
	return name, d.skip(':')
}

// list reads the list, a member of that name. Null is an empty one.
func (d *document) list(name string, element func(line jsonl.Value, number int) error) error {
	switch c, err := d.peek(); {
	case err != nil:
		return err
	case c == 'n':
		_, err = d.value()
		return err
	case c != '[':
		return d.wrong(name + " must be an array")
	}
	for sep := byte('['); ; sep = ',' {
		more, err := d.next(sep, ']')
		if !more {
			return err
		}
		number := d.line
		v, err := d.value()
		if err == nil {
			err = element(d.onOneLine(v), number)
		}
		if err != nil {
			return err
		}
	}
}

// onOneLine removes the newlines of a value, and the indentation after them. The result is valid
// until the next call.
func (d *document) onOneLine(v jsonl.Value) jsonl.Value {
	line, rest, more := bytes.Cut(v, []byte{'\n'})
	if !more {
		return v
	}
	d.out = append(d.out[:0], line...)
	for more {
		line, rest, more = bytes.Cut(rest, []byte{'\n'})
		d.out = append(d.out, jsonl.Trim(line)...)
	}
	return d.out
}

// window is how much of a document is read at once, bytes.
const window = 256 << 10

// A document is read from front to back in a window that is never smaller than the value at
// hand.
type document struct {
	r    io.Reader
	scan jsonl.Scanner
	buf  []byte
	i    int // what is read of buf
	line int // of that place, from 1
	out  []byte
	done bool
	err  error // of reading
}

// fill reads more after what is not read yet, and reports whether there was more.
func (d *document) fill() bool {
	if d.done {
		return false
	}
	d.buf = d.buf[:copy(d.buf, d.buf[d.i:])]
	d.i = 0
	if n := len(d.buf); 2*n >= cap(d.buf) {
		if d.err = jsonl.Room(int64(3 * n)); d.err != nil {
			d.done = true
			return false
		}
		d.buf = append(make([]byte, 0, max(window, 3*n)), d.buf...)
	}
	n, err := io.ReadFull(d.r, d.buf[len(d.buf):cap(d.buf)])
	d.buf = d.buf[:len(d.buf)+n]
	if d.done = err != nil; d.done && err != io.EOF && err != io.ErrUnexpectedEOF {
		d.err = err
	}
	return n > 0
}

// peek returns the next byte that is no white space.
func (d *document) peek() (byte, error) {
	for {
		d.read(jsonl.SkipSpace(d.buf, d.i))
		if d.i < len(d.buf) {
			return d.buf[d.i], nil
		}
		if !d.fill() {
			return 0, d.ended()
		}
	}
}

// read moves to an offset of the window.
func (d *document) read(to int) {
	d.line += bytes.Count(d.buf[d.i:to], []byte{'\n'})
	d.i = to
}

// skip reads a byte that has to come next.
func (d *document) skip(want byte) error {
	switch c, err := d.peek(); {
	case err != nil:
		return err
	case c != want:
		return d.wrong(fmt.Sprintf("expected %q", want))
	}
	d.i++
	return nil
}

// next reads what is before the next value of a container, or its end: it reports whether there
// is one.
func (d *document) next(sep, end byte) (more bool, err error) {
	c, err := d.peek()
	if err == nil && c == end {
		d.i++
		return false, nil
	}
	if err = d.skip(sep); err != nil || sep == ',' {
		return err == nil, err
	}
	if c, err = d.peek(); err == nil && c == end {
		d.i++
		return false, nil
	}
	return err == nil, err
}

// value reads the next value. It is valid until the next one.
func (d *document) value() (jsonl.Value, error) {
	if _, err := d.peek(); err != nil {
		return nil, err
	}
	for {
		end, bad := d.scan.Value(d.buf, d.i)
		if open := bad != nil && bad.Reason == jsonl.BrokenOff; (open || bad == nil && end == len(d.buf)) && d.fill() {
			continue
		} else if open {
			d.read(len(d.buf))
			return nil, d.ended()
		}
		if bad != nil {
			d.read(bad.Offset)
			return nil, d.wrong(bad.Reason)
		}
		v := jsonl.Value(d.buf[d.i:end])
		d.read(end)
		return v, nil
	}
}

// ended is the error for the end of what can be read.
func (d *document) ended() error {
	if d.err != nil {
		return d.err
	}
	return ErrTruncated
}

func (d *document) wrong(reason string) error {
	return errors.New("the document is not JSON: " + reason)
}
