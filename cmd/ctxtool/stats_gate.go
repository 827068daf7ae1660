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
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/store"
	"ctxtool/stats"
	"ctxtool/stats/gate"

	"github.com/spf13/cobra"
)

// gateFlags are the flags of a gate.
type gateFlags struct {
	budgets          []string
	file, against    string
	drift            string
	broken, unpriced string
	allowEmpty       bool

	gated bool // there is a gate
	gate  gate.Gate
	said  *gate.Report // nil without a gate
}

// gateForms are the forms of a gate's report.
var gateForms = []string{"github", "junit"}

// flags registers the flags.
func (o *gateFlags) flags(cmd *cobra.Command) {
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

// check checks the flags and reads the files that they name, before any session is opened.
func (o *gateFlags) check(e *env) error {
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

// withFlag returns an error with the name of the flag it is about. It keeps the hint.
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
func (o *gateFlags) load(e *env) error {
	if o.file != "" {
		data, err := e.readInput(o.file)
		if err != nil {
			return err
		}
		if err := o.gate.Load(o.file, data); err != nil {
			return noAnswer(err)
		}
	}
	// The command line overrides the file.
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

// ready prepares the gate for the lenses that are computed.
func (o *gateFlags) ready(format string, lenses []string) error {
	if !o.gated {
		if slices.Contains(gateForms, format) {
			return fmt.Errorf("-f %s requires --require, --check or --against", format)
		}
		return nil
	}
	return noAnswer(o.gate.Start(lenses))
}

// fit returns an error if the files cannot be judged. The lens check reads each file again.
func (o *gateFlags) fit(files []listedFile, checks bool) error {
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

// judge judges the sum of all sessions, if there is a gate.
func (o *gateFlags) judge(sum *stats.Report) error {
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

// verdict returns the result of the gate. It prints on standard error what the form does not
// show.
func (o *gateFlags) verdict(e *env, format string) error {
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

// filter are the flags that select sessions and calls.
type filter struct {
	period
	project, model, agent string
}

func (o *filter) flags(cmd *cobra.Command) {
	o.period.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.project, "project", "", "only sessions whose folder name contains `TEXT`")
	f.StringVar(&o.model, "only-model", "", "only calls of models whose name contains `TEXT`")
	agentFlag(cmd, &o.agent)
	help.Group(f, "Selection", "project", "only-model")
}

func (o *filter) check(e *env) (stats.Only, error) {
	since, until, err := o.period.check(e)
	return stats.Only{Since: since, Until: until, Project: o.project, Model: o.model, Agent: o.agent}, cmp.Or(err, checkAgent(o.agent))
}

// agentFlag registers the flag that selects sessions by the agent that wrote them.
func agentFlag(cmd *cobra.Command, agent *string) {
	choice(cmd, agent, "agent", "", "only sessions of the agent `NAME`: "+strings.Join(agents(), ", "), agents())
	help.Group(cmd.Flags(), "Selection", "agent")
}

func checkAgent(name string) error {
	if name == "" {
		return nil
	}
	return oneOf("unknown agent", agents(), name)
}

// agents are the names of agents.
func agents() []string {
	names := []string{(*dialect.Dialect)(nil).Agent()}
	for _, d := range sessionfmt.Dialects() {
		names = append(names, d.Agent())
	}
	return names
}

// mayFit reports whether a file may have sessions or calls that o selects. It only looks at
// its time and its header. The entries that a fork copied are older than its header.
func (e *env) mayFit(o *stats.Only, name string) bool {
	if o.Since != 0 {
		if info, err := e.disk.Stat(name); err == nil && info.Mode().IsRegular() && info.ModTime().UnixMilli() < o.Since {
			return false
		}
	}
	if o.Until == 0 && o.Project == "" && o.Agent == "" {
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
	return strings.Contains(h.CWD, o.Project) && (o.Agent == "" || o.Agent == h.Agent)
}
