package render

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/sergi/go-diff/diffmatchpatch"
)

// A Column is a column of a table.
type Column struct {
	Name  string
	Right bool // align numbers to the right
	Flex  bool // what is too long for the terminal is cut here
}

// minFlex is how narrow a flexible column may become, in columns of a terminal.
const minFlex = 12

// WriteTable writes rows under the columns' names, without lines. With a width,
// the flexible column is cut so that a row fits; nothing is wrapped.
func WriteTable(w io.Writer, columns []Column, rows [][]string, width int) error {
	twwidth.SetEastAsian(false) // whatever the machine's language
	fitFlex(columns, rows, width)
	rows, kept := standIns(rows)
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
	table := tablewriter.NewTable(&lines{w: w, kept: kept},
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

// fitFlex cuts the flexible column's cells to what the others leave of the width.
func fitFlex(columns []Column, rows [][]string, width int) {
	if width <= 0 {
		return
	}
	left, flex := width, -1
	for i, c := range columns {
		if c.Flex {
			flex = i
			continue
		}
		widest := displaywidth.String(c.Name)
		for _, row := range rows {
			widest = max(widest, displaywidth.String(row[i]))
		}
		left -= widest + 2
	}
	if flex < 0 {
		return
	}
	for _, row := range rows {
		row[flex] = fit(row[flex], max(minFlex, left-2))
	}
}

// standIn takes the place of each column of a text that the library measures
// otherwise than a terminal shows it, such as emoji made of several.
const standIn = "\uE000"

// standIns puts cells of the width that is shown in the place of such texts, and
// keeps the texts, by row and in order.
func standIns(rows [][]string) (shown [][]string, kept [][]string) {
	shown, kept = make([][]string, len(rows)), make([][]string, len(rows))
	for i, row := range rows {
		shown[i] = append([]string(nil), row...)
		for k, cell := range row {
			if w := displaywidth.String(cell); w != twwidth.Width(cell) || strings.Contains(cell, standIn) {
				shown[i][k] = strings.Repeat(standIn, w)
				kept[i] = append(kept[i], cell)
			}
		}
	}
	return shown, kept
}

// lines writes a table line by line: texts in the place of their stand-ins, and
// no blanks at the end.
type lines struct {
	w    io.Writer
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
		text := string(l.line)
		if l.n > 0 && l.n <= len(l.kept) {
			for _, cell := range l.kept[l.n-1] {
				text = strings.Replace(text, strings.Repeat(standIn, displaywidth.String(cell)), cell, 1)
			}
		}
		if _, err := io.WriteString(l.w, strings.TrimRight(text, " \n")+"\n"); err != nil {
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

// fit cuts a text to that many columns of a terminal, with an ellipsis in the
// last; a width of 0 or less cuts nothing.
func fit(s string, width int) string {
	if width <= 0 || displaywidth.String(s) <= width {
		return s
	}
	return displaywidth.TruncateString(s, width, "…")
}

// lineWidth is how many columns a line for people may have where a terminal has width; 0
// is none, and what fits a page.
func lineWidth(width int) int { return cmp.Or(width, 160) }

// put writes a line, cut to the width of a terminal.
func put(w *bufio.Writer, line string, width int) {
	w.WriteString(fit(line, lineWidth(width)))
	w.WriteByte('\n')
}

// count is so many things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// indented is JSON on lines, or as it is where it is nested deeper than the library goes.
func indented(text []byte) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return text
	}
	return out.Bytes()
}

// A Style is how words of an answer for people stand out: in colours, or not at all.
type Style struct{ Colour bool }

// paint puts a text between the codes of a terminal that begin and end a colour.
func (s Style) paint(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// colours are those of lines, by the mark in front: gone, new, changed.
var colours = map[byte]string{'-': "31", '+': "32", '~': "33"}

// heading is of headings.
func (s Style) heading(text string) string { return s.paint("1", text) }

// mark is of the line that a mark stands in front of; what has none is faint.
func (s Style) mark(mark byte, text string) string { return s.paint(cmp.Or(colours[mark], "2"), text) }

// word is of the words that differ between two lines.
func (s Style) word(mark byte, text string) string { return s.paint("7;"+colours[mark], text) }

// A diffLine is a line of a comparison: one that was there ('-'), is there ('+') or is
// in both (' '). The text has no line end.
type diffLine struct {
	mark byte
	text string
}

// mostCompared is how many pairs of lines are compared, besides what both texts have at
// their beginning and end: beyond it they differ as a whole. Where nothing is alike,
// comparing takes time by their number.
const mostCompared = 1 << 22

// diffLines compares two texts line by line. It is the same on every machine.
func diffLines(old, new string) (all []diffLine) {
	a, b := splitLines(old), splitLines(new)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	all = marked(all, ' ', a[:head])
	from, to := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(from)*len(to) > mostCompared {
		all = marked(marked(all, '-', from), '+', to)
	} else {
		m := diffmatchpatch.New()
		m.DiffTimeout = 0 // the same diff on every machine
		x, y, lines := m.DiffLinesToRunes(joinLines(from), joinLines(to))
		for _, d := range m.DiffCharsToLines(m.DiffMainRunes(x, y, false), lines) {
			mark := map[diffmatchpatch.Operation]byte{diffmatchpatch.DiffDelete: '-', diffmatchpatch.DiffInsert: '+', diffmatchpatch.DiffEqual: ' '}[d.Type]
			all = marked(all, mark, splitLines(d.Text))
		}
	}
	return marked(all, ' ', a[len(a)-tail:])
}

func marked(dst []diffLine, mark byte, lines []string) []diffLine {
	for _, text := range lines {
		dst = append(dst, diffLine{mark, text})
	}
	return dst
}

// splitLines are the lines of a text without their ends.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// appendDiff appends a comparison as a diff has it.
func appendDiff(dst []byte, all []diffLine) []byte {
	for _, l := range all {
		dst = append(append(append(dst, l.mark), l.text...), '\n')
	}
	return dst
}

// around is how many lines are shown around each change.
const around = 3

// folded is a comparison without the lines that are far from any change: one line says
// how many there are.
func folded(all []diffLine) (out []diffLine) {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.mark != ' ' {
			for k := max(0, i-around); k < min(len(all), i+around+1); k++ {
				near[k] = true
			}
		}
	}
	for i := 0; i < len(all); i++ {
		if near[i] {
			out = append(out, all[i])
			continue
		}
		n := i
		for n < len(all) && !near[n] {
			n++
		}
		out = append(out, diffLine{'@', count(n-i, "line") + " the same"})
		i = n - 1
	}
	return out
}

// shortLine is up to how many bytes of a line are compared word by word, and shown.
const shortLine = 400

// wordsOf compares two lines: pieces of the old one with '-' or ' ', of the new one with
// '+' or ' '. Long ones are not compared.
func wordsOf(old, new string) (was, is []diffLine) {
	if len(old) > shortLine || len(new) > shortLine {
		return []diffLine{{' ', old}}, []diffLine{{' ', new}}
	}
	m := diffmatchpatch.New()
	m.DiffTimeout = 0
	for _, d := range m.DiffCleanupSemantic(m.DiffMain(old, new, false)) {
		switch d.Type {
		case diffmatchpatch.DiffDelete:
			was = append(was, diffLine{'-', d.Text})
		case diffmatchpatch.DiffInsert:
			is = append(is, diffLine{'+', d.Text})
		default:
			was, is = append(was, diffLine{' ', d.Text}), append(is, diffLine{' ', d.Text})
		}
	}
	return was, is
}

// besides is how many characters are left of what two long lines have in common before
// and behind what differs.
const besides = 60

// narrowed cuts what two long lines have in common.
func narrowed(old, new string) (string, string) {
	if len(old) <= shortLine && len(new) <= shortLine {
		return old, new
	}
	a, b := []rune(old), []rune(new)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	cut := func(r []rune) string {
		var text bytes.Buffer
		from, to := max(0, head-besides), min(len(r), len(r)-tail+besides)
		if from > 0 {
			text.WriteString("…")
		}
		text.WriteString(cutWordsAt(string(r[from:to]), shortLine))
		if to < len(r) {
			text.WriteString("…")
		}
		return text.String()
	}
	return cut(a), cut(b)
}
