package sessionfmt

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"ctxtool/internal/base/sorting"
)

// A part is the beginning of a file that has lines of a session, or all of it.
type part struct {
	name string // in messages
	src  *source
	keep int64 // bytes
	own  bool  // the session's, and not of one that it continues
}

func closeParts(parts []part) {
	for _, p := range parts {
		p.src.close()
	}
}

// A section is where a part is in a session.
type section struct {
	off, end int64
	name     string
	before   int // lines of the session before it
	lines    int // its own
	own      bool
}

// splice inserts parts after the first line of a session's own file, or before it. A document
// stays whole: they follow it, but their lines come first.
func (s *source) splice(parts []part, document, before bool) *source {
	head, lines := int64(0), 0
	switch {
	case document:
		head = s.size
	case !before:
		buf := make([]byte, min(s.size, mostSniffed))
		readFullAt(s.bytes, buf, 0)
		if head, lines = int64(bytes.IndexByte(buf, '\n')+1), 1; head == 0 {
			head = s.size
		}
	}
	all := &spliced{parts: []io.ReaderAt{s.bytes}, sizes: []int64{head}}
	size, joined := head, *s
	if document {
		all.parts, all.sizes = append(all.parts, strings.NewReader("\n")), append(all.sizes, 1)
		size++
	}
	for _, p := range parts {
		all.parts, all.sizes = append(all.parts, p.src.bytes), append(all.sizes, p.keep)
		n := countLines(p.src.bytes, p.keep)
		joined.sections = append(joined.sections,
			section{off: size, end: size + p.keep, name: p.name, before: lines, lines: n, own: p.own})
		lines += n
		size += p.keep
		joined.more = append(joined.more, p.src)
	}
	all.parts = append(all.parts, io.NewSectionReader(s.bytes, head, s.size-head))
	all.sizes = append(all.sizes, s.size-head)
	joined.bytes, joined.size, joined.own = all, size+s.size-head, s
	return &joined
}

// self returns the bytes of the session's own file.
func (s *source) self() *source { return cmp.Or(s.own, s) }

// sectionAt returns the section that an offset is in, nil for the file that was opened.
func (s *source) sectionAt(off int64) *section {
	for k := range s.sections {
		if b := &s.sections[k]; off >= b.off && off < b.end {
			return b
		}
	}
	return nil
}

// Bases returns the names of the files that the session continues.
func (s *Session) Bases() (names []string) {
	for k := range s.src.sections {
		if !s.src.sections[k].own {
			names = append(names, s.src.sections[k].name)
		}
	}
	return names
}

// place returns the file that a line of the session stands in, as messages name it, and its number there.
func (s *Session) place(line int) (name string, number int) {
	number = line
	for k := range s.src.sections {
		b := &s.src.sections[k]
		if line > b.before && line <= b.before+b.lines {
			return b.name, line - b.before
		}
		if line > b.before {
			number -= b.lines
		}
	}
	return s.called, number
}

// placed puts findings into the files that their lines stand in: those of the session's own
// first.
func (s *Session) placed(found []Finding) []Finding {
	if len(s.src.sections) == 0 {
		return found
	}
	for k := range found {
		f := &found[k]
		if f.File, f.Line = s.place(f.Line); f.File == s.called {
			f.File = ""
		}
	}
	sorting.By(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return found
}

// OwnLines returns an error unless the session is lines of its own file, which can be repaired
// one by one.
func (s *Session) OwnLines() error {
	what := s.src.instead
	if len(s.src.sections) > 0 {
		what = "it continues another file"
	}
	if s.doc != nil {
		what = "it is one JSON document"
	}
	if what == "" {
		return nil
	}
	e := s.Foreign().(*Error)
	e.Err = fmt.Errorf("cannot repair this session of %s: %s", s.dialect.Name, what)
	return e
}

// countLines returns the number of line ends in the first bytes of a file.
func countLines(r io.ReaderAt, size int64) (n int) {
	buf := make([]byte, min(size, unitSize))
	for off := int64(0); off < size; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), size-off)]
		if readFullAt(r, buf, off) != nil {
			break
		}
		n += bytes.Count(buf, []byte{'\n'})
	}
	return n
}

// A spliced is several stretches of files that read as one.
type spliced struct {
	parts []io.ReaderAt
	sizes []int64
}

// ReadAt implements io.ReaderAt.
func (p *spliced) ReadAt(buf []byte, off int64) (n int, err error) {
	for k, part := range p.parts {
		if off >= p.sizes[k] {
			off -= p.sizes[k]
			continue
		}
		want := min(int64(len(buf)-n), p.sizes[k]-off)
		m, err := part.ReadAt(buf[n:n+int(want)], off)
		n += m
		if int64(m) < want {
			return n, err
		}
		off = 0
		if n == len(buf) {
			return n, nil
		}
	}
	return n, io.EOF
}
