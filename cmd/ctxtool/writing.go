package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/plan"
	"ctxtool/render"
	"ctxtool/sessionfmt"

	"github.com/spf13/cobra"
)

// A writing is what the commands share that write sessions: flags, a plan of each session,
// and where it is carried out. Without -o and --write they print the plan.
type writing struct {
	answer
	plan.Target // as far as flags say it
	name        string
	now         string
	time        time.Time
	whole       bool   // a whole file is written, and nothing appended
	times       bool   // the times of entries are wanted
	guarded     bool   // the context changes
	stays       string // what is said of a session that -o names
	jobs        int
	aside       bool // the plan is printed on standard error
	alone       bool // it is one session, not those of a folder
	folder      bool // -o is one
	// plan makes the plan of an open session.
	plan func(e *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error)
	// shown is how plans call a session; nil for as it was given.
	shown func(f listedFile) string
	// done, if there is one, is told of each plan that was carried out, in order.
	done func(*plan.Plan) error
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

// rewritingHelp is writingHelp of commands that make files anew.
const rewritingHelp = "Without -o or --write it prints the plan. -o writes the new file to FILE, to\n" +
	"standard output (-), or for several sessions into a folder. --write puts it in\n" +
	"place of the session, and keeps the original as NAME.orig-N. What is not an entry\n" +
	"and cannot stay goes, byte for byte, to NAME.quarantine-N beside the new file.\n" +
	inUseHelp

// inUseHelp is for commands that an agent at the session would not notice.
const inUseHelp = "With --write, a session that was written to in the last two minutes is skipped,\n" +
	"since an agent may be using it; --force writes anyway.\n"

// appendFlags are the flags of commands that append entries to one session.
func (o *writing) appendFlags(cmd *cobra.Command) {
	o.flags(cmd, "the session with the entries to `FILE`, - for standard output", "text", "json", "entries")
	o.nowFlag(cmd, "the entries")
	cmd.Flags().BoolVar(&o.Write, "write", false, "append the entries to the session")
	o.Again = true
}

// rewriteFlags are the flags of commands that make files anew.
func (o *writing) rewriteFlags(cmd *cobra.Command) {
	o.flags(cmd, "the new session to `FILE`, - for standard output, or into a folder", "text", "json", "diff")
	f := cmd.Flags()
	f.BoolVar(&o.Write, "write", false, "put the new file in place of the session, and keep the original")
	f.StringVar(&o.Quarantine, "quarantine", "", "put what is not an entry into this new `FILE`")
	o.forceFlag(cmd, "put it there")
	o.whole, o.times = true, true
}

func (o *writing) flags(cmd *cobra.Command, output string, forms ...string) {
	o.answer.flags(cmd, forms...)
	f := cmd.Flags()
	f.Lookup("format").Usage = "`FORM` of the plan: " + strings.Join(forms, ", ")
	f.Lookup("output").Usage = "write " + output
}

func (o *writing) nowFlag(cmd *cobra.Command, of string) {
	cmd.Flags().StringVar(&o.now, "now", "", "`TIME` of "+of+", as 2026-01-31T12:00:00Z")
}

func (o *writing) forceFlag(cmd *cobra.Command, do string) {
	cmd.Flags().BoolVar(&o.Force, "force", false, do+" also where the session was written to in the last two minutes; it does not override a lock")
}

// run carries out the plans of the sessions that the arguments name.
func (o *writing) run(e *env, args []string) error {
	files, err := e.sessions(args)
	if err = cmp.Or(err, o.prepare(e, files, len(files) == 1 && (len(args) != 1 || !e.isDir(args[0])))); err != nil {
		return usage(err)
	}
	if len(files) == 0 {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: args[0]}, Err: errors.New("there is no session in it")}
	}
	return o.carryOut(e, files)
}

// runOne is run for the one session that an argument names, with a plan to append what add
// puts into a batch below its leaf, and what is promised of that.
func (o *writing) runOne(e *env, arg string, add func(s *sessionfmt.Session, b *sessionfmt.Batch) (plan.Promise, error)) error {
	if o.plan == nil {
		o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
			b := s.NewBatch(s.Leaf(), o.time)
			if err := b.Err(); err != nil {
				return nil, err
			}
			promise, err := add(s, b)
			if err != nil {
				return nil, err
			}
			p, err := plan.Entries(o.name, f.given, s, b, promise)
			if err == nil {
				p.Guarded = o.guarded
			}
			return p, err
		}
	}
	name, err := e.store().Locate(arg)
	files := []listedFile{{name, arg, arg, outName(name)}}
	if err = cmp.Or(err, o.prepare(e, files, true)); err != nil {
		return usage(err)
	}
	e.frugal(name)
	return o.carryOut(e, files)
}

// prepare holds the flags against the sessions that are written, one alone or those of
// folders. Its errors are of the command line.
func (o *writing) prepare(e *env, files []listedFile, alone bool) (err error) {
	if err = o.answer.check(); err != nil {
		return err
	}
	if o.time, err = e.nowFlag(o.now); err != nil {
		return err
	}
	o.alone, o.folder = alone, o.whole && e.isDir(o.output)
	itself := alone && o.output != "" && e.sameFile(o.outputOf(files[0]), files[0].path)
	switch elsewhere := o.Write && o.output != "" && !itself; {
	case elsewhere && o.whole:
		return errors.New("--write puts the new file in the session's place, and -o elsewhere: choose one")
	case !alone && !o.whole && (o.output != "" || o.format == "entries"):
		return errors.New("-o, --at and -f entries are for one session")
	case elsewhere:
		return errors.New("--write appends to the session, and -o writes elsewhere: choose one")
	case itself && !o.Write:
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: o.outputOf(files[0])}, Err: errors.New("-o names the session itself" + o.stays), Hint: o.itselfHint()}
	case !alone && o.output != "" && !o.folder:
		return fmt.Errorf("-o %s: several sessions go into a folder that is there", o.output)
	case !alone && o.Quarantine != "":
		return errors.New("--quarantine names a file for one session")
	case !alone && o.format == "diff":
		return errors.New("-f diff is for one session")
	case o.Quarantine != "" && o.output != "" && o.output != "-" && e.realName(o.Quarantine) == e.realName(o.outputOf(files[0])):
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: o.Quarantine}, Err: errors.New("--quarantine names the new session, which would take its place")}
	}
	if o.folder && !alone {
		return o.apart(e, files)
	}
	return nil
}

