package stats

import (
	"cmp"
	"fmt"
	"slices"

	"ctxtool/internal/base/table"
	"ctxtool/internal/phrase"
)

// A Sheet is a table of a lens.
type Sheet struct {
	table.Table
	Lens  string
	Title string   // empty for the lens's first
	Few   int      // how many of the rows text shows, 0 for all
	Chart *Chart   // what text shows instead of the rows; other formats have the rows
	Total any      // a row below them in text; nil for none
	Notes []string // sentences below the table
}

// Shown returns the sheet with the rows that text shows.
func (s Sheet) Shown() Sheet {
	all := slices.Collect(s.Rows)
	shown := len(all)
	switch {
	case s.Chart != nil:
		shown = 0
	case s.Few > 0 && shown > s.Few:
		shown = s.Few
		s.Notes = append([]string{fmt.Sprintf("and %d more, which json has", len(all)-shown)}, s.Notes...)
	}
	if all = slices.Clip(all[:shown]); s.Total != nil {
		all = append(all, s.Total)
	}
	s.Rows = slices.Values(all)
	return s
}

// Gaps is a table of the sessions that a report does not count, or not to their ends.
func (r *Report) Gaps() Sheet {
	var gaps []ReportFile
	for _, f := range r.Files {
		if f.Error+f.Stopped != "" {
			gaps = append(gaps, f)
		}
	}
	s := Sheet{Lens: "files", Title: "not counted, or not to the end", Few: mostListed}
	s.Table = table.Of(gaps, []col[*ReportFile]{
		{Name: "session", Unit: table.Path, Value: func(f *ReportFile) any { return f.File }},
		{Name: "counted", Value: func(f *ReportFile) any {
			return cmp.Or(phrase.If(f.Error != "", "nothing"), "the beginning")
		}},
		{Name: "why", Value: func(f *ReportFile) any { return cmp.Or(f.Error, f.Stopped) }, Flex: true},
	})
	return s
}

// withRows returns the sheets that have rows, and the first.
func withRows(all []Sheet) []Sheet {
	return append(all[:1], slices.DeleteFunc(all[1:], func(s Sheet) bool { return s.Empty() })...)
}

// of is the sheet of several sessions, or of one: without the column of the file.
func (s Sheet) of(several bool) Sheet {
	if !several {
		s.Table = s.Without("session")
	}
	return s
}

// A col is a column of a table of rows of one type.
type col[T any] = table.Column[T]

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
