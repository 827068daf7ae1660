package sessionfmt

import (
	"bufio"
	"bytes"
	"io"

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
	numbers := []uint32{1}
	made, err := spool(s.packing, func(w io.Writer) (err error) {
		out := bufio.NewWriterSize(w, unitSize)
		var end int
		head, end, wrong = dialect.ReadDocument(s.plain(), dialect.Messages, func(line jsonl.Value, number int) error {
			numbers = append(numbers, uint32(number))
			out.Write(line)
			return out.WriteByte('\n')
		})
		numbers = append(numbers, uint32(end))
		return out.Flush()
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
	made.numbers = numbers
	if made.broken == nil {
		made.broken = wrong
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
	return beginsDocument(buf) || !whole && first == nil && bytes.HasPrefix(line, []byte("{")) && !bytes.HasPrefix(line, []byte(`{"type":`))
}

// beginsDocument reports whether the first line is the beginning of an object, and nothing more.
func beginsDocument(buf []byte) bool {
	line, _, whole := bytes.Cut(buf, []byte{'\n'})
	return whole && string(bytes.TrimSpace(line)) == "{"
}

// number is the number in the user's file of a line of the source.
func (s *source) number(line int) int {
	if line < 1 || line > len(s.numbers) {
		return line
	}
	return int(s.numbers[line-1])
}
