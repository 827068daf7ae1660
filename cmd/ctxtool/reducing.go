package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ctxtool/compact"
	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// A reducing is what the commands share that make contexts smaller. Without -o and
// --write they say what they would do.
type reducing struct {
	answer
	reading
	given
	name         string // of the command
	at           string
	write, force bool
	now          string
	as           string
	unmarked     bool
	ifOver       string
	jobs         int
	events       string
	eventsFormat string
	summarizing

	policy     *compact.Policy
	job        compact.Job
	replay     replay.Options
	time       time.Time
	eventsFile *os.File // nil without --events
	alone      bool     // it is one session, not those of a folder
}

// reduceHelp says what reducing does, for help texts.
const reduceHelp = "Without -o or --write it prints the plan: what would change, by layer, and what that\n" +
	"does to the prompt cache. -f entries prints the lines that would be appended, and\n" +
	"nothing else; -o writes a session with them to FILE, or to standard output (-).\n" +
	"--write appends them, under a lock, in one write, and only if the file is still what\n" +
	"was read. History is never changed: ctxtool undo takes the last batch back. Of several\n" +
	"sessions, or of a folder, there is a line for each. One that was written to in the\n" +
	"last two minutes is left alone: an agent may be at it.\n"

// reduceStatus is the part of the help about the exit status.
const reduceStatus = "\nExit status: 0 the plan was made, or the entries were appended, or there was nothing\n" +
	"to do; 2 the command line is wrong; 3 a session cannot be read, replayed or appended\n" +
	"to, or a summary failed: that session is as it was, and the others go on.\n"

// recent is for how long after its last change a session is taken to be in use.
const recent = 2 * time.Minute

func (o *reducing) flags(e *env, cmd *cobra.Command) {
	o.answer.flags(cmd, "text", "json", "jsonl", "entries")
	o.reading.flags(cmd)
	o.given.flags(cmd)
	f := cmd.Flags()
	f.Lookup("format").Usage = "`FORM` of the plan: text, json, jsonl, entries"
	f.Lookup("output").Usage = "write the session with the entries to `FILE`, - for standard output"
	f.BoolVar(&o.write, "write", false, "append the entries to the session, or to each of several")
	f.BoolVar(&o.force, "force", false, "append also where the session was written to in the last two minutes; a lock holds all the same")
	f.StringVar(&o.now, "now", "", "`TIME` of the entries, as 2026-01-31T12:00:00Z")
	f.StringVar(&o.at, "at", "", "plan for the context at `POINT`, of one session")
	f.StringVar(&o.as, "as", string(compact.AsAuto), "store changes as `FORM`: auto, edits (what pi knows), transform (a patch)")
	f.BoolVar(&o.unmarked, "no-mark", false, "append no entry that says what made the batch: undo will not know it")
	f.StringVar(&o.ifOver, "if-over", "", "only contexts over `AMOUNT`: tokens, or a share of the window as 80%")
	f.Var(countFlag{&o.jobs}, "jobs", "work on `N` sessions at a time (default: by the processors)")
	f.StringVar(&o.events, "events", "", "append what happened as JSON lines to `FILE`")
	f.StringVar(&o.eventsFormat, "events-format", compact.EventForms[0], "`FORM` of the events: "+strings.Join(compact.EventForms, ", "))
	complete(cmd, "as", []string{"auto", "edits", "transform"})
	complete(cmd, "events-format", compact.EventForms)
	cmd.ValidArgsFunction = e.completeFiles
}

// check reads the flags, before any input is opened.
func (o *reducing) check(e *env) (err error) {
	if err = o.answer.check(); err != nil {
		return err
	}
	if o.replay.Rules, err = o.reading.check(); err != nil {
		return err
	}
	if o.time, err = e.nowFlag(o.now); err != nil {
		return err
	}
	o.job = compact.Job{Command: o.name, Policy: o.policy, Form: compact.Form(o.as), GivenRules: o.rules != "auto", Unmarked: o.unmarked}
	if o.job.IfOver, err = amount("--if-over", o.ifOver); err != nil {
		return err
	}
	switch {
	case !slices.Contains(compact.Forms, o.job.Form):
		return fmt.Errorf("--as %q: one of auto, edits, transform", sessionfmt.Quote(o.as))
	case !slices.Contains(compact.EventForms, o.eventsFormat):
		return fmt.Errorf("--events-format %q: one of %s", sessionfmt.Quote(o.eventsFormat), strings.Join(compact.EventForms, ", "))
	case o.at != "" && (o.write || o.output != ""):
		return errors.New("--at only plans: what is appended goes below the leaf")
	}
	if o.job.Summarize, err = o.summarizing.check(e, o.write || o.output != ""); err != nil {
		return err
	}
	err = o.given.check(e, &o.replay)
	o.job.Models = o.replay.Models
	return err
}

