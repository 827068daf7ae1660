package sessionfmt

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"ctxtool/internal/base/parallel"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A record is the index entry of one JSON line: 24 bytes, besides its id.
type record struct {
	low  uint32 // low 32 bits of the line's offset in the file
	size uint32 // length of the line without its newline, bytes
	line uint32 // physical line number, from 1
	id   ref
	// first a ref to the parent's id, empty if that is null, absent or ""; after all ids are known, the
	// parent's record number plus 1, or 0 for a root. With flagOrphan it stays a ref.
	parent uint32
	high   uint8 // high 8 bits of the offset
	kind   jsonl.Kind
	flags  uint16
}

// largest is the maximum size of a file in bytes: offsets have 40 bits.
const largest = 1 << 40

// off returns the offset of the line in the file.
func (r *record) off() int64 { return int64(r.high)<<32 | int64(r.low) }

// span returns the range of the line in the file.
func (r *record) span() dialect.Span { return dialect.Span{Off: r.off(), Size: r.size} }

// move makes the record that of another line.
func (r *record) move(to dialect.Span) {
	r.low, r.high, r.size = uint32(to.Off), uint8(to.Off>>32), to.Size
}

// A ref is the offset of an id in the arena, after its length byte.
type ref uint32

const (
	flagBadUTF8    = 1 << iota // invalid bytes must be replaced before decoding
	flagShadowed               // a later record has the same id
	flagWrongID                // the id is not a string
	flagOwnParent              // parentId is present, with any value
	flagOwnID                  // id is present, with any value
	flagUnanswered             // an answer that did not end its request; see Session.Answers
	flagNoUsage                // its line is known to have no usage
	flagRecorded               // an answer whose request is recorded; see Session.Recorded
	flagOrphan                 // the parent is not in the file
	flagCopied                 // copied from another session; see Origins
	flagDelegated              // written by a sub-agent; see Session.Delegated
)

// unitSize is the part of a file that a worker reads at a time, and slack how much it reads beyond that, so
// that the last line is nearly always complete. Both are multiples of a page, since reads that start on a page
// are copied faster.
const (
	unitSize = 256 << 10
	slack    = 16 << 10
)

// fewUnits is the number of units that justify another worker: starting one takes as long as reading a unit.
const fewUnits = 16

// unitBuffers recycles the workers' read buffers, which would be most of the garbage with many small files.
var unitBuffers = sync.Pool{New: func() any { return new(unitBuffer) }}

type unitBuffer [unitSize + slack]byte

// A unit is the index of one range of the file: of the lines whose preceding newline is in the
// range, and of the file's first line. Its line numbers and id offsets are relative to the
// unit.
type unit struct {
	off, end int64
	records  []record
	times    []int64
	ids      []byte
	groups   []ref // lines of another agent
	rules    []rule.Set
	skims    skims
	findings findings
	cover    Coverage
	err      error
}

// spareUnits recycles units after they are merged.
var spareUnits = sync.Pool{New: func() any { return new(unit) }}

// clear prepares a unit for another range.
func (u *unit) clear() {
	*u = unit{records: u.records[:0], times: u.times[:0], ids: u.ids[:0],
		groups: u.groups[:0], rules: u.rules[:0], findings: findings{list: u.findings.list[:0]},
		skims: skims{texts: u.skims.texts[:0], lines: u.skims.lines[:0]}}
}

// An indexer builds units. Each worker has one.
type indexer struct {
	src     *source
	head    *jsonl.HeadReader
	buf     *unitBuffer
	visit   func(p *jsonl.Picked)
	times   bool
	valid   bool             // see Options.Valid
	dialect *dialect.Dialect // nil for pi
	skims   bool             // see Options.Usages
	long    []byte           // a line that extends beyond the range
}

