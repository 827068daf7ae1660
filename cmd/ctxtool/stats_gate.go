package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/help"
	"ctxtool/render"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/check"
	"ctxtool/sessionfmt/store"
	"ctxtool/stats"
	"ctxtool/stats/gate"

	"github.com/spf13/cobra"
)

// gating are the flags of a gate.
type gating struct {
	budgets          []string
	file, against    string
	drift            string
	broken, unpriced string
	allowEmpty       bool

	gated bool // one was asked for
	gate  gate.Gate
	said  *gate.Report // nil without a gate
}

// gateForms are the forms that only a gate answers in.
var gateForms = []string{"github", "junit"}

// flags gives stats the flags of a gate.
func (o *gating) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.budgets, "require", nil, "exit with 1 if a figure crosses `LIMIT`")
	f.StringVar(&o.file, "check", "", "exit with 1 if a figure crosses a limit in the TOML `FILE`")
	f.StringVar(&o.against, "against", "", "exit with 1 if a figure differs from the run saved in `FILE`")
	f.StringVar(&o.drift, "drift", "", "tolerate `AMOUNT` between a figure and the saved run: 5%, +5%, 1000")
	choice(cmd, &o.broken, "broken", "", "`ACTION` for sessions that cannot be read to the end: fail (default), warn", []string{"fail", "warn"})
	choice(cmd, &o.unpriced, "unpriced", "", "`ACTION` for calls without a price: fail (default), ignore", []string{"fail", "ignore"})
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "accept a gate over no session")
	complete(cmd, "require", gate.FigureNames())
	help.Group(f, "Gate", "require", "check", "against", "drift", "broken", "unpriced", "allow-empty")
}

// check reads the flags and the files that they name, before any session is opened.
func (o *gating) check(e *env) error {
	o.gated = len(o.budgets) > 0 || o.file != "" || o.against != ""
	if !o.gated && (o.drift != "" || o.broken != "" || o.unpriced != "" || o.allowEmpty) {
		return errors.New("--drift, --broken, --unpriced and --allow-empty require --require, --check or --against")
	}
	if o.drift != "" && o.against == "" {
		return errors.New("--drift requires --against")
	}
	for _, text := range o.budgets {
		b, err := gate.ParseBudget(text)
		if err != nil {
			return withFlag("--require", err)
		}
		o.gate.Budgets = append(o.gate.Budgets, b)
	}
	if o.drift != "" {
		o.gate.Drift = &gate.Drift{}
		if err := o.gate.Drift.UnmarshalText([]byte(o.drift)); err != nil {
			return withFlag("--drift", err)
		}
	}
	for _, of := range []struct{ flag, value, other string }{{"broken", o.broken, "warn"}, {"unpriced", o.unpriced, "ignore"}} {
		if of.value != "" && of.value != "fail" && of.value != of.other {
			return fmt.Errorf("--%s %q: expected one of fail, %s", of.flag, sessionfmt.Quote(of.value), of.other)
		}
	}
	return o.load(e)
}

