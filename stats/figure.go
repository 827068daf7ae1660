package stats

import (
	"fmt"
	"math"
	"strings"

	"ctxtool/sessionfmt"
)

// A Figure is a number of a report that a budget may be set on.
type Figure struct {
	Name  string
	About string // one line for help
	Unit  Unit
	Scope Scope
	// Entries: a session has a value for each of several entries.
	Entries bool

	lens *Lens // whose part it is read off
	read func(r *Report) (values []Value, has bool)
}

// A Scope says how many values a figure has.
type Scope uint8

const (
	All         Scope = iota // one, of all sessions together
	EachSession              // one a session
	EachGroup                // one a row of all sessions together, such as a day
)

var scopeNames = []string{"all", "session", "group"}

// String is the scope's name.
func (s Scope) String() string { return scopeNames[s] }

// A Value is what a figure is.
type Value struct {
	Amount   float64 // tokens, bytes, dollars, a number of things, or a share from 0 to 1
	Group    string  // the day
	File     string  // of one session among several
	Entry    string  // the one to look at
	Line     int     // of that entry, from 1
	Unpriced int     // calls whose price nobody knows: the amount is at least this
}

// figures are all figures, in the order of the help.
var figures = []Figure{
	{"cache.hit-rate", "what a cache served of the prompts, all sessions together", Share, All, false, &cacheLens, on(cachePart, cacheRate)},
	{"cache.session-hit-rate", "the same of each session", Share, EachSession, false, &cacheLens, on(cachePart, func(p *CachePart) []Value {
		return ofSession(cacheRate(p))
	})},
	{"cache.rebilled", "what was billed again, all sessions together", Dollars, All, false, &cacheLens, on(cachePart, func(p *CachePart) []Value {
		return p.worstAt(Value{Amount: p.Again().Cost})
	})},
	{"check.errors", "errors that ctxtool check finds in each session", Number, EachSession, false, &checkLens, on(checkPart, func(p *CheckPart) []Value {
		return p.worstAt(p.Errors, "error")
	})},
	{"check.warnings", "warnings that it finds", Number, EachSession, false, &checkLens, on(checkPart, func(p *CheckPart) []Value {
		return p.worstAt(p.Warnings, "warning")
	})},
}

// on reads a figure off a part, where there is one.
func on[P any](part func(r *Report) *P, read func(p *P) []Value) func(r *Report) ([]Value, bool) {
	return func(r *Report) ([]Value, bool) {
		if p := part(r); p != nil {
			return read(p), true
		}
		return nil, false
	}
}

func cachePart(r *Report) *CachePart { return r.Cache }
func checkPart(r *Report) *CheckPart { return r.Check }

func cacheRate(p *CachePart) []Value {
	if p.HitRate == nil {
		return nil
	}
	return p.worstAt(Value{Amount: *p.HitRate})
}

// ofSession are values of a session alone: what is said of several together is
// nothing of each.
func ofSession(values []Value) []Value {
	for i := range values {
		values[i].File = ""
	}
	return values
}

// worstAt is the value with the entry that had the most billed again.
func (p *CachePart) worstAt(v Value) []Value {
	if p.Worst != nil {
		v.File, v.Entry = p.Worst.File, p.Worst.Entry
	}
	return []Value{v}
}

// worstAt is a number of findings with the first of them.
func (p *CheckPart) worstAt(n int, severity string) []Value {
	v := Value{Amount: float64(n)}
	if w := p.Worst; w != nil && w.Severity == severity {
		v.Entry, v.Line = w.Entry, w.Line
	}
	return []Value{v}
}

// FindFigure is the figure of that name.
func FindFigure(name string) (*Figure, error) {
	near := ""
	for i := range figures {
		f := &figures[i]
		if f.Name == name {
			return f, nil
		}
		if group, _, _ := strings.Cut(f.Name, "."); group == name || strings.HasPrefix(name, group+".") {
			near += ", " + f.Name
		}
	}
	if near == "" {
		return nil, &sessionfmt.Error{Err: fmt.Errorf("unknown figure %q", sessionfmt.Quote(name)), Hint: "figures are " + strings.Join(FigureNames(), ", ")}
	}
	return nil, &sessionfmt.Error{Err: fmt.Errorf("unknown figure %q", sessionfmt.Quote(name)), Hint: "of that kind are " + near[2:]}
}

// FigureNames are the names of all figures.
func FigureNames() (names []string) {
	for i := range figures {
		names = append(names, figures[i].Name)
	}
	return names
}

// FigureHelp lists the figures, a line each.
func FigureHelp() string {
	var b strings.Builder
	for i := range figures {
		fmt.Fprintf(&b, "  %-22s %s\n", figures[i].Name, figures[i].About)
	}
	return b.String()
}

// of are the figure's values in a report; none where there is nothing to say it of.
// has is that the lens has looked.
func (f *Figure) of(r *Report) (values []Value, has bool) {
	all, has := f.read(r)
	for _, v := range all {
		if !math.IsNaN(v.Amount) && !math.IsInf(v.Amount, 0) {
			values = append(values, v)
		}
	}
	return values, has
}
