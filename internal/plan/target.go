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

// A Target is where plans are carried out: without Write and Output, nowhere.
type Target struct {
	Disk       sessionfmt.Disk
	Stdout     io.Writer
	Now        func() time.Time
	Write      bool          // to the session itself
	Force      bool          // also where it may be in use
	Output     string        // to this file, or - for Stdout
	Pack       bool          // Output is in a folder, which is made, and packed as the session is
	Quarantine string        // the new file of what is not an entry; empty for one beside the session
	Wait       time.Duration // for a lock; as sessionfmt says when 0
	Ready      func() error  // is asked before a session is opened and before anything is written, if it is there
	Again      bool          // what others have appended meanwhile is read, and the same planned again
}

// Recent is for how long after its last change a session is taken to be in use.
const Recent = 2 * time.Minute

// ErrInUse is the error of a session that a plan is not carried out on.
var ErrInUse = errors.New("it was written to in the last minutes, so an agent may be at it")

// lockWait is how long it takes at most to get the turn where others write to a session too.
const lockWait = 30 * time.Second

// Make opens a session, plans, and carries the plan out. Close the plan when done.
//
// Where others have written to the session in between, it is locked, read and planned for
// once more, and what then says the same is appended.
func (t *Target) Make(open func() (*sessionfmt.Session, error), plan func(s *sessionfmt.Session) (*Plan, error)) (*Plan, error) {
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

// do writes what a plan says, if anything. held says that the session is locked.
func (t *Target) do(p *Plan, held bool) error {
	switch {
	case !t.Write && t.Output == "", t.Write && p.idle():
		return p.count()
	case t.Write && !t.Force && (p.Guarded || p.batch == nil) && t.recent(p.s.Name):
		return cmp.Or(p.count(), error(&sessionfmt.Error{Pos: sessionfmt.Pos{File: p.Session.File}, Err: ErrInUse, Hint: "end the agent's session first; --force " + p.doing() + " all the same"}))
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
	write := func(w io.Writer) error { // what leaves the session is on the disk before it is replaced
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
		err = cmp.Or(write(w), w.Flush())
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

// recent reports whether a file has changed lately.
func (t *Target) recent(name string) bool {
	info, err := t.Disk.Stat(name)
	return err == nil && t.Now().Sub(info.ModTime()) < Recent
}

// doing is what the plan does to a session.
func (p *Plan) doing() string {
	if p.batch != nil {
		return "appends"
	}
	return "replaces it"
}

// idle reports whether nothing changes.
func (p *Plan) idle() bool {
	if p.batch != nil {
		return p.batch.Len() == 0
	}
	return p.Rewrite != nil && p.Same
}

// content writes the session as it shall be, and to q what cannot stay in it.
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

// place writes the file of Output, whole or not at all.
func (t *Target) place(p *Plan, write func(w io.Writer) error) error {
	if t.Pack {
		if err := t.Disk.MkdirAll(filepath.Dir(t.Output)); err != nil {
			return err
		}
	}
	f, err := t.Disk.Create(t.Output)
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

// sameChange reports whether two batches say the same of one session, which has grown in
// between: all but ids, places in the tree and times.
func sameChange(was, is *sessionfmt.Session, before, after *sessionfmt.Batch) (bool, error) {
	one, err := headerLine(was)
	other, fault := headerLine(is)
	return bytes.Equal(one, other) && bytes.Equal(saying(before), saying(after)), cmp.Or(err, fault)
}

func headerLine(s *sessionfmt.Session) (line []byte, err error) {
	if s.Header() < 0 {
		return nil, nil
	}
	v, err := s.NewReader().Line(s.Header())
	return bytes.Clone(v), err
}

// saying is what the entries of a batch say.
func saying(b *sessionfmt.Batch) (text []byte) {
	for line := range bytes.Lines(b.Lines()) {
		text = jsonl.Value(bytes.TrimSpace(line)).AppendEdited(text, jsonl.Field{Name: "id"}, jsonl.Field{Name: "parentId"}, jsonl.Field{Name: "timestamp"})
	}
	return text
}
