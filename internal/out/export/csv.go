package export

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"strconv"
)

// A csvTable is a table of comma-separated values. Null becomes an empty cell.
type csvTable struct {
	*csv.Writer
	t     *table
	cells []string
}

func newCSVTable(t *table, w io.Writer) rowWriter {
	c := &csvTable{Writer: csv.NewWriter(w), t: t}
	for i := range t.columns {
		c.cells = append(c.cells, t.columns[i].name)
	}
	c.Write(c.cells) // its error is that of close
	return c
}

func (c *csvTable) put(row []any) error {
	for i, v := range c.t.spelled(row) {
		c.cells[i] = cell(v)
	}
	return c.Write(c.cells)
}

func (c *csvTable) take(from *os.File, sessions map[string]bool) (n int64, err error) {
	rows := csv.NewReader(from)
	rows.ReuseRecord = true
	rows.Read() // the names of the columns
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if !sessions[row[len(before)]] {
			continue
		}
		n++
		if err := c.Write(row); err != nil {
			return n, err
		}
	}
}

func (c *csvTable) close() error {
	c.Flush()
	return c.Error()
}

// cell returns a value as text.
func cell(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return v
	}
	return ""
}
