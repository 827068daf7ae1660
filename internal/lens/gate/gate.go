// Package gate compares the figures of stats with limits, and with a saved run.
//
// A Figure is a named number of a stats.Report, such as cost.total. A Budget is limits for a
// figure. A Gate judges reports, with a verdict for each value.
package gate

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// A Gate compares sessions with budgets and a saved run. The zero value has neither. Call Start
// first, then Add with the reports in the order of their files, then Judge.
type Gate struct {
	Budgets        []Budget
	Drift          *Drift             // from the saved run; nil allows none
	Drifts         map[*Figure]*Drift // for single figures
	Saved          *Saved             // the saved run; nil for none
	IgnoreUnpriced bool               // calls without a price do not count
	WarnBroken     bool               // sessions without figures are reported and do not fail the gate

	compared []*Figure // with the saved run
	sessions int       // judged
	verdicts []Verdict
	paths    map[string]string // of files, if they differ from the names
}

// A Verdict is the comparison of a value with a budget or the saved run.
type Verdict struct {
	// `crossed`; `tolerated`, within the tolerance; `unknown`, nothing to judge; `kept`
	State    State    `json:"state"`
	Severity severity `json:"severity"`       // `error` or `warning`
	Figure   string   `json:"figure"`         // as in the help; `readable` for a session without some figures
	Unit     string   `json:"unit,omitempty"` // `number`, `tokens`, `bytes`, `dollars` or `share`
	Reading
	Max   *float64 `json:"max,omitempty"`       // the upper limit
	Min   *float64 `json:"min,omitempty"`       // the lower limit
	Saved *float64 `json:"saved,omitempty"`     // the value in the saved run, if the limits come from it
	Slack float64  `json:"tolerance,omitempty"` // allowed beyond a limit
	Over  float64  `json:"over,omitempty"`      // how far the value is beyond a limit
	// why there is no value: of the session, the figure or the saved run
	Reason string `json:"reason,omitempty"`

	Path string `json:"-"` // of the file from the current folder

	order int // of its budget
}

// A State is the result of a comparison.
type State string

const (
	Crossed   State = "crossed"
	Tolerated State = "tolerated" // beyond the limit, within its tolerance
	Unknown   State = "unknown"   // there is nothing to judge
	Kept      State = "kept"
)

// states are all states, the most important first.
var states = []State{Crossed, Tolerated, Unknown, Kept}

// A Report is the result of a gate.
type Report struct {
	Passed    bool      `json:"passed"`    // no limit with severity `error` is crossed
	Sessions  int       `json:"sessions"`  // number of judged sessions
	Crossed   int       `json:"crossed"`   // crossed limits with severity `error`
	Warnings  int       `json:"warnings"`  // crossed limits with severity `warning`
	Tolerated int       `json:"tolerated"` // verdicts with that state, like the next two
	Unknown   int       `json:"unknown"`
	Kept      int       `json:"kept"`
	Saved     string    `json:"against,omitempty"` // the saved run
	Verdicts  []Verdict `json:"verdicts"`          // crossed limits first, then by state, severity, budget and file
}

// Unreadable is the figure of a verdict on a session that has no figures.
const Unreadable = "readable"

// ErrEmpty is returned if there is no session to judge.
var ErrEmpty error = sessionfmt.Errorf("no session to judge").Hinted("--allow-empty accepts no sessions")

// Lenses returns the names of the lenses that the gate needs.
func (g *Gate) Lenses() (names []string) {
	for _, f := range g.figures() {
		names = append(names, f.lens())
	}
	return names
}

// By returns the keys of the rows of the lens cost: those asked for, and those that the gate needs.
func (g *Gate) By(asked []string) []string {
	for _, f := range g.figures() {
		if f.Name == "cost.day" && !slices.Contains(asked, "day") {
			return append(asked, "day")
		}
	}
	return asked
}

