package show

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"ctxtool/internal/read/phrase"
	"ctxtool/stats/table"
)

// A column is a column of a table of any rows.
type column = table.Column[any]

// A col is a column of a table of rows of one type.
type col[T any] = table.Column[T]

// The smallest widths of texts that are cut: of flexible ones while other columns can yield, and
// after that of all.
const roomyFlex, minFlex = 28, 14

// measure measures the width of a text on a terminal, without its colour codes.
var measure = displaywidth.Options{ControlSequences: true}

// WriteTable writes a table without lines, nothing of one without rows. On a terminal numbers are
// rounded, and a row is never wrapped: texts are cut, and columns left out. Rows are read as they
// are written: a first time to measure them. Errors of w are not returned, since a bufio.Writer
// keeps them.
func WriteTable(w io.Writer, t table.Table, on Screen) { writeTable(w, "", t, on) }

// writeTable writes a table after a text, and without rows neither.
func writeTable(w io.Writer, before string, t table.Table, on Screen) {
	columns, widths := measured(t, on)
	if columns == nil {
		return
	}
	io.WriteString(w, before)
	columns, widths = fitting(columns, widths, on.Width)
	var key strings.Builder
	for i, c := range columns {
		fmt.Fprintln(&key, c.Name, c.Unit.Right(), widths[i])
	}
	head, ok := heads.Load(key.String())
	if !ok {
		head = layOut(columns, widths)
		heads.Store(key.String(), head)
	}
	fmt.Fprintln(w, on.paint(faint, head.(string)))
	var line strings.Builder
	for row := range t.Rows {
		line.Reset()
		for i, c := range columns {
			cell := fitCell(c.Unit, on.cell(c.Unit, c.Value(row)), widths[i])
			text := cell
			if c.Style != nil {
				text = on.paint(c.Style(cell), cell)
			}
			gap := strings.Repeat(" ", max(0, widths[i]-measure.String(cell)))
			if c.Unit.Right() {
				text, gap = gap, text
			}
			line.WriteString(text + gap + columnGap)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// measured returns the columns of a table in which some row has a value, and the widths of their
// cells.
func measured(t table.Table, on Screen) (columns []column, widths []int) {
	if t.Rows == nil {
		return nil, nil
	}
	widest := make([]int, len(t.Columns))
	for row := range t.Rows {
		for i, c := range t.Columns {
			widest[i] = max(widest[i], measure.String(on.cell(c.Unit, c.Value(row))))
		}
	}
	for i, c := range t.Columns {
		if widest[i] > 0 {
			columns, widths = append(columns, c), append(widths, max(widest[i], measure.String(c.Name)))
		}
	}
	return columns, widths
}

// fitting returns the columns whose rows fit a width, and the widths of these; all if the width is
// 0. Columns that yield are left out first. If that is not enough, all texts are cut, and then columns
// are left out from the right, references last, unless they take most of the width.
func fitting(columns []column, widths []int, width int) ([]column, []int) {
	for width > 0 {
		last := len(columns) - 1
		if last > 0 && columns[last].Unit == table.Ref && widths[last] <= width/2 {
			last--
		}
		for i, c := range columns {
			if c.Yields > columns[last].Yields {
				last = i
			}
		}
		yields := columns[last].Yields > 0
		if narrow, fits := narrowed(columns, widths, width, yields); fits || len(columns) == 1 {
			return columns, narrow
		}
		columns, widths = slices.Delete(columns, last, last+1), slices.Delete(widths, last, last+1)
	}
	return columns, widths
}

// narrowed returns widths at which rows fit, if there are: the widest text gives way first. While
// columns can yield, only flexible ones do.
func narrowed(columns []column, widths []int, width int, yields bool) (narrow []int, fits bool) {
	least := minFlex
	if yields {
		least = roomyFlex
	} else if len(columns) == 1 {
		least = 1
	}
	narrow = slices.Clone(widths)
	over := 2*(len(columns)-1) - width
	for _, n := range widths {
		over += n
	}
	for ; over > 0; over-- {
		widest := -1
		for i, c := range columns {
			cuts := c.Flex || !yields && c.Unit <= table.Path
			if cuts && narrow[i] > least && (widest < 0 || narrow[i] > narrow[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return narrow, false
		}
		narrow[widest]--
	}
	return narrow, true
}

// columnGap is what stands between columns.
const columnGap = "  "

// heads are the lines of names so far, by the names, sides and widths of columns: the tables of a report may be many,
// and alike.
var heads sync.Map

// layOut returns the line of the names, as the table library lays it out above a row of cells that have the columns'
// widths. Cells are put below it here: the library would measure some wrong, such as emoji of several code points, or
// text in colour.
func layOut(columns []column, widths []int) string {
	twwidth.SetEastAsian(false) // whatever the machine's language
	var aligns []tw.Align
	var names, cells []string
	for i, c := range columns {
		align := tw.AlignLeft
		if c.Unit.Right() {
			align = tw.AlignRight
		}
		aligns = append(aligns, align)
		names, cells = append(names, fit(c.Name, widths[i])), append(cells, strings.Repeat("x", max(1, widths[i])))
	}
	none := tw.Rendition{
		Borders: tw.BorderNone,
		Settings: tw.Settings{
			Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off, ShowHeader: tw.Off},
			Lines:      tw.Lines{ShowHeaderLine: tw.Off},
		},
	}
	var text strings.Builder
	grid := tablewriter.NewTable(&text,
		tablewriter.WithRenderer(renderer.NewBlueprint(none)),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
		tablewriter.WithPadding(tw.Padding{Right: columnGap, Overwrite: true}),
	)
	grid.Header(names)
	if err := errors.Join(grid.Append(cells), grid.Render()); err != nil {
		panic(err) // every text can be laid out
	}
	head, _, _ := strings.Cut(text.String(), "\n")
	return strings.TrimRight(head, " ")
}

// writeMarkdownTable writes a table as Markdown, after an empty line.
func writeMarkdownTable(w *bufio.Writer, t table.Table) {
	columns, _ := measured(t, Screen{})
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

// fitCell cuts a cell to the width of its column: the path of a session at its beginning, other texts
// at their end. Ids and figures are never cut.
func fitCell(unit table.Unit, cell string, width int) string {
	if measure.String(cell) <= width || unit > table.Path {
		return cell
	}
	if unit == table.Text {
		return fit(cell, width)
	}
	for measure.String(cell) >= width && cell != "" {
		_, n := utf8.DecodeRuneInString(cell)
		cell = cell[n:]
	}
	return "…" + cell
}

// lineWidth returns the number of columns of a line on a terminal of that width; 0 means no
// terminal, for which it returns 160.
func lineWidth(width int) int { return cmp.Or(width, 160) }

// put writes a line, cut to the width of a terminal.
func put(w *bufio.Writer, line string, on Screen) {
	w.WriteString(fit(line, lineWidth(on.Width)))
	w.WriteByte('\n')
}
