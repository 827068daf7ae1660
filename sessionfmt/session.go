// Package sessionfmt reads the session files of coding agents and appends to them, without
// losing data.
//
// A session is an append-only tree of JSON lines: a header, then entries, each with an id and
// the id of its parent (docs/session-format.md 2). [Open] indexes a file without holding it: it
// validates every line and keeps its offset, kind, id and parent. [OpenTail] reads only the
// end. Damage does not stop reading: Session.Findings lists it, with line and entry.
//
// [Session.Point] finds an entry by a name such as leaf, request:7, a label, or the beginning
// of an id. Entries are identified by their record number, from 0 in the order of the file.
// [Session.Path] returns the records from the root to one of them.
//
// Package jsonl reads the content of a line, package store finds sessions, and package outline
// draws their trees.
//
// A session changes in one way: [Session.Append] adds a [Batch] of new entries after its last
// line, atomically. [NewFile] creates and replaces files. docs/design.md lists what both assume
// of disks and of other programs.
//
// Sizes are in bytes and texts are UTF-8, except where JavaScript counts, which is in UTF-16
// units. Offsets count from 0, lines from 1.
package sessionfmt

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"
	"time"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// ErrNotSession is the error for input that has neither a session header nor a message.
var ErrNotSession = errors.New("not a session: no header or message found")

// Options configure how a session is opened. The zero value is valid.
type Options struct {
	Stdin   *os.File // standard input, for the name "-"; os.Stdin if nil
	Disk    Disk     // file system of the session
	Workers int      // number of goroutines that index; the number of CPUs if 0

	// Visit, if set, is called once for each worker, and returns a function that receives the records that the
	// worker indexes, with the fields of Pick, so that nothing has to be read twice. A record is valid during
	// the call. With Ordered there is a single function, which receives the records in file order.
	Visit   func() func(p *jsonl.Picked)
	Pick    jsonl.Pick
	Ordered bool
	// Usages limits Visit to the usages of requests and what their records hold about them. For another agent's
	// session, it receives neither lines nor contents, and only the kind of messages that are known to have no
	// usage.
	Usages bool

	// Unindexed omits the index of entries, for a file that only Visit reads: the session has its headers,
	// coverage and findings. The file must have a header. Sessions of other agents are indexed anyway.
	Unindexed bool

	// Valid opens a session of pi that was opened before without damage and has not changed since: its lines
	// are not validated again. Visit must be nil.
	Valid bool

	Times   bool // keep the times of entries, for Session.Time
	Origins bool // keep them if Session.Origins needs them

	// Through, if set, are passes over the uncompressed bytes of the file, in order, before they are indexed.
	// An *Error of a pass gets the file name.
	Through iter.Seq[Pass]

	// Called, if set, returns the name to use for a file in messages, and in the id of a session that has no
	// other.
	Called func(name string) string

	// Lookup, if set, returns files that may hold another agent's session with that id. It is used for a
	// continued session that is not nearby.
	Lookup func(d *dialect.Dialect, id string) []string

	// Progress, if set, is called now and then with the number of bytes indexed so far.
	Progress func(done, size int64)

	// Opened, if set, is called with each session before Open returns it.
	Opened func(s *Session)

	asItIs bool // read a document even if it seems to be in the middle of a write
}

// ModTime returns the modification time of the session's file, the Unix epoch for standard input and streams.
func (s *Session) ModTime() time.Time {
	if s.src.info == nil {
		return time.Unix(0, 0)
	}
	return s.src.info.ModTime()
}

// A Pass reads a session from r and writes its replacement to w.
type Pass func(w io.Writer, r io.Reader) error

func (o Options) stdin() *os.File {
	if o.Stdin == nil {
		return os.Stdin
	}
	return o.Stdin
}

// A Session is an open session file: an index of its entries in file order. Entries are
// identified by their record number, from 0. A Reader reads their bytes on demand. Only Append
// changes the file. Files of versions 1 and 2 appear in the current format. A copy of a session
// can hold entries that are not in the file.
//
// A Session is safe for concurrent use, except for Grow, Hold, Reparent and Close.
type Session struct {
	Name     string // name as given
	Version  int    // format version from the header; see docs/session-format.md 1.4
	Findings []Finding
	Coverage Coverage

	called string // the name in messages
	src    *source
	identity
	copied    copiedLines
	badUTF8   bool                 // another agent's file has bytes that are none
	joined    []joined             // lines of entries that are made of several
	last      []uint32             // the last of those by entry, 0 for none
	kept      map[int]dialect.Kept // prompts that transforms keep
	used      ruling               // the rules of another agent's entries
	wroteIt   string               // the version of the agent that wrote the header, or else the leaf
	wroteLast string               // that wrote the leaf, or else the header
	newer     string               // that version, if it is newer than the newest known
	counted   map[string]float64   // by run, what the agent counted, US dollars
	aside     []dialect.Span       // lines of sub-agents' calls; see AsideCalls
	recorded  map[int]dialect.Span // where the requests of answers are recorded; see Recorded
	about     []dialect.Span       // lines that such records need
	skims     skims                // with Options.Usages, while the file is read
	records   []record
	times     []int64  // of the records, milliseconds since 1970, with Options.Times
	held      [][]byte // lines of the last records, which are not in the file; see Hold
	ids       []byte   // all ids, concatenated
	table     *idTable
	found     findings
	header    int  // record number, or -1
	leaf      int  // record number, or -1
	forward   bool // a parent may come after its child
	orphans   bool // a parent is not in the file
	end       endMark
}

