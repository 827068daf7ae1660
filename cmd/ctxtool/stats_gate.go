package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

// gateHelp is what the help of stats says of gates.
func gateHelp() string {
	return "A gate holds figures to limits, and to a saved run (-f jsonl):\n" +
		"  --require 'context.tokens<=150k'          a limit; >= for one from below\n" +
		"  --require 'cost.total<=5~10%'             up to 10% beyond it are tolerated\n" +
		"  --require 'cache.hit-rate>=60%:warning'   said, and no failure\n" +
		"  --against FILE                            as in the saved run\n" +
		"  --against FILE --drift 5%                 within 5% of it; with +5% a figure may grow\n" +
		"                                            by that and shrink, with -5% the reverse\n" +
		"  --check FILE                              limits and drifts in TOML (docs/ci.md)\n" +
		"Lenses that a figure needs are computed besides those of --lens. Figures:\n" + gate.FigureHelp()
}

// flags gives stats the flags of a gate.
func (o *gating) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.budgets, "require", nil, "fail where a figure crosses a `LIMIT`, as context.tokens<=150k~5%:warning")
	f.StringVar(&o.file, "check", "", "fail where a figure crosses a limit in this TOML `FILE`")
	f.StringVar(&o.against, "against", "", "fail where a figure is not as in the run saved in `FILE` with -f json or jsonl")
	f.StringVar(&o.drift, "drift", "", "how far from the saved run a figure may be: `AMOUNT`, as 5%, +5%, -5% or 1000")
	choice(cmd, &o.broken, "broken", "", "`WHAT` a session that cannot be read, or not to the end, does to a gate over several: fail, warn (default fail)", []string{"fail", "warn"})
	choice(cmd, &o.unpriced, "unpriced", "", "`WHAT` calls without a price do to a gate's limit of cost: fail, ignore (default fail)", []string{"fail", "ignore"})
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "a gate over no session passes")
	complete(cmd, "require", gate.FigureNames())
}

// check reads the flags and the files that they name, before any session is opened.
func (o *gating) check(e *env) error {
	o.gated = len(o.budgets) > 0 || o.file != "" || o.against != ""
	if !o.gated && (o.drift != "" || o.broken != "" || o.unpriced != "" || o.allowEmpty) {
		return errors.New("--drift, --broken, --unpriced and --allow-empty are for a gate: --require, --check or --against")
	}
	if o.drift != "" && o.against == "" {
		return errors.New("--drift is from a saved run: name it with --against")
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
			return fmt.Errorf("--%s %q: fail or %s", of.flag, sessionfmt.Quote(of.value), of.other)
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
			return fmt.Errorf("-f %s is the answer of a gate: give it --require, --check or --against", format)
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
		return &sessionfmt.Error{Err: errors.New("what check finds is counted in files, not in standard input"), Hint: "save it to a file first"}
	}
	return nil
}

func emptyGate() error {
	return &sessionfmt.Error{Err: gate.ErrEmpty, Hint: "a gate over nothing says nothing; --allow-empty lets it pass"}
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
type filter struct {
	period
	project, model string
}

func (o *filter) flags(cmd *cobra.Command) {
	o.period.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.project, "project", "", "only sessions whose project's folder has this `TEXT` in its name")
	f.StringVar(&o.model, "only-model", "", "only sessions with a call, and only calls, of models with this `TEXT` in their name")
}

func (o *filter) check(e *env) (stats.Only, error) {
	since, until, err := o.period.check(e)
	return stats.Only{Since: since, Until: until, Project: o.project, Model: o.model}, err
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
