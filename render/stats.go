package render

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/markdown"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// WriteStatsText writes the tables of lenses, for people.
func WriteStatsText(w *bufio.Writer, sheets []stats.Sheet, width int) error {
	for k, s := range sheets {
		if k > 0 {
			w.WriteByte('\n')
		}
		if title := sheetTitle(s); title != "" {
			fmt.Fprintf(w, "%s\n", sessionfmt.Clean(title))
		}
		if s.Chart != nil {
			writeChart(w, s.Chart, width)
		}
		s = s.ForPeople()
		if columns, rows := sheetTable(s); len(rows) > 0 {
			if err := WriteTable(w, columns, rows, width); err != nil {
				return err
			}
		}
		for _, note := range s.Notes {
			fmt.Fprintf(w, "%s\n", sessionfmt.Clean(note))
		}
	}
	return nil
}

// sheetTitle is the line above a table.
func sheetTitle(s stats.Sheet) string {
	if s.Title == "" {
		return s.Lens
	}
	return s.Lens + ": " + s.Title
}

// sheetTable is a table for people.
func sheetTable(s stats.Sheet) (columns []Column, rows [][]string) {
	for _, c := range s.Columns {
		columns = append(columns, Column{Name: c.Name, Right: c.Unit != stats.Text, Flex: c.Flex})
	}
	for _, row := range s.Rows {
		cells := make([]string, len(columns))
		for i, c := range s.Columns {
			cells[i] = sheetCell(c.Unit, row[i])
		}
		rows = append(rows, cells)
	}
	return columns, rows
}

// sheetCell is a cell for people.
func sheetCell(unit stats.Unit, cell any) string {
	switch v := cell.(type) {
	case string:
		return sessionfmt.Clean(v)
	case stats.About:
		return "~" + number(int64(v))
	case stats.Line:
		return sparkline(v)
	case int64:
		return number(v)
	case float64:
		switch unit {
		case stats.Share:
			return percent(v)
		case stats.Dollars:
			if v == 0 {
				return "$0"
			}
			return fmt.Sprintf("$%.4f", v)
		case stats.Number:
			return fmt.Sprintf("%.3f", v)
		}
		return dollars(v)
	}
	return ""
}

// markdownNumber keeps the signs in front of numbers from being marks: code spans would
// do too, but not as a column of figures.
var markdownNumber = strings.NewReplacer("$", `\$`, "~", `\~`)

// WriteStatsMarkdown writes the tables of lenses as Markdown.
func WriteStatsMarkdown(w *bufio.Writer, sheets []stats.Sheet) {
	for k, s := range sheets {
		if k > 0 {
			w.WriteByte('\n')
		}
		fmt.Fprintf(w, "### %s\n", markdown.AppendInline(nil, []byte(sheetTitle(s))))
		if s.Chart != nil {
			w.WriteString("\n```text\n")
			writeChart(w, s.Chart, 0)
			w.WriteString("```\n")
		}
		s = s.ForPeople()
		if len(s.Rows) > 0 {
			columns, rows := sheetTable(s)
			for i, row := range rows {
				for k, cell := range row {
					if _, text := s.Rows[i][k].(string); text {
						row[k] = string(markdown.AppendInline(nil, []byte(cell)))
					} else {
						row[k] = markdownNumber.Replace(cell)
					}
				}
			}
			writeMarkdownTable(w, columns, rows)
		}
		for _, note := range s.Notes {
			fmt.Fprintf(w, "\n%s\n", markdown.AppendInline(nil, []byte(note)))
		}
	}
}

// WriteStatsCSV writes a table of a lens, numbers unrounded.
func WriteStatsCSV(w *bufio.Writer, s stats.Sheet) error {
	names, rows := make([]string, len(s.Columns)), make([][]any, len(s.Rows))
	for i, c := range s.Columns {
		names[i] = c.Name
	}
	for k, row := range s.Rows {
		rows[k] = slices.Clone(row)
		for i, cell := range row {
			if text, ok := cell.(string); ok {
				rows[k][i] = sessionfmt.Clean(text)
			}
		}
	}
	return writeCSV(w, names, rows)
}
