package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/base/shell"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/out/show"
	"ctxtool/sessionfmt"
)

// writeFlags are the flags of the commands that write sessions. Each makes a plan for a
// session and carries it out. Without -o and --write it only prints the plan.
type writeFlags struct {
	answer
	plan.Target // as far as flags set it
	printed     redaction
	name        string
	now         string
	time        time.Time
	whole       bool   // writes a whole file, and appends nothing
	times       bool   // reads the times of entries
	guarded     bool   // changes the context
	unmarked    bool   // the batch has no mark, see compact.Job
	stays       string // end of the error for -o that names the session
	jobs        int
	aside       bool   // prints the plan on standard error
	trial       bool   // no --write to carry the plan out
	insists     bool   // a batch that skips a session exits with 1
	pending     bool   // a plan that changes a session exits with 1
	hint        string // name of the first session that fails, of several
	alone       bool   // a single session, not one of a folder
	lists       bool   // lists findings itself
	folder      bool   // -o is a folder
	// plan makes the plan for an open session.
	plan func(e *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error)
	// shown returns the name of a session in plans; nil for the name as given.
	shown func(f listedFile) string
}

// appendFlags are the flags of commands that append entries to one session.
func (o *writeFlags) appendFlags(f *flagSet) {
	o.flags(f, "the session with the new entries to `FILE`", "text", "json", "entries")
	o.nowFlag(f, "the entries")
	f.BoolVar(&o.Write, "write", false, "append the entries to the session")
	o.Again = true
}

// rewriteFlags are the flags of commands that write new files.
func (o *writeFlags) rewriteFlags(f *flagSet) {
	o.flags(f, "the new session to `FILE`, or into a folder", "text", "json", "diff")
	f.BoolVar(&o.Write, "write", false, "replace the session, and keep the original")
	f.StringVar(&o.Quarantine, "quarantine", "", "move what is not an entry to this new `FILE`")
	o.forceFlag(f)
	f.BoolVar(&o.insists, "strict", false, "exit with 1 if a session is skipped")
	f.BoolVar(&o.pending, "check", false, "exit with 1 if a session would change; write nothing")
	f.exclude("check", "write", "output", "quarantine")
	o.whole, o.times = true, true
}

func (o *writeFlags) flags(f *flagSet, output string, forms ...string) {
	o.answer.flags(f, forms...)
	f.Lookup("format").Usage = "print the plan as `FORM`: " + strings.Join(forms, ", ")
	f.Lookup("output").Usage = "write " + output
	if o.stays == "" { // otherwise the session is redacted
		f.redacts()
	}
}

func (o *writeFlags) nowFlag(f *flagSet, of string) {
	f.StringVar(&o.now, "now", "", "set the `TIME` of "+of)
}

func (o *writeFlags) unmarkedFlag(f *flagSet) {
	f.BoolVar(&o.unmarked, "no-mark", false, "append no entry that records the batch; undo does not find it")
}

func (o *writeFlags) forceFlag(f *flagSet) {
	f.BoolVar(&o.Force, "force", false, "write even if an agent may be using the session")
}

// run carries out the plans of the sessions that the arguments name.
func (o *writeFlags) run(e *env, args []string) error {
	files, err := e.sessions(args)
	e.nameOutputs(files)
	if err = cmp.Or(err, o.prepare(e, files, len(files) == 1 && (len(args) != 1 || !e.isDir(args[0])))); err != nil {
		return usage(err)
	}
	if len(files) == 0 {
		return sessionfmt.Errorf("no sessions found").In(args[0])
	}
	return o.carryOut(e, files)
}

// runOne is run for the one session that an argument names. Without a plan, it appends what add puts into a
// batch at the leaf, and checks the promise that add returns.
func (o *writeFlags) runOne(e *env, arg string, add func(s *sessionfmt.Session, b *sessionfmt.Batch) (plan.Promise,
	error)) error {
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
	files := []listedFile{{path: name, name: arg, given: arg, out: outName(name)}}
	if err = cmp.Or(err, o.prepare(e, files, true)); err != nil {
		return usage(err)
	}
	return o.carryOut(e, files)
}

