package stats

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
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
	State      State    `json:"state"`                // `crossed`; `tolerated`: beyond the limit, within its tolerance; `unknown`: there is nothing to judge; `kept`
	Severity   severity `json:"severity"`             // `error` or `warning`
	Figure     string   `json:"figure"`               // as in the help; `readable` is a session without figures, or not with all
	Unit       string   `json:"unit,omitempty"`       // `number`, `tokens`, `bytes`, `dollars` or `share`
	File       string   `json:"file,omitempty"`       // the session; absent where it is about all
	Group      string   `json:"group,omitempty"`      // the day; absent where it is about all
	Entry      string   `json:"entry,omitempty"`      // the entry to look at
	Line       int      `json:"line,omitempty"`       // of that entry, from 1
	Value      *float64 `json:"value,omitempty"`      // absent where there is none, `reason` says why
	Unpriced   int      `json:"unpriced,omitempty"`   // calls without a price: the value is at least this
	Calibrated bool     `json:"calibrated,omitempty"` // the value is counted, times a factor that was fitted
	Max        *float64 `json:"max,omitempty"`        // the limit above
	Min        *float64 `json:"min,omitempty"`        // the limit below
	Saved      *float64 `json:"saved,omitempty"`      // of the saved run, where the limits come from that
	Slack      float64  `json:"tolerance,omitempty"`  // allowed beyond a limit
	Over       float64  `json:"over,omitempty"`       // how far the value is beyond a limit; absent where it is not
	Reason     string   `json:"reason,omitempty"`     // why there is no value, why the session has no figures, or that the saved run does not have it

	Path string `json:"-"` // of the file from the current folder

	order int // of its budget
}

// A State is what became of a limit.
type State string

const (
	LimitCrossed   State = "crossed"
	LimitTolerated State = "tolerated" // beyond the limit, within its tolerance
	LimitUnknown   State = "unknown"   // there is nothing to judge
	LimitKept      State = "kept"
)

// states are all states, the most important first.
var states = []State{LimitCrossed, LimitTolerated, LimitUnknown, LimitKept}

