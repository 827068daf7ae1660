// Package table defines the one shape of tables: rows of a type, and columns that state what they show of a
// row. Package render writes them as text, Markdown and CSV.
//
// On a terminal, numbers are rounded by their unit, and a row is never wrapped: flexible texts are cut, columns
// are removed in their stated order (Yields), then all texts are cut, and then columns are removed from the
// right. A pipe gets all columns and unrounded numbers, since scripts read it. A column without values is left
// out of text and Markdown.
package table

import (
	"fmt"
	"iter"
	"slices"
)

// A Unit is the kind of a column's cells, which determines how text shows them. All but texts are aligned
// right.
type Unit uint8

const (
	Text    Unit = iota
	Path         // a name whose end is most telling; a terminal shows a session's file as project and short id
	Ref          // a session as a command takes it, which is never cut
	Entry        // the id of an entry, which text shortens
	Number       // a number of things
	Tokens       // tokens, of the counter or the provider: on a terminal 177.7k
	Bytes        // bytes: on a terminal 1.2 MB
	Dollars      // US dollars: on a terminal $12.45
	Share        // a share from 0 to 1
	Short        // a number that text rounds: 1.3k
	Size         // bytes that text rounds: 1.2 MB
	Change       // a number with its sign, nothing for 0
)

var unitNames = []string{"text", "text", "text", "entry", "number", "tokens", "bytes", "dollars", "share", "number",
	"bytes", "number"}

// String returns the unit's name.
func (u Unit) String() string { return unitNames[u] }

// Right reports whether cells are on the right.
func (u Unit) Right() bool { return u > Entry }

// A Column is a column of a table whose rows are of type T.
type Column[T any] struct {
	Name string
	Unit Unit
	// Value returns the cell of a row: a string or [Best], a number, a [Money], an [About] of these,
	// sizes as []int64 that text shows as a sparkline, or nil for none. A nil pointer is none too.
	Value  func(row T) any
	Flex   bool                     // cut first to make rows fit the terminal
	Yields int                      // if above 0: dropped if flexible columns have little room, the highest first
	Style  func(cell string) string // terminal code of a cell; nil for plain text
}

// A Table is rows of any type, and their columns. Its zero value is empty.
type Table struct {
	Columns []Column[any]
	Rows    iter.Seq[any] // made as they are read, and read twice by text; nil for none
}

// Of returns the table of a list.
func Of[T any](list []T, columns []Column[*T]) Table {
	return Table{Columns: ofAny(columns), Rows: func(yield func(any) bool) {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}}
}

// Stream returns the table of rows that are made while they are read.
func Stream[T any](rows iter.Seq[T], columns []Column[T]) Table {
	return Table{Columns: ofAny(columns), Rows: func(yield func(any) bool) {
		for row := range rows {
			if !yield(row) {
				return
			}
		}
	}}
}

// ofAny returns columns of rows of any type, which are all of one.
func ofAny[T any](columns []Column[T]) (all []Column[any]) {
	for _, c := range columns {
		all = append(all, Column[any]{
			c.Name, c.Unit, func(row any) any { return c.Value(row.(T)) }, c.Flex, c.Yields, c.Style,
		})
	}
	return all
}

// Within returns columns for a part of rows; none is the cell of a row without such a part.
func Within[T, P any](part func(row T) *P, none any, columns ...Column[*P]) (all []Column[T]) {
	for _, c := range columns {
		all = append(all, Column[T]{c.Name, c.Unit, func(row T) any {
			if p := part(row); p != nil {
				return c.Value(p)
			}
			return none
		}, c.Flex, c.Yields, c.Style})
	}
	return all
}

// Cells yields the cells of each row.
func (t Table) Cells(yield func([]any) bool) {
	if t.Rows == nil {
		return
	}
	cells := make([]any, len(t.Columns))
	for row := range t.Rows {
		for i, c := range t.Columns {
			cells[i] = c.Value(row)
		}
		if !yield(cells) {
			return
		}
	}
}

// Empty reports whether there are no rows.
func (t Table) Empty() bool {
	for range t.Cells {
		return false
	}
	return true
}

// Without returns the table without a column.
func (t Table) Without(name string) Table {
	t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c Column[any]) bool { return c.Name == name })
	return t
}

// An About is an estimated number, which text marks.
type About struct{ Of any }

// Money is an amount in US dollars.
type Money struct {
	Dollars  float64
	Decimals int   // amount in dollars
	Unpriced int64 // number of things in it without a known price: the amount is a lower bound, or unknown
}

// Known reports whether anything in an amount has a known price.
func (m Money) Known() bool { return m.Dollars > 0 || m.Unpriced == 0 }

// String returns the amount, a lower bound with a plus sign.
func (m Money) String() string {
	switch {
	case !m.Known():
		return "unknown"
	case m.Unpriced > 0:
		return fmt.Sprintf("$%.*f+", m.Decimals, m.Dollars)
	}
	return fmt.Sprintf("$%.*f", m.Decimals, m.Dollars)
}

// Best is a text that stands out among others: it has a star, and is bold in Markdown.
type Best string

// Marked returns a cell, marked if it is an estimate.
func Marked(estimate bool, cell any) any {
	if estimate {
		return About{cell}
	}
	return cell
}

// Unless0 returns a cell, nil for 0.
func Unless0[N int | int64 | float64](n N) any {
	if n == 0 {
		return nil
	}
	return n
}

// If returns a cell if the condition holds, else nil.
func If(is bool, cell any) any {
	if !is {
		return nil
	}
	return cell
}

// A Sheet is a table with the text around it, as text and Markdown show it.
type Sheet struct {
	Table
	Lens  string   // name of the lens, with which the title begins
	Title string   // may be empty
	Above []string // sentences above the table
	Few   int      // number of rows that text shows, 0 for all
	Chart *Chart   // shown by text instead of the rows; other formats have the rows
	Total any      // row below the others in text; nil for none
	Notes []string // sentences below the table
}

// A Chart is the course of a size along a path.
type Chart struct {
	Bars  []Bar
	Limit int64 // a limit for bars, 0 if unknown
}

// A Bar is one size in a chart. Mark is a letter below it, 0 for none.
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