// Targets reports whether the gate needs the targets of SWE-CLI.
func (g *Gate) Targets() bool {
	for i := range figures {
		f := &figures[i]
		if strings.HasPrefix(f.Name, sweCLI+".") && (slices.Contains(g.figures(), f) ||
			g.Saved != nil && g.Saved.values(f) != nil) {
			return true
		}
	}
	return false
}

// figures returns the figures that budgets and drifts name.
func (g *Gate) figures() (all []*Figure) {
	for i := range figures {
		f := &figures[i]
		if _, ok := g.Drifts[f]; g.Saved != nil && ok ||
			slices.ContainsFunc(g.Budgets, func(b Budget) bool { return b.Figure == f }) {
			all = append(all, f)
		}
	}
	return all
}

// Start prepares the gate for reports with these lenses. Every figure that both they and the
// saved run have is compared.
func (g *Gate) Start(lenses []string) error {
	if g.Saved == nil {
		if len(g.Budgets) == 0 {
			return &sessionfmt.Error{Err: errors.New("the gate has no budget and no saved run"),
				Hint: "set one: --require 'FIGURE<=LIMIT', or --against FILE"}
		}
		return nil
	}
	for i := range figures {
		f := &figures[i]
		_, named := g.Drifts[f]
		switch has := g.Saved.values(f) != nil; {
		case has && (named || slices.Contains(lenses, f.lens())):
			g.compared = append(g.compared, f)
		case named:
			return g.Saved.lacks(f)
		}
	}
	if len(g.compared) == 0 && len(g.Budgets) == 0 {
		return g.Saved.lacks(nil)
	}
	return nil
}

// Add judges the report of one more session.
func (g *Gate) Add(one *stats.Report) {
	if one.Path != "" && one.Path != one.File {
		if g.paths == nil {
			g.paths = map[string]string{}
		}
		g.paths[one.File] = one.Path
	}
	if why := cmp.Or(one.Error, one.Stopped); why != "" {
		g.broken(one.File, why)
	}
	if one.Error == "" {
		g.sessions++
		g.unread(one)
		g.judge(one, func(f *Figure) bool { return f.Scope >= eachSession })
	}
}

// unread reports sub-agents that are missing in the cost of a session.
func (g *Gate) unread(one *stats.Report) {
	if one.Cost == nil {
		return
	}
	for _, sub := range one.Cost.Unread {
		g.broken(cmp.Or(sub.File, one.File), sub.Error)
	}
}

// broken reports a file that has no figures, or not all.
func (g *Gate) broken(file, why string) {
	v := Verdict{State: Crossed, Severity: Error, Figure: Unreadable, Reading: Reading{File: file}, Reason: why,
		order: -1}
	if g.WarnBroken {
		v.Severity = Warning
	}
	g.put(v)
}

// Judge judges all sessions together, and returns the verdicts on all limits. The error is
// ErrEmpty if no session had figures.
func (g *Gate) Judge(sum *stats.Report) (*Report, error) {
	if g.sessions > 0 {
		g.judge(sum, func(f *Figure) bool { return f.Scope < eachSession })
	}
	sorting.By(g.verdicts, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State)),
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.order, b.order))
	})
	r := &Report{Passed: true, Sessions: g.sessions, Verdicts: append([]Verdict{}, g.verdicts...)}
	if g.Saved != nil {
		r.Saved = g.Saved.Name
	}
	for i := range r.Verdicts {
		switch v := &r.Verdicts[i]; {
		case v.State == Tolerated:
			r.Tolerated++
		case v.State == Unknown:
			r.Unknown++
		case v.State == Kept:
			r.Kept++
		case v.Severity == Warning:
			r.Warnings++
		default:
			r.Crossed++
			r.Passed = false
		}
	}
	if g.sessions == 0 {
		return r, ErrEmpty
	}
	return r, nil
}

