package plan

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"time"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Target is where plans are carried out: nowhere without Write and Output.
type Target struct {
	Disk       sessionfmt.Disk
	Stdout     io.Writer
	Now        func() time.Time
	Write      bool          // to the session itself
	Force      bool          // even if it may be in use
	Output     string        // to this file, or - for Stdout
	Pack       bool          // Output is in a folder to create, and compressed like the session
	Quarantine string        // a new file for what is not an entry; empty for one next to the session
	Wait       time.Duration // for a lock; the default of sessionfmt if 0
	Ready      func() error  // called before a session is opened and before writing; may be nil
	Again      bool          // if other processes have appended, read and plan again
}

// Recent is for how long after its last entry a session counts as in use.
const Recent = 2 * time.Minute

// ErrInUse is the error for a session that may be in use.
var ErrInUse = errors.New("was written to in the last minutes: may be in use")

// lockWait is the maximum wait for a lock that other processes use as well.
const lockWait = 30 * time.Second

// Make opens a session, plans, and carries the plan out. Close the plan when done.
//
// If another process has written to the session in between, Make locks it, reads and plans
// again, and appends if the plan is the same.
func (t *Target) Make(open func() (*sessionfmt.Session, error),
	plan func(s *sessionfmt.Session) (*Plan, error)) (*Plan, error) {
	if t.Ready != nil {
		if err := t.Ready(); err != nil {
			return nil, err
		}
	}
	p, err := planned(open, plan)
	if err != nil {
		return nil, err
	}
	err = t.do(p, false)
	if !t.Write || !t.Again || !errors.Is(err, sessionfmt.ErrChanged) {
		return p, err
	}
	unlock, locked := t.Disk.Lock(p.s.Name, "ctxtool "+p.Command, lockWait)
	if locked != nil {
		return p, locked
	}
	defer unlock()
	now, again := planned(open, plan)
	if again != nil {
		return p, again
	}
	if same, fault := sameChange(p.s, now.s, p.batch, now.batch); fault != nil || !same {
		now.Close()
		return p, cmp.Or(fault, err)
	}
	p.Close()
	return now, t.do(now, true)
}

func planned(open func() (*sessionfmt.Session, error), plan func(s *sessionfmt.Session) (*Plan, error)) (*Plan, error) {
	s, err := open()
	if err != nil {
		return nil, err
	}
	p, err := plan(s)
	if err != nil {
		s.Close()
		return nil, err
	}
	return p, nil
}

// do writes what a plan contains, if anything. held reports whether the session is locked.
func (t *Target) do(p *Plan, held bool) error {
	switch {
	case p.batch == nil && p.Rewrite == nil && p.fresh == nil: // it is refused
		return nil
	case !t.Write && t.Output == "", t.Write && p.idle():
		return p.count()
	case t.Write && !t.Force && (p.Guarded || p.batch == nil) && t.recent(p.s):
		return cmp.Or(p.count(), error(&sessionfmt.Error{Pos: sessionfmt.Pos{File: p.Session.File}, Err: ErrInUse,
			Hint: "end the agent's session first; --force " + p.doing() + " anyway"}))
	}
	if t.Ready != nil {
		if err := t.Ready(); err != nil {
			return placed(p.s, err)
		}
	}
	if p.promise != nil && !p.idle() {
		if err := p.readBack(p.promise); err != nil {
			return err
		}
	}
	opt := sessionfmt.AppendOptions{Who: "ctxtool " + p.Command, Wait: t.Wait, Held: held}
	if t.Write && p.batch != nil {
		err := p.s.Append(p.batch, opt)
		if err == nil {
			p.Written = p.Session.File
		}
		return err
	}
	q, err := t.quarantine(p)
	if err != nil {
		return err
	}
	defer q.abort()
	write := func(w io.Writer) error { // sync the quarantine before the session is replaced
		if err := p.content(w, q); err != nil || q.file == nil {
			return err
		}
		return q.file.Commit()
	}
	written := t.Output
	switch {
	case t.Write:
		written = p.s.Name
		p.Kept, err = p.s.Replace(opt, write)
	case t.Output == "-":
		w := bufio.NewWriterSize(t.Stdout, 64<<10)
		if err = write(w); err == nil {
			err = w.Flush()
		}
	default:
		err = t.place(p, write)
	}
	if err != nil {
		return err
	}
	p.Written = written
	if q.file != nil {
		p.Quarantine = q.name
	}
	q.done = true
	return nil
}

// recent reports whether somebody else has appended to a session recently, by the time of the last
// entry that ctxtool did not append. Without a time that has passed, it is the time of the file.
func (t *Target) recent(s *sessionfmt.Session) bool {
	now := t.Now()
	if ms, ok := s.LastActivity(); ok && ms < now.Add(Recent).UnixMilli() {
		return now.Sub(time.UnixMilli(ms)) < Recent
	}
	info, err := t.Disk.Stat(s.Name)
	return err == nil && now.Sub(info.ModTime()) < Recent
}

// doing describes what the plan does to a session.
func (p *Plan) doing() string {
	if p.batch != nil {
		return "appends"
	}
	return "replaces it"
}

// idle reports whether the plan changes nothing.
func (p *Plan) idle() bool {
	if p.batch != nil {
		return p.batch.Len() == 0
	}
	return p.Rewrite != nil && p.Same
}

// content writes the new session, and to q what it cannot contain.
func (p *Plan) content(w, q io.Writer) error {
	switch {
	case p.batch != nil:
		_, err := io.Copy(w, p.s.With(p.batch))
		return err
	case p.Rewrite != nil:
		return sessionfmt.Rewrite(p.counted, w, q)
	}
	return p.fresh(w)
}

// place writes the file of Output atomically.
func (t *Target) place(p *Plan, write func(w io.Writer) error) error {
	if t.Pack {
		if err := t.Disk.MkdirAll(filepath.Dir(t.Output)); err != nil {
			return err
		}
	}
	f, err := t.Disk.Create(t.Output, p.s.Name)
	if err != nil {
		return err
	}
	defer f.Abort()
	if t.Pack {
		err = p.s.Pack(f, write)
	} else {
		err = write(f)
	}
	if err != nil {
		return err
	}
	return f.Commit()
}

// sameChange reports whether two batches are equal except for ids, parents and times, though
// the session has grown in between.
func sameChange(was, is *sessionfmt.Session, before, after *sessionfmt.Batch) (bool, error) {
	one, err := was.HeaderLine()
	other, fault := is.HeaderLine()
	return bytes.Equal(one, other) && bytes.Equal(batchText(before), batchText(after)), cmp.Or(err, fault)
}

// batchText returns the entries of a batch without those fields.
func batchText(b *sessionfmt.Batch) (text []byte) {
	for line := range bytes.Lines(b.Lines()) {
		text = jsonl.Value(bytes.TrimSpace(line)).AppendEdited(text, jsonl.Field{Name: "id"},
			jsonl.Field{Name: "parentId"}, jsonl.Field{Name: "timestamp"})
	}
	return text
}
