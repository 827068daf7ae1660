package stats

import (
	"fmt"
	"slices"
	"strings"
)

// A Sheet is a table of a lens: what is printed as text, Markdown or CSV.
type Sheet struct {
	Lens    string
	Title   string // empty for the lens's first
	Columns []sheetColumn
	// Rows have a cell per column: a string, an int64, a float64, an About, an AboutDollars, a []int64 of sizes
	// that text shows as a sparkline, or nil for none.
	Rows  [][]any
	Few   int      // how many of the rows text shows, 0 for all
	Chart *Chart   // what text shows instead of the rows; other formats have the rows
	Total []any    // a row below them in text; nil for none
	Notes []string // sentences below the table
}

// Shown returns the sheet with the rows that text shows.
func (s Sheet) Shown() Sheet {
	shown := len(s.Rows)
	switch {
	case s.Chart != nil:
		shown = 0
	case s.Few > 0 && shown > s.Few:
		shown = s.Few
		s.Notes = append([]string{fmt.Sprintf("and %d more, which json has", len(s.Rows)-shown)}, s.Notes...)
	}
	s.Rows = slices.Clip(s.Rows[:shown])
	if s.Total != nil {
		s.Rows = append(s.Rows, s.Total)
	}
	return s.spared()
}

// spared is the table without spare columns that say nothing.
func (s Sheet) spared() Sheet {
	some := s
	some.Columns, some.Rows = nil, make([][]any, len(s.Rows))
	for i, c := range s.Columns {
		if c.Spare && !slices.ContainsFunc(s.Rows, func(row []any) bool { return row[i] != nil }) {
			continue
		}
		some.Columns = append(some.Columns, c)
		for k, row := range s.Rows {
			some.Rows[k] = append(some.Rows[k], row[i])
		}
	}
	return some
}

// Gaps is a table of the sessions that a report does not count, or not to their ends.
func (r *Report) Gaps() Sheet {
	s := Sheet{Lens: "files", Title: "not counted, or not to the end", Few: mostListed,
		Columns: columns("session", "counted", "why*")}
	for _, f := range r.Files {
		switch {
		case f.Error != "":
			s.row(f.File, "nothing", f.Error)
		case f.Stopped != "":
			s.row(f.File, "the beginning", f.Stopped)
		}
	}
	return s
}

// row adds a row. An int is a cell as an int64 is, and a share that may be missing one
// where there is one.
func (s *Sheet) row(cells ...any) {
	for i, cell := range cells {
		switch n := cell.(type) {
		case int:
			cells[i] = int64(n)
		case *float64:
			if cells[i] = nil; n != nil {
				cells[i] = *n
			}
		}
	}
	s.Rows = append(s.Rows, cells)
}

// of is the sheet of several sessions, or of one: without its first column, that of the
// file.
func (s Sheet) of(several bool) Sheet {
	if !several {
		s.Columns = s.Columns[1:]
		for i := range s.Rows {
			s.Rows[i] = s.Rows[i][1:]
		}
	}
	return s
}

// unless0 is a number's cell, empty for 0.
func unless0[N int | int64 | float64 | About](n N) any {
	if n == 0 {
		return nil
	}
	return n
}

// A Chart is a size that changes along a path.
type Chart struct {
	Bars  []Bar
	Limit int64 // a limit for bars, 0 if unknown
}

// A Bar is one of a chart's sizes. Mark is a letter below it, 0 for none.
type Bar struct {
	Size int64
	Mark byte
}

// A sheetColumn is a column of a sheet.
type sheetColumn struct {
	Name string
	Unit Unit
	Flex bool // its texts are truncated in a narrow terminal

	Spare bool // left out of text if no row has a value
}

// columns are columns by their names, with their units after a colon where they have no
// texts; a * is for Flex, a ? for Spare.
func columns(all ...string) (columns []sheetColumn) {
	for _, text := range all {
		name, unit, _ := strings.Cut(strings.TrimRight(text, "*?"), ":")
		columns = append(columns, sheetColumn{
			Name: name, Unit: Unit(max(0, slices.Index(unitNames, unit))), Flex: strings.HasSuffix(text, "*"), Spare: strings.HasSuffix(text, "?"),
		})
	}
	return columns
}

// A Unit says what a column's numbers are.
type Unit uint8

const (
	Text   Unit = iota
	Number      // of things
	Tokens      // of the counter, or the provider's
	Bytes
	Dollars
	Share // 0 to 1
)

// An About is a number that is an estimate.
type About int64

// AboutDollars are US dollars that are an estimate.
type AboutDollars float64

var unitNames = []string{"text", "number", "tokens", "bytes", "dollars", "share"}

// String is the unit's name.
func (u Unit) String() string { return unitNames[u] }
