package render

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
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
	return writeTable(w, columns, slices.Values(rows), on)
}

// writeTable is WriteTable for rows that are made as they are written. It reads them twice:
// to measure them, and to write them.
func writeTable(w io.Writer, columns []Column, rows iter.Seq[[]string], on Screen) error {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = measure.String(c.Name)
	}
	for row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], measure.String(cell))
		}
	}
	shown := fitting(columns, widths, on.Width)
	head, between, err := layOut(columns, widths, shown)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, on.paint(faint, head))
	var line strings.Builder
	for row := range rows {
		line.Reset()
		for k, i := range shown {
			line.WriteString(between[k])
			cell := row[i]
			if columns[i].Flex {
				cell = fit(cell, widths[i])
			}
			text := cell
			if style := columns[i].style; style != nil {
				text = on.paint(style(cell), cell)
			}
			gap := strings.Repeat(" ", max(0, widths[i]-measure.String(cell)))
			if columns[i].Right {
				text, gap = gap, text
			}
			line.WriteString(text)
			line.WriteString(gap)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
	return nil
}

// fitting returns the columns that are shown, by index. Those that yield are dropped until the
// flexible one has room, which gets the width that the others leave of the terminal's.
func fitting(columns []Column, widths []int, width int) (shown []int) {
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
func layOut(columns []Column, widths, shown []int) (head string, between []string, err error) {
	twwidth.SetEastAsian(false) // whatever the machine's language
	var aligns []tw.Align
	var names, cells []string
	for _, i := range shown {
		align := tw.AlignLeft
		if columns[i].Right {
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
	if err := errors.Join(table.Append(cells), table.Render()); err != nil {
		return "", nil, err
	}
	head, row, _ := strings.Cut(text.String(), "\n")
	for _, cell := range cells {
		before, after, _ := strings.Cut(row, cell)
		between, row = append(between, before), after
	}
	return strings.TrimRight(head, " "), between, nil
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
