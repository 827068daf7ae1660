package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// A Column is a column of a table.
type Column struct {
	Name  string
	Right bool // align numbers to the right
	Flex  bool // cut so that rows fit the terminal

	// Yields is above 0 for a column that is dropped if the flexible one has little room, the
	// highest first.
	Yields int

	style func(cell string) style // nil for plain text
}

// The smallest widths of the flexible column, in columns of the terminal: while others can
// yield, and after that.
const roomyFlex, minFlex = 28, 12

// measure measures the width of a text on a terminal, without its colour codes.
var measure = displaywidth.Options{ControlSequences: true}

// WriteTable writes rows under the columns' names, without lines. With a width,
// the flexible column is cut so that a row fits; nothing is wrapped. Errors of w are not
// returned, since a bufio.Writer keeps them.
func WriteTable(w io.Writer, columns []Column, rows [][]string, on Screen) error {
	twwidth.SetEastAsian(false) // whatever the machine's language
	columns, rows = dropColumns(columns, rows, on.Width)
	fitFlex(columns, rows, on.Width)
	rows, kept := standIns(columns, rows, on)
	aligns := make([]tw.Align, len(columns))
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i], aligns[i] = c.Name, tw.AlignLeft
		if c.Right {
			aligns[i] = tw.AlignRight
		}
	}
	none := tw.Rendition{
		Borders: tw.BorderNone,
		Settings: tw.Settings{
			Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off, ShowHeader: tw.Off},
			Lines:      tw.Lines{ShowHeaderLine: tw.Off},
		},
	}
	var text strings.Builder
	table := tablewriter.NewTable(&text,
		tablewriter.WithRenderer(renderer.NewBlueprint(none)),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
		tablewriter.WithPadding(tw.Padding{Right: "  ", Overwrite: true}),
	)
	table.Header(names)
	if err := table.Bulk(rows); err != nil {
		return err
	}
	if err := table.Render(); err != nil {
		return err
	}
	head, body, _ := strings.Cut(text.String(), "\n")
	fmt.Fprintln(w, on.paint(faint, strings.TrimRight(head, " ")))
	for line := range strings.Lines(body) {
		if len(kept) > 0 {
			for _, cell := range kept[0] {
				line = strings.Replace(line, strings.Repeat(standIn, measure.String(cell)), cell, 1)
			}
			kept = kept[1:]
		}
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
	return nil
}

// dropColumns drops columns that yield until the flexible one has room.
func dropColumns(columns []Column, rows [][]string, width int) ([]Column, [][]string) {
	for {
		flex, left := room(columns, rows, width)
		if flex < 0 {
			return columns, rows
		}
		first := 0
		for i, c := range columns {
			if c.Yields > columns[first].Yields {
				first = i
			}
		}
		if left >= min(roomyFlex, widest(columns, rows, flex)) || columns[first].Yields == 0 {
			return columns, rows
		}
		columns = slices.Delete(slices.Clone(columns), first, first+1)
		rows = slices.Clone(rows)
		for i, row := range rows {
			rows[i] = slices.Delete(slices.Clone(row), first, first+1)
		}
	}
}

// fitFlex cuts the flexible column's cells to what the others leave of the width.
func fitFlex(columns []Column, rows [][]string, width int) {
	flex, left := room(columns, rows, width)
	if flex < 0 {
		return
	}
	for _, row := range rows {
		row[flex] = fit(row[flex], max(minFlex, left))
	}
}

// room returns the flexible column, and the width that the others leave to it; -1 if nothing
// is cut.
func room(columns []Column, rows [][]string, width int) (flex, left int) {
	flex, left = slices.IndexFunc(columns, func(c Column) bool { return c.Flex }), width
	if width <= 0 || flex < 0 {
		return -1, 0
	}
	for i := range columns {
		if i != flex {
			left -= widest(columns, rows, i) + 2
		}
	}
	return flex, left
}

func widest(columns []Column, rows [][]string, i int) int {
	n := measure.String(columns[i].Name)
	for _, row := range rows {
		n = max(n, measure.String(row[i]))
	}
	return n
}

// standIn replaces each column of a text whose width the table library measures wrong, such
// as emoji of several code points, or text in colour.
const standIn = "\uE000"

// standIns returns the rows with such texts replaced by stand-ins of their width, and the
// texts by row, in order.
func standIns(columns []Column, rows [][]string, on Screen) (shown [][]string, kept [][]string) {
	shown, kept = make([][]string, len(rows)), make([][]string, len(rows))
	for i, row := range rows {
		shown[i] = slices.Clone(row)
		for k, cell := range row {
			text := cell
			if style := columns[k].style; style != nil {
				text = on.paint(style(cell), cell)
			}
			if w := measure.String(cell); w != twwidth.Width(cell) || text != cell || strings.Contains(cell, standIn) {
				shown[i][k] = strings.Repeat(standIn, w)
				kept[i] = append(kept[i], text)
			}
		}
	}
	return shown, kept
}

// writeMarkdownTable writes a table as Markdown; its cells are Markdown already.
func writeMarkdownTable(w *bufio.Writer, columns []Column, rows [][]string) {
	w.WriteString("\n|")
	for _, c := range columns {
		fmt.Fprintf(w, " %s |", c.Name)
	}
	w.WriteString("\n|")
	for _, c := range columns {
		if c.Right {
			w.WriteString(" ---: |")
		} else {
			w.WriteString(" --- |")
		}
	}
	for _, row := range rows {
		fmt.Fprintf(w, "\n| %s |", strings.Join(row, " | "))
	}
	w.WriteByte('\n')
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
