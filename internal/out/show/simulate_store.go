package show

import (
	"bufio"
	"ctxtool/internal/lens/simulate"
	"ctxtool/internal/read/phrase"
	"ctxtool/stats/table"
	"fmt"
	"slices"
	"strings"
)

// storeSheets returns the sum of several sessions, the spread of each policy, and the sessions in
// which policies differ most.
func storeSheets(s *simulate.Store) []table.Sheet {
	all := simulationSheets(s.Total)
	if s.Acted > 1 {
		title := fmt.Sprintf("By session, of the %d in which a policy changed anything", s.Acted)
		all = append(all, table.Sheet{Title: title, Table: table.Of(spreads(s.Total.Runs), spreadColumns)})
	}
	if len(s.Differing) > 0 {
		all = append(all, table.Sheet{Title: "Where policies differ most",
			Table: table.Of(s.Differing, differingColumns)})
	}
	var broken []string
	for _, r := range s.Sessions {
		if r.Error != "" {
			broken = append(broken, r.File+": "+r.Error)
		}
	}
	return appendBroken(all, "simulated", broken)
}

// differingColumns are the columns of the sessions in which policies differ most.
var differingColumns = []col[*simulate.Difference]{
	{Name: "session", Unit: table.Path, Flex: true, Value: func(d *simulate.Difference) any { return d.File }},
	{Name: "requests", Unit: table.Number, Yields: 1,
		Value: func(d *simulate.Difference) any { return d.Requests }},
	{Name: "cheapest", Value: func(d *simulate.Difference) any { return d.Least.Policy }},
	{Name: "cost", Unit: table.Dollars, Value: func(d *simulate.Difference) any { return beside(d, d.Least.Cost) }},
	{Name: "regrets", Unit: table.Number, Yields: 2,
		Value: func(d *simulate.Difference) any { return d.Least.Regrets }},
	{Name: "most expensive", Value: func(d *simulate.Difference) any { return d.Most.Policy }},
	{Name: "cost", Unit: table.Dollars, Value: func(d *simulate.Difference) any { return beside(d, d.Most.Cost) }},
	{Name: "regrets", Unit: table.Number, Yields: 3,
		Value: func(d *simulate.Difference) any { return d.Most.Regrets }},
}

// beside returns a cost of a session as it is shown beside its largest.
func beside(d *simulate.Difference, dollars float64) table.Money {
	return table.Money{Dollars: dollars, Decimals: decimalsOf(d.Most.Cost)}
}

// spreadFigures are the figures whose spread is shown.
var spreadFigures = []struct {
	name string
	of   func(s *simulate.Spread) *simulate.Distribution
	text func(n, most float64) string
}{
	{"cost", func(s *simulate.Spread) *simulate.Distribution { return &s.Cost },
		func(n, most float64) string { return table.Money{Dollars: n, Decimals: decimalsOf(most)}.String() }},
	{"peak", func(s *simulate.Spread) *simulate.Distribution { return &s.Peak },
		func(n, _ float64) string { return phrase.Short(int64(n)) }},
	{"hit rate", func(s *simulate.Spread) *simulate.Distribution { return &s.HitRate },
		func(n, _ float64) string { return phrase.Percent(n) }},
	{"regrets", func(s *simulate.Spread) *simulate.Distribution { return &s.Regrets },
		func(n, _ float64) string { return fmt.Sprint(int(n)) }},
}

// A spread is how a figure of a policy differs from session to session. Values are shown on a
// scale from low to high.
type spread struct {
	*simulate.Distribution
	figure, policy string // the figure is named once
	low, high      float64
	text           func(n, most float64) string
}

var spreadColumns = []col[*spread]{
	{Name: "", Value: func(s *spread) any { return s.figure }},
	{Name: "policy", Value: func(s *spread) any { return s.policy }, Flex: true},
	{Name: "25%", Unit: table.Number, Value: func(s *spread) any { return s.text(s.Q1, s.high) }, Yields: 1},
	{Name: "median", Unit: table.Number, Value: func(s *spread) any { return s.text(s.Median, s.high) }},
	{Name: "75%", Unit: table.Number, Value: func(s *spread) any { return s.text(s.Q3, s.high) }, Yields: 1},
	{Name: "95%", Unit: table.Number, Value: func(s *spread) any { return s.text(s.P95, s.high) }},
	{Name: "spread", Value: func(s *spread) any { return s.box() }, Yields: 2},
}

// spreads returns a row for each figure and policy.
func spreads(runs []*simulate.Run) (rows []spread) {
	for _, f := range spreadFigures {
		low, high := f.of(runs[0].Spread).Min, 0.0
		for _, r := range runs {
			d := f.of(r.Spread)
			low, high = min(low, d.Min), max(high, d.P95)
		}
		for i, r := range runs {
			rows = append(rows, spread{f.of(r.Spread), phrase.If(i == 0, "%s", f.name), r.Policy, low, high, f.text})
		}
	}
	return rows
}

// boxWidth is the width of the drawing of a spread, in characters.
const boxWidth = 24

// box draws a distribution on its scale: a line from the least value to the one
// that 5 of 100 exceed, on it the two middle quarters, and the median.
func (s *spread) box() string {
	at := func(n float64) int {
		if s.high <= s.low {
			return 0
		}
		return int((min(n, s.high) - s.low) / (s.high - s.low) * (boxWidth - 1))
	}
	line := []rune(strings.Repeat(" ", boxWidth))
	draw := func(from, to float64, r rune) {
		for i := at(from); i <= at(to); i++ {
			line[i] = r
		}
	}
	draw(s.Min, s.P95, '─')
	draw(s.Q1, s.Q3, '▒')
	draw(s.Median, s.Median, '█')
	return strings.TrimRight(string(line), " ")
}

func writeSimulationsLines(w *bufio.Writer, s *simulate.Store) error {
	return writeWithTotal(w, slices.Values(s.Sessions), map[string]any{"total": s.Total, "acted": s.Acted,
		"differing": s.Differing})
}
