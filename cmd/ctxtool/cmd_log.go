package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"ctxtool/internal/tokens"
	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// logOptions are the flags of ctxtool log.
type logOptions struct {
	answer
	reading
	redaction
	leaf         string
	all, follow  bool
	request      int
	grep         string
	kind         []string
	since, until string

	only    map[string]bool
	pattern *regexp.Regexp
}

func newLogCommand(e *env) *cobra.Command {
	o := &logOptions{}
	cmd := &cobra.Command{
		Use:   "log [flags] [SESSION]",
		Short: "List the entries of a session, and how full each left the context",
		Long: "List the active path of a session, an entry a line: what it answers (#N is the\n" +
			"answer to request N) or did (T messages became smaller, C compacted), time, id,\n" +
			"kind, the tokens that it added to the request or took from it, the size of the\n" +
			"request after it, and its first words.\n\n" +
			"Of a patch it says between which requests it lies, and at which point of the\n" +
			"agent's loop it was likely made. That is inferred, and marked so.\n\n" +
			sessionHelp + "\n" +
			"The point of a SESSION@POINT, or --leaf, is where the path ends. A time is a date,\n" +
			"or a date and time as 2026-01-31T12:00:00Z.\n\n" +
			"Exit status: 0 the entries were listed, also those behind a broken patch,\n" +
			"2 the command line is wrong, 3 there is no answer: the input is missing or no\n" +
			"session, or --strict found something.",
		Example: "  ctxtool log s.jsonl\n" +
			"  ctxtool log s.jsonl --request 7              # what entered since request 6\n" +
			"  ctxtool log s.jsonl --kind user --since 2026-01-31\n" +
			"  ctxtool log s.jsonl -f jsonl | jq -r 'select(.mark==\"C\").id'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runLog(e, o, args) },
	}
	f := cmd.Flags()
	o.answer.flags(cmd, "text", "jsonl")
	o.reading.flags(cmd)
	o.redaction.flags(cmd)
	f.StringVar(&o.leaf, "leaf", "", "another branch: the `POINT` that it ends at")
	f.BoolVar(&o.all, "all", false, "all entries in the order of the file; ○ are not on the path")
	f.IntVar(&o.request, "request", noRequest, "only what entered between request `N`-1 and N, and as what")
	f.StringVar(&o.grep, "grep", "", "only entries with a string that this `PATTERN` matches")
	f.StringSliceVar(&o.kind, "kind", nil, "only entries of these `KINDS`: user, assistant, compaction, ...")
	f.StringVar(&o.since, "since", "", "only from this `POINT` or time on")
	f.StringVar(&o.until, "until", "", "only up to this `POINT` or time")
	f.BoolVar(&o.follow, "follow", false, "go on, and list what arrives")
	f.Lookup("request").DefValue = "0" // shows no default
	cmd.MarkFlagsMutuallyExclusive("follow", "output")
	for _, other := range []string{"all", "follow", "grep", "kind", "since", "until"} {
		cmd.MarkFlagsMutuallyExclusive("request", other)
	}
	cmd.ValidArgsFunction = e.completeSession
	for _, point := range []string{"leaf", "since", "until"} {
		cmd.RegisterFlagCompletionFunc(point, e.completePoint)
	}
	complete(cmd, "kind", sessionfmt.KindNames())
	return cmd
}

// check reads the flags that are names, before any input is opened.
func (o *logOptions) check() (rules replay.Rules, err error) {
	if err := o.answer.check(); err != nil {
		return 0, err
	}
	if o.only, err = kinds(o.kind); err != nil {
		return 0, err
	}
	if o.grep != "" {
		if o.pattern, err = regexp.Compile(o.grep); err != nil {
			return 0, fmt.Errorf("--grep: %w", err)
		}
	}
	return o.reading.check()
}

func runLog(e *env, o *logOptions, args []string) error {
	rules, err := o.check()
	if err = cmp.Or(err, o.redaction.start(e)); err != nil {
		return err
	}
	e.started = true
	name, point, err := e.session(args)
	if err != nil {
		return err
	}
	if o.leaf == "" {
		o.leaf = point
	}
	return e.answer(&o.answer, []string{name}, func(w *bufio.Writer) error {
		l := &logger{o: o, e: e, width: e.width(o.output), w: w}
		err := l.list(name, rules)
		for o.follow && err == nil {
			if err = l.await(name); err == nil {
				err = l.list(name, rules)
			}
		}
		return err
	})
}

// A logger writes the rows of a session, and later those that have come since.
type logger struct {
	o     *logOptions
	e     *env
	w     *bufio.Writer
	width int

	listed int   // records that have been listed
	size   int64 // bytes of the file that they were in

	s            *sessionfmt.Session
	lines        *sessionfmt.Reader
	since, until limit
}

