package sessionfmt

import (
	"bytes"
	"cmp"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"io"
	"unicode/utf8"
)

// A document is a session that is a single JSON object. Its messages become records where they stand in the
// file; all other fields make the header.
type document struct {
	head  jsonl.Value // all fields but the list, on one line
	list  int64       // offset of the list; 0 for none
	line  int         // line number of that offset
	other int         // line number of an earlier list; 0 for none

	beside []beside // documents that belong to the session, whether they exist or not

	broken error // why it is not read to its end
	size   int64 // what was read before that
	last   int   // line number of the damage
}

// document returns the file as a document with its dialect, or nil if it is none. first is its first line, if
// known. The head is read up to the field that identifies the dialect.
func (s *source) document(first jsonl.Value) (doc *document, d *dialect.Dialect, err error) {
	if !s.mayBeDocument(first) {
		return nil, nil, nil
	}
	in := dialect.NewDocument(wholeReader{s.bytes}, s.size, nil)
	for found := true; found && err == nil && d == nil; {
		found, err = in.List(dialect.Messages)
		if d = Sniff(in.Head); found && d == nil { // the dialect may depend on what follows the list
			err = in.PassList()
		}
	}
	if err := in.Failed(); err != nil || d == nil || d.Document == nil {
		return nil, nil, err
	}
	return &document{head: in.Head}, d, nil
}

// mayBeDocument reports whether a file can be a document: it begins with an object that has messages, or that
// does not end on the first line.
func (s *source) mayBeDocument(first jsonl.Value) bool {
	if first.First(dialect.Messages).Exists() {
		return true
	}
	buf := make([]byte, min(s.size, 4<<10))
	if readFullAt(s.bytes, buf, 0) != nil {
		return false
	}
	line, _, whole := bytes.Cut(buf, []byte{'\n'})
	return beginsDocument(buf) || !whole && first == nil && bytes.HasPrefix(line, []byte("{")) &&
		!bytes.HasPrefix(line, []byte(`{"type":`))
}

// beginsDocument reports whether the first line only begins an object.
func beginsDocument(buf []byte) bool {
	line, _, whole := bytes.Cut(buf, []byte{'\n'})
	return whole && string(bytes.TrimSpace(line)) == "{"
}

// readDocument makes records of a document: of its header, of the files that the session continues, and of its
// messages.
func (s *Session) readDocument(workers int, opt Options) error {
	doc, x := s.doc, s.newIndexer(s.src.self(), opt)
	defer unitBuffers.Put(x.buf)
	messages, err := s.readMessages(x, opt)
	if err != nil {
		return err
	}
	s.first = dialect.Span{Size: uint32(cmp.Or(doc.list, doc.size))}
	header, lines := &unit{}, 0
	header.cover.Lines, header.cover.passed = 1, 1
	x.add(header, doc.head, 0, false)
	for i := range header.records {
		header.records[i].move(s.first)
	}
	for k := range s.src.sections {
		lines += s.src.sections[k].lines
	}
	a := s.newArrangement(opt)
	s.Coverage.passed = lines
	err = a.merge(header)
	if doc.other > 0 {
		s.found.add("second-list", lines+doc.line, "",
			"a second list of messages: it replaces the one on line %d", doc.other)
	}
	if s.Coverage.passed = 0; err == nil && len(s.src.sections) > 0 {
		err = s.scan(s.src, s.src.own.size, workers, opt, a.merge)
	}
	for _, u := range messages {
		s.Coverage.passed = lines
		if err == nil {
			err = a.merge(u)
		}
	}
	s.Coverage.passed = lines + doc.last - 1
	if err != nil {
		return err
	}
	return a.end()
}

// readMessages reads the document and indexes the elements of its list. If there are several lists, the last
// one counts.
func (s *Session) readMessages(x *indexer, opt Options) (units []*unit, err error) {
	doc, src := s.doc, s.src.self()
	in := dialect.NewDocument(wholeReader{src.bytes}, src.size, x.buf[:])
	found, broken := in.List(dialect.Messages)
	for found && broken == nil {
		doc.other, doc.list, doc.line = doc.line, in.Offset(), in.Line()
		u := &unit{}
		units = []*unit{u}
		for found, broken = in.More(); found && broken == nil; found, broken = in.More() {
			if len(u.records) == atOnce {
				u = &unit{}
				units = append(units, u)
				if opt.Progress != nil {
					opt.Progress(in.Offset(), src.size)
				}
			}
			if broken = x.element(in, u); broken != nil {
				break
			}
		}
		if broken == nil {
			found, broken = in.List(dialect.Messages)
		}
	}
	doc.head, doc.broken, doc.size, doc.last = in.Head, broken, in.Offset(), in.Line()
	return units, in.Failed()
}

// element indexes the next element of the list.
func (x *indexer) element(in *dialect.Document, u *unit) error {
	off, text := in.Offset(), in.Ahead()
	u.cover.passed = in.Line()
	head, n := x.scan(text)
	if n > 0 {
		x.addForeign(u, head, newRecord(text[:n], off, u.cover.passed, !utf8.Valid(text[:n])))
		in.Pass(n)
	} else {
		v, err := in.Value()
		if err != nil {
			return err
		}
		x.add(u, v, off, false)
	}
	u.cover.Lines++
	return nil
}

// lines returns the document as lines: first all but the messages, then the documents that belong to it, then
// each message.
func (doc *document) lines(s *Session) io.Reader {
	own := s.src.self()
	in := dialect.NewDocument(wholeReader{own.bytes}, own.size, nil)
	in.Go(doc.list, doc.line, '[')
	all := []io.Reader{bytes.NewReader(append(bytes.Clone(doc.head), '\n'))}
	for k := range s.src.sections {
		if b := &s.src.sections[k]; b.own {
			all = append(all, io.NewSectionReader(s.src.bytes, b.off, b.end-b.off))
		}
	}
	return io.MultiReader(append(all, &documentLines{in: in, ended: doc.list == 0})...)
}

type documentLines struct {
	in    *dialect.Document
	line  []byte
	rest  []byte // the rest of the current line
	ended bool
}

// Read implements io.Reader. A damaged document ends at the damage.
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