// newSession returns a session that is not indexed yet.
func (o Options) newSession(name string, src *source, id identity) *Session {
	return &Session{Name: name, called: o.calls(name), src: src, identity: id}
}

// index indexes the lines of a session.
func (s *Session) index(opt Options) error {
	workers := opt.workers()
	if opt.Visit != nil && s.dialect == nil {
		workers = opt.visitors()
	}
	err := s.read(workers, opt)
	if err == nil {
		err = s.finish()
	}
	if err == nil && !opt.Unindexed {
		err = s.markEnd()
	}
	if err == nil && s.doc != nil {
		err = s.partsChanged(opt.Disk)
	}
	return err
}

// workers returns the number of goroutines that index, visitors the number of those that call Visit.
func (o Options) workers() int { return cmp.Or(o.Workers, runtime.GOMAXPROCS(0)) }

func (o Options) visitors() int {
	if o.Ordered {
		return 1
	}
	return o.workers()
}

// read reads all lines and makes records of them.
func (s *Session) read(workers int, opt Options) error {
	switch {
	case s.src.size > largest:
		return fmt.Errorf("the file has %d bytes: at most %d can be read", s.src.size, int64(largest))
	case s.doc != nil:
		return s.readDocument(workers, opt)
	case s.dialect == nil && opt.Unindexed:
		return s.scan(s.src, 0, workers, opt, s.mergeHeaders)
	case s.dialect == nil:
		return s.scan(s.src, 0, workers, opt, s.merge)
	}
	a := s.newArrangement(opt)
	if err := s.scan(s.src, 0, workers, opt, a.merge); err != nil {
		return err
	}
	return a.end()
}

// Close closes the file and drops temporary ones.
func (s *Session) Close() error {
	s.skims.release()
	return s.src.close()
}

// Plain returns a reader of the whole session, uncompressed, without the files that it continues.
// A document is read as lines.
func (s *Session) Plain() io.Reader {
	if s.doc != nil {
		return s.doc.lines(s)
	}
	return s.src.self().plain()
}

// Packed reports whether the session is in a compressed file or a stream, to which nothing can be
// appended.
func (s *Session) Packed() bool { return s.src.packing != plain || s.src.info == nil }

// Size returns the uncompressed size of the session in bytes, including the files that it continues.
func (s *Session) Size() int64 { return s.src.size }

// OwnSize returns the uncompressed size of the file itself in bytes.
func (s *Session) OwnSize() int64 { return s.src.self().size }

// Len returns the number of records, headers and scalar lines included.
func (s *Session) Len() int { return len(s.records) }

// Leaf returns the record after which pi would continue: the last entry, -1 in a session without entries
// (docs/session-format.md 2.2).
func (s *Session) Leaf() int { return s.leaf }

// Header returns the record number of the session's header, -1 if it has none.
func (s *Session) Header() int { return s.header }

// HeaderLine returns the line of the session's header, nil if it has none.
func (s *Session) HeaderLine() (jsonl.Value, error) {
	if s.header < 0 {
		return nil, nil
	}
	return s.NewReader().Line(s.header)
}

// Kind returns the kind of record i.
func (s *Session) Kind(i int) jsonl.Kind { return s.records[i].kind }

// ID returns the id of record i, empty if it has none.
func (s *Session) ID(i int) string { return idString(s.idOf(i)) }

// idString returns an id of the arena as text. A number is stored after a zero byte.
func idString(id []byte) string { return string(idText(id)) }

func idText(id []byte) []byte {
	if len(id) > 0 && id[0] == 0 {
		id = id[1:]
	}
	return id
}

// Line returns the physical line of record i in its file, from 1; 0 if only the end of the file was read.
func (s *Session) Line(i int) int {
	_, line := s.place(int(s.records[i].line))
	return line
}

// Pos returns the place of record i, for messages.
func (s *Session) Pos(i int) Pos {
	file, line := s.place(int(s.records[i].line))
	return Pos{File: file, Line: line, Entry: s.ID(i)}
}

// Find returns the record with that id, -1 if there is none. If several have it, the last one counts, as in pi.
func (s *Session) Find(id string) int {
	if id == "" {
		return -1
	}
	return s.withID([]byte(id))
}

// Parent returns the record number of record i's parent, -1 for a root or if the parent is not in the file.
func (s *Session) Parent(i int) int {
	if s.Orphan(i) {
		return -1
	}
	return int(s.records[i].parent) - 1
}

// Path returns the record numbers from the root to record leaf. A negative leaf gives the empty
// path. A parent cycle ends the path: the entry that closes it is left out and reported.
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
			break // Open has reported it
		}
		if next >= 0 && seen[next/64]>>(next%64)&1 == 1 {
			found = append(found, s.FindingAt("cycle", i,
				"parent cycle through %q: pi runs out of memory; the entry and its ancestors are left out",
				Quote(s.ID(next))))
			break
		}
		path = append(path, i)
		i = next
	}
	slices.Reverse(path)
	return path, found
}

// String describes the session in a few words.
func (s *Session) String() string { return fmt.Sprintf("%s (%s)", s.Name, s.Coverage) }
