package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"ctxtool/internal/check"
	"ctxtool/render"
	"ctxtool/sessionfmt"
)

// A writing is what the commands share that append entries to one session. Without
// -o and --write they print what they would append.
type writing struct {
	answer
	name  string // of the command
	write bool
	now   string
	// parent is the record below which the batch begins; nil for the leaf.
	parent func(s *sessionfmt.Session) (int, error)
}

// writingHelp says what writing does, for help texts.
const writingHelp = "Without -o or --write it prints the plan; -f entries prints the lines that would\n" +
	"be appended, and nothing else. -o writes the session with them to FILE, or to\n" +
	"standard output (-). --write appends them: under a lock, in one write. Where others\n" +
	"have written to the file meanwhile, it is read again, and the entries are appended if\n" +
	"they still say the same. Do not append while the agent is at the session.\n"

// writingStatus is the part of the help about the exit status.
const writingStatus = "\nExit status: 0 the plan was made, or the entries were appended; 2 the command line\n" +
	"is wrong; 3 the session cannot be read or appended to, and is as it was.\n"

func (o *writing) flags(cmd *cobra.Command) {
	o.answer.flags(cmd, "text", "json", "entries")
	f := cmd.Flags()
	f.Lookup("format").Usage = "`FORM` of the plan: text, json, entries"
	f.Lookup("output").Usage = "write the session with the entries to `FILE`, - for standard output"
	f.BoolVar(&o.write, "write", false, "append the entries to the session")
	f.StringVar(&o.now, "now", "", "`TIME` of the entries, as 2026-01-31T12:00:00Z")
}

// run opens the session that the arguments name, has add put entries into a batch
// below its leaf, and prints, writes or appends them.
func (o *writing) run(e *env, arg string, add func(s *sessionfmt.Session, b *sessionfmt.Batch) error) error {
	now, err := e.nowFlag(o.now)
	if err = cmp.Or(o.answer.check(), err); err != nil {
		return usage(err)
	}
	name, err := e.store().Locate(arg)
	if err != nil {
		return usage(err)
	}
	if o.write && o.output != "" && !e.sameFile(o.output, name) {
		return usagef("--write appends to the session, and -o writes elsewhere: choose one")
	}
	if !o.write && e.sameFile(o.output, name) {
		return &usageError{&sessionfmt.Error{Pos: sessionfmt.Pos{File: o.output}, Err: errors.New("-o names the session itself"), Hint: "--write appends to it"}}
	}
	s, b, err := o.batch(e, name, now, add)
	if err != nil {
		return err
	}
	defer s.Close()
	plan, err := o.plan(s, b, arg)
	if err != nil {
		return err
	}
	err = o.put(e, s, b, plan, false)
	if !o.write || !errors.Is(err, sessionfmt.ErrChanged) {
		return err
	}
	// Others have written to it. What says the same of the file as it is now is said.
	unlock, locked := e.disk.Lock(name, "ctxtool "+o.name, lockWait)
	if locked != nil {
		return locked
	}
	defer unlock()
	s2, b2, again := o.batch(e, name, now, add)
	if again != nil {
		return again
	}
	defer s2.Close()
	if same, fault := sameChange(s, s2, b, b2); fault != nil || !same {
		return cmp.Or(fault, err)
	}
	if plan, again = o.plan(s2, b2, arg); again != nil {
		return again
	}
	return o.put(e, s2, b2, plan, true)
}

// lockWait is how long a command waits for its turn where others write to a session too.
const lockWait = 30 * time.Second

// batch opens the session, and has add make the entries.
func (o *writing) batch(e *env, name string, now time.Time, add func(s *sessionfmt.Session, b *sessionfmt.Batch) error) (s *sessionfmt.Session, b *sessionfmt.Batch, err error) {
	if s, err = e.open(name); err != nil {
		return nil, nil, err
	}
	parent := s.Leaf()
	if o.parent != nil {
		parent, err = o.parent(s)
	}
	if err == nil {
		b = s.NewBatch(parent, now)
		if err = b.Err(); err == nil {
			err = cmp.Or(add(s, b), b.Err())
		}
	}
	if err != nil {
		s.Close()
	}
	return s, b, err
}

// sameChange reports whether two batches say the same of one session, which has grown in
// between: all but ids, places in the tree and times.
func sameChange(was, is *sessionfmt.Session, before, after *sessionfmt.Batch) (bool, error) {
	one, err := headerLine(was)
	if err != nil {
		return false, err
	}
	other, err := headerLine(is)
	return bytes.Equal(one, other) && bytes.Equal(saying(before), saying(after)), err
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
		for key, v := range sessionfmt.Value(bytes.TrimSpace(line)).Members {
			switch string(key) {
			case "id", "parentId", "timestamp":
				continue
			}
			text = append(append(append(text, key...), ':'), v...)
		}
		text = append(text, '\n')
	}
	return text
}

// plan says what is appended, and what the context is with it: the session is read
// back with the entries.
func (o *writing) plan(s *sessionfmt.Session, b *sessionfmt.Batch, arg string) (*render.Plan, error) {
	after, err := sessionfmt.OpenReader(s.Name, s.With(b), sessionfmt.Options{})
	if err != nil {
		return nil, err
	}
	defer after.Close()
	p := render.NewPlan(o.name, arg, s, b, after)
	p.Before, p.After = measured(s), measured(after)
	return p, nil
}

// measured is the size of the context at a session's leaf, nil where it cannot be
// replayed.
func measured(s *sessionfmt.Session) *check.Figures {
	f, err := check.Measure(s, s.Leaf())
	if err != nil {
		return nil
	}
	return &f
}

// put appends the entries, or writes the session with them, or only says so. held says
// that the session is locked.
func (o *writing) put(e *env, s *sessionfmt.Session, b *sessionfmt.Batch, plan *render.Plan, held bool) error {
	switch {
	case o.write:
		if err := s.Append(b, sessionfmt.AppendOptions{Who: "ctxtool " + o.name, Wait: e.wait, Held: held}); err != nil {
			return err
		}
		if b.Len() > 0 {
			plan.Written = plan.Session.File
		}
	case o.output == "-":
		w := bufio.NewWriterSize(e.stdout, 64<<10)
		if _, err := io.Copy(w, s.With(b)); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
		plan.Written = "-"
	case o.output != "":
		if err := e.place(o.output, func(w io.Writer) error {
			_, err := io.Copy(w, s.With(b))
			return err
		}); err != nil {
			return err
		}
		plan.Written = o.output
	}
	return e.report(o.output, func(w *bufio.Writer) error {
		switch o.format {
		case "entries":
			_, err := w.Write(b.Lines())
			return err
		case "json":
			return render.WritePlanJSON(w, plan)
		}
		return render.WritePlan(w, plan)
	})
}

// report writes what a command did to a session, or would do: to standard output,
// unless -o gives that to the session.
func (e *env) report(output string, write func(w *bufio.Writer) error) error {
	if output != "-" {
		return e.answer(&answer{}, nil, write)
	}
	w := bufio.NewWriterSize(e.stderr, 64<<10)
	return cmp.Or(write(w), w.Flush())
}

// oneLine is a text on one line, as pi stores names: line ends become spaces.
func oneLine(text string) string {
	var b bytes.Buffer
	broken := false
	for _, r := range text {
		if r == '\r' || r == '\n' {
			broken = true
			continue
		}
		if broken {
			b.WriteByte(' ')
		}
		broken = false
		b.WriteRune(r)
	}
	return sessionfmt.TrimJS(b.String())
}
