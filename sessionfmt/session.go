// Package sessionfmt reads coding agents' session files, appends to them, and
// loses nothing.
//
// A session is an append-only tree of JSON lines: a header, then entries, each
// with an id and the id of its parent (docs/session-format.md 2). [Open] indexes a
// file without holding it: every line is validated, and what is kept is where
// it stands, its kind, its id and its parent. [OpenTail] reads only the end.
// Damage never ends a reading: it is left in Session.Findings, with line and
// entry.
//
// [Session.Point] finds an entry by what people call it: leaf, request:7, a label, the
// beginning of an id. Entries are known by their record, from 0 in the order of the file;
// [Session.Path] are the records from the root to one of them.
//
// What stands in a line is package jsonl's, sessions are found by package store, and their trees drawn by
// package outline.
//
// A session changes in one way: a [Batch] of new entries goes behind its last line,
// by [Session.Append], whole or not at all. Files are made and replaced by [NewFile].
// What both assume of disks and of other programs is listed in docs/design.md.
//
// Sizes are bytes and texts UTF-8, but where JavaScript counts we count as it
// does: in UTF-16 units. Offsets count from 0, lines from 1.
package sessionfmt

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// ErrNotSession is the answer for input in which no line is a session header or
// an entry of a known type.
var ErrNotSession = errors.New("not a session: no header and no entry in it")

// Options say how to open a session. The zero value is fit for use.
type Options struct {
	Stdin   *os.File // what "-" reads; os.Stdin when nil
	Disk    Disk     // where the file is
	Workers int      // goroutines that index; the number of processors when 0

	// Visit, if set, makes for each worker what is handed the records that it
	// indexes, so that nothing has to be read twice: in the order of the file where
	// there is one worker. They are valid during the call. What Pick names is picked
	// while a line is validated.
	Visit func() func(p *jsonl.Picked)
	Pick  jsonl.Pick

	Times bool // keep the entries' times; see Session.Time

	// Through, if set, is what the plain bytes of the file go through before anything
	// else sees them, one pass after the other. An *Error of a pass is completed with
	// the name of the file.
	Through iter.Seq[Pass]

	// Lookup, if set, names the files that may hold another agent's session of that id,
	// where a file continues one that is not near it.
	Lookup func(d *dialect.Dialect, id string) []string

	// Progress, if set, is told now and then how many bytes have been indexed.
	Progress func(done, size int64)
}

// A Pass reads a session from r, and writes to w what takes its place.
type Pass func(w io.Writer, r io.Reader) error

func (o Options) stdin() *os.File {
	if o.Stdin == nil {
		return os.Stdin
	}
	return o.Stdin
}

// A Session is an open session file: an index of its entries, in file order.
// Entries are known by their record number, from 0; bytes are read when asked
// for, through a Reader. Only Append changes the file. Files of versions 1 and 2
// are shown in today's shape.
//
// A Session may be used by several goroutines once it is open.
type Session struct {
	Name     string // as it was given
	Version  int    // of the format, from the header; see docs/session-format.md 1.4
	Findings []Finding
	Coverage Coverage

	src       *source
	dialect   *dialect.Dialect // nil for pi
	own       *source          // the file itself, where it continues others
	base      []section        // the files that it continues
	baseLines int              // lines of those
	badUTF8   bool             // another agent's file has bytes that are none
	joined    []joined         // lines of entries that are made of several, by entry
	records   []record
	times     []int64 // of the records, milliseconds since 1970, where they are kept
	ids       []byte  // all ids, one after the other
	table     *idTable
	found     findings
	header    int  // record number, or -1
	leaf      int  // record number, or -1
	forward   bool // a parent may come after its child
	orphans   bool // a parent is not in the file
	end       endMark
}

// Open opens and indexes the session file called name, or standard input for
// "-". Every line is validated; damage is read around and left in Findings.
// Only input that cannot be read at all, or holds no session, is an error.
func Open(name string, opt Options) (*Session, error) {
	src, err := openSource(name, opt)
	return open(name, src, err, opt)
}

// OpenReader is Open for a session that r holds; name is for messages.
func OpenReader(name string, r io.Reader, opt Options) (*Session, error) {
	src, err := through(plain, r, opt.Through)
	return open(name, src, err, opt)
}

func open(name string, src *source, err error, opt Options) (*Session, error) {
	if err != nil {
		return nil, inFile(name, err)
	}
	s := &Session{Name: name, src: src}
	if err := s.sniff(opt); err != nil {
		src.close()
		return nil, inFile(name, err)
	}
	workers := opt.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if err = s.scan(0, workers, opt); err == nil && s.dialect != nil {
		err = s.arrange()
	}
	if err == nil {
		err = s.finish()
	}
	if err == nil && s.dialect != nil && opt.Visit != nil {
		err = s.visit(workers, opt)
	}
	if err != nil {
		src.close()
		return nil, &Error{Pos: Pos{File: name}, Err: err}
	}
	return s, nil
}

