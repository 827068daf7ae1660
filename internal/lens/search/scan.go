package search

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/read/outline"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// largeSize is the size from which on all CPUs read a file together, bytes.
const largeSize = 4 << 20

// large is held while all CPUs read a file, so that one index of a large file is in memory.
var large sync.Mutex

// take returns how many workers read a file, and its state before that. The caller calls done
// afterwards.
func (s *searcher) take(f File) (workers int, before os.FileInfo, done func()) {
	if f.Name != "-" {
		info, err := s.opt.Open.Disk.Stat(f.Name)
		if err != nil || info.Size() < largeSize {
			return 1, info, func() {}
		}
		before = info
	}
	large.Lock()
	return runtime.GOMAXPROCS(0), before, large.Unlock
}

// A part is what a worker found in a part of a session.
type part struct {
	*searcher
	records  int
	messages int
	found    []found
	counts   []uint8 // see Session
	err      error

	last int64  // the offset of the last record that has a time, and that
	time []byte // as JSON
}

// another returns a searcher for a worker, the one itself if there is only one.
func (s *searcher) another(workers int) *searcher {
	if workers <= 1 {
		return s
	}
	t := newSearcher(s.opt)
	t.begun = s.begun
	return t
}

// pass searches a session of pi's without an index: its lines while they are validated.
func (s *searcher) pass(f File, workers int, before os.FileInfo, out *searched) error {
	cwd := s.header.Get("cwd").Text()
	if !s.opt.Filter.in(cwd) {
		return nil
	}
	s.begun, _ = s.header.Get("timestamp").Millis()
	opt, parts := s.opt.Open, []*part(nil)
	opt.Workers, opt.Unindexed = workers, true
	opt.Visit = func() func(p *jsonl.Picked) {
		t := &part{searcher: s.another(workers), last: -1}
		parts = append(parts, t)
		return t.visit
	}
	ses, err := sessionfmt.Open(f.Name, opt)
	if err != nil {
		return err
	}
	defer ses.Close()
	group := &Session{File: f, unindexed: true}
	outline.ReadHeader(&group.About, s.header)
	if ses.Coverage.Skipped == 0 &&
		!slices.ContainsFunc(ses.Findings, func(f sessionfmt.Finding) bool { return f.Code == "invalid-utf8" }) {
		group.sound = before
	}
	last, n := parts[0], 0
	for _, t := range parts {
		out.lines += int64(t.records)
		group.Messages += t.messages
		n += len(t.found)
		if t.last > last.last {
			last = t
		}
	}
	group.found, group.counts = make([]found, 0, n), make([]uint8, 0, n*len(s.counts))
	for _, t := range parts {
		group.found, group.counts = append(group.found, t.found...), append(group.counts, t.counts...)
	}
	group.Time = jsonl.Value(last.time).Text()
	group.last, _ = jsonl.Value(last.time).Millis()
	out.session = group
	return nil
}

// visit searches a line.
func (t *part) visit(p *jsonl.Picked) {
	t.records++
	if p.Kind.IsTurn() {
		t.messages++
	}
	if _, ok := p.Timestamp.Millis(); ok && dates(p.Kind) {
		t.last, t.time = p.Off, append(t.time[:0], p.Timestamp...)
	}
	if !t.opt.Filter.kind(p.Kind) || !t.query.gate.may(p.Line) {
		return
	}
	line := p.Line
	if p.BadUTF8 {
		line = jsonl.ReplaceInvalidUTF8(line)
	}
	t.add(p.Off, p.Kind, line)
}

// add searches an entry.
func (t *part) add(at int64, kind jsonl.Kind, line jsonl.Value) {
	if hit, ok := t.entry(kind, line); ok {
		hit.at = at
		t.found, t.counts = append(t.found, hit), append(t.counts, t.searcher.counts...)
	}
}

// recordsAtOnce is how many records of an indexed session a worker searches at a time.
const recordsAtOnce = 4096

// indexed searches the records of a session.
func (s *searcher) indexed(ses *sessionfmt.Session, workers int, group *Session) error {
	pieces := (ses.Len() + recordsAtOnce - 1) / recordsAtOnce
	for t := range parallel.InOrder(pieces, workers, 2*workers, func() func(k int) *part {
		own, lines := s.another(workers), ses.NewReader()
		return func(k int) *part {
			t := &part{searcher: own}
			for i := k * recordsAtOnce; i < min((k+1)*recordsAtOnce, ses.Len()) && t.err == nil; i++ {
				t.record(ses, lines, i)
			}
			return t
		}
	}) {
		if t.err != nil {
			return t.err
		}
		group.Messages += t.messages
		group.found, group.counts = append(group.found, t.found...), append(group.counts, t.counts...)
	}
	return nil
}

// record searches a record, by its raw bytes first.
func (t *part) record(ses *sessionfmt.Session, lines *sessionfmt.Reader, i int) {
	kind := ses.Kind(i)
	if kind.IsTurn() {
		t.messages++
	}
	if !t.opt.Filter.kind(kind) {
		return
	}
	raw, err := lines.Raw(i) // an entry of another agent's costs more than its lines
	if err == nil && !t.query.gate.may(raw) {
		return
	}
	line, err := lines.Line(i)
	if t.err = err; err == nil {
		t.add(int64(i), kind, line)
	}
}

// record returns the record of a hit, -1 if the file has changed.
func (s *Session) record(ses *sessionfmt.Session, f *found) int {
	rec := int(f.at)
	if s.unindexed {
		rec = sort.Search(ses.Len(), func(i int) bool { return ses.Offset(i) >= f.at })
	}
	if rec >= ses.Len() || s.unindexed && ses.Offset(rec) != f.at {
		return -1
	}
	return rec
}

