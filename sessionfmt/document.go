package sessionfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// document returns a session that is one JSON document as lines: the first has all but its
// messages, and each message is another. d is nil for any other file, whose first line may be
// first. The lines are spooled like the content of a compressed file.
func (s *source) document(first jsonl.Value) (lines *source, head jsonl.Value, d *dialect.Dialect) {
	if !s.mayBeDocument(first) {
		return nil, nil, nil
	}
	var wrong error
	made, err := spool(s.packing, func(w io.Writer) (err error) {
		head, wrong = dialect.ReadDocument(s.plain(), dialect.Messages, func(line []byte) error {
			_, err = w.Write(append(line, '\n'))
			return err
		})
		return err
	})
	if err != nil || head == nil {
		return nil, nil, nil
	}
	if d = Sniff(head); d == nil || !d.Document {
		made.close()
		return nil, nil, nil
	}
	top := append(bytes.Clone(head), '\n')
	made.bytes = &spliced{parts: []io.ReaderAt{bytes.NewReader(top), made.bytes}, sizes: []int64{int64(len(top)), made.size}}
	made.size += int64(len(top))
	made.instead = "it is one JSON document"
	made.info, made.disk, made.broken, made.more = s.info, s.disk, s.broken, []*source{s}
	if wrong != nil && made.broken == nil {
		made.broken = brokenDocument(wrong)
	}
	return made, head, d
}

// mayBeDocument reports whether a file begins as a document: with an object that has messages,
// or with one that goes on after the first line.
func (s *source) mayBeDocument(first jsonl.Value) bool {
	if first.First(dialect.Messages).IsArray() {
		return true
	}
	buf := make([]byte, min(s.size, 4<<10))
	if readFullAt(s.bytes, buf, 0) != nil {
		return false
	}
	line, _, whole := bytes.Cut(buf, []byte{'\n'})
	return string(bytes.TrimSpace(line)) == "{" || !whole && first == nil && bytes.HasPrefix(line, []byte("{")) && !bytes.HasPrefix(line, []byte(`{"type":`))
}

// brokenDocument is why a document ends early.
func brokenDocument(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the document is truncated")
	}
	return fmt.Errorf("the document is not JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}