// inFile is an error of opening a file; one that has its line keeps it.
func inFile(name string, err error) error {
	if at, ok := err.(*Error); ok && at.Pos.File == "" {
		return &Error{Pos: Pos{File: name, Line: at.Pos.Line, Entry: at.Pos.Entry}, Err: at.Err, Hint: at.Hint}
	}
	return &Error{Pos: Pos{File: name}, Err: err}
}

// Close closes the file.
func (s *Session) Close() error { return s.src.close() }

// Plain reads the whole session, unpacked, without what it continues.
func (s *Session) Plain() io.Reader {
	if s.own != nil {
		return s.own.plain()
	}
	return s.src.plain()
}

// Size is the length of the session in bytes, after unpacking.
func (s *Session) Size() int64 { return s.src.size }

// Len is the number of records, headers and scalar lines included.
func (s *Session) Len() int { return len(s.records) }

// Leaf is the record at which pi would go on: the last one that is an entry, -1
// in a session without entries (docs/session-format.md 2.2).
func (s *Session) Leaf() int { return s.leaf }

// Header is the record number of the session's header, -1 if it has none.
func (s *Session) Header() int { return s.header }

// Kind is the kind of record i.
func (s *Session) Kind(i int) jsonl.Kind { return s.records[i].kind }

// ID is the id of record i, empty where it has none.
func (s *Session) ID(i int) string { return idString(s.idOf(i)) }

// idString shows an id that is a number, kept behind a zero byte, as its digits.
func idString(id []byte) string {
	if len(id) > 0 && id[0] == 0 {
		id = id[1:]
	}
	return string(id)
}

// Line is the physical line of record i, from 1; 0 where only the end of the
// file was read.
func (s *Session) Line(i int) int {
	_, line := s.place(s.records[i].off, int(s.records[i].line))
	return line
}

// Pos is the place of record i, for messages.
func (s *Session) Pos(i int) Pos {
	file, line := s.place(s.records[i].off, int(s.records[i].line))
	return Pos{File: file, Line: line, Entry: s.ID(i)}
}

// Find is the record with that id, -1 if there is none. Of several the last
// counts, as in pi.
func (s *Session) Find(id string) int {
	if id == "" {
		return -1
	}
	return int(*s.slot([]byte(id))) - 1
}

// Parent is the record number of record i's parent, -1 for a root. A parent
// that is not in the file is no parent.
func (s *Session) Parent(i int) int { return int(s.records[i].up) - 1 }

// Path is the way from the root to record leaf, root first, as record numbers.
// A leaf below 0 gives the empty path. A parent link that closes a cycle ends
// the path: the entry that has it is left out, and reported.
func (s *Session) Path(leaf int) (path []int, found []Finding) {
	if !s.forward {
		n := 0
		for i := leaf; i >= 0; i = s.Parent(i) {
			n++
		}
		path = make([]int, n)
		for i := leaf; i >= 0; i = s.Parent(i) {
			n--
			path[n] = i
		}
		return path, nil
	}
	seen := make([]uint64, len(s.records)/64+1)
	for i := leaf; i >= 0; {
		next := s.Parent(i)
		seen[i/64] |= 1 << (i % 64)
		if next == i {
			break // reported when the file was opened
		}
		if next >= 0 && seen[next/64]>>(next%64)&1 == 1 {
			found = append(found, newFinding("cycle", s.Line(i), s.ID(i),
				"the way up from its parent %q comes back to it, and pi runs out of memory; the entry and all above it are left out", Quote(s.ID(next))))
			break
		}
		path = append(path, i)
		i = next
	}
	slices.Reverse(path)
	return path, found
}

// finish makes the index usable once all lines are in it: version, old shapes,
// ids, leaf, and the findings that need the whole file.
func (s *Session) finish() error {
	if err := s.findHeader(); err != nil {
		return err
	}
	s.table = newIDTable(len(s.records)) // it has no ids yet
	if s.Version < 2 {
		if err := s.giveIDs(); err != nil {
			return err
		}
	}
	if s.Version < 3 {
		for i := range s.records {
			if s.records[i].kind == jsonl.HookMessage {
				s.records[i].kind = jsonl.Custom
			}
		}
	}
	s.indexIDs(0)
	if s.dialect == nil {
		s.findLeaf()
	}
	s.link(0)
	if s.src.broken != nil {
		s.found.add("broken-off", s.Coverage.Lines, "", "%v: it is read up to there, %d bytes", s.src.broken, s.src.size)
	}
	s.Findings = s.found.all()
	return s.markEnd()
}