// withFlag is an error of a flag's value, with its hint, if there is one.
func withFlag(flag string, err error) error {
	if err == nil {
		return nil
	}
	var own *sessionfmt.Error
	if errors.As(err, &own) && own.Pos == (sessionfmt.Pos{}) {
		return &sessionfmt.Error{Err: fmt.Errorf("%s: %w", flag, own.Err), Hint: own.Hint}
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// load reads the file of budgets and the saved run, which are input.
func (o *gating) load(e *env) error {
	if o.file != "" {
		data, err := e.readInput(o.file)
		if err != nil {
			return err
		}
		if err := o.gate.Load(o.file, data); err != nil {
			return noAnswer(err)
		}
	}
	// What the command line says wins over the file.
	if o.broken != "" {
		o.gate.WarnBroken = o.broken == "warn"
	}
	if o.unpriced != "" {
		o.gate.IgnoreUnpriced = o.unpriced == "ignore"
	}
	if o.against == "" {
		return nil
	}
	data, err := e.readInput(o.against)
	if err != nil {
		return err
	}
	o.gate.Saved, err = gate.LoadSaved(o.against, data)
	return noAnswer(err)
}

// ready gets the gate ready to judge what the lenses see.
func (o *gating) ready(format string, lenses []string) error {
	if !o.gated {
		if slices.Contains(gateForms, format) {
			return fmt.Errorf("-f %s requires --require, --check or --against", format)
		}
		return nil
	}
	return noAnswer(o.gate.Start(lenses))
}

// fit reports that the files can be judged. Findings of check are those of a file that
// is read again.
func (o *gating) fit(files []listedFile, checks bool) error {
	if o.gated && len(files) == 0 && !o.allowEmpty {
		return emptyGate()
	}
	if checks && slices.ContainsFunc(files, func(f listedFile) bool { return f.path == "-" }) {
		return &sessionfmt.Error{Err: errors.New("--lens check requires a file"), Hint: "save standard input to a file first"}
	}
	return nil
}

func emptyGate() error {
	return &sessionfmt.Error{Err: gate.ErrEmpty, Hint: "--allow-empty accepts no sessions"}
}

// checker counts what ctxtool check finds in a file.
func (o *statsOptions) checker(e *env) func(name string) (*stats.CheckPart, error) {
	opt := check.Options{Models: o.Replay.Models, Now: e.now(), Open: e.opening(1)}
	return func(name string) (*stats.CheckPart, error) {
		p := &stats.CheckPart{}
		for _, f := range check.File(name, opt).Findings {
			switch f.Severity {
			case check.Error:
				p.Errors++
			case check.Warning:
				p.Warnings++
			default:
				p.Infos++
				continue
			}
			if w := p.Worst; w == nil || w.Severity == check.Warning.String() && f.Severity == check.Error {
				p.Worst = &stats.CheckWorst{Severity: f.Severity.String(), Code: f.Code, Line: f.Line, Entry: f.Entry, Text: f.Text}
			}
		}
		return p, nil
	}
}

// judge asks the gate about all sessions, if there is one.
func (o *gating) judge(sum *stats.Report) error {
	if !o.gated {
		return nil
	}
	said, err := o.gate.Judge(sum)
	if errors.Is(err, gate.ErrEmpty) && !o.allowEmpty {
		return emptyGate()
	}
	o.said, sum.Gate = said, said
	return nil
}

// verdict is the command's end, for a gate. What the form does not show goes to
// standard error.
func (o *gating) verdict(e *env, format string) error {
	if format == "csv" {
		for i := range o.said.Verdicts {
			if v := &o.said.Verdicts[i]; v.State == gate.Crossed {
				e.note("%s", render.GateLine(v))
			}
		}
	}
	if o.said.Passed {
		return nil
	}
	return errFound
}

// A filter is flags that say which sessions and calls are counted.
type filter struct{ since, until, project, model string }

func (o *filter) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "", "only sessions and calls since `TIME`")
	f.StringVar(&o.until, "until", "", "only sessions and calls until `TIME`")
	f.StringVar(&o.project, "project", "", "only sessions whose folder name contains `TEXT`")
	f.StringVar(&o.model, "only-model", "", "only calls of models whose name contains `TEXT`")
	help.Group(f, "Selection", "since", "until", "project", "only-model")
}

func (o *filter) check() (only stats.Only, err error) {
	only.Project, only.Model = o.project, o.model
	var wrong error
	only.Since, err = timeFlag("since", o.since)
	only.Until, wrong = timeFlag("until", o.until)
	only.Until = untilTime(o.until, only.Until)
	if err = cmp.Or(err, wrong); err == nil && only.Until != 0 && only.Until < only.Since {
		err = fmt.Errorf("--until %s is before --since %s", sessionfmt.Quote(o.until), sessionfmt.Quote(o.since))
	}
	return only, err
}

// timeFlag is a flag's time in milliseconds since 1970, 0 where it was not given.
func timeFlag(name, text string) (ms int64, err error) {
	if text == "" {
		return 0, nil
	}
	ms, ok := parseTime(text)
	if !ok {
		return 0, fmt.Errorf("--%s %q: want a date as 2026-01-31, or a time as 2026-01-31T12:00:00Z", name, sessionfmt.Quote(text))
	}
	return ms, nil
}

// mayFit rules out, before it is read, a file that was last changed before the time
// that was asked for, and one whose header says a later time or another project. What
// a fork took over is older than its header.
func (e *env) mayFit(o *stats.Only, name string) bool {
	if o.Since != 0 {
		if info, err := e.disk.Stat(name); err == nil && info.Mode().IsRegular() && info.ModTime().UnixMilli() < o.Since {
			return false
		}
	}
	if o.Until == 0 && o.Project == "" {
		return true
	}
	h := store.ReadHeader(e.disk, name)
	if h == (store.HeaderInfo{}) {
		return true // reading will tell
	}
	began, err := time.Parse(time.RFC3339, h.Timestamp)
	if o.Until != 0 && h.Parent == "" && err == nil && began.UnixMilli() > o.Until {
		return false
	}
	return strings.Contains(h.CWD, o.Project)
}
