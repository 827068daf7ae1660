package redact

import (
	"bufio"
	"fmt"
	"io"
	"iter"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Passes returns the passes over a session's lines, each reading the output of the previous
// one. The first finds and redacts secrets. If there are any, further passes redact them
// wherever else they occur, until nothing new is found. tally, if not nil, gets what was found.
// An error for a line is a *sessionfmt.Error with its number.
func (r *Redactor) Passes(tally *Tally) iter.Seq[sessionfmt.Pass] {
	return func(yield func(sessionfmt.Pass) bool) {
		x := r.NewRun()
		defer x.Close()
		defer func() {
			if tally != nil {
				x.Tally.persons = x.persons()
				*tally = *x.Tally
			}
		}()
		more := yield(func(dst io.Writer, from io.Reader) error {
			if r.opt.StructureOnly {
				head := bufio.NewReaderSize(from, mostHead)
				from = head
				if !structured(head) {
					return errStructure
				}
			}
			return x.lines(dst, from, x.line)
		})
		for round, known := 1, 0; more && len(x.s.found) > known; round++ {
			known = len(x.s.found)
			y := x.known()
			more = yield(x.pass(func(raw []byte) ([]byte, error) {
				line, err := y.line(raw)
				same := len(line) == 0 || len(raw) == 0 || &line[0] == &raw[0] // raw is not needed any more
				switch {
				case err != nil || same:
				case round == maxRounds:
					err = ErrLeft
				default:
					line, err = x.line(line) // a change may have revealed more
				}
				return line, err
			}))
			y.Close()
		}
	}
}

// pass returns the pass that replaces each line by what redacted returns.
func (x *Run) pass(redacted func(line []byte) ([]byte, error)) sessionfmt.Pass {
	return func(dst io.Writer, from io.Reader) error { return x.lines(dst, from, redacted) }
}

// lines writes the replacement of each line, with a newline if it had one.
func (x *Run) lines(dst io.Writer, from io.Reader, redacted func(line []byte) ([]byte, error)) error {
	out := bufio.NewWriterSize(dst, 256<<10)
	for l, err := range sessionfmt.Lines(from, 256<<10) {
		if err != nil {
			return err
		}
		line := l.Raw
		if !l.IsMark() {
			x.Tally.number = l.Number
			if line, err = redacted(line); err != nil {
				return &sessionfmt.Error{Pos: sessionfmt.Pos{Line: l.Number}, Err: err}
			}
		}
		out.Write(line)
		if len(line) >= huge {
			x.buf = [2][]byte{}
		}
		if l.Ended {
			out.WriteByte('\n')
		}
	}
	return out.Flush()
}

// huge is the size of a line from which its memory is freed immediately.
const huge = 16 << 20

// Same checks that a redacted session has the same structure: records, kinds, parents and leaf.
// The error names the first line that differs.
func Same(was, is *sessionfmt.Session) error {
	differs := func(line int, what string) error {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: was.Name, Line: line},
			Err: fmt.Errorf("redaction would change the session: %s", what)}
	}
	own := was.OwnLines() == nil // a document is written as lines
	for i := range min(was.Len(), is.Len()) {
		switch {
		case own && was.Line(i) != is.Line(i):
			return differs(was.Line(i), "its lines differ")
		case was.Kind(i) != is.Kind(i):
			return differs(was.Line(i), "the kind of the record changes")
		case was.Parent(i) != is.Parent(i):
			return differs(was.Line(i), "its parent changes")
		}
	}
	switch {
	case was.Len() != is.Len():
		return differs(0, "its records differ")
	case was.Leaf() != is.Leaf():
		return differs(0, "its leaf differs")
	}
	return nil
}

// Text redacts a text that is not part of a session.
func (r *Redactor) Text(text string) string {
	x := r.NewRun()
	defer x.Close()
	return x.Text(text)
}

// Learn reads a session whose secrets About then redacts wherever they are. It may be called
// concurrently.
func (x *Run) Learn(from io.Reader) error {
	x.lock.Lock()
	defer x.lock.Unlock()
	return x.pass(x.line)(io.Discard, from)
}

// About redacts a text about the sessions that were learned. It may be called concurrently.
func (x *Run) About(text string) string {
	x.lock.Lock()
	defer x.lock.Unlock()
	y := x.known()
	defer y.Close()
	return y.Text(x.Text(text))
}

// Message redacts what a program says. Its own words stay, also if of a session only the structure
// does.
func (r *Redactor) Message(text string) string {
	x := r.NewRun()
	defer x.Close()
	x.words = true
	return x.Text(text)
}

// Text redacts a text that belongs to the session but is not one of its lines.
func (x *Run) Text(text string) string {
	line := []byte(text)
	for round := range maxRounds {
		x.edits = x.edits[:0]
		if x.raw(x.s.plain(nil, line), line, round == 0); len(x.edits) == 0 {
			break
		}
		line = x.rewrite(nil, line, 0, len(line), x.edits, true)
	}
	return string(line)
}

// Definition redacts a tool definition as in a session. The error is ErrLeft.
func (x *Run) Definition(raw jsonl.Value) (jsonl.Value, error) {
	line := append(append([]byte(definitionOpen), raw...), definitionClose...)
	line, err := x.line(line)
	if err != nil {
		return nil, err
	}
	return jsonl.Value(line[len(definitionOpen) : len(line)-len(definitionClose)]), nil
}

const definitionOpen, definitionClose = `{"tools":[`, `]}`
