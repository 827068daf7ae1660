package render

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"ctxtool/internal/base/table"
	"ctxtool/internal/phrase"
)

// A column is a column of a table of any rows.
type column = table.Column[any]

// A col is a column of a table of rows of one type.
type col[T any] = table.Column[T]

// The smallest widths of the flexible column, in columns of the terminal: while others can
// yield, and after that.
const roomyFlex, minFlex = 28, 12

// measure measures the width of a text on a terminal, without its colour codes.
var measure = displaywidth.Options{ControlSequences: true}

// WriteTable writes a table without lines, nothing of one without rows. With a width, the flexible
// column is cut so that a row fits; nothing is wrapped. Rows are read as they are written: a first
// time to measure them. Errors of w are not returned, since a bufio.Writer keeps them.
func WriteTable(w io.Writer, t table.Table, on Screen) {
	columns, widths := measured(t)
	if columns == nil {
		return
	}
	shown := fitting(columns, widths, on.Width)
	head, between := layOut(columns, widths, shown)
	fmt.Fprintln(w, on.paint(faint, head))
	var line strings.Builder
	for row := range t.Rows {
		line.Reset()
		for k, i := range shown {
			c := columns[i]
			cell := textCell(c.Unit, c.Value(row))
			if c.Flex {
				cell = fit(cell, widths[i])
			}
			text := cell
			if c.Style != nil {
				text = on.paint(c.Style(cell), cell)
			}
			gap := strings.Repeat(" ", max(0, widths[i]-measure.String(cell)))
			if c.Unit.Right() {
				text, gap = gap, text
			}
			line.WriteString(between[k] + text + gap)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// measured returns the columns of a table, without spare ones in which no row has a value, and
// the widths of their cells; no columns of a table without rows.
func measured(t table.Table) (columns []column, widths []int) {
	widest, said, some := make([]int, len(t.Columns)), make([]bool, len(t.Columns)), false
	for row := range t.Rows {
		some = true
		for i, c := range t.Columns {
			cell := c.Value(row)
			said[i] = said[i] || !c.Spare || cell != nil
			widest[i] = max(widest[i], measure.String(textCell(c.Unit, cell)))
		}
	}
	for i, c := range t.Columns {
		if some && said[i] {
			columns, widths = append(columns, c), append(widths, max(widest[i], measure.String(c.Name)))
		}
	}
	return columns, widths
}

// fitting returns the columns that are shown, by index. Those that yield are dropped until the
// flexible one has room, which gets the width that the others leave of the terminal's.
func fitting(columns []column, widths []int, width int) (shown []int) {
	flex := -1
	for i, c := range columns {
		shown = append(shown, i)
		if c.Flex && width > 0 {
			flex = i
		}
	}
	for flex >= 0 {
		left, first := width, shown[0]
		for _, i := range shown {
			if i != flex {
				left -= widths[i] + 2
			}
			if columns[i].Yields > columns[first].Yields {
				first = i
			}
		}
		if left >= min(roomyFlex, widths[flex]) || columns[first].Yields == 0 {
			widths[flex] = min(widths[flex], max(minFlex, left))
			break
		}
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == first })
	}
	return shown
}

// standIn stands for a column of a cell in the layout.
const standIn = "\uE000"

// layOut returns the line of the names, and what is before each cell of a row, as the table
// library lays out a row of cells that have the columns' widths. Every row is that row with its
// cells in place: the library would measure some wrong, such as emoji of several code points, or
// text in colour.
func layOut(columns []column, widths, shown []int) (head string, between []string) {
	twwidth.SetEastAsian(false) // whatever the machine's language
	var aligns []tw.Align
	var names, cells []string
	for _, i := range shown {
		align := tw.AlignLeft
		if columns[i].Unit.Right() {
			align = tw.AlignRight
		}
		aligns = append(aligns, align)
		names, cells = append(names, columns[i].Name), append(cells, strings.Repeat(standIn, max(1, widths[i])))
	}
	none := tw.Rendition{
		Borders: tw.BorderNone,
		Settings: tw.Settings{
			Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off, ShowHeader: tw.Off},
			Lines:      tw.Lines{ShowHeaderLine: tw.Off},
		},
	}
	var text strings.Builder
	layout := tablewriter.NewTable(&text,
		tablewriter.WithRenderer(renderer.NewBlueprint(none)),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
		tablewriter.WithPadding(tw.Padding{Right: "  ", Overwrite: true}),
	)
	layout.Header(names)
	if err := errors.Join(layout.Append(cells), layout.Render()); err != nil {
		panic(err) // every text can be laid out
	}
	head, row, _ := strings.Cut(text.String(), "\n")
	for _, cell := range cells {
		before, after, _ := strings.Cut(row, cell)
		between, row = append(between, before), after
	}
	return strings.TrimRight(head, " "), between
}

// writeMarkdownTable writes a table as Markdown, after an empty line.
func writeMarkdownTable(w *bufio.Writer, t table.Table) {
	columns, _ := measured(t)
	if columns == nil {
		return
	}
	w.WriteString("\n|")
	for _, c := range columns {
		fmt.Fprintf(w, " %s |", c.Name)
	}
	w.WriteString("\n|")
	for _, c := range columns {
		w.WriteString(phrase.If(c.Unit.Right(), " ---: |") + phrase.If(!c.Unit.Right(), " --- |"))
	}
	for row := range t.Rows {
		w.WriteString("\n|")
		for _, c := range columns {
			fmt.Fprintf(w, " %s |", markdownCell(c.Unit, c.Value(row)))
		}
	}
	w.WriteByte('\n')
}

// writeCSV writes a table as a CSV file with the columns' names in its first line.
func writeCSV(w *bufio.Writer, t table.Table) error {
	out := csv.NewWriter(w)
	record := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		record[i] = csvCell(c.Name)
	}
	out.Write(record)
	for cells := range t.Cells {
		for i, cell := range cells {
			record[i] = csvCell(cell)
		}
		out.Write(record)
	}
	out.Flush()
	return out.Error()
}

// fit cuts a text to a width in columns of a terminal, with an ellipsis in the last; a width
// of 0 or less cuts nothing.
func fit(s string, width int) string {
	if width <= 0 || measure.String(s) <= width {
		return s
	}
	return measure.TruncateString(s, width, "…")
}

// lineWidth returns the number of columns of a line on a terminal of that width; 0 means no
// terminal, for which it returns 160.
func lineWidth(width int) int { return cmp.Or(width, 160) }

// put writes a line, cut to the width of a terminal.
func put(w *bufio.Writer, line string, on Screen) {
	w.WriteString(fit(line, lineWidth(on.Width)))
	w.WriteByte('\n')
}
