// Package gate holds what stats counts to limits, and to a saved run.
//
// A Figure is a number of a stats.Report by name, as cost.total; a Budget is limits for
// figures, and a Gate judges reports by it and says a verdict on each value.
package gate

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// A Gate holds sessions to budgets, and to a saved run. The zero value asks for
// nothing. Reports are added in the order of their files; Judge says the rest.
type Gate struct {
	Budgets        []Budget
	Drift          *Drift             // from the saved run; nil is none at all
	Drifts         map[*Figure]*Drift // of single figures
	Saved          *Saved             // nil for none
	IgnoreUnpriced bool               // a cost is what is known of it
	WarnBroken     bool               // sessions without figures are said, and no failure

	compared []*Figure // with the saved run
	sessions int       // judged
	verdicts []Verdict
	paths    map[string]string // of files, where they are not their names
}

// A Verdict says how a figure keeps to a budget, or to the saved run.
type Verdict struct {
	State    State    `json:"state"`          // `crossed`; `tolerated`: beyond the limit, within its tolerance; `unknown`: there is nothing to judge; `kept`
	Severity severity `json:"severity"`       // `error` or `warning`
	Figure   string   `json:"figure"`         // as in the help; `readable` is a session without figures, or not with all
	Unit     string   `json:"unit,omitempty"` // `number`, `tokens`, `bytes`, `dollars` or `share`
	Reading
	Max    *float64 `json:"max,omitempty"`       // the limit above
	Min    *float64 `json:"min,omitempty"`       // the limit below
	Saved  *float64 `json:"saved,omitempty"`     // of the saved run, where the limits come from that
	Slack  float64  `json:"tolerance,omitempty"` // allowed beyond a limit
	Over   float64  `json:"over,omitempty"`      // how far the value is beyond a limit; absent where it is not
	Reason string   `json:"reason,omitempty"`    // why there is no value, why the session has no figures, or that the saved run does not have it

	Path string `json:"-"` // of the file from the current folder

	order int // of its budget
}

// A State is what became of a limit.
type State string

const (
	Crossed   State = "crossed"
	Tolerated State = "tolerated" // beyond the limit, within its tolerance
	Unknown   State = "unknown"   // there is nothing to judge
	Kept      State = "kept"
)

// states are all states, the most important first.
var states = []State{Crossed, Tolerated, Unknown, Kept}

// A Report is what a gate says.
type Report struct {
	Passed    bool      `json:"passed"`    // no limit is crossed whose severity is `error`
	Sessions  int       `json:"sessions"`  // that were judged
	Crossed   int       `json:"crossed"`   // limits that are crossed, their severity being error
	Warnings  int       `json:"warnings"`  // limits that are crossed, their severity being warning
	Tolerated int       `json:"tolerated"` // verdicts of that state, as the next two
	Unknown   int       `json:"unknown"`
	Kept      int       `json:"kept"`
	Saved     string    `json:"against,omitempty"` // the saved run
	Verdicts  []Verdict `json:"verdicts"`          // what is crossed first, then by state, severity, budget and file
}

// Unreadable is the figure of a verdict on a session that has no figures.
const Unreadable = "readable"

// ErrEmpty is that there was no session to judge.
var ErrEmpty = errors.New("no session to judge")

// Lenses are the names of those that the gate needs besides others.
func (g *Gate) Lenses() (names []string) {
	for _, f := range g.figures() {
		names = append(names, f.lens())
	}
	return names
}

// By is what the rows of the lens cost have to be by, besides what was asked for.
func (g *Gate) By(asked []string) []string {
	for _, f := range g.figures() {
		if f.Name == "cost.day" && !slices.Contains(asked, "day") {
			return append(asked, "day")
		}
	}
	return asked
}

// Like is the system that contexts have to be counted like; empty for none.
func (g *Gate) Like() string {
	for i := range figures {
		f := &figures[i]
		if strings.HasPrefix(f.Name, likeSWE+".") && (slices.Contains(g.figures(), f) || g.Saved != nil && g.Saved.values(f) != nil) {
			return likeSWE
		}
	}
	return ""
}

// figures are those that budgets and drifts name.
func (g *Gate) figures() (all []*Figure) {
	for i := range figures {
		f := &figures[i]
		if _, ok := g.Drifts[f]; g.Saved != nil && ok || slices.ContainsFunc(g.Budgets, func(b Budget) bool { return b.Figure == f }) {
			all = append(all, f)
		}
	}
	return all
}

// Start gets ready to judge what the lenses see. Of the saved run every figure is
// compared that they and it have.
func (g *Gate) Start(lenses []string) error {
	if g.Saved == nil {
		if len(g.Budgets) == 0 {
			return &sessionfmt.Error{Err: errors.New("the gate has no budget and no saved run"), Hint: "set one: --require 'FIGURE<=LIMIT', or --against FILE"}
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
		v := Verdict{State: Crossed, Severity: Error, Figure: Unreadable, Reading: Reading{File: one.File}, Reason: why, order: -1}
		if g.WarnBroken {
			v.Severity = Warning
		}
		g.put(v)
	}
	if one.Error == "" {
		g.sessions++
		g.judge(one, func(f *Figure) bool { return f.Scope >= eachSession })
	}
}

// Judge judges all sessions together, and says what became of every limit. It is
// ErrEmpty where none of them had figures.
func (g *Gate) Judge(sum *stats.Report) (*Report, error) {
	if g.sessions > 0 {
		g.judge(sum, func(f *Figure) bool { return f.Scope < eachSession })
	}
	slices.SortStableFunc(g.verdicts, func(a, b Verdict) int {
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

// judge judges the figures of a report that are meant.
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
			add(b.Figure, Verdict{State: Unknown, Severity: b.Severity, Max: b.Max, Min: b.Min, Reason: "nothing to judge", order: i})
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

// compare judges a value by that of the saved run.
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

// judge says how a value keeps to the verdict's limits.
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

// beyond reports whether a is more than b, by more than what adding up dollars in another
// order makes of a sum.
func beyond(a, b float64) bool { return a-b > 1e-12*max(math.Abs(a), math.Abs(b)) }

// valuesOf are the figure's values, with the lines that are known since the session
// was read.
func valuesOf(r *stats.Report, f *Figure) []Reading {
	values, _ := f.of(r)
	for i := range values {
		if v := &values[i]; v.Line == 0 {
			v.Line = r.Lines[v.Entry]
		}
	}
	return values
}

// Entries are those that figures of a session name, by which a gate finds their lines.
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