// amount reads a number of tokens, or a share of the window.
func amount(flag, text string) (a compact.Amount, err error) {
	if text == "" {
		return a, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	n, err := stats.ParseNumber(number)
	switch {
	case err != nil || !(n > 0) || n > 1e15 || percent && n > 100 || !percent && n != float64(int64(n)):
		return a, fmt.Errorf("%s %q: want a number of tokens, or a share of the window as 80%%", flag, sessionfmt.Quote(text))
	case percent:
		return compact.Amount{Share: n / 100}, nil
	}
	return compact.Amount{Tokens: int64(n)}, nil
}

// run reduces the sessions that the arguments name.
func (o *reducing) run(e *env, args []string) error {
	if err := o.check(e); err != nil {
		return err
	}
	files, err := e.sessions(args)
	if err != nil {
		return err
	}
	o.alone = len(files) == 1 && (len(args) == 0 || !e.isDir(args[0]))
	switch {
	case o.applyFrom == "-" && files[0].path == "-":
		return errors.New("standard input is either the session or the answers")
	case !o.alone && (o.output != "" || o.at != "" || o.format == "entries"):
		return errors.New("-o, --at and -f entries are for one session")
	case o.write && o.output != "" && !e.sameFile(o.output, files[0].path):
		return errors.New("--write appends to the session, and -o writes elsewhere: choose one")
	case o.alone && !o.write && e.sameFile(o.output, files[0].path):
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: o.output}, Err: errors.New("-o names the session itself"), Hint: "--write appends to it"}
	}
	e.started = true
	if err := cmp.Or(o.given.load(e, &o.replay), o.summarizing.load(e)); err != nil {
		return err
	}
	if o.events != "" { // before anything is appended
		if slices.ContainsFunc(files, func(f listedFile) bool { return e.sameFile(o.events, f.path) }) {
			return &usageError{&sessionfmt.Error{Pos: sessionfmt.Pos{File: o.events}, Err: errors.New("--events names a session, which is no log")}}
		}
		if o.eventsFile, err = os.OpenFile(e.disk.Path(o.events), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
			return unreadable(o.events, err)
		}
		defer o.eventsFile.Close()
	}
	reduce := func() error {
		if o.alone {
			return o.one(e, files[0])
		}
		return o.many(e, files)
	}
	return o.summarizing.around(e, paths(files), reduce)
}

// one reduces one session.
func (o *reducing) one(e *env, f listedFile) error {
	r, b, s, err := o.session(e, f)
	if err != nil {
		return err
	}
	defer s.Close()
	if r.Skipped != "" && o.write && r.recent {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: f.name}, Err: errors.New(r.Skipped), Hint: "end the agent's session first; --force appends all the same"}
	}
	if o.output != "" && !o.write {
		if err := o.place(e, s, b, r.Reduction); err != nil {
			return err
		}
	}
	if err := o.log(r.Reduction); err != nil {
		return err
	}
	return e.report(o.reportTo(), func(w *bufio.Writer) error {
		switch o.format {
		case "entries":
			_, err := w.Write(b.Lines())
			return err
		case "json", "jsonl":
			return render.WriteReductionJSON(w, r.Reduction)
		}
		return render.WriteReduction(w, r.Reduction, e.width(o.output))
	})
}

// reportTo is where the session goes, or the requests for summaries: standard output has
// room for one of them and the plan.
func (o *reducing) reportTo() string {
	if o.emitTo == "-" {
		return "-"
	}
	return o.output
}

// place writes the session with the entries to where -o says.
func (o *reducing) place(e *env, s *sessionfmt.Session, b *sessionfmt.Batch, r *render.Reduction) error {
	copied := func(w io.Writer) error {
		_, err := io.Copy(w, s.With(b))
		return err
	}
	r.Written = o.output
	if o.output != "-" {
		return e.place(o.output, copied)
	}
	w := bufio.NewWriterSize(e.stdout, 64<<10)
	return cmp.Or(copied(w), w.Flush())
}

