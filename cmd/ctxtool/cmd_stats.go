package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/lens/gate"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/store"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
	"ctxtool/stats/table"

	"github.com/spf13/cobra"
)

type statsOptions struct {
	readFlags
	overrideFlags
	gateFlags
	filter
	lenses    []string
	counter   string
	calibrate bool

	alone   bool   // for a single session that cannot be read there is no answer
	wider   string // hint if no session matches: flags that would match more
	arrange func(sheets []table.Sheet) []table.Sheet
	stats.Options
}

func (o *statsOptions) define(f *flagSet) {
	f.cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if strings.HasPrefix(err.Error(), "unknown flag: --like") {
			return &sessionfmt.Error{Err: err, Hint: "ctxtool reduce --policy gsh|swe-cli|y-agent counts a context " +
				"as that agent does, ctxtool simulate --policy all of its requests"}
		}
		return unknownFlag(cmd, err)
	})
	o.readFlags.flags(f, append([]string{"text", "json", "jsonl", "csv", "markdown"}, gateForms...)...)
	o.overrideFlags.flags(f, &o.Replay)
	o.gateFlags.flags(f)
	o.filter.flags(f, "calls of models whose name contains")
	f.choices(&o.lenses, "lens", nil, "compute only `LENSES`:", "unknown lens", lensNames(stats.Lenses))
	f.choice(&o.counter, "counter", tokens.Names()[0], "count tokens by `COUNTER`", "", tokens.Names())
	f.BoolVar(&o.calibrate, "calibrate", false, "scale counts of context and growth by a per-model factor")
	f.noSubAgents(&o.NoSubAgents)
	f.StringVar(&o.At, "at", "", "report the context at `POINT` and the path to it")
	f.IntVar(&o.MaxIterations, "max-iterations", 25, "report prompts with more than `N` requests")
	f.choices(&o.By, "by", nil, "with --lens cost, group by `GROUPS`: "+strings.Join(stats.CostGroups, ", ")+
		" (default model)", "--by: unknown group", stats.CostGroups)
	f.before(func() error { return o.check(f.env) })
}

func lensNames(lenses []*stats.Lens) []string {
	return namesOf(lenses, func(l *stats.Lens) string { return l.Name })
}

// check checks the flags, before any input is opened.
func (o *statsOptions) check(e *env) (err error) {
	o.Replay.Rules, o.Asked = o.by, o.given("counter")
	if err = withFlag("--counter", o.SetCounter(o.counter)); err != nil {
		return err
	}
	if o.By = o.gate.By(o.By); o.gated {
		o.Entries = gate.Entries
	}
	if o.MaxIterations < 1 {
		return errors.New("--max-iterations must be above 0")
	}
	if o.Only, err = o.filter.check(e); err != nil {
		return err
	}
	for _, l := range stats.Lenses {
		if l.Default && len(o.lenses) == 0 || slices.Contains(o.lenses, l.Name) ||
			slices.Contains(o.gate.Lenses(), l.Name) ||
			l.Name == "calibration" && o.calibrate {
			o.Lenses = append(o.Lenses, l)
		}
	}
	if err := o.gateFlags.ready(o.format, lensNames(o.Lenses)); err != nil {
		return err
	}
	o.Targets = o.gate.Targets()
	if err := o.unused(); err != nil {
		return err
	}
	if o.format == "csv" && len(o.lenses) != 1 {
		return errors.New("-f csv requires one lens: set --lens")
	}
	return nil
}

// replaying lists the lenses that replay the session.
var replaying = []string{"context", "growth", "compactions", "bytes", "cache", "check", "calibration"}

// atLenses lists the lenses that report on a point of the path.
var atLenses = []string{"context", "growth", "compactions", "bytes", "cache", "calibration"}

var lensFlags = []struct {
	flag   string
	lenses []string
}{
	{"by", []string{"cost"}},
	{"no-subagents", []string{"cost"}},
	{"max-iterations", []string{"session"}},
	{"calibrate", []string{"context", "growth"}},
	{"counter", []string{"context", "growth", "compactions", "cache", "calibration"}},
	{"window", []string{"context", "growth", "compactions"}},
	{"model", replaying},
	{"baseline", replaying},
	{"implemented", replaying},
	{"at", atLenses},
}

// unused returns an error for a flag that no selected lens uses.
func (o *statsOptions) unused() error {
	for _, f := range lensFlags {
		if o.given(f.flag) && !o.hasLens(f.lenses...) {
			return fmt.Errorf("--%s requires --lens %s", f.flag, strings.Join(f.lenses, " or "))
		}
	}
	return nil
}

func runStats(e *env, o *statsOptions, args []string) error {
	e.anywhere = true
	if len(args) == 1 {
		name, point := store.SplitPoint(e.disk, args[0])
		switch {
		case point == "":
		case o.At != "":
			return usagef("--at conflicts with SESSION@POINT")
		case !o.hasLens(atLenses...):
			return usagef("SESSION@POINT requires --lens %s", strings.Join(atLenses, " or "))
		default:
			args, o.At = []string{name}, point
		}
	}
	list := e.sessions
	if len(args) > 0 && o.hasLens("cost") {
		list = e.families
	}
	files, err := list(args)
	if err != nil {
		return err
	}
	if err := o.overrideFlags.load(e, &o.Replay); err != nil {
		return err
	}
	o.alone = len(files) == 1 && (len(args) == 0 || !e.isDir(args[0]))
	return o.report(e, byPath(files))
}