func (s *Session) find(code string, i int, format string, args ...any) {
	entry := ""
	if s.Kind(i).IsEntry() {
		entry = s.ID(i)
	}
	s.found.add(code, s.Line(i), entry, format, args...)
}

// findHeader finds the header and the version. pi takes a file only if its
// first record is a header with a string id; here the entries are read anyway.
func (s *Session) findHeader() error {
	s.header = -1
	known, ids := false, false
	for i := range s.records {
		r := &s.records[i]
		known = known || r.kind != jsonl.Unknown && r.kind != jsonl.Scalar
		ids = ids || r.kind.IsEntry() && len(s.idOf(i)) > 0
		if r.kind != jsonl.Header {
			continue
		}
		if s.header >= 0 {
			s.find("second-header", i, "a second session header: pi skips it")
			continue
		}
		s.header = i
		if i > 0 {
			s.find("late-header", i, "the session header is not the first record: pi refuses the file")
		}
	}
	if !known {
		if s.src.size == 0 {
			return errors.New("the file is empty: pi would write a new header into it")
		}
		return ErrNotSession
	}
	if s.header < 0 {
		s.found.add("no-header", 0, "", "no session header: pi refuses the file")
		s.Version = 3
		if !ids {
			s.Version = 1
		}
		return nil
	}
	return s.readVersion()
}

// readVersion reads the version off the header.
func (s *Session) readVersion() error {
	line, err := s.NewReader().Line(s.header)
	if err != nil {
		return err
	}
	var f [2]jsonl.Value
	line.Fields(f[:], "version", "id")
	if !f[1].IsString() {
		s.find("header-id", s.header, "the header's id is no string: pi refuses the file")
	}
	version, ok := f[0].Version()
	s.Version = version
	if !ok {
		s.find("version", s.header, "version %s is no number: pi rewrites the file whenever it opens it", Quote(string(f[0])))
	} else if version > 3 {
		s.find("too-new", s.header, "format version %s is newer than 3: read as it stands", Quote(string(f[0])))
	}
	return nil
}

// indexIDs puts the records from one on into the id table. The last of several with one
// id counts.
func (s *Session) indexIDs(from int) {
	for i := from; i < len(s.records); i++ {
		r := &s.records[i]
		if !r.kind.IsEntry() {
			continue
		}
		s.Coverage.Entries++
		if r.flags&flagWrongID != 0 {
			s.find("id-type", i, "its id is no string: pi finds it only by a parentId of the same type")
		}
		id := s.idOf(i)
		if len(id) == 0 {
			s.find("missing-id", i, "it has no id: no entry can follow it, and pi goes on at a new root")
			continue
		}
		p := s.slot(id)
		if *p != 0 {
			s.records[*p-1].flags |= flagShadowed
			s.find("duplicate-id", i, "line %d has the same id: pi takes this one, and the other cannot be reached", s.records[*p-1].line)
		}
		*p = uint32(i + 1)
	}
}

// findLeaf finds the last entry. pi would take a scalar line for it, and then
// show nothing.
func (s *Session) findLeaf() {
	s.leaf = len(s.records) - 1
	for s.leaf >= 0 && !s.records[s.leaf].kind.IsEntry() {
		if s.records[s.leaf].kind == jsonl.Scalar {
			s.find("scalar-leaf", s.leaf, scalarLeaf)
		}
		s.leaf--
	}
}

const scalarLeaf = "the last record is no object: pi shows an empty session; the entry before it is taken"

// link resolves the parents of the records from one on, reports those that are not
// there, and remembers whether any link points forward: without one there can be no cycle.
func (s *Session) link(from int) {
	for i := from; i < len(s.records); i++ {
		r := &s.records[i]
		parent := s.parentOf(i)
		if !r.kind.IsEntry() || len(parent) == 0 {
			continue
		}
		if i > 0 && s.records[i-1].id == r.parent && s.records[i-1].flags&flagShadowed == 0 {
			r.up = uint32(i)
			continue
		}
		r.up = *s.slot(parent)
		switch p := int(r.up) - 1; {
		case p < 0 && s.Coverage.Partial: // above what was read
		case p < 0:
			s.orphans = true
			s.find("orphan", i, "its parent %q is not in the file: what came before it is lost to pi", Quote(idString(parent)))
		case p == i:
			s.forward = true
			s.find("self-parent", i, "it is its own parent, and pi runs out of memory; the entry is left out")
		case p > i:
			s.forward = true
		}
	}
}

// String names the session for people.
func (s *Session) String() string { return fmt.Sprintf("%s (%s)", s.Name, s.Coverage) }
