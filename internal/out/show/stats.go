package show

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/lens/gate"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
	"ctxtool/stats/table"
)

// Stats are a report with the tables of its lenses, and the results of a gate, nil for none.
type Stats struct {
	Report *stats.Report
	Sheets []table.Sheet
	Gate   *gate.Report
	Lenses []string // that were asked for; others are computed for the gate
	Gaps   bool     // text has the gaps in figures as a table
}

func writeStatsJSON(w *bufio.Writer, s Stats) error { return WriteJSON(w, s.Report) }

// table returns the table of the lens that was asked for.
func (s Stats) table() (t table.Table) {
	for _, sheet := range s.Sheets {
		if sheet.Lens == s.Lenses[0] {
			return sheet.Table
		}
	}
	return t
}

// shown returns the sheets without the gate. How sure the figures of a session are stands
// above them.
func (s Stats) shown() (all []table.Sheet) {
	var sure []string
	if f := s.Report.Files; len(f) == 1 && f[0].Certainty != nil {
		sure = append(sure, f[0].Reading.String())
	}
	if f := s.Report.Files; len(f) == 1 && f[0].Stopped != "" {
		sure = append(sure, f[0].Stopped+": the figures cover what precedes it")
	}
	if sure != nil {
		all = append(all, table.Sheet{Above: sure})
	}
	all = append(all, s.Sheets...)
	if s.Gaps {
		if gaps := s.Report.Gaps(); !gaps.Empty() {
			all = append(all, gaps)
		}
	}
	return all
}

// sheets returns the sheets of text and Markdown, the verdict of the gate first.
func (s Stats) sheets() []table.Sheet { return slices.Concat(gateSheets(s.Gate), s.shown()) }

// writeSheets writes sheets as text.
func writeSheets(w *bufio.Writer, sheets []table.Sheet, on Screen) {
	for k, s := range sheets {
		if k > 0 {
			w.WriteByte('\n')
		}
		if title := sheetTitle(s); title != "" {
			fmt.Fprintf(w, "%s\n", on.paint(heading, sessionfmt.Clean(title)))
		}
		for _, line := range s.Above {
			fmt.Fprintf(w, "%s\n", sessionfmt.Clean(line))
		}
		if s.Chart != nil {
			writeChart(w, s.Chart, on)
		}
		as := style("") // of notes
		if s.Lens != "" {
			as, s.Table = faint, styled(s.Table)
		}
		s = s.Shown()
		writeTable(w, phrase.If(len(s.Above) > 0, "\n"), s.Table, on)
		for _, note := range s.Notes {
			fmt.Fprintf(w, "%s\n", on.paint(as, sessionfmt.Clean(note)))
		}
	}
}

// sheetTitle returns the line above a table.
func sheetTitle(s table.Sheet) string {
	return s.Lens + phrase.If(s.Lens != "" && s.Title != "", ": ") + s.Title
}

// styled returns a table with the styles of its columns.
func styled(t table.Table) table.Table {
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		t.Columns[i].Style = sheetStyle(t.Columns[i])
	}
	return t
}

// sheetStyle returns the style of a column: words by their meaning, counts of failures and
// warnings by their column, and shares over 100% as failures.
func sheetStyle(c column) func(cell string) style {
	switch c.Unit {
	case table.Text, table.Path, table.Ref, table.Entry:
		return wordStyle
	case table.Share:
		return func(cell string) style {
			if n, err := strconv.ParseFloat(strings.TrimSuffix(cell, "%"), 64); err == nil && n > 100 {
				return failure
			}
			return ""
		}
	}
	if as := wordStyle(c.Name); as == failure || as == warning {
		return always(as)
	}
	return nil
}

// writeSheetsMarkdown writes sheets for a review.
func writeSheetsMarkdown(w *bufio.Writer, sheets []table.Sheet) {
	list := func(sentences []string) {
		for i, one := range sentences {
			fmt.Fprintf(w, "%s- %s\n", phrase.If(i == 0, "\n"), inline(one))
		}
	}
	for k, s := range sheets {
		if k > 0 {
			w.WriteByte('\n')
		}
		if title := sheetTitle(s); title != "" {
			fmt.Fprintf(w, "### %s\n", inline(title))
		}
		list(s.Above)
		if s.Chart != nil {
			w.WriteString("\n```text\n")
			writeChart(w, s.Chart, Screen{})
			w.WriteString("```\n")
		}
		s = s.Shown()
		writeMarkdownTable(w, s.Table)
		list(s.Notes)
	}
}

// The size of a chart.
const (
	chartLines  = 8  // lines of bars
	chartMargin = 7  // columns left of the bars
	chartWidth  = 80 // columns if the width is unknown
	widestBar   = 4  // columns of a bar at most
)

// blocks fill a cell by eighths.
var blocks = []rune(" ▁▂▃▄▅▆▇█")

