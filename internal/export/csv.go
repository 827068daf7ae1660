package export

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
)

// before are the columns that begin the tables of forms without partitions.
var before = []string{"agent", "date"}

// A csvTable is a table as lines of comma-separated values. What is null is empty.
type csvTable struct {
	*csv.Writer
	t     *table
	n     int64
	cells []string
}

func newCSVTable(_ *Options, t *table, w io.Writer) tableWriter {
	c := &csvTable{Writer: csv.NewWriter(w), t: t}
	c.Write(append(slices.Clone(before), t.columns()...)) // its error is that of close
	return c
}

func (c *csvTable) add(r *Rows) error {
	return c.t.values(r, func(row parquet.Row) error {
		c.cells = append(c.cells[:0], r.Agent, r.Date)
		for i, v := range row {
			c.cells = append(c.cells, c.t.text(i, v))
		}
		c.n++
		return c.Write(c.cells)
	})
}

func (c *csvTable) take(from *os.File, sessions map[string]bool) error {
	rows := csv.NewReader(from)
	rows.ReuseRecord = true
	for first := true; ; first = false {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if first || !sessions[row[len(before)]] {
			continue
		}
		c.n++
		if err := c.Write(row); err != nil {
			return err
		}
	}
}

func (c *csvTable) close() (int64, error) {
	c.Flush()
	return c.n, c.Error()
}

// text returns a value as text: times in UTC.
func (t *table) text(column int, v parquet.Value) string {
	switch {
	case v.IsNull():
		return ""
	case t.times[column]:
		return time.UnixMilli(v.Int64()).UTC().Format("2006-01-02T15:04:05.000Z")
	case v.Kind() == parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	}
	return v.String()
}
