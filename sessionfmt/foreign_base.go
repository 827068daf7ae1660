package sessionfmt

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A section is a stretch of a session that stands in another file: of one that it continues.
type section struct {
	off, end int64 // in the session
	name     string
	before   int  // lines of the session before it
	lines    int  // its own
	part     bool // it belongs to the session
}

// Bases returns the names of the files that the session continues.
func (s *Session) Bases() (names []string) {
	for k := range s.base {
		if !s.base[k].part {
			names = append(names, s.base[k].name)
		}
	}
	return names
}

// OwnLines returns an error unless the session is lines of its own file, which can be repaired
// one by one.
func (s *Session) OwnLines() error {
	what := s.src.instead
	if len(s.base) > 0 {
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

// sectionAt is the section that an offset is in, nil for the file that was opened.
func (s *Session) sectionAt(off int64) *section {
	for k := range s.base {
		if b := &s.base[k]; off >= b.off && off < b.end {
			return b
		}
	}
	return nil
}

// place is the file that a line of the session stands in, as messages name it, and its number
// there.
func (s *Session) place(line int) (name string, number int) {
	number = line
	for k := range s.base {
		b := &s.base[k]
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
	if len(s.base) == 0 {
		return found
	}
	for k := range found {
		f := &found[k]
		if f.File, f.Line = s.place(f.Line); f.File == s.called {
			f.File = ""
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return found
}

// A spliced is several stretches of files that read as one.
type spliced struct {
	parts []io.ReaderAt
	sizes []int64
}

// ReadAt is io.ReaderAt's.
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

// mostBases is how many files a session may continue, one after the other.
const mostBases = 1000

// continues makes the session's bytes those of its first line, of the files that it
// continues, the oldest first, and of its other lines.
func (s *Session) continues(first jsonl.Value, opt Options) error {
	if s.dialect.Base == nil {
		return nil
	}
	var chain []continued
	name, seen, after := s.Name, map[string]bool{s.Name: true}, false
	for line := first; ; {
		b, ok := s.dialect.Base(line)
		if !ok {
			break
		}
		next, err := s.findBase(name, b, opt)
		if err == nil && (seen[next] || len(chain) == mostBases) {
			err = fmt.Errorf("it continues %s, which continues it", Quote(b.ID))
		}
		var part continued
		if err == nil {
			part, line, err = openBase(next, b, opt)
		}
		if err != nil && b.Optional {
			break
		}
		if err != nil {
			for _, c := range chain {
				c.src.close()
			}
			return err
		}
		chain, name, seen[next] = append(chain, part), next, true
		after = after || b.All
	}
	if len(chain) > 0 {
		slices.Reverse(chain)
		s.splice(chain, after)
	}
	return nil
}

// A continued is a file that a session continues, as far as it does.
type continued struct {
	name string
	src  *source
	keep int64 // bytes
}

// splice inserts the files of a chain after the session's first line, or before it. A document
// stays whole: they follow it, but their lines come first.
func (s *Session) splice(chain []continued, before bool) {
	own, head, lines := s.src, int64(0), 0
	if s.doc != nil {
		head = own.size
	} else if !before {
		buf := make([]byte, min(own.size, mostSniffed))
		readFullAt(own.bytes, buf, 0)
		if head, lines = int64(bytes.IndexByte(buf, '\n')+1), 1; head == 0 {
			head = own.size
		}
	}
	all := &spliced{parts: []io.ReaderAt{own.bytes}, sizes: []int64{head}}
	size, joined := head, *own
	if s.doc != nil {
		all.parts, all.sizes = append(all.parts, strings.NewReader("\n")), append(all.sizes, 1)
		size++
	}
	for _, b := range chain {
		all.parts, all.sizes = append(all.parts, b.src.bytes), append(all.sizes, b.keep)
		n := countLines(b.src.bytes, b.keep)
		s.base = append(s.base, section{off: size, end: size + b.keep, name: b.name, before: lines, lines: n})
		lines += n
		size += b.keep
		joined.more = append(joined.more, b.src)
	}
	all.parts = append(all.parts, io.NewSectionReader(own.bytes, head, own.size-head))
	all.sizes = append(all.sizes, own.size-head)
	joined.bytes, joined.size = all, size+own.size-head
	s.own, s.src = own, &joined
}

// countLines is the number of line ends in the first bytes of a file.
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

// openBase opens a file that another one continues. Its first line comes with it.
func openBase(name string, b dialect.Base, opt Options) (continued, jsonl.Value, error) {
	src, err := openFile(name, nil, opt.Disk)
	if err != nil {
		return continued{}, nil, atFile(name, err)
	}
	first, _ := firstLine(src)
	if first == nil {
		src.close()
		return continued{}, nil, atFile(name, ErrNotSession)
	}
	keep := b.Keep
	if b.All && endsLine(src, src.size) {
		keep = src.size
	}
	if keep <= 0 || keep > src.size || !endsLine(src, keep) {
		keep = src.linesBelow(b.Upto)
	}
	if opt.Through != nil {
		changed, err := through(src.packing, io.NewSectionReader(src.bytes, 0, keep), opt.Through)
		src.close()
		if err != nil {
			return continued{}, nil, atFile(name, err)
		}
		src, keep = changed, changed.size
	}
	return continued{opt.calls(name), src, keep}, first, nil
}

// endsLine reports whether a line ends at an offset.
func endsLine(src *source, at int64) bool {
	var last [1]byte
	return readFullAt(src.bytes, last[:], at-1) == nil && last[0] == '\n'
}

// linesBelow is the length of the lines before the first one whose ordinal is not below a
// number, bytes.
func (s *source) linesBelow(ordinal int64) (keep int64) {
	number := int64(0)
	for end, line := range s.eachLine {
		if line != nil {
			n := number
			if given := line.Get("ordinal"); given.IsNumber() {
				n = given.Int()
			}
			if n >= ordinal {
				break
			}
		}
		if !endsLine(s, end) {
			break
		}
		keep, number = end, number+1
	}
	return keep
}

// findBase is the name of the file that holds a session which another one continues: beside
// that, or in the folders around it, or where opt looks.
func (s *Session) findBase(name string, b dialect.Base, opt Options) (string, error) {
	id := b.ID
	matches := func(file string) bool {
		stem, ok := strings.CutSuffix(sessionName(file), ".jsonl")
		return ok && (stem == id || strings.HasSuffix(stem, "-"+id) || strings.HasSuffix(stem, "_"+id))
	}
	var found []string
	see := func(file string, _ fs.DirEntry) {
		if matches(filepath.Base(file)) && opt.Disk.isRegular(file) {
			found = append(found, file)
		}
	}
	dir := filepath.Dir(name)
	if b.Beside {
		beside := filepath.Join(dir, id+".jsonl")
		if !opt.Disk.isRegular(beside) || id != filepath.Base(id) {
			return "", fs.ErrNotExist
		}
		return beside, nil
	}
	for up, n := dir, 0; len(found) == 0 && n < 3; up, n = filepath.Dir(up), n+1 {
		near, _ := os.ReadDir(opt.Disk.Path(up))
		for _, f := range near {
			see(filepath.Join(up, f.Name()), f)
		}
	}
	for up := dir; len(found) == 0 && up != filepath.Dir(up); up = filepath.Dir(up) {
		if b := filepath.Base(up); b == "sessions" || b == "archived_sessions" {
			opt.Disk.Walk(filepath.Dir(up), see)
		}
	}
	if len(found) == 0 && opt.Lookup != nil {
		found = opt.Lookup(s.dialect, id)
	}
	slices.Sort(found) // a plain file before a packed one
	if len(found) > 0 {
		return found[0], nil
	}
	hint := "put the file of that session beside it"
	if b.Upto > 0 && !b.All {
		hint += ": it has " + plural(int(b.Upto), "line") + " of this one"
	}
	return "", &Error{Pos: Pos{File: name, Line: 1},
		Err: fmt.Errorf("it continues session %s, and no file of that name is beside it or in the agent's folder",
			Quote(id)), Hint: hint}
}
