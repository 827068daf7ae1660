package render

import (
	"bufio"
	"strconv"

	"ctxtool/internal/tokens"
	"ctxtool/sessionfmt"
)

const countSchema = "ctxtool/count/1"

// A Count is what counters made of plain texts, schema ctxtool/count/1.
type Count struct {
	Counters []*tokens.Counter
	By       string // line, file or total
	Rows     []CountRow
	Total    CountRow // the sum of all rows
}

// A CountRow is a text that was counted.
type CountRow struct {
	File   string
	Line   int // from 1, 0 for a whole file
	Bytes  int64
	Tokens []int64 // by each counter
}

// Add adds the rows of a file; by total they are in the sum alone.
func (c *Count) Add(rows []CountRow) {
	if c.Total.Tokens == nil {
		c.Total.Tokens = make([]int64, len(c.Counters))
	}
	for _, r := range rows {
		c.Total.Bytes += r.Bytes
		for i, n := range r.Tokens {
			c.Total.Tokens[i] += n
		}
	}
	if c.By != "total" {
		c.Rows = append(c.Rows, rows...)
	}
}

// A countObject is a row in JSON.
type countObject struct {
	Schema string           `json:"schema,omitempty"`
	File   string           `json:"file,omitempty"`
	Line   int              `json:"line,omitempty"`
	Bytes  int64            `json:"bytes"`
	Tokens map[string]int64 `json:"tokens"`
}

func (c *Count) object(r CountRow) countObject {
	o := countObject{File: r.File, Line: r.Line, Bytes: r.Bytes, Tokens: map[string]int64{}}
	for i, n := range r.Tokens {
		o.Tokens[c.Counters[i].Name] = n
	}
	return o
}

// A countCounter is a counter in JSON.
type countCounter struct {
	Name     string `json:"name"`
	Estimate bool   `json:"estimate"` // it does not know a model's own tokens
}

func (c *Count) counters() (all []countCounter) {
	for _, k := range c.Counters {
		all = append(all, countCounter{k.Name, k.Estimates()})
	}
	return all
}

// WriteCountJSON writes one object.
func WriteCountJSON(w *bufio.Writer, c *Count) error {
	rows := []countObject{}
	for _, r := range c.Rows {
		rows = append(rows, c.object(r))
	}
	return WriteJSON(w, struct {
		Schema   string         `json:"schema"`
		By       string         `json:"by"`
		Counters []countCounter `json:"counters"`
		Rows     []countObject  `json:"rows"`
		Total    countObject    `json:"total"`
	}{countSchema, c.By, c.counters(), rows, c.object(c.Total)})
}

// WriteCountLines writes an object a row, and the sum on the last line.
func WriteCountLines(w *bufio.Writer, c *Count) error {
	for _, r := range c.Rows {
		o := c.object(r)
		o.Schema = countSchema
		if err := WriteJSON(w, o); err != nil {
			return err
		}
	}
	return WriteJSON(w, struct {
		Schema   string         `json:"schema"`
		Counters []countCounter `json:"counters"`
		Total    countObject    `json:"total"`
	}{countSchema, c.counters(), c.object(c.Total)})
}

// WriteCountCSV writes the rows; by total the sum is the only one.
func WriteCountCSV(w *bufio.Writer, c *Count) error {
	names := []string{"file", "line", "bytes"}
	for _, k := range c.Counters {
		names = append(names, k.Name)
	}
	rows := c.Rows
	if c.By == "total" {
		rows = []CountRow{c.Total}
	}
	cells := make([][]any, len(rows))
	for k, r := range rows {
		cells[k] = []any{sessionfmt.Clean(r.File), nil, r.Bytes}
		if r.Line > 0 {
			cells[k][1] = r.Line
		}
		for _, n := range r.Tokens {
			cells[k] = append(cells[k], n)
		}
	}
	return writeCSV(w, names, cells)
}

// WriteCount writes a table, the sum in its last row unless it would say what the
// only one says.
func WriteCount(w *bufio.Writer, c *Count, width int) error {
	var columns []Column
	for _, k := range c.Counters {
		columns = append(columns, Column{Name: k.Name, Right: true})
	}
	columns = append(columns, Column{Name: "bytes", Right: true})
	if c.By == "line" {
		columns = append(columns, Column{Name: "line", Right: true})
	}
	columns = append(columns, Column{Name: "file", Flex: true})
	var rows [][]string
	for _, r := range c.Rows {
		rows = append(rows, c.cells(r, sessionfmt.Clean(r.File)))
	}
	if len(c.Rows) != 1 {
		rows = append(rows, c.cells(c.Total, "total"))
	}
	return WriteTable(w, columns, rows, width)
}

func (c *Count) cells(r CountRow, name string) (cells []string) {
	for i, n := range r.Tokens {
		mark := ""
		if c.Counters[i].Estimates() {
			mark = "~"
		}
		cells = append(cells, mark+strconv.FormatInt(n, 10))
	}
	cells = append(cells, strconv.FormatInt(r.Bytes, 10))
	if c.By == "line" {
		line := ""
		if r.Line > 0 {
			line = strconv.Itoa(r.Line)
		}
		cells = append(cells, line)
	}
	return append(cells, name)
}
