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
// the flexible column is cut so that a row fits; nothing is wrapped.
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
	table := tablewriter.NewTable(&lines{w: w, on: on, kept: kept},
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
	return table.Render()
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

// widest returns the width of a column.
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
		shown[i] = append([]string(nil), row...)
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

// lines writes a table line by line, with texts instead of their stand-ins and without blanks
// at the end.
type lines struct {
	w    io.Writer
	on   Screen
	kept [][]string
	n    int // lines written, the columns' names being the first
	line []byte
}

func (l *lines) Write(p []byte) (int, error) {
	for _, c := range p {
		l.line = append(l.line, c)
		if c != '\n' {
			continue
		}
		text := strings.TrimRight(string(l.line), " \n")
		if l.n == 0 {
			text = l.on.paint(faint, text)
		} else if l.n <= len(l.kept) {
			for _, cell := range l.kept[l.n-1] {
				text = strings.Replace(text, strings.Repeat(standIn, measure.String(cell)), cell, 1)
			}
		}
		if _, err := io.WriteString(l.w, strings.TrimRight(text, " ")+"\n"); err != nil {
			return 0, err
		}
		l.line, l.n = l.line[:0], l.n+1
	}
	return len(p), nil
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
