package render

import (
	"io"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
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
	fitFlex(columns, rows, width)
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
	table := tablewriter.NewTable(&trimmed{w: w},
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

// trimmed takes the blanks off the ends of lines.
type trimmed struct {
	w    io.Writer
	line []byte
}

func (t *trimmed) Write(p []byte) (int, error) {
	for _, c := range p {
		if c != '\n' {
			t.line = append(t.line, c)
			continue
		}
		end := len(t.line)
		for end > 0 && t.line[end-1] == ' ' {
			end--
		}
		if _, err := t.w.Write(append(t.line[:end], '\n')); err != nil {
			return 0, err
		}
		t.line = t.line[:0]
	}
	return len(p), nil
}
