package redact

import (
	"bufio"
	"fmt"
	"io"
	"iter"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Passes are what the lines of a session visit, each given what the one before has
// written: the first finds what there is to redact, and where secrets were among it the
// next ones remove them wherever else they stand. The last of them finds nothing new.
// Tally, if it is not nil, gets what was found. An error of a line is a
// *sessionfmt.Error with its number.
func (r *Redactor) Passes(tally *Tally) iter.Seq[sessionfmt.Pass] {
	return func(yield func(sessionfmt.Pass) bool) {
		x := r.NewRun()
		defer x.Close()
		defer func() {
			if tally != nil {
				*tally = *x.Tally
			}
		}()
		more := yield(x.pass(x.line))
		for round, known := 1, 0; more && len(x.s.found) > known; round++ {
			known = len(x.s.found)
			y := x.known()
			more = yield(x.pass(func(raw []byte) ([]byte, error) {
				line, err := y.line(raw)
				same := len(line) == 0 || len(raw) == 0 || &line[0] == &raw[0] // and raw is needed no more
				switch {
				case err != nil || same:
				case round == maxRounds:
					err = ErrLeft
				default:
					line, err = x.line(line) // it may show something else now
				}
				return line, err
			}))
			y.Close()
		}
	}
}

// pass makes of each line what redacted does.
func (x *Run) pass(redacted func(line []byte) ([]byte, error)) sessionfmt.Pass {
	return func(dst io.Writer, from io.Reader) error { return x.lines(dst, from, redacted) }
}

// lines writes what becomes of each line, with a newline where there was one.
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

// huge is from how many bytes on what a line has taken is given back at once.
const huge = 16 << 20

// Same reports whether a redacted session is the session that it was: the same records of
// the same kinds with the same parents, and the same leaf. The error names the first
// line that differs.
func Same(was, is *sessionfmt.Session) error {
	differs := func(line int, what string) error {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: was.Name, Line: line}, Err: fmt.Errorf("redacted it would be another session: %s", what)}
	}
	for i := range min(was.Len(), is.Len()) {
		switch {
		case was.Line(i) != is.Line(i):
			return differs(was.Line(i), "its lines are others")
		case was.Kind(i) != is.Kind(i):
			return differs(was.Line(i), "it becomes a record of another kind")
		case was.Parent(i) != is.Parent(i):
			return differs(was.Line(i), "it hangs elsewhere in the tree")
		}
	}
	switch {
	case was.Len() != is.Len():
		return differs(0, "it has other records")
	case was.Leaf() != is.Leaf():
		return differs(0, "its leaf is another one")
	}
	return nil
}

// Text is a text that is no line of a session, redacted by itself.
func (r *Redactor) Text(text string) string {
	x := r.NewRun()
	defer x.Close()
	return x.Text(text)
}

// Text is a text that is part of the session, but no line of it.
func (x *Run) Text(text string) string {
	line := []byte(text)
	for range maxRounds {
		x.edits = x.edits[:0]
		if x.raw(x.s.plain(nil, line), line); len(x.edits) == 0 {
			break
		}
		line = x.rewrite(nil, line, 0, len(line), x.edits, true)
	}
	return string(line)
}

// Definition is the definition of a tool, redacted as it would be in a session. The
// error is ErrLeft.
func (x *Run) Definition(raw jsonl.Value) (jsonl.Value, error) {
	line := append(append([]byte(definitionOpen), raw...), definitionClose...)
	line, err := x.line(line)
	if err != nil {
		return nil, err
	}
	return jsonl.Value(line[len(definitionOpen) : len(line)-len(definitionClose)]), nil
}

const definitionOpen, definitionClose = `{"tools":[`, `]}`