// itselfHint says what helps where -o names the session.
func (o *writing) itselfHint() string {
	switch {
	case o.stays != "":
		return ""
	case o.whole:
		return "--write puts the new file in its place, and keeps the original"
	}
	return "--write appends to it"
}

// outputOf is where what is made of a session goes; empty for nowhere.
func (o *writing) outputOf(f listedFile) string {
	if o.folder {
		return filepath.Join(o.output, f.out)
	}
	return o.output
}

// carryOut makes the plans, carries them out, and prints them.
func (o *writing) carryOut(e *env, files []listedFile) error {
	to := o.output
	if o.aside {
		to = "-"
	}
	if o.alone {
		p, err := o.make(e, files[0])
		if p != nil {
			defer p.Close()
		}
		if err == nil && o.done != nil {
			err = o.done(p)
		}
		if err != nil {
			return err
		}
		return e.report(to, func(w *bufio.Writer) error { return render.Write(w, p, o.format, e.screen("")) })
	}
	all, err := o.many(e, files)
	if err != nil {
		return err
	}
	plans := render.Plans{Command: o.name, All: all, Sum: !o.whole}
	if err := e.report(to, func(w *bufio.Writer) error { return render.Write(w, plans, o.format, e.screen("")) }); err != nil {
		return err
	}
	return firstError(all)
}

// make makes the plan of a session, and carries it out.
func (o *writing) make(e *env, f listedFile) (*plan.Plan, error) {
	t := o.Target
	t.Disk, t.Stdout, t.Now, t.Wait = e.disk, e.stdout, e.now, e.wait
	t.Output, t.Pack = o.outputOf(f), o.folder
	if o.Write {
		t.Output = ""
	}
	return t.Make(func() (*sessionfmt.Session, error) {
		opt := e.opening(1)
		if o.alone {
			show, end := e.progress(f.path, true)
			defer end()
			opt.Workers, opt.Progress = 0, show
		}
		opt.Times = o.times
		return sessionfmt.Open(f.path, opt)
	}, func(s *sessionfmt.Session) (*plan.Plan, error) { return o.plan(e, s, f) })
}

// many are the plans of several sessions, each by itself: one that fails does not stop the
// rest.
func (o *writing) many(e *env, files []listedFile) (all []*plan.Plan, err error) {
	type told struct {
		*plan.Plan
		said bytes.Buffer // beside it: the order is that of the sessions
	}
	if o.whole {
		debug.SetGCPercent(batchGC)
	}
	work := func(f listedFile, _ func(done, size int64)) *told {
		t := &told{}
		own := *e
		own.stderr = &t.said
		p, err := o.make(&own, f)
		if p != nil {
			p.Close()
		}
		switch {
		case errors.Is(err, plan.ErrInUse):
			p.Skipped = reason(err)
		case err != nil:
			if o.shown != nil {
				f.given = o.shown(f)
			}
			p = plan.Failed(o.name, f.given, reason(err))
		}
		t.Plan = p
		return t
	}
	inOrder(e, o.jobs, files, work, func(t *told) {
		_, fault := t.said.WriteTo(e.stderr)
		if err = cmp.Or(err, fault); err == nil && o.done != nil {
			err = o.done(t.Plan)
		}
		t.Brief(o.format)
		all = append(all, t.Plan)
	})
	return all, err
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

// firstError is the error of several plans: the first one, and how many more there are.
// What each of them has is in the table.
func firstError(all []*plan.Plan) error {
	failed := slices.DeleteFunc(slices.Clone(all), func(p *plan.Plan) bool { return p.Error == "" })
	if len(failed) == 0 {
		return nil
	}
	more := ""
	if len(failed) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(failed)-1)
	}
	return &sessionfmt.Error{Pos: sessionfmt.Pos{File: failed[0].Session.File}, Err: errors.New(failed[0].Error + more)}
}

// apart sees that the new files of several sessions do not meet in the folder that
// they go to, and that none of them is one of the sessions.
func (o *writing) apart(e *env, files []listedFile) error {
	inputs, outs := map[string]string{}, map[string]string{}
	for _, f := range files {
		inputs[e.realName(f.path)] = f.given
	}
	for _, f := range files {
		out := e.realName(filepath.Join(o.output, f.out))
		switch in, other := inputs[out], outs[out]; {
		case in == f.given:
			return &sessionfmt.Error{
				Pos: sessionfmt.Pos{File: o.output}, Err: fmt.Errorf("-o names the folder of the session %s", sessionfmt.Clean(in)),
				Hint: "--write puts the new file in its place, and keeps the original",
			}
		case in != "":
			return fmt.Errorf("-o %s: the new %s would be written over the session %s", o.output, sessionfmt.Clean(f.given), sessionfmt.Clean(in))
		case other != "":
			return fmt.Errorf("-o %s: %s and %s would both become %s", o.output, sessionfmt.Clean(other), sessionfmt.Clean(f.given), sessionfmt.Clean(f.out))
		}
		outs[out] = f.given
	}
	return nil
}
