package render

import (
	"bufio"
	"fmt"
	"strings"

	"ctxtool/internal/phrase"
	"ctxtool/internal/simulate"
	"ctxtool/sessionfmt"
)

// writeSimulations writes the sum of several sessions, the spread of each policy, and the
// sessions in which policies differ most.
func writeSimulations(w *bufio.Writer, s *simulate.Store, on Screen) error {
	if err := writeContest(w, s.Total, on); err != nil {
		return err
	}
	if s.Acted > 1 {
		fmt.Fprintf(w, "\n%s:\n", spreadTitle(s))
		if err := WriteTable(w, spreadColumns, spreadCells(s.Total.Runs), on); err != nil {
			return err
		}
	}
	if len(s.Differing) > 0 {
		w.WriteString("\nWhere policies differ most:\n")
		if err := WriteTable(w, differingColumns, differingCells(s), on); err != nil {
			return err
		}
	}
	var broken []string
	for _, r := range s.Sessions {
		if r.Error != "" {
			broken = append(broken, sessionfmt.Clean(r.File)+": "+sessionfmt.Clean(r.Error))
		}
	}
	writeBroken(w, "simulated", broken)
	return nil
}

// spreadTitle returns what the spreads are of.
func spreadTitle(s *simulate.Store) string {
	return fmt.Sprintf("By session, of the %d in which a policy changed anything", s.Acted)
}

// differingColumns are the columns of the sessions in which policies differ most.
var differingColumns = []Column{
	{Name: "session", Flex: true}, {Name: "requests", Right: true, Yields: 1}, {Name: "cheapest"}, {Name: "cost", Right: true}, {Name: "regrets", Right: true, Yields: 2}, {Name: "most expensive"}, {Name: "cost", Right: true}, {Name: "regrets", Right: true, Yields: 3},
}

func differingCells(s *simulate.Store) (cells [][]string) {
	for _, d := range s.Differing {
		cost := func(n float64) string { return money(n, decimalsOf(d.Most.Cost), 0) }
		cells = append(cells, []string{
			sessionfmt.Clean(d.File), fmt.Sprint(d.Requests), sessionfmt.Clean(d.Least.Policy), cost(d.Least.Cost), fmt.Sprint(d.Least.Regrets), sessionfmt.Clean(d.Most.Policy), cost(d.Most.Cost), fmt.Sprint(d.Most.Regrets),
		})
	}
	return cells
}

// A spreadFigure is a figure whose spread is shown.
type spreadFigure struct {
	name string
	of   func(s *simulate.Spread) *simulate.Distribution
	text func(n float64) string // nil for dollars
}

// spreadFigures are the figures whose spread is shown.
var spreadFigures = []spreadFigure{
	{"cost", func(s *simulate.Spread) *simulate.Distribution { return &s.Cost }, nil},
	{"peak", func(s *simulate.Spread) *simulate.Distribution { return &s.Peak }, func(n float64) string { return phrase.Short(int64(n)) }},
	{"hit rate", func(s *simulate.Spread) *simulate.Distribution { return &s.HitRate }, phrase.Percent},
	{"regrets", func(s *simulate.Spread) *simulate.Distribution { return &s.Regrets }, func(n float64) string { return fmt.Sprint(int(n)) }},
}

// spreadColumns are the columns of the table of spreads.
var spreadColumns = []Column{
	{Name: ""}, {Name: "policy", Flex: true}, {Name: "25%", Right: true, Yields: 1}, {Name: "median", Right: true}, {Name: "75%", Right: true, Yields: 1}, {Name: "95%", Right: true}, {Name: "spread", Yields: 2},
}

// spreadCells returns a row for each figure and policy.
func spreadCells(runs []*simulate.Run) (cells [][]string) {
	for _, f := range spreadFigures {
		low, high := f.of(runs[0].Spread).Min, 0.0
		for _, r := range runs {
			d := f.of(r.Spread)
			low, high = min(low, d.Min), max(high, d.P95)
		}
		text := f.text
		if text == nil {
			text = func(n float64) string { return money(n, decimalsOf(high), 0) }
		}
		for i, r := range runs {
			d := f.of(r.Spread)
			cells = append(cells, []string{phrase.If(i == 0, "%s", f.name), sessionfmt.Clean(r.Policy), text(d.Q1), text(d.Median), text(d.Q3), text(d.P95), box(d, low, high)})
		}
	}
	return cells
}

// boxWidth is the width of the drawing of a spread, in characters.
const boxWidth = 24

// box draws a distribution on a scale from low to high: a line from the least value to the one
// that 5 of 100 exceed, on it the two middle quarters, and the median.
func box(d *simulate.Distribution, low, high float64) string {
	at := func(n float64) int {
		if high <= low {
			return 0
		}
		return int((min(n, high) - low) / (high - low) * (boxWidth - 1))
	}
	line := []rune(strings.Repeat(" ", boxWidth))
	draw := func(from, to float64, r rune) {
		for i := at(from); i <= at(to); i++ {
			line[i] = r
		}
	}
	draw(d.Min, d.P95, '─')
	draw(d.Q1, d.Q3, '▒')
	draw(d.Median, d.Median, '█')
	return strings.TrimRight(string(line), " ")
}

func writeSimulationsCSV(w *bufio.Writer, s *simulate.Store) (err error) {
	var rows [][]any
	for _, r := range s.Sessions {
		rows = append(rows, simulationRows(r)...)
	}
	return writeCSV(w, simulationCSV, rows)
}

func writeSimulationsLines(w *bufio.Writer, s *simulate.Store) error {
	if err := writeLines(w, s.Sessions); err != nil {
		return err
	}
	return WriteJSON(w, map[string]any{"total": s.Total, "acted": s.Acted, "differing": s.Differing})
}
