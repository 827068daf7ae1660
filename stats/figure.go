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
	Scope scope

	lens    *Lens // whose part it is read off
	read    func(r *Report) (values []figureValue, has bool)
	entries bool // a session has a value for each of several entries
}

// A scope says how many values a figure has.
type scope uint8

const (
	allSessions scope = iota // one, of all sessions together
	eachSession              // one a session
	eachGroup                // one a row of all sessions together, such as a day
)

// A figureValue is what a figure is.
type figureValue struct {
	Amount     float64 // tokens, bytes, dollars, a number of things, or a share from 0 to 1
	Group      string  // the day
	File       string  // of one session among several
	Entry      string  // the one to look at
	Line       int     // of that entry, from 1
	Unpriced   int     // calls whose price nobody knows: the amount is at least this
	Calibrated bool    // the amount is an estimate: see calibrated
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
		fmt.Fprintf(&b, "  %-24s%s\n", figures[i].Name, figures[i].About)
	}
	return b.String()
}

// of are the figure's values in a report; none where there is nothing to say it of.
// has is that the lens has looked.
func (f *Figure) of(r *Report) (values []figureValue, has bool) {
	all, has := f.read(r)
	for _, v := range all {
		if !math.IsNaN(v.Amount) && !math.IsInf(v.Amount, 0) {
			values = append(values, v)
		}
	}
	return values, has
}