// many reduces several sessions, each by itself: one that fails does not stop the rest.
func (o *reducing) many(e *env, files []listedFile) error {
	type told struct {
		*render.Reduction
		said bytes.Buffer // beside it: the order is that of the sessions
	}
	var all []*render.Reduction
	var fault error
	work := func(f listedFile, _ func(done, size int64)) *told {
		t := &told{}
		own := *e
		own.stderr = &t.said
		r, _, s, err := o.session(&own, f)
		if err != nil {
			t.Reduction = &render.Reduction{Schema: "ctxtool/" + o.name + "/1", Command: o.name, Session: render.PlanSession{File: f.name}, Error: reason(err)}
			return t
		}
		s.Close()
		r.Plan.View, r.Plan.Requests = nil, nil // they hold the session
		t.Reduction = r.Reduction
		return t
	}
	inOrderBy(e, o.jobs, files, work, func(t *told) {
		r := t.Reduction
		_, err := t.said.WriteTo(e.stderr)
		fault = cmp.Or(fault, err, o.log(r))
		r.Brief(o.format != "text")
		all = append(all, r)
	})
	if fault != nil {
		return fault
	}
	if err := e.report(o.reportTo(), func(w *bufio.Writer) error {
		switch o.format {
		case "json":
			return render.WriteReductionsJSON(w, o.name, all)
		case "jsonl":
			for _, r := range all {
				if err := render.WriteReductionJSON(w, r); err != nil {
					return err
				}
			}
			return nil
		}
		return render.WriteReductions(w, all, e.width(o.output))
	}); err != nil {
		return err
	}
	return firstError(all, func(r *render.Reduction) (file, text string) { return r.Session.File, r.Error })
}

// A reduced is what was done to a session.
type reduced struct {
	*render.Reduction
	recent bool // it is skipped because somebody seems to be at it
}

// session plans for one session, and with --write appends.
func (o *reducing) session(e *env, f listedFile) (*reduced, *sessionfmt.Batch, *sessionfmt.Session, error) {
	if err := o.interrupted(); err != nil {
		return nil, nil, nil, err
	}
	workers := 0
	if !o.alone {
		workers = 1
	}
	s, err := sessionfmt.Open(f.path, sessionfmt.Options{Stdin: e.stdin, Disk: e.disk, Workers: workers})
	if err != nil {
		return nil, nil, nil, err
	}
	r, b, err := o.reduce(e, s, f)
	if err != nil {
		s.Close()
		return nil, nil, nil, err
	}
	return r, b, s, nil
}

func (o *reducing) reduce(e *env, s *sessionfmt.Session, f listedFile) (*reduced, *sessionfmt.Batch, error) {
	leaf, err := findLeaf(s, cmp.Or(o.at, "leaf"), s.Leaf())
	if err != nil {
		return nil, nil, err
	}
	opt := o.replay
	opt.Leaf = s.Leaf()
	envelope, err := replay.New(s, opt).At(leaf, false)
	if err != nil {
		return nil, nil, otherHint(err, "what cannot be replayed is not reduced; ctxtool check says what is wrong with it")
	}
	if err := e.strictly(s, envelope.Replay().AllFindings(), o.strict); err != nil && o.strict {
		return nil, nil, err
	}
	job := o.job
	if o.answers != nil {
		job.Summarize = o.answers.For(f.name, o.policy.Name, o.prompt)
	}
	plan, err := job.Plan(envelope)
	if err != nil {
		return nil, nil, at(s, err)
	}
	if err := o.summarizing.emit(f.name, o.policy.Name, plan); err != nil {
		return nil, nil, at(s, err)
	}
	b := s.NewBatch(leaf, o.time)
	if err := o.job.Store(b, plan, render.ReductionTable(plan)); err != nil {
		return nil, nil, err
	}
	if b.Len() > 0 { // with nothing to append, nothing speaks against it
		if err := b.Err(); err != nil {
			return nil, nil, err
		}
	}
	r := &reduced{Reduction: render.NewReduction(o.name, f.name, plan, b)}
	if b.Len() == 0 || !o.write && o.output == "" {
		return r, b, nil
	}
	if err := plan.Promise(s, b, o.replay); err != nil || !o.write {
		return r, b, err
	}
	if !o.force && e.changedSince(f.path, recent) {
		r.Skipped, r.recent = "it was written to in the last minutes, so an agent may be at it", true
		return r, b, nil
	}
	if err := o.interrupted(); err != nil {
		return nil, nil, at(s, err)
	}
	if err := s.Append(b, sessionfmt.AppendOptions{Who: "ctxtool " + o.name, Wait: e.wait}); err != nil {
		return nil, nil, err
	}
	r.Written = f.name
	return r, b, nil
}

// at puts an error at a session, unless it has a place already.
func at(s *sessionfmt.Session, err error) error {
	if errors.As(err, new(*sessionfmt.Error)) {
		return err
	}
	return &sessionfmt.Error{Pos: sessionfmt.Pos{File: s.Name}, Err: err}
}

// changedSince says that a file has changed in the last so many minutes.
func (e *env) changedSince(name string, ago time.Duration) bool {
	info, err := e.disk.Stat(name)
	return err == nil && e.now().Sub(info.ModTime()) < ago
}

// log appends what happened to the file of --events.
func (o *reducing) log(r *render.Reduction) error {
	if o.eventsFile == nil {
		return nil
	}
	return render.WriteEvents(o.eventsFile, r, o.eventsFormat, o.time)
}