// fill builds u from the file.
func (x *indexer) fill(u *unit) {
	pos, buf, err := x.firstLine(u)
	for err == nil && pos <= u.end && pos < x.src.size {
		line, next := buf, int64(len(buf))
		nl := bytes.IndexByte(buf, '\n')
		if nl >= 0 {
			line, buf, next = buf[:nl], buf[nl+1:], int64(nl)+1
		} else if pos+next < x.src.size { // the last line extends beyond what was read
			if line, nl, err = x.longLine(pos, pos+next); err != nil {
				break
			}
			buf = nil // no line starts in the range
			next = x.src.size
		}
		u.cover.Lines++
		u.cover.passed++
		x.add(u, line, pos, nl < 0)
		pos += next
	}
	u.err = err
}

// firstLine reads the unit's range and finds the first line that belongs to it.
func (x *indexer) firstLine(u *unit) (int64, []byte, error) {
	buf := x.buf[:min(u.end+slack, x.src.size)-u.off]
	if err := readFullAt(x.src.bytes, buf, u.off); err != nil {
		return 0, nil, err
	}
	if u.off == 0 {
		return 0, buf, nil
	}
	nl := bytes.IndexByte(buf[:u.end-u.off], '\n')
	if nl < 0 {
		return x.src.size, nil, nil
	}
	return u.off + int64(nl) + 1, buf[nl+1:], nil
}

// longLine reads the whole line at pos, which has no newline before from. nl is negative if the file ends
// first. It searches for the end before it keeps any data, so the line is in memory only once. The search
// starts with a short read, since most lines end soon.
func (x *indexer) longLine(pos, from int64) (line []byte, nl int, err error) {
	end, window := from, int64(slack)
	for nl = -1; nl < 0 && end < x.src.size; window = min(2*window, int64(len(x.buf))) {
		part := x.buf[:min(window, x.src.size-end)]
		if err = readFullAt(x.src.bytes, part, end); err != nil {
			return nil, 0, err
		}
		if nl = bytes.IndexByte(part, '\n'); nl >= 0 {
			part = part[:nl]
		}
		end += int64(len(part))
	}
	if n := end - pos; n > int64(cap(x.long)) || cap(x.long) > 4*unitSize {
		x.long = nil
		if err := jsonl.Room(n); err != nil {
			return nil, 0, err
		}
		x.long = make([]byte, n)
	}
	line = x.long[:end-pos]
	if nl >= 0 {
		nl = len(line)
	}
	return line, nl, readFullAt(x.src.bytes, line, pos)
}

func readFullAt(r io.ReaderAt, buf []byte, off int64) error {
	n, err := r.ReadAt(buf, off)
	if n == len(buf) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = fmt.Errorf("%w: the file is shorter", ErrChanged)
	}
	return err
}

// A wholeReader reads all that it is asked for. Where a file ends before that, it has changed.
type wholeReader struct{ io.ReaderAt }

// ReadAt is io.ReaderAt's.
func (r wholeReader) ReadAt(buf []byte, off int64) (int, error) {
	if err := readFullAt(r.ReaderAt, buf, off); err != nil {
		return 0, err
	}
	return len(buf), nil
}

