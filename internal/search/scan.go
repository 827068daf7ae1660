package search

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"sort"
	"sync"

	"ctxtool/internal/base/parallel"
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
	group.Header(s.header)
	if ses.Coverage.Skipped == 0 && !slices.ContainsFunc(ses.Findings, func(f sessionfmt.Finding) bool { return f.Code == "invalid-utf8" }) {
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
	if first.Get("type").Is("session") && first.Get("version").Int() >= 3 && first.Get("id").IsString() && sessionfmt.Sniff(first) == nil {
		return bytes.Clone(first)
	}
	return nil
}