// prepare checks the flags for the sessions that are written, a single one or those of
// folders. Its errors are errors of the command line.
func (o *writeFlags) prepare(e *env, files []listedFile, alone bool) (err error) {
	o.time, err = e.nowFlag(o.now)
	if err == nil && o.stays == "" { // else the session is redacted
		err = o.printed.start(e)
	}
	if err != nil {
		return err
	}
	if e.redact {
		e.asIs, e.said = true, e.redactor.NewRun()
	}
	o.alone, o.folder = alone, e.isDir(o.output)
	itself := alone && o.output != "" && e.sameFile(o.outputOf(files[0]), files[0].path)
	switch elsewhere := o.Write && o.output != "" && !itself; {
	case elsewhere:
		return errors.New("--write conflicts with -o")
	case !alone && o.format == "entries":
		return errors.New("-f entries requires a single session")
	case itself && !o.Write:
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: o.outputOf(files[0])},
			Err: errors.New("-o must not name the session" + o.stays), Hint: o.itselfHint()}
	case !alone && o.output != "" && !o.folder:
		return fmt.Errorf("-o %s: must be an existing folder for several sessions", o.output)
	case !alone && o.Quarantine != "":
		return errors.New("--quarantine requires a single session")
	case !alone && o.format == "diff":
		return errors.New("-f diff requires a single session")
	case o.Quarantine != "" && o.output != "" && o.output != "-" && e.realName(o.Quarantine) == e.realName(
		o.outputOf(files[0])):
		return sessionfmt.Errorf("--quarantine must not name the new session").In(o.Quarantine)
	}
	if o.folder && !alone {
		return o.checkOutputs(e, files)
	}
	return nil
}

// itselfHint returns the hint for -o that names the session.
func (o *writeFlags) itselfHint() string {
	switch {
	case o.stays != "":
		return ""
	case o.whole:
		return "--write replaces the session, and keeps the original"
	}
	return "--write appends to the session"
}

// outputOf returns the file for the new version of a session, or "" for none.
func (o *writeFlags) outputOf(f listedFile) string {
	if o.folder {
		return filepath.Join(o.output, f.out)
	}
	return o.output
}

func (o *writeFlags) carryOut(e *env, files []listedFile) error {
	to := o.output
	if o.aside {
		to = "-"
	}
	if o.alone {
		e.frugal(files[0].path)
		p, err := o.make(e, files[0])
		if p != nil {
			defer p.Close()
		}
		if err != nil {
			return err
		}
		if f := files[0]; p.Next == "" {
			p.Next = o.next(e.typed(f.given, e.ref(f.path)), p.Changes())
		}
		err = e.report(to, func(w *bufio.Writer) error { return show.PlanForms.Of(p).Write(w, o.format, e.screen("")) })
		return cmp.Or(err, found(o.pending && p.Changes()))
	}
	all, err := o.many(e, files)
	if err != nil {
		return err
	}
	plans := show.Plans{Command: o.name, All: all}
	plans.Next = o.next(e.typed("", ""), slices.ContainsFunc(all, (*plan.Plan).Changes))
	list := show.PlansForms.Of(plans)
	err = e.report(to, func(w *bufio.Writer) error { return list.Write(w, o.format, e.screen("")) })
	return cmp.Or(err, o.firstError(all), found(slices.ContainsFunc(all, func(p *plan.Plan) bool {
		return o.insists && p.InUse || o.pending && p.Changes()
	})))
}

// next returns the last line of a plan that is only printed: the command that carries it out.
func (o *writeFlags) next(command string, changes bool) string {
	switch {
	case o.Write || o.output != "" || o.stays != "" || o.pending || o.trial || !changes:
		return ""
	case o.whole:
		return "to replace it:\n  " + command + " --write"
	}
	return "to append them:\n  " + command + " --write"
}

// typed returns the command line as typed, with another name for the session, which no argument may have named.
func (e *env) typed(given, session string) string {
	words := []string{"ctxtool"}
	for _, word := range e.args {
		if word == given {
			word, given = session, ""
		} else {
			word = shell.Quote(sessionfmt.Clean(word))
		}
		words = append(words, word)
	}
	if given != "" {
		words = append(words, session)
	}
	return strings.Join(words, " ")
}