// add adds a line to the unit, and returns its head if it is a record. open reports whether the newline is
// missing.
func (x *indexer) add(u *unit, line []byte, off int64, open bool) *jsonl.Picked {
	at := u.cover.passed
	if off == 0 && bytes.HasPrefix(line, []byte(jsonl.BOM)) {
		u.find("bom", at, "the file starts with a byte order mark%s",
			piOnly(x.dialect, ": pi cannot read the header, and refuses the file"))
		line, off = line[len(jsonl.BOM):], int64(len(jsonl.BOM))
	}
	if len(line) > 0 && line[len(line)-1] == '\r' {
		u.cover.CRLF++
	}
	// some file systems pad lines with NUL bytes after a crash
	if x.dialect != nil && len(line) > 0 && (line[0] == 0 || line[len(line)-1] == 0) {
		all := len(line)
		line = bytes.TrimLeft(line, "\x00")
		off += int64(all - len(line))
		line = bytes.TrimRight(line, "\x00")
		u.find("padded", at, "%d NUL bytes stand around the record: they are left out", all-len(line))
	}
	if jsonl.Blank(line) {
		if len(line) > 0 || !open {
			u.cover.Blank++
		}
		return nil
	}
	if head, n := x.scan(line); n > 0 && jsonl.SkipSpace(line, n) == len(line) {
		u.terminated(open)
		x.addForeign(u, head, newRecord(line, off, at, !utf8.Valid(line)))
		return nil
	}
	h, known := (*jsonl.Picked)(nil), false
	var err *jsonl.SyntaxError
	if x.valid {
		h, known = x.head.Prefix(line)
	}
	if !known {
		h, err = x.head.Read(line)
	}
	if err != nil {
		u.cover.Skipped++
		u.findBroken(at, line, err, open)
		return nil
	}
	u.terminated(open)
	if h.Kind == jsonl.Scalar {
		if x.dialect != nil {
			u.cover.Skipped++
			u.find("scalar-line", at, "the line is not an object: it is skipped")
			return nil
		}
		if !h.Line.Truthy() {
			u.cover.Skipped++
			u.find("falsy-line", at, "the line is %s: pi skips it", Quote(string(h.Line)))
			return nil
		}
		u.find("scalar-line", at, "the line is not an object: pi keeps it as a record without an id")
	}
	rec := newRecord(line, off, at, h.BadUTF8 && !x.valid)
	rec.kind = h.Kind
	if x.dialect != nil {
		x.addRead(u, h, rec)
		return h
	}
	u.name(&rec, h)
	if rec.flags&flagBadUTF8 != 0 {
		id := idString(idAt(u.ids, rec.id))
		u.findings.add("invalid-utf8", at, id, badUTF8)
	}
	if h.Kind == jsonl.Unknown {
		u.cover.unknown(Quote(h.Type.Text()), 1)
	}
	if h.Kind == jsonl.Assistant && x.unsent(line, off) {
		rec.flags |= flagUnanswered
	}
	u.records = append(u.records, rec)
	if x.visit != nil {
		h.Off, h.BadUTF8, h.Unanswered = off, rec.flags&flagBadUTF8 != 0, rec.flags&flagUnanswered != 0
		x.visit(h)
	}
	if x.times {
		ms, ok := h.Timestamp.Millis()
		if !ok {
			ms = noTime
		}
		u.times = append(u.times, ms)
	}
	return h
}

func newRecord(line []byte, off int64, at int, badUTF8 bool) record {
	rec := record{line: uint32(at)}
	rec.move(dialect.Span{Off: off, Size: uint32(len(line))})
	if badUTF8 {
		rec.flags = flagBadUTF8
	}
	return rec
}

// terminated reports the last line of the file if it has no newline.
func (u *unit) terminated(open bool) {
	if open {
		u.find("unterminated", u.cover.passed,
			"the last line has no newline: its entry is complete, but the next one may be written to the same line")
	}
}

const badUTF8 = "bytes that are not UTF-8 are read as U+FFFD"

func (u *unit) find(code string, line int, format string, args ...any) {
	u.findings.add(code, line, "", format, args...)
}

// findBroken reports why a line is not JSON.
func (u *unit) findBroken(at int, line []byte, err *jsonl.SyntaxError, open bool) {
	switch {
	case open && err.Reason == jsonl.BrokenOff:
		u.find("torn", at, "the last line is incomplete, it ends after %d bytes: its entry is lost", len(line))
	case err.Reason == jsonl.Trailing && line[err.Offset] == '{':
		u.find("glued", at, "a second record follows on the same line at byte %d: both are lost", err.Offset)
	default:
		u.find("malformed", at, "not JSON: %s", err.Error())
	}
}