// list opens the session and lists what has not been listed yet.
func (l *logger) list(name string, rules replay.Rules) error {
	size, _ := l.e.fileSize(name) // before it is read: what is added meanwhile is listed next time
	s, err := l.e.open(name)
	if err != nil {
		return err
	}
	defer s.Close()
	l.s, l.lines = s, s.NewReader()
	leaf, err := findLeaf(s, cmp.Or(l.o.leaf, "leaf"), s.Leaf())
	if err != nil {
		return err
	}
	if l.since, err = newLimit(s, l.o.since, leaf); err != nil {
		return err
	}
	if l.until, err = newLimit(s, l.o.until, leaf); err != nil {
		return err
	}
	l.until.at = untilTime(l.o.until, l.until.at)
	if l.until.before(l.since) {
		return &usageError{fmt.Errorf("--until %s is before --since %s", sessionfmt.Quote(l.o.until), sessionfmt.Quote(l.o.since))}
	}
	r := replay.New(s, replay.Options{Rules: rules, Leaf: leaf})
	if l.o.request != noRequest {
		err = l.request(r, leaf)
	} else {
		err = l.entries(r, leaf)
	}
	if err != nil {
		return err
	}
	first := l.listed == 0
	l.listed, l.size = s.Len(), size
	if first {
		if err := l.e.strictly(s, r.AllFindings(), l.o.strict); err != nil {
			return err
		}
	}
	if err := l.w.Flush(); err != nil {
		return err
	}
	if first {
		l.e.noteCoverage(s, r.Rules)
	}
	return nil
}

// await returns when the file has grown.
func (l *logger) await(name string) error {
	for {
		time.Sleep(300 * time.Millisecond)
		size, err := l.e.fileSize(name)
		if err != nil || size > l.size {
			return err
		}
		if size < l.size {
			return &sessionfmt.Error{Pos: sessionfmt.Pos{File: name}, Err: errors.New("the file has become shorter")}
		}
	}
}

// entries lists the path, or with --all the file.
func (l *logger) entries(r *replay.Replay, leaf int) error {
	path, _ := l.s.Path(leaf)
	accounts := r.Accounts(leaf, &tokens.Pi)
	pos := -1
	rows := map[int]render.LogRow{} // of the path, where the file's order is asked for
	var stopped error
	for a, err := range accounts {
		if err != nil {
			stopped = err
			break
		}
		pos++
		if !l.o.all && a.Record < l.listed {
			continue
		}
		row, err := l.row(r, path, pos, a)
		if err != nil {
			return err
		}
		if l.o.all {
			row.Text = "" // read again when its turn comes
			rows[a.Record] = row
		} else if err := l.write(a.Record, row); err != nil {
			return err
		}
	}
	if stopped != nil {
		l.e.note("%s: the entries behind it are listed without their size", stopped)
	}
	if l.o.all {
		return l.file(path, rows)
	}
	for _, rec := range path[pos+1:] { // behind a broken patch
		if rec >= l.listed {
			if err := l.write(rec, render.LogRow{Active: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// row is what a step of the path did.
func (l *logger) row(r *replay.Replay, path []int, pos int, a replay.Account) (row render.LogRow, err error) {
	delta := a.After.Total - a.Before.Total
	row = render.LogRow{Active: true, Tokens: &delta, Context: &a.After.Total, Did: a.Did.String()}
	if a.Request >= 0 {
		row.Request = &a.Request
	}
	switch {
	case a.Did == replay.Compacted:
		row.Mark = "C"
	case a.After.Messages < a.Before.Messages:
		row.Mark = "T"
	}
	if l.s.Kind(a.Record) == sessionfmt.Transform {
		b := &render.LogBoundary{After: a.Answers - 1, Before: a.Answers, Inferred: true}
		b.Likely, err = r.BoundaryOf(path, pos)
		row.Boundary = b
	}
	return row, err
}

// file lists all entries in the order of the file.
func (l *logger) file(path []int, rows map[int]render.LogRow) error {
	active := map[int]bool{}
	for _, rec := range path {
		active[rec] = true
	}
	for rec := l.listed; rec < l.s.Len(); rec++ {
		row := rows[rec]
		row.Active = active[rec]
		if err := l.write(rec, row); err != nil {
			return err
		}
	}
	return nil
}

// write completes a row by what its entry says, and writes it if it is wanted.
func (l *logger) write(rec int, row render.LogRow) error {
	if l.o.only != nil && !l.o.only[l.s.Kind(rec).String()] {
		return nil
	}
	line, err := l.lines.Line(rec)
	if err != nil {
		return err
	}
	if !l.since.from(rec, line) || !l.until.to(rec, line) || l.o.pattern != nil && !matches(l.o.pattern, line) {
		return nil
	}
	full := render.NewLogRow(l.s, rec, line)
	full.Active, full.Did, full.Tokens, full.Context = row.Active, row.Did, row.Tokens, row.Context
	full.Request, full.Mark, full.Boundary = row.Request, row.Mark, row.Boundary
	return l.print(full)
}

func (l *logger) print(row render.LogRow) error {
	if l.o.format == "jsonl" {
		return render.WriteLogJSON(l.w, row)
	}
	return render.WriteLogText(l.w, row, l.width)
}

// matches says whether any string of the entry has the pattern.
func matches(p *regexp.Regexp, line sessionfmt.Value) bool {
	for s := range line.Strings {
		if p.MatchString(s.Text()) {
			return true
		}
	}
	return false
}
