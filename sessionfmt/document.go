package sessionfmt

import (
	"bytes"
	"io"
	"slices"

	"ctxtool/internal/dialect"
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
func (s *source) document(first jsonl.Value) (doc *document, d *dialect.Dialect, err error) {
	if !s.mayBeDocument(first) {
		return nil, nil, nil
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
	if err := in.Failed(); err != nil || d == nil || d.Document == nil {
		return nil, nil, err
	}
	return doc, d, nil
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

// readDocument reads a document, and makes records of its messages. What follows them may show
// that the header is another one, or that another list replaces them: then it starts over.
func (s *Session) readDocument(workers int, opt Options) error {
	for {
		s.first = s.doc.first()
		r := &documentReader{s: s, doc: s.doc, x: s.newIndexer(s.file(), opt)}
		again, err := r.read(workers, opt)
		unitBuffers.Put(r.x.buf)
		if err != nil || !again {
			return err
		}
		*s = Session{Name: s.Name, called: s.called, src: s.src, dialect: s.dialect, own: s.own, base: s.base, doc: s.doc}
	}
}

// A documentReader reads a document once.
type documentReader struct {
	s      *Session
	doc    *document
	x      *indexer    // for what is read in order
	before jsonl.Value // the members before the list
	lines  int         // of the files that the session continues
	line   int         // of the first element
	next   int64       // where the next element is, or what follows the list
	open   bool        // the list goes on there
	broken error       // why it does not
}

// read reports whether the document has to be read again.
func (r *documentReader) read(workers int, opt Options) (again bool, err error) {
	s, doc := r.s, r.doc
	if r.before = doc.head; doc.list > 0 {
		r.begin()
	}
	a, header := s.newArrangement(opt), r.header()
	for k := range s.base {
		r.lines += s.base[k].lines
	}
	s.Coverage.passed = r.lines
	if err = a.merge(header); err != nil {
		return false, err
	}
	if doc.other > 0 {
		s.found.add("second-list", r.lines+doc.line, "", "a second list of messages: it replaces the one on line %d", doc.other)
	}
	if s.Coverage.passed = 0; len(s.base) > 0 {
		if err = s.scan(s.src, s.own.size, workers, opt, a.merge); err != nil {
			return false, err
		}
	}
	if doc.list > 0 {
		s.Coverage.passed = r.lines + r.line - 1
		if err = s.scan(s.file(), doc.list, workers, opt, func(u *unit) error { return r.merge(a, u) }); err != nil {
			return false, err
		}
		again := r.end(header)
		if err := r.x.in.Failed(); err != nil || again {
			return again, err
		}
	}
	s.Coverage.passed = r.lines + doc.last - 1
	return false, a.end()
}

// begin goes to the first element, and finds how elements begin if they are indented. What is
// likely to follow them is already a part of the header then.
func (r *documentReader) begin() {
	doc, in := r.doc, r.x.in
	in.Go(doc.list, doc.line, '[')
	text := in.Ahead()
	first := min(jsonl.SkipSpace(text, 1), len(text))
	doc.begins = nil
	if at := bytes.LastIndexByte(text[:first], '\n'); at >= 0 {
		doc.begins = append(bytes.Clone(text[at:first]), '{')
	}
	r.open, r.broken = in.More()
	r.next, r.line = in.Offset(), in.Line()
	if !doc.known && doc.begins != nil {
		doc.head = r.likely()
	}
}

// likely returns the header with the members that follow the last element, if its end is near
// that of the file. Of indented elements the last is the only one that no comma follows.
func (r *documentReader) likely() jsonl.Value {
	in := r.x.in
	in.Go(max(r.next, r.s.file().size-unitSize), 0, ',')
	end := append(bytes.Clone(r.doc.begins[:len(r.doc.begins)-1]), "}\n"...)
	at := bytes.Index(in.Ahead(), end)
	if at < 0 {
		return r.before
	}
	in.Go(in.Offset()+int64(at+len(end)), 0, ',')
	in.Head = r.before
	if more, err := in.More(); more || err != nil {
		return r.before
	}
	if found, err := in.List(dialect.Messages); found || err != nil {
		return r.before
	}
	return in.Head
}

// header returns the unit of the header.
func (r *documentReader) header() *unit {
	u := &unit{}
	u.cover.Lines, u.cover.passed = 1, 1
	r.x.add(u, r.doc.head, 0, false)
	for i := range u.records {
		u.records[i].off, u.records[i].size = r.s.first.Off, r.s.first.Size
	}
	return u
}

// merge merges a unit of elements. It has to begin where the one before it ended, or else its
// elements are read again, in order.
func (r *documentReader) merge(a *arrangement, u *unit) error {
	if !r.open || r.next >= u.end {
		return nil
	}
	if u.from != r.next {
		u.clear()
		r.x.in.Go(r.next, 1, ',')
		if r.x.elements(u); u.err != nil {
			return u.err
		}
	}
	r.next, r.open, r.broken = u.next, u.open, u.broken
	return a.merge(u)
}

// end reads what follows the list, and reports whether the document has to be read again.
func (r *documentReader) end(header *unit) bool {
	doc, in := r.doc, r.x.in
	in.Head = r.before
	in.Go(r.next, r.s.Coverage.passed-r.lines+1, ',')
	found, err := false, r.broken
	if err == nil {
		found, err = in.List(dialect.Messages)
	}
	doc.ends(in, err)
	if found {
		doc.at(in)
		doc.head = in.Head
		return true
	}
	if doc.known {
		return false
	}
	same := bytes.Equal(doc.head, in.Head)
	doc.head, doc.known = in.Head, true
	h := r.header()
	named := len(r.s.records) > 1 && r.s.records[1].kind == jsonl.SessionInfo // whose id is made of the header
	return named && !same || !slices.Equal(h.records, header.records) || !slices.Equal(h.times, header.times) || !bytes.Equal(h.ids, header.ids)
}

// fillList is fill for a range of a document's list. In an indented document a newline and the
// indentation of an element are where one begins: no string has a newline.
func (x *indexer) fillList(u *unit) {
	begins := x.begins
	if u.from = -1; len(begins) == 0 {
		return
	}
	from := max(0, u.off-int64(len(begins)-1))
	x.in.Go(from, 1, ',')
	text := x.in.Ahead()
	u.err = x.in.Failed()
	at := bytes.Index(text[:min(int64(len(text)), u.end-from)], begins)
	if at < 0 {
		return
	}
	x.in.Go(from+int64(at+len(begins)-1), 1, ',')
	x.elements(u)
}

// elements indexes the elements of a list that begin in the unit, from the next one on.
func (x *indexer) elements(u *unit) {
	u.from, u.open = x.in.Offset(), true
	for u.open && x.in.Offset() < u.end {
		u.cover.passed = x.in.Line()
		if u.broken = x.element(u); u.broken == nil {
			u.cover.Lines++
			u.open, u.broken = x.in.More()
		}
		u.open = u.open && u.broken == nil
	}
	u.next, u.cover.passed, u.err = x.in.Offset(), x.in.Line()-1, x.in.Failed()
}

// element indexes the next element.
func (x *indexer) element(u *unit) error {
	off, text := x.in.Offset(), x.in.Ahead()
	if head, n := x.scan(text); n > 0 {
		x.addForeign(u, head, newRecord(text[:n], off, u.cover.passed, true))
		x.in.Pass(n)
		return nil
	}
	v, err := x.in.Value()
	if err == nil {
		x.add(u, v, off, false)
	}
	return err
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