// writeChart draws a chart as bars, one for each size, or for the largest of several if there
// are too many for the width. Without a width it uses chartWidth, so that output into a pipe
// is the same everywhere.
func writeChart(w *bufio.Writer, c *table.Chart, on Screen) {
	width := on.Width
	if width <= 0 {
		width = chartWidth
	}
	bars := chartBars(c.Bars, max(10, width-chartMargin-1))
	top := chartTop(c)
	line := func(label, axis, text string) {
		fmt.Fprintf(w, "%s\n", strings.TrimRight(fmt.Sprintf("%*s %s%s", chartMargin-2, label, axis, text), " "))
	}
	if top == c.Limit {
		line(phrase.Short(top), "┬", strings.Repeat("┄", min(len(bars), max(10, width-chartMargin-len(" window"))))+
			" window")
	}
	for k := chartLines; k > 0; k-- {
		label, axis := "", "│"
		if k%2 == 0 && (k < chartLines || top != c.Limit) {
			label, axis = phrase.Short(top*int64(k)/chartLines), "┤"
		}
		text := make([]rune, len(bars))
		for i, b := range bars {
			text[i] = blocks[min(8, max(0, eighths(b.Size, top, 8*chartLines)-8*(k-1)))]
		}
		line(label, axis, overLimit(c, bars, text, on))
	}
	line("0", "┴", strings.Repeat("─", len(bars)))
	marks := make([]byte, len(bars))
	for i, b := range bars {
		marks[i] = max(' ', b.Mark)
	}
	if marked := string(marks); strings.TrimSpace(marked) != "" {
		line("", " ", marked)
	}
	last := fmt.Sprint(len(c.Bars) - 1)
	line("", " ", "0"+strings.Repeat(" ", max(1, len(bars)-1-len(last)))+last)
}

// overLimit returns a line of bars in which those over the limit stand out.
func overLimit(c *table.Chart, bars []table.Bar, text []rune, on Screen) string {
	over := func(i int) bool { return c.Limit > 0 && bars[i].Size > c.Limit }
	var out strings.Builder
	for i := 0; i < len(bars); {
		end := i + 1
		for end < len(bars) && over(end) == over(i) {
			end++
		}
		if piece := string(text[i:end]); over(i) && strings.TrimSpace(piece) != "" {
			out.WriteString(on.paint(failure, piece))
		} else {
			out.WriteString(piece)
		}
		i = end
	}
	return out.String()
}

// eighths returns how many of all eighths of a column a size fills: 0 only for size 0.
func eighths(size, top int64, all int) int {
	if size <= 0 || top <= 0 {
		return 0
	}
	return max(1, int(float64(size)/float64(top)*float64(all)+0.5))
}

// chartTop returns the size at the top: the limit if the bars come near it, else the next
// round number.
func chartTop(c *table.Chart) int64 {
	peak := int64(1)
	for _, b := range c.Bars {
		peak = max(peak, b.Size)
	}
	if peak <= c.Limit && peak >= c.Limit/2 {
		return c.Limit
	}
	for unit := int64(8); ; unit *= 10 {
		for _, n := range []int64{1, 2, 3, 4, 5, 6, 8} {
			if n*unit >= peak {
				return n * unit
			}
		}
	}
}

// chartBars returns a bar for each column. If there is room a bar has several columns; if
// not, a column has the largest of several bars, and their most important mark.
func chartBars(bars []table.Bar, columns int) []table.Bar {
	if wide := min(widestBar, columns/max(1, len(bars))); wide > 0 {
		var out []table.Bar
		for _, b := range bars {
			out = append(out, b)
			for range wide - 1 {
				out = append(out, table.Bar{Size: b.Size})
			}
		}
		return out
	}
	out := make([]table.Bar, columns)
	for i, b := range bars {
		o := &out[i*columns/len(bars)]
		o.Size = max(o.Size, b.Size)
		if strings.IndexByte(markOrder, b.Mark) > strings.IndexByte(markOrder, o.Mark) {
			o.Mark = b.Mark
		}
	}
	return out
}

// markOrder are the marks, the most important last.
const markOrder = "\x00ETC"

// sparkWidth is the number of columns of a sparkline.
const sparkWidth = 24

// sparkline returns sizes as bars in one line, scaled by the largest.
func sparkline(sizes []int64) string {
	if len(sizes) == 0 {
		return ""
	}
	top := slices.Max(sizes)
	bars := make([]table.Bar, len(sizes))
	for i, n := range sizes {
		bars[i].Size = n
	}
	if len(bars) > sparkWidth {
		bars = chartBars(bars, sparkWidth)
	}
	text := make([]rune, len(bars))
	for i, b := range bars {
		text[i] = blocks[eighths(b.Size, top, 8)]
	}
	return string(text)
}
