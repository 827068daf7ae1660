package check

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"ctxtool/sessionfmt"
)

// A Repair makes a sound file of a damaged one, in passes: those over lines come
// first, and then ids and parents, which can only be seen once all lines are there.
// What cannot be kept goes to the quarantine, letter by letter.
type Repair struct {
	was   *sessionfmt.Session
	lines []*lineMend         // the passes that find something to mend
	mid   *sessionfmt.Session // with its lines mended; the session as it was where they are sound
	links *linkMend
	end   *sessionfmt.Session // repaired, once asked for
	tail  *sessionfmt.Batch   // entries to append to that; see AnswerCalls
}

// mends are the codes of what a repair mends, in lines and then in what they hold.
var mends = slices.Concat(linePasses[0].codes, linePasses[1].codes, []string{
	"missing-id", "id-type", "duplicate-id", "orphan", "self-parent", "cycle", "no-message",
	"edit-no-replacement", "edit-no-content",
})

// A pick says which findings to mend, by code and line of the file.
type pick func(code string, line int) bool

// NewRepair plans to mend all that can be mended. Close it when done.
func NewRepair(s *sessionfmt.Session) (*Repair, error) {
	return newRepair(s, func(string, int) bool { return true })
}

// refuseVersion is the error of a version that nothing here writes to.
func refuseVersion(s *sessionfmt.Session) error {
	if s.Version <= 3 {
		return s.Foreign()
	}
	return &sessionfmt.Error{
		Pos: sessionfmt.Pos{File: s.Name}, Err: fmt.Errorf("version %d is newer than 3, and cannot be repaired here", s.Version),
		Hint: "use a newer ctxtool, if there is one",
	}
}

func newRepair(s *sessionfmt.Session, want pick) (*Repair, error) {
	r := &Repair{was: s, mid: s}
	if err := r.plan(want); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// plan makes the passes. Where a line was split a header may come out of it.
func (r *Repair) plan(want pick) (err error) {
	if err := refuseVersion(r.mid); err != nil {
		return err
	}
	lost := map[string]string{}
	for _, p := range linePasses {
		m := newLineMend(r.mid, p, want)
		if !m.any {
			continue
		}
		origin := []int{0} // of each line that the pass leaves, from 1
		next, err := respool(r.was.Name, m.traced(&origin), sessionfmt.Options{})
		if err != nil {
			return err
		}
		r.lines, r.mid = append(r.lines, m), next
		if err := refuseVersion(next); err != nil {
			return err
		}
		want = func(code string, line int) bool { return m.want(code, origin[line]) }
		maps.Copy(lost, m.lost)
	}
	r.links, err = newLinkMend(r.mid, lost, want)
	return err
}

// Sound reports whether there is nothing to mend.
func (r *Repair) Sound() bool { return len(r.lines) == 0 && !r.links.any() && r.tail == nil }

// Close frees what the repair holds. The session as it was stays open.
func (r *Repair) Close() {
	for _, s := range []*sessionfmt.Session{r.mid, r.end} {
		if s != nil && s != r.was {
			s.Close()
		}
	}
	for _, m := range r.lines[min(1, len(r.lines)):] { // the first one goes over the session as it was
		m.s.Close()
	}
	r.lines, r.mid, r.end = nil, nil, nil
}

// Changes goes through the file's lines with what becomes of each, and behind them
// what is appended, as a change without a line.
func (r *Repair) Changes(yield func(sessionfmt.Change, error) bool) {
	number := 0
	for c, err := range r.mended {
		if number = c.Number; !yield(c, err) || err != nil {
			return
		}
	}
	if r.tail != nil {
		added := bytes.Split(bytes.TrimSuffix(r.tail.Lines(), []byte{'\n'}), []byte{'\n'})
		yield(sessionfmt.Change{
			Line: sessionfmt.Line{Number: number + 1, Record: -1}, New: added,
			Notes: []string{fmt.Sprintf("%s appended for tool calls and results without each other", plural(len(added), "entry is", "entries are"))},
		}, nil)
	}
}

// mended is Changes without what is appended.
func (r *Repair) mended(yield func(sessionfmt.Change, error) bool) {
	all := iter.Seq2[sessionfmt.Change, error](r.links.changes)
	for _, m := range slices.Backward(r.lines) {
		all = through(m.changes, all)
	}
	all(yield)
}

// through is what two passes do, the second over the lines that the first leaves.
func through(first, second iter.Seq2[sessionfmt.Change, error]) iter.Seq2[sessionfmt.Change, error] {
	return func(yield func(sessionfmt.Change, error) bool) {
		next, stop := iter.Pull2(second)
		defer stop()
		for c, err := range first {
			if err == nil {
				c, err = join(c, next)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// join adds to a change what becomes of its new lines in the next pass.
func join(c sessionfmt.Change, next func() (sessionfmt.Change, error, bool)) (sessionfmt.Change, error) {
	lines := len(c.New)
	if c.Same {
		lines = 1
	}
	var all, out [][]byte
	same := c.Same
	for range lines {
		then, err, ok := next()
		if err != nil || !ok {
			return c, err
		}
		c.Notes = append(c.Notes, then.Notes...)
		same = same && then.Same
		if then.Same {
			then.New = [][]byte{then.Raw}
		}
		for _, l := range then.New {
			all = append(all, bytes.Clone(l))
		}
		if then.Out != nil {
			out = append(out, bytes.Clone(then.Out))
		}
	}
	if c.Out == nil && out != nil { // else the quarantine has the line whole, its pieces with it
		c.Out = bytes.Join(out, []byte{'\n'})
	}
	if !same {
		c.Same, c.New = false, all
	}
	return c, nil
}

// repaired is the session as it is after the repair.
func (r *Repair) repaired() (s *sessionfmt.Session, err error) {
	switch {
	case r.end != nil:
	case !r.links.any():
		r.end = r.mid
	default:
		r.end, err = respool(r.was.Name, r.links.changes, sessionfmt.Options{})
	}
	return r.end, err
}

// Proof reads the repaired file back, and says what checking it still finds, and
// what the context at the leaf was and is; both are nil where it cannot be replayed.
// That something is left which a repair mends is an error.
func (r *Repair) Proof(opt Options) (before, after *Figures, left []Finding, err error) {
	x := newSubject(r.was.Name, opt)
	s, err := respool(r.was.Name, r.Changes, x.opening())
	if err != nil {
		return nil, nil, nil, err
	}
	defer s.Close()
	x.run(s)
	for _, f := range x.report.Findings {
		if slices.Contains(mends, f.Code) {
			return nil, nil, nil, &sessionfmt.Error{
				Pos: sessionfmt.Pos{File: r.was.Name}, Err: fmt.Errorf("the repaired file still has %s on line %d: nothing is written", f.Code, f.Line),
				Hint: "this is a mistake in ctxtool; please report it with the file, if you can",
			}
		}
	}
	was, err := seen(r.was)
	now, err2 := seen(s)
	if err == nil && err2 == nil {
		before, after = &was, &now
	}
	return before, after, x.report.Findings, nil
}

// respool is the session that changes make.
func respool(name string, changes iter.Seq2[sessionfmt.Change, error], opt sessionfmt.Options) (*sessionfmt.Session, error) {
	in, out := io.Pipe()
	go func() {
		w := bufio.NewWriterSize(out, 64<<10)
		err := sessionfmt.Rewrite(changes, w, io.Discard)
		if err == nil {
			err = w.Flush()
		}
		out.CloseWithError(err)
	}()
	defer in.Close()
	return sessionfmt.OpenReader(name, in, opt)
}
