package search

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"ctxtool/internal/base/parallel"
	"ctxtool/sessionfmt/jsonl"
)

// A gate decides by the raw bytes of JSON whether texts in them can match, without parsing. It
// looks for the longest part of a term that has one spelling, and for escapes that spell
// characters of it. The zero value lets everything pass.
type gate struct {
	runs    []term
	escaped [utf8.RuneSelf]bool // characters of the runs
	wide    bool                // they have characters beyond ASCII
	overlap int64               // bytes that windows share, so that each spelling is whole in one
}

// newGate returns a gate for texts with one of the terms.
func newGate(terms []term) gate {
	g := gate{overlap: escapeSize - 1}
	for i := range terms {
		run := terms[i].run()
		if run == "" {
			return gate{}
		}
		g.runs = append(g.runs, newTerm(run, terms[i].fold))
		g.overlap = max(g.overlap, int64(len(run)-1))
		for _, c := range []byte(run + strings.ToUpper(run)) {
			if c < utf8.RuneSelf {
				g.escaped[c] = true
			} else {
				g.wide = true
			}
		}
	}
	return g
}

// longestRun is the length of the longest part of a term that a gate looks for, bytes.
const longestRun = 1 << 10

// run returns the longest part of a term whose characters are spelled as themselves, except by
// an escape of each or of its slashes.
func (t *term) run() string {
	text, from, best := string(t.text), 0, ""
	for i, r := range text {
		if r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError || t.fold && hasCase(r) {
			from = i + utf8.RuneLen(r)
		} else if end := i + utf8.RuneLen(r); end-from > len(best) && end-from <= longestRun {
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
	return g.spelled(raw)
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
		if err == nil && (code >= utf8.RuneSelf && g.wide || code < utf8.RuneSelf && g.escaped[code]) {
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
