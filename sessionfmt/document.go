package sessionfmt

import (
	"bytes"
	"io"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A document is a session that is one JSON object. Its messages are records where they stand in
// the file, and its header is made of all other members.
type document struct {
	head   jsonl.Value // all members but the list, on one line, as far as they are known
	known  bool        // to the end
	list   int64       // where the list begins, 0 for none
	line   int         // of that place
	other  int         // the line of a list before it, 0 for none
	begins []byte      // a newline, the indentation and the brace that elements begin with, nil if they do not

	broken error // why it is not read to its end: it is damaged
	size   int64 // what is read of it then
	last   int   // the line of that place
}

// document returns the document that a file is, and its dialect, nil for any other file, whose
// first line may be first.
func (s *source) document(first jsonl.Value) (doc *document, d *dialect.Dialect) {
	if !s.mayBeDocument(first) {
		return nil, nil
	}
	in := dialect.NewDocument(s.bytes, s.size, nil)
	for doc = new(document); d == nil && !doc.known; {
		found, err := in.List(dialect.Messages)
		if found {
			doc.at(in)
		}
		if d = Sniff(in.Head); found && d == nil { // what comes after the list may tell
			err = in.PassList()
		}
		doc.head, doc.known = in.Head, !found || err != nil
		doc.ends(in, err)
	}
	if d == nil || d.Document == nil {
		return nil, nil
	}
	return doc, d
}

// at makes the list that is next that of the document.
func (doc *document) at(in *dialect.Document) {
	doc.other, doc.list, doc.line = doc.line, in.Offset(), in.Line()
}

// ends notes how far the document is read, and why not further.
func (doc *document) ends(in *dialect.Document, err error) {
	doc.broken, doc.size, doc.last = err, in.Offset(), in.Line()
}

// first is the stretch of the file that stands for the header.
func (doc *document) first() dialect.Span {
	if doc.list == 0 {
		return dialect.Span{Size: uint32(doc.size)}
	}
	return dialect.Span{Size: uint32(doc.list)}
}

// mayBeDocument reports whether a file begins as a document: with an object that has messages,
// or with one that goes on after the first line.
func (s *source) mayBeDocument(first jsonl.Value) bool {
	if first.First(dialect.Messages).Exists() {
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

// lines returns a reader of the document as lines: the first has all but the messages, and each
// message is another.
func (doc *document) lines(s *source) io.Reader {
	in := dialect.NewDocument(s.bytes, s.size, nil)
	in.Go(doc.list, doc.line, '[')
	return &documentLines{in: in, rest: append(bytes.Clone(doc.head), '\n'), ended: doc.list == 0}
}

type documentLines struct {
	in    *dialect.Document
	line  []byte
	rest  []byte // what is not read of the line
	ended bool
}

// Read is io.Reader's. A damaged document ends where it is damaged.
func (l *documentLines) Read(p []byte) (n int, err error) {
	for len(l.rest) == 0 {
		if l.ended {
			return 0, io.EOF
		}
		more, err := l.in.More()
		var v jsonl.Value
		if more {
			v, err = l.in.Value()
		}
		if !more || err != nil {
			l.ended = true
			continue
		}
		l.line = append(v.AppendOneLine(l.line[:0]), '\n')
		l.rest = l.line
	}
	n = copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