// make makes the plan for a session, and carries it out.
func (o *writeFlags) make(e *env, f listedFile) (*plan.Plan, error) {
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
		if o.lists {
			opt.Opened = e.noteBroken
		}
		return sessionfmt.Open(f.path, opt)
	}, func(s *sessionfmt.Session) (*plan.Plan, error) {
		if e.said != nil {
			if err := e.said.Learn(s.Plain()); err != nil {
				return nil, err
			}
		}
		p, err := o.plan(e, s, f)
		if err == nil && e.leaks != nil { // before anything is written
			_, err = e.withoutSecrets(e.told(func(w *bufio.Writer) error {
				return show.PlanForms.Of(p).Write(w, o.format, e.screen(""))
			}))
			if err != nil {
				p.Close()
			}
		}
		return p, err
	})
}

// many returns the plans of several sessions. If one fails, the others continue.
func (o *writeFlags) many(e *env, files []listedFile) (all []*plan.Plan, err error) {
	type noted struct {
		*plan.Plan
		notes bytes.Buffer // printed in the order of the sessions
		found error        // a likely secret in the plan
		hint  string       // of an error
	}
	if o.whole {
		e.collect(batchGC)
	}
	work := func(f listedFile, _ func(done, size int64)) *noted {
		t := &noted{}
		p, err := o.make(e.noting(&t.notes), f)
		if p != nil {
			p.Close()
		}
		switch {
		case errors.Is(err, errFound):
			p, t.found = plan.Failed(o.name, f.given, ""), err
		case errors.Is(err, plan.ErrInUse):
			p.Skipped, p.InUse = e.reason(err), true
		case err != nil:
			if at, ok := errors.AsType[*sessionfmt.Error](err); ok {
				t.hint = at.Hint
			}
			if o.shown != nil {
				f.given = o.shown(f)
			}
			p = plan.Failed(o.name, f.given, e.reason(err))
		}
		t.Plan = p
		return t
	}
	inOrder(e, o.jobs, files, work, func(t *noted) {
		_, fault := t.notes.WriteTo(e.stderr)
		err, o.hint = cmp.Or(err, fault, t.found), cmp.Or(o.hint, t.hint)
		t.Brief(o.format)
		all = append(all, t.Plan)
	})
	return all, err
}

// told returns write, which redacts what it reports about sessions if requested.
func (e *env) told(write func(w *bufio.Writer) error) func(w *bufio.Writer) error {
	if e.said == nil {
		return write
	}
	return func(w *bufio.Writer) error {
		text, err := written(write)
		if err == nil {
			_, err = w.WriteString(e.said.About(string(text)))
		}
		return err
	}
}

// report writes what a command did or would do: to standard output, or to standard error if
// the session goes to standard output.
func (e *env) report(output string, write func(w *bufio.Writer) error) error {
	write = e.told(write)
	if output != "-" {
		return e.answer(&answer{}, nil, write)
	}
	if e.quiet {
		return nil
	}
	w := bufio.NewWriterSize(e.stderr, 64<<10)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// firstError returns the first error of several plans, with the number of further ones. The table has them all.
func (o *writeFlags) firstError(all []*plan.Plan) error {
	failed := slices.DeleteFunc(slices.Clone(all), func(p *plan.Plan) bool { return p.Error == "" })
	if len(failed) == 0 {
		return nil
	}
	more := ""
	if len(failed) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(failed)-1)
	}
	return sessionfmt.Errorf("%s", failed[0].Error+more).In(failed[0].Session.File).Hinted(o.hint)
}

// checkOutputs returns an error if the new files of several sessions would have the same
// name, or that of a session.
func (o *writeFlags) checkOutputs(e *env, files []listedFile) error {
	inputs, outs := map[string]string{}, map[string]string{}
	for _, f := range files {
		inputs[e.realName(f.path)] = f.given
	}
	for _, f := range files {
		out := e.realName(filepath.Join(o.output, f.out))
		switch in, other := inputs[out], outs[out]; {
		case in == f.given:
			return sessionfmt.Errorf("-o must not name the folder of the session %s", sessionfmt.Clean(in)).
				In(o.output).Hinted(o.itselfHint())
		case in != "":
			return fmt.Errorf("-o %s: the new %s would overwrite the session %s", o.output, sessionfmt.Clean(f.given),
				sessionfmt.Clean(in))
		case other != "":
			return fmt.Errorf("-o %s: %s and %s would both become %s", o.output, sessionfmt.Clean(other),
				sessionfmt.Clean(f.given), sessionfmt.Clean(f.out))
		}
		outs[out] = f.given
	}
	return nil
}