// A GateReport is what a gate says.
type GateReport struct {
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

// Lenses are those that the gate needs besides others.
func (g *Gate) Lenses() (all []*Lens) {
	for _, f := range g.figures() {
		all = append(all, f.lens)
	}
	return all
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
func (g *Gate) Start(lenses []*Lens) error {
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
		case has && (named || slices.Contains(lenses, f.lens)):
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
func (g *Gate) Add(one *Report) {
	if one.Path != "" && one.Path != one.File {
		if g.paths == nil {
			g.paths = map[string]string{}
		}
		g.paths[one.File] = one.Path
	}
	if why := cmp.Or(one.Error, one.Stopped); why != "" {
		v := Verdict{State: LimitCrossed, Severity: Error, Figure: Unreadable, File: one.File, Reason: why, order: -1}
		if g.WarnBroken {
			v.Severity = Warning
		}
		g.put(v)
	}
	if one.Error == "" {
		g.sessions++
		g.judge(one, func(f *Figure) bool { return f.Scope == eachSession })
	}
}

// Judge judges all sessions together, and says what became of every limit. It is
// ErrEmpty where none of them had figures.
func (g *Gate) Judge(sum *Report) (*GateReport, error) {
	if g.sessions > 0 {
		g.judge(sum, func(f *Figure) bool { return f.Scope != eachSession })
	}
	slices.SortStableFunc(g.verdicts, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State)),
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.order, b.order))
	})
	r := &GateReport{Passed: true, Sessions: g.sessions, Verdicts: append([]Verdict{}, g.verdicts...)}
	if g.Saved != nil {
		r.Saved = g.Saved.Name
	}
	for i := range r.Verdicts {
		switch v := &r.Verdicts[i]; {
		case v.State == LimitTolerated:
			r.Tolerated++
		case v.State == LimitUnknown:
			r.Unknown++
		case v.State == LimitKept:
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
func (g *Gate) judge(r *Report, meant func(f *Figure) bool) {
	file := r.onlyFile()
	add := func(f *Figure, v Verdict) {
		v.Figure, v.Unit, v.File = f.Name, f.Unit.String(), cmp.Or(v.File, file)
		g.put(v)
	}
	for i, b := range g.Budgets {
		if !meant(b.Figure) {
			continue
		}
		values := r.valuesOf(b.Figure)
		if len(values) == 0 {
			add(b.Figure, Verdict{State: LimitUnknown, Severity: b.Severity, Max: b.Max, Min: b.Min, Reason: "nothing to judge", order: i})
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
		for _, value := range r.valuesOf(f) {
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
func (g *Gate) compare(v *Verdict, f *Figure, r *Report, value figureValue) {
	saved, ok := g.Saved.value(f, r, value)
	if !ok {
		v.take(value)
		v.State, v.Reason = LimitUnknown, "not in the saved run"
		return
	}
	drift := cmp.Or(g.Drifts[f], g.Drift, &Drift{Up: true, Down: true})
	v.Severity = cmp.Or(drift.Severity, Error)
	v.Saved = &saved.Amount
	least, most := saved.Amount-drift.of(saved.Amount), saved.Amount+drift.of(saved.Amount)
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
func (v *Verdict) judge(value figureValue, tolerance Amount, ignoreUnpriced bool) {
	v.take(value)
	v.State = LimitKept
	tolerated := false
	switch {
	case v.Max != nil && beyond(value.Amount, *v.Max):
		v.Over, v.Slack = value.Amount-*v.Max, tolerance.of(*v.Max)
		tolerated = !beyond(value.Amount, *v.Max+v.Slack)
	case v.Min != nil && beyond(*v.Min, value.Amount):
		v.Over, v.Slack = *v.Min-value.Amount, tolerance.of(*v.Min)
		tolerated = !beyond(*v.Min-v.Slack, value.Amount)
	}
	switch {
	case tolerated:
		v.State = LimitTolerated
	case v.Over > 0:
		v.State = LimitCrossed
	}
	// Nobody knows that the rest keeps below a limit.
	if v.Max != nil && value.Unpriced > 0 && !ignoreUnpriced {
		v.State = LimitCrossed
	}
}

// take is the value that the verdict is on.
func (v *Verdict) take(value figureValue) {
	v.Value, v.Unpriced, v.Calibrated = &value.Amount, value.Unpriced, value.Calibrated
	v.File, v.Group, v.Entry, v.Line = value.File, value.Group, value.Entry, value.Line
}

// beyond reports that a is more than b, by more than what adding up dollars in another
// order makes of a sum.
func beyond(a, b float64) bool { return a-b > 1e-12*max(math.Abs(a), math.Abs(b)) }

// valuesOf are the figure's values, with the lines that are known since the session
// was read.
func (r *Report) valuesOf(f *Figure) []figureValue {
	values, _ := f.of(r)
	for i := range values {
		if v := &values[i]; v.Line == 0 {
			v.Line = r.lines[v.Entry]
		}
	}
	return values
}

// noteLines keeps the lines of the entries that the gate's figures name, while the
// session is open.
func (l *lensRun) noteLines() {
	for i := range figures {
		values, _ := figures[i].of(l.Report)
		for _, v := range values {
			k := -1
			if v.Entry != "" {
				k = l.Session.Find(v.Entry)
			}
			if k < 0 {
				continue
			}
			if l.Report.lines == nil {
				l.Report.lines = map[string]int{}
			}
			l.Report.lines[v.Entry] = l.Session.Line(k)
		}
	}
}

// Only says which sessions and calls are looked at; the zero value means all. A
// session fits that belongs to the project and has an entry within the time, or,
// where a model is named, a call of it within the time. The lens cost counts no
// other calls.
type Only struct {
	Since, Until int64  // milliseconds since 1970, both within; 0 where there is no limit
	Project      string // text in the name of the project's folder
	Model        string // text in a model's name
}

// time reports that a record of that time is within the limits; without any all are.
func (o *Only) time(ms int64, dated bool) bool {
	if o.Since == 0 && o.Until == 0 {
		return true
	}
	return dated && ms >= o.Since && (o.Until == 0 || ms <= o.Until)
}

// model reports that the name of a model has the text.
func (o *Only) model(name string) bool { return strings.Contains(name, o.Model) }

// Fits reports that the session is one of those that were asked for: see Options.Only.
func (r *Report) Fits() bool { return r.fits }

// fit looks at a record, until one is found that was asked for.
func (l *lensRun) fit(f *callRecord) {
	if l.Report.fits || !f.Kind.IsEntry() || l.Only.Model != "" && !(f.Paid() && l.Only.model(f.modelName())) {
		return
	}
	ms, dated := f.Time.Millis()
	l.Report.fits = l.Only.time(ms, dated)
}