// currentHeader returns the header of a session of pi's in a format whose lines are what their
// session has, by the first object of its file; nil for other files.
func currentHeader(first jsonl.Value) jsonl.Value {
	if first.Get("type").Is("session") && first.Get("version").Int() >= 3 && first.Get("id").IsString() &&
		sessionfmt.Sniff(first) == nil {
		return bytes.Clone(first)
	}
	return nil
}

// A gate decides by the raw bytes of JSON whether texts in them can match, without parsing. It
// looks for the longest part of a term that has one spelling, for rare characters that spell parts of it
// otherwise, and for escapes of any of these. The zero value lets everything pass.
type gate struct {
	runs    []term
	others  []string
	escaped [utf8.RuneSelf]bool // characters of the runs
	wide    []rune              // characters beyond ASCII of both, as escapes have them
	overlap int64               // bytes that windows share, so that each spelling is whole in one
}

// newGate returns a gate for texts with one of the terms.
func newGate(terms []term) gate {
	g := gate{overlap: escapeSize - 1}
	for i := range terms {
		t := &terms[i]
		run := spellingOf(string(t.text), t.fold)
		if t.exact {
			run = spelling{text: literalRun(string(t.text))}
		}
		if run.text == "" {
			return gate{}
		}
		g.runs = append(g.runs, bytewise(run.text, t.fold))
		g.others = append(g.others, run.others...)
		g.overlap = max(g.overlap, int64(len(run.text)-1))
		for _, c := range run.text + strings.ToUpper(run.text) + strings.Join(run.others, "") {
			if c < utf8.RuneSelf {
				g.escaped[c] = true
			} else if high, _ := utf16.EncodeRune(c); high != utf8.RuneError {
				g.wide = append(g.wide, high)
			} else {
				g.wide = append(g.wide, c)
			}
		}
	}
	slices.Sort(g.others)
	g.others = slices.Compact(g.others)
	return g
}

// longestRun is the length of the longest part of a term that a gate looks for, bytes.
const longestRun = 1 << 10

// literalRun returns the longest part of a text that JSON spells as itself, or by escapes.
func literalRun(text string) (best string) {
	from := 0
	for i, r := range text {
		if end := i + utf8.RuneLen(r); r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError {
			from = end
		} else if end-from > len(best) && end-from <= longestRun {
			best = text[from:end]
		}
	}
	return best
}

// may reports whether texts in raw JSON can match.
func (g *gate) may(raw []byte) bool {
	if len(g.runs) == 0 {
		return true
	}
	for i := range g.runs {
		for range g.runs[i].in(raw) {
			return true
		}
	}
	return hasAny(raw, g.others) || g.spelled(raw)
}

// An escape with a code: how it begins, and its length in bytes.
var escape = jsonl.Pair{A: '\\', B: 'u'}

const escapeSize = 6

// spelled reports whether a character of the runs may be spelled as an escape.
func (g *gate) spelled(raw []byte) bool {
	if g.escaped['/'] && bytes.Contains(raw, []byte(`\/`)) {
		return true
	}
	for i := escape.Index(raw, 0); i+escapeSize <= len(raw); i = escape.Index(raw, i+1) {
		code, err := strconv.ParseUint(string(raw[i+2:i+escapeSize]), 16, 16)
		if err == nil && (code < utf8.RuneSelf && g.escaped[code] ||
			code >= utf8.RuneSelf && slices.Contains(g.wide, rune(code))) {
			return true
		}
	}
	return false
}

// windowSize is how many bytes of a file are looked at together, which fit the cache of a CPU, and
// partSize how many of a large file by one CPU.
const (
	windowSize = 128 << 10
	partSize   = 1 << 20
)

// A looked is what the raw bytes of a file tell.
type looked struct {
	lines int64
	may   bool // a text in it can match
	err   error
}

// look looks at a file, a large one on all CPUs, until something in it can match.
func (s *searcher) look(in *os.File) (all looked) {
	info, err := in.Stat()
	if g := &s.query.gate; err != nil || len(g.runs) == 0 {
		return looked{may: true, err: err}
	}
	size, part, workers := info.Size(), info.Size(), 1
	if size >= largeSize {
		part, workers = partSize, runtime.GOMAXPROCS(0)
	}
	for one := range parallel.InOrder(int((size+part-1)/max(part, 1)), workers, 2*workers, func() func(k int) looked {
		buf := s.buf
		if workers > 1 {
			buf = make([]byte, windowSize)
		}
		return func(k int) looked {
			return s.query.gate.look(in, int64(k)*part, min(int64(k+1)*part, size), buf)
		}
	}) {
		all.lines += one.lines
		if all.may, all.err = one.may, one.err; all.may || all.err != nil {
			break
		}
	}
	return all
}

// look looks at the bytes of a file from one offset to another, by windows in buf.
func (g *gate) look(in io.ReaderAt, from, to int64, buf []byte) (l looked) {
	for from < to && !l.may {
		begin := max(0, from-g.overlap)
		n, err := in.ReadAt(buf[:min(int64(len(buf)), to-begin)], begin)
		if err != nil && err != io.EOF || begin+int64(n) <= from { // a file that became shorter
			l.err = err
			return l
		}
		l.lines += int64(bytes.Count(buf[from-begin:n], []byte{'\n'}))
		l.may = g.may(buf[:n])
		from = begin + int64(n)
	}
	return l
}
