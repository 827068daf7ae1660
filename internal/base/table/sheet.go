package table

import (
	"fmt"
	"slices"
)

// A Sheet is a table with what is written around it, of which text and Markdown are written.
type Sheet struct {
	Table
	Lens  string   // of statistics, which begins the title
	Title string   // may be empty
	Above []string // sentences above the table
	Few   int      // how many of the rows text shows, 0 for all
	Chart *Chart   // what text shows instead of the rows; other formats have the rows
	Total any      // a row below them in text; nil for none
	Notes []string // sentences below the table
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

// Shown returns the sheet with the rows that text shows.
func (s Sheet) Shown() Sheet {
	if s.Chart == nil && s.Few == 0 && s.Total == nil {
		return s
	}
	all := slices.Collect(s.Rows)
	shown := len(all)
	switch {
	case s.Chart != nil:
		shown = 0
	case s.Few > 0 && shown > s.Few:
		shown = s.Few
		s.Notes = append([]string{fmt.Sprintf("and %d more, which json has", len(all)-shown)}, s.Notes...)
	}
	all = slices.Clip(all[:shown])
	if s.Total != nil {
		all = append(all, s.Total)
	}
	s.Rows = slices.Values(all)
	return s
}

// Of returns the sheet, of several sessions or of one: without the column of the file.
func (s Sheet) Of(several bool) Sheet {
	if !several {
		s.Table = s.Without("session")
	}
	return s
}