// scan indexes a file from a line start on, with several workers. merge receives the units in the order of the
// file, so the result does not depend on the number of workers.
func (s *Session) scan(src *source, from int64, workers int, opt Options, merge func(u *unit) error) (err error) {
	units := int((src.size - from + unitSize - 1) / unitSize)
	workers = min(workers, 1+units/fewUnits)
	ahead := 2*workers + 2
	var buffers []*unitBuffer
	for u := range parallel.InOrder(units, workers, ahead, func() func(int) *unit {
		x := s.newIndexer(src, opt)
		buffers = append(buffers, x.buf)
		return func(k int) *unit {
			u := spareUnits.Get().(*unit)
			u.clear()
			u.off = from + int64(k)*unitSize
			u.end = min(u.off+unitSize, src.size)
			x.fill(u)
			return u
		}
	}) {
		if err == nil {
			err = u.err
		}
		if err == nil {
			err = merge(u)
		}
		if opt.Progress != nil {
			opt.Progress(u.end, src.size)
		}
		spareUnits.Put(u)
	}
	for _, buf := range buffers {
		unitBuffers.Put(buf)
	}
	return err
}

func (s *Session) newIndexer(src *source, opt Options) *indexer {
	x := &indexer{src: src, dialect: s.dialect, buf: unitBuffers.Get().(*unitBuffer)}
	x.times = opt.Times || opt.Origins && !s.original
	if s.dialect != nil {
		x.head, x.skims = jsonl.NewHeadReader(s.dialect.Pick), s.skims.whole
		return x
	}
	x.head, x.valid = jsonl.NewHeadReader(opt.Pick), opt.Valid
	if opt.Visit != nil {
		x.visit = opt.Visit()
	}
	return x
}

// merge appends a unit to the session's index.
func (s *Session) merge(u *unit) error {
	line, base := s.Coverage.passed, ref(len(s.ids))
	for i := range u.records {
		r := &u.records[i]
		r.line += uint32(line)
		r.id += base
		r.parent += uint32(base)
	}
	s.reserve(u)
	s.report(u)
	if len(s.records) == 0 {
		s.records, u.records = u.records, s.records // most files have a single unit
	} else {
		s.records = append(s.records, u.records...)
	}
	s.times = append(s.times, u.times...)
	s.ids = append(s.ids, u.ids...)
	return nil
}

// mergeHeaders appends the headers of a unit.
func (s *Session) mergeHeaders(u *unit) error {
	if u.records = slices.DeleteFunc(u.records,
		func(r record) bool { return r.kind != jsonl.Header }); len(u.records) == 0 {
		u.ids = u.ids[:0]
	}
	return s.merge(u)
}

// reserve allocates room for all records, estimated after enough of the file is read.
func (s *Session) reserve(u *unit) {
	few := u.end > 0 && s.src.size <= 16*unitSize && len(s.records) == 0 && u.end < s.src.size
	if done := float64(u.end); (few || u.off >= 16*unitSize) && len(s.records)+len(u.records) > cap(s.records) {
		share := float64(s.src.size) / done * 1.03
		s.records = growTo(s.records, share*float64(len(s.records)+len(u.records)))
		s.times = growTo(s.times, share*float64(len(s.times)+len(u.times)))
		s.ids = growTo(s.ids, share*float64(len(s.ids)+len(u.ids)))
		if s.dialect != nil {
			s.last = growTo(s.last, float64(cap(s.records)))
			s.joined = growTo(s.joined, share*float64(len(s.joined)))
		}
	}
}

// report adds the findings and coverage of a unit to those of the session.
func (s *Session) report(u *unit) {
	for i := range u.findings.list {
		u.findings.list[i].Line += s.Coverage.passed
	}
	s.found.join(u.findings)
	s.Coverage.add(&u.cover)
}

func growTo[T any](list []T, n float64) []T { return slices.Grow(list, max(0, int(n)-len(list))) }
