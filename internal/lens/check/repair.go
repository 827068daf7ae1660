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

// A Repair turns a damaged file into a sound one, in passes: first over lines, then over ids
// and parents, which are known only once all lines are repaired. What cannot be kept is
// moved to the quarantine, byte for byte.
type Repair struct {
	was   *sessionfmt.Session
	lines []*lineRepair       // the passes over lines with something to repair
	mid   *sessionfmt.Session // the session with its lines repaired; was, if they are sound
	links *linkRepair
	end   *sessionfmt.Session // the repaired session; made on first use
	tail  *sessionfmt.Batch   // entries to append to it; see AnswerCalls and Accept
	why   []string            // what they are for, and each of them if that differs
}

// A pick reports whether to repair a finding, given its code and line of the file.
type pick func(code string, line int) bool

// NewRepair plans to repair all damage that can be repaired. Of another agent's session only
// lines are repaired, in that agent's format. The caller must call Close.
func NewRepair(s *sessionfmt.Session) (*Repair, error) {
	if err := s.OwnLines(); err != nil {
		return nil, err
	}
	return newRepair(s, func(string, int) bool { return true })
}

// refuseVersion returns the error for a version that is newer than those that this module
// writes.
func refuseVersion(s *sessionfmt.Session) error {
	if s.Version <= 3 {
		return nil
	}
	return sessionfmt.Errorf("version %d is newer than 3, and cannot be repaired here", s.Version).In(s.Name).
		Hinted("use a newer ctxtool, if there is one")
}

func newRepair(s *sessionfmt.Session, want pick) (*Repair, error) {
	r := &Repair{was: s, mid: s}
	if err := r.plan(want); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// plan makes the passes. Splitting a line can yield a header.
func (r *Repair) plan(want pick) (err error) {
	if err := refuseVersion(r.mid); err != nil {
		return err
	}
	lost, second := map[string]string{}, records
	if r.was.Dialect() != nil {
		second = foreign
	}
	for _, p := range []pass{splits, second} {
		m := newLineRepair(r.mid, p, want)
		if !m.any {
			continue
		}
		origin := []int{0} // by line that the pass leaves, from 1
		next, err := respool(r.was.Name, m.traced(&origin), sessionfmt.Options{})
		if err != nil {
			return err
		}
		r.lines, r.mid = append(r.lines, m), next
		if next.Dialect() != r.was.Dialect() {
			return refuse(r.was, "after the repair, it would be read as a session of %s", next.Dialect().Agent())
		}
		if err := refuseVersion(next); err != nil {
			return err
		}
		want = func(code string, line int) bool { return m.want(code, origin[line]) }
		maps.Copy(lost, m.lost)
	}
	if r.was.Dialect() != nil {
		r.links = &linkRepair{s: r.mid} // agents go on past lines that are missing
		return nil
	}
	r.links, err = newLinkRepair(r.mid, lost, want)
	return err
}

// Sound reports whether there is nothing to repair.
func (r *Repair) Sound() bool { return len(r.lines) == 0 && !r.links.any() && r.tail == nil }

// Close releases the resources of the repair. The original session stays open.
func (r *Repair) Close() {
	for _, s := range []*sessionfmt.Session{r.mid, r.end} {
		if s != nil && s != r.was {
			s.Close()
		}
	}
	for _, m := range r.lines[min(1, len(r.lines)):] { // the first pass reads the original session
		m.s.Close()
	}
	r.lines, r.mid, r.end = nil, nil, nil
}

// Changes calls f with the change of each line of the file, then with the appended entries,
// as a change without a line.
func (r *Repair) Changes(yield func(sessionfmt.Change, error) bool) {
	number := 0
	for c, err := range r.withoutAppended {
		number = c.Number
		if !yield(c, err) || err != nil {
			return
		}
	}
	if r.tail != nil {
		added := bytes.Split(bytes.TrimSuffix(r.tail.Lines(), []byte{'\n'}), []byte{'\n'})
		yield(sessionfmt.Change{
			Line: sessionfmt.Line{Number: number + 1, Record: -1}, New: added,
			Notes: append([]string{fmt.Sprintf("%s appended %s", plural(len(added), "entry is", "entries are"),
				r.why[0])}, r.why[1:]...),
		}, nil)
	}
}

// withoutAppended is Changes without the appended entries.
func (r *Repair) withoutAppended(yield func(sessionfmt.Change, error) bool) {
	all := iter.Seq2[sessionfmt.Change, error](r.links.changes)
	for _, m := range slices.Backward(r.lines) {
		all = through(m.changes, all)
	}
	all(yield)
}

// through composes two passes: the second reads the lines that the first leaves.
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

// join applies the next pass to the new lines of a change.
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
	if c.Out == nil && out != nil { // else the quarantine has the whole line, with its pieces
		c.Out = bytes.Join(out, []byte{'\n'})
	}
	if !same {
		c.Same, c.New = false, all
	}
	return c, nil
}

// repaired returns the session after the repair.
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

// Proof reads the repaired file back. It returns the report of checking it, and the size of
// the context at the leaf before and after; both are nil if the session cannot be replayed.
// It is an error if the repaired file still has damage that a repair fixes, or if another
// agent would no longer send what it sent.
func (r *Repair) Proof(opt Options) (before, after *Figures, left []Finding, err error) {
	x := newSubject(r.was.Name, opt)
	s, err := respool(r.was.Name, r.Changes, x.opening())
	if err != nil {
		return nil, nil, nil, err
	}
	defer s.Close()
	x.run(s)
	x.report.Rename(r.was.Name)
	passes := splits | records | foreign | links
	if r.was.Dialect() != nil {
		passes = splits | foreign
	}
	for _, f := range x.report.Findings {
		if Find(f.Code).mend&passes != 0 {
			return nil, nil, nil, &sessionfmt.Error{
				Pos:  sessionfmt.Pos{File: r.was.Name},
				Err:  fmt.Errorf("the repaired file still has %s on line %d: nothing is written", f.Code, f.Line),
				Hint: "this is a mistake in ctxtool; please report it with the file, if you can",
			}
		}
	}
	was, err := seen(r.was, nil)
	now, err2 := seen(s, nil)
	if r.was.Dialect() != nil && err == nil {
		if err := keeps(r.was, s); err != nil {
			return nil, nil, nil, err
		}
	}
	if err == nil && err2 == nil {
		before, after = &was, &now
	}
	return before, after, x.report.Findings, nil
}

// respool opens the session that the changes produce.
func respool(name string, changes iter.Seq2[sessionfmt.Change, error],
	opt sessionfmt.Options) (*sessionfmt.Session, error) {
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