// report prints the report on sessions.
func (o *statsOptions) report(e *env, files []listedFile) error {
	if o.gated && len(files) == 0 && !o.allowEmpty {
		return gate.ErrEmpty
	}
	o.Now = e.now()
	o.Open = e.opening(0)
	sum := &stats.Report{Schema: stats.Schema}
	err := e.answer(&o.answer, paths(files), func(w *bufio.Writer) error {
		var fault error
		var broken []string
		var read []*stats.Report
		parts := map[*stats.Report]bool{} // read only for their cost
		inOrder(e, 0, files, func(f listedFile, show func(done, size int64)) *result { return o.read(e, f, show) },
			func(one *result) {
				if one == nil {
					return
				}
				if one.err != nil {
					broken = append(broken, one.File+": "+one.Error)
				}
				if one.err != nil && o.alone {
					fault = one.err
				}
				read, parts[one.Report] = append(read, one.Report), one.part
			})
		read = o.Gather(read)
		stats.Calibrate(read, o.calibrate)
		for _, one := range read {
			if err := o.add(w, sum, one, parts[one]); fault == nil {
				fault = err
			}
		}
		if fault = cmp.Or(fault, o.unread(broken, len(files))); fault != nil {
			return fault
		}
		if len(sum.Files) == len(broken) {
			e.note("no session matches%s", o.wider)
		}
		o.Finish(sum)
		if err := o.judge(sum); err != nil {
			return err
		}
		o.noteGaps(e, sum)
		sheets := o.Sheets(sum)
		if o.arrange != nil {
			sheets = o.arrange(sheets)
		}
		all := show.Stats{Report: sum, Sheets: sheets, Gate: o.said, Lenses: o.lenses, Gaps: !o.alone}
		return show.GatedForms.Of(all).Write(w, o.format, e.screen(o.output))
	})
	if err != nil || o.said == nil {
		return err
	}
	return o.gateFlags.verdict(e, o.format)
}

func (o *statsOptions) hasLens(lenses ...string) bool {
	return slices.ContainsFunc(o.Lenses, func(l *stats.Lens) bool { return slices.Contains(lenses, l.Name) })
}

// add adds a session's report to the sum, and writes it with -f jsonl. A sub-agent without its session adds
// costs, but does not count as a session.
func (o *statsOptions) add(w *bufio.Writer, sum, one *stats.Report, part bool) error {
	opt := &o.Options
	if part {
		opt = o.costOnly()
	} else {
		o.gate.Add(one)
	}
	opt.Add(sum, one)
	if o.format != "jsonl" {
		return nil
	}
	opt.Finish(one)
	return show.WriteJSON(w, one)
}

// costOnly returns the options with the lens cost alone, for sub-agents.
func (o *statsOptions) costOnly() *stats.Options {
	only := o.Options
	only.Lenses = slices.DeleteFunc(slices.Clone(o.Lenses), func(l *stats.Lens) bool { return l.Name != "cost" })
	only.Entries, only.Targets = nil, false
	return &only
}

// unread returns an error if too many of several sessions cannot be read. A gate reports that itself.
func (o *statsOptions) unread(broken []string, of int) error {
	if o.alone {
		return nil
	}
	if err := noneBroken(o.strict, len(broken), of, "have no figures"); err != nil || o.gated {
		return err
	}
	if err := noneRead(len(broken), of); err != nil {
		return fmt.Errorf("%w; %s", err, broken[0])
	}
	return nil
}

// A result is the report on a session, and the error of one that cannot be read.
type result struct {
	*stats.Report
	err  error
	part bool // it is a sub-agent
}

// read returns the report on a session, or nil if the flags do not select it. The report on
// a session that cannot be read has its error.
func (o *statsOptions) read(e *env, f listedFile, show func(done, size int64)) *result {
	if f.part && o.NoSubAgents || !o.Only.MayFit(e.disk, f.path) {
		return nil
	}
	opt := o.Options
	switch {
	case f.part:
		opt = *o.costOnly()
	case f.named:
		opt.Family = e.family
	}
	opt.Open.Progress = show
	r, err := opt.Read(f.path)
	if err == nil && !r.Fits() {
		return nil
	}
	if err == nil && o.alone {
		e.noteFindings(f.path, r.Findings)
	}
	if err == nil {
		err = noFindings(o.strict, f.name, len(r.Findings))
	}
	if err != nil {
		r = &stats.Report{Schema: stats.SessionSchema, Error: e.reason(err)}
	}
	r.File, r.Path = e.fileName(f.name), e.fileName(f.given)
	return &result{r, err, f.part}
}

// noteGaps notes the gaps in figures that CSV does not show.
func (o *statsOptions) noteGaps(e *env, sum *stats.Report) {
	if o.NoSubAgents && !slices.Contains([]string{"text", "markdown", "json", "jsonl"}, o.format) {
		e.note("without sub-agents")
	}
	if o.format != "csv" || o.alone || o.gated {
		return
	}
	for row := range sum.Gaps().Cells {
		e.note("%s: %s is counted: %s", row...)
	}
}