// judge judges the chosen figures of a report.
func (g *Gate) judge(r *stats.Report, meant func(f *Figure) bool) {
	file := onlyFile(r)
	add := func(f *Figure, v Verdict) {
		v.Figure, v.Unit, v.File = f.Name, f.Unit.String(), cmp.Or(v.File, file)
		g.put(v)
	}
	for i, b := range g.Budgets {
		if !meant(b.Figure) {
			continue
		}
		values := valuesOf(r, b.Figure)
		if len(values) == 0 {
			add(b.Figure, Verdict{State: Unknown, Severity: b.Severity, Max: b.Max, Min: b.Min,
				Reason: "nothing to judge", order: i})
		}
		for _, value := range values {
			v := Verdict{Severity: b.Severity, Max: b.Max, Min: b.Min, order: i}
			v.judge(value, b.Tolerance, g.IgnoreUnpriced)
			add(b.Figure, v)
		}
	}
	for i, f := range g.compared {
		if !meant(f) {
			continue
		}
		for _, value := range valuesOf(r, f) {
			v := Verdict{Severity: Error, order: len(g.Budgets) + i}
			g.compare(&v, f, r, value)
			add(f, v)
		}
	}
}

func (g *Gate) put(v Verdict) {
	v.Path = cmp.Or(g.paths[v.File], v.File)
	g.verdicts = append(g.verdicts, v)
}

// compare compares a value with that of the saved run.
func (g *Gate) compare(v *Verdict, f *Figure, r *stats.Report, value Reading) {
	saved, ok := g.Saved.value(f, r, value)
	if !ok {
		v.Reading, v.State, v.Reason = value, Unknown, "not in the saved run"
		return
	}
	drift := cmp.Or(g.Drifts[f], g.Drift, &Drift{Up: true, Down: true})
	v.Severity = cmp.Or(drift.Severity, Error)
	v.Saved = saved.Value
	by := drift.of(*saved.Value)
	least, most := *saved.Value-by, *saved.Value+by
	if drift.Up {
		v.Max = &most
	}
	if drift.Down {
		v.Min = &least
	}
	// Calls that were as unpriced when the run was saved change nothing.
	v.judge(value, Amount{}, g.IgnoreUnpriced || value.Unpriced == saved.Unpriced)
}

// judge compares the value with the verdict's limits.
func (v *Verdict) judge(value Reading, tolerance Amount, ignoreUnpriced bool) {
	v.Reading, v.State = value, Kept
	is := *value.Value
	tolerated := false
	switch {
	case v.Max != nil && beyond(is, *v.Max):
		v.Over, v.Slack = is-*v.Max, tolerance.of(*v.Max)
		tolerated = !beyond(is, *v.Max+v.Slack)
	case v.Min != nil && beyond(*v.Min, is):
		v.Over, v.Slack = *v.Min-is, tolerance.of(*v.Min)
		tolerated = !beyond(*v.Min-v.Slack, is)
	}
	switch {
	case tolerated:
		v.State = Tolerated
	case v.Over > 0:
		v.State = Crossed
	}
	// The rest may exceed a limit.
	if v.Max != nil && value.Unpriced > 0 && !ignoreUnpriced {
		v.State = Crossed
	}
}

// beyond reports whether a is greater than b, by more than the rounding errors of a sum of
// dollars in another order.
func beyond(a, b float64) bool { return a-b > 1e-12*max(math.Abs(a), math.Abs(b)) }

// valuesOf returns the figure's values, with the lines of their entries.
func valuesOf(r *stats.Report, f *Figure) []Reading {
	values, _ := f.of(r)
	for i := range values {
		if v := &values[i]; v.Line == 0 {
			v.Line = r.Lines[v.Entry]
		}
	}
	return values
}

// Entries returns the entries that figures of a session name, so that a caller can look up
// their lines.
func Entries(r *stats.Report) (entries []string) {
	for i := range figures {
		values, _ := figures[i].of(r)
		for _, v := range values {
			if v.Entry != "" {
				entries = append(entries, v.Entry)
			}
		}
	}
	return entries
}

// Holds reports whether the figures of a session are within all budgets. A figure without a value is not.
func Holds(budgets []Budget, one *stats.Report) bool {
	g := Gate{Budgets: budgets}
	g.Add(one)
	said, err := g.Judge(one)
	return err == nil && said.Kept == len(said.Verdicts)
}
