package render

import (
	"bufio"
	"strconv"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// WriteCountLines writes an object a text, and the sum on the last line.
func WriteCountLines(w *bufio.Writer, t *tokens.Texts) error {
	for _, r := range t.Rows {
		r.Schema = t.Schema
		if err := WriteJSON(w, r); err != nil {
			return err
		}
	}
	return WriteJSON(w, tokens.Texts{Schema: t.Schema, Counters: t.Counters, Total: t.Total})
}

// WriteCountCSV writes the texts; by total the sum is the only row.
func WriteCountCSV(w *bufio.Writer, t *tokens.Texts) error {
	names := []string{"file", "line", "bytes"}
	for _, c := range t.Counters {
		names = append(names, c.Name)
	}
	rows := t.Rows
	if t.By == "total" {
		rows = []tokens.Text{t.Total}
	}
	cells := make([][]any, len(rows))
	for k, r := range rows {
		cells[k] = []any{sessionfmt.Clean(r.File), nil, r.Bytes}
		if r.Line > 0 {
			cells[k][1] = r.Line
		}
		for _, c := range r.Tokens {
			cells[k] = append(cells[k], c.N)
		}
	}
	return writeCSV(w, names, cells)
}

// WriteCount writes a table, the sum in its last row unless it would say what the
// only one says.
func WriteCount(w *bufio.Writer, t *tokens.Texts, width int) error {
	var columns []Column
	for _, c := range t.Counters {
		columns = append(columns, Column{Name: c.Name, Right: true})
	}
	columns = append(columns, Column{Name: "bytes", Right: true})
	if t.By == "line" {
		columns = append(columns, Column{Name: "line", Right: true})
	}
	columns = append(columns, Column{Name: "file", Flex: true})
	var rows [][]string
	for _, r := range t.Rows {
		rows = append(rows, countCells(t, r, sessionfmt.Clean(r.File)))
	}
	if len(t.Rows) != 1 {
		rows = append(rows, countCells(t, t.Total, "total"))
	}
	return WriteTable(w, columns, rows, width)
}

func countCells(t *tokens.Texts, r tokens.Text, name string) (cells []string) {
	for i, c := range r.Tokens {
		mark := ""
		if t.Counters[i].Estimate {
			mark = "~"
		}
		cells = append(cells, mark+number(c.N))
	}
	cells = append(cells, number(r.Bytes))
	if t.By == "line" {
		line := ""
		if r.Line > 0 {
			line = strconv.Itoa(r.Line)
		}
		cells = append(cells, line)
	}
	return append(cells, name)
}
