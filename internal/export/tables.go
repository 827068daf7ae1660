package export

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ctxtool/internal/base/parallel"
	"ctxtool/sessionfmt"
)

// A table is one of the tables, for all forms: its rows are structs, whose tags name the columns.
type table struct {
	name    string
	columns []column
	rows    []int // the field of Rows that has them
}

// A column is one of a table. Its values are bool, int64, float64 or string, or nil.
type column struct {
	name     string
	kind     reflect.Kind
	optional bool // it may be nil
	recurs   bool // texts are worth a dictionary
	time     bool // numbers are milliseconds since 1970
}

// tables returns all tables; the last one is written only if it is asked for. Their columns are read
// from structs, which other commands should not wait for.
var tables = sync.OnceValue(func() (all []*table) {
	for f := range reflect.TypeFor[Rows]().Fields() {
		name := f.Tag.Get("table")
		if name == "" {
			continue
		}
		t := &table{name: name, rows: f.Index, columns: slices.Clone(before)}
		for f := range f.Type.Elem().Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("parquet"), ",")
			c := column{
				name: name, kind: f.Type.Kind(), recurs: options == "dict",
				time: strings.HasPrefix(options, "timestamp"),
			}
			if c.optional = c.kind == reflect.Pointer; c.optional {
				c.kind = f.Type.Elem().Kind()
			}
			t.columns = append(t.columns, c)
		}
		all = append(all, t)
	}
	return all
})

// before are the columns that begin rows; in Parquet files the partition has them.
var before = []column{{name: "agent", kind: reflect.String}, {name: "date", kind: reflect.String}}

// each yields the rows of a table. A row is valid until the next one.
func (t *table) each(r *Rows, yield func(row []any) error) error {
	all := reflect.ValueOf(r).Elem().FieldByIndex(t.rows)
	row := []any{r.Agent, r.Date}
	for i := range all.Len() {
		row = row[:len(before)]
		for _, v := range all.Index(i).Fields() {
			switch {
			case v.Kind() != reflect.Pointer:
				row = append(row, v.Interface())
			case v.IsNil():
				row = append(row, nil)
			default:
				row = append(row, v.Elem().Interface())
			}
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

// spelled makes the times of a row texts, in UTC.
func (t *table) spelled(row []any) []any {
	for i, v := range row {
		if ms, ok := v.(int64); ok && t.columns[i].time {
			row[i] = time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
		}
	}
	return row
}

// The forms of tables.
var (
	parquetForm = &form{name: "parquet", partitioned: true, files: eachTable("/", ".parquet"),
		begin: inFiles(newParquetTable)}
	csvForm    = &form{name: "csv", files: eachTable("-", ".csv"), begin: inFiles(newCSVTable)}
	sqliteForm = &form{
		name: "sqlite", begin: beginDatabase,
		files: func(_ *Options, part string) []string { return []string{fileOf("sessions", "-", part, ".sqlite")} },
	}
)

// eachTable returns the names of files that have a table each.
func eachTable(sep, ext string) func(o *Options, part string) []string {
	return func(o *Options, part string) (names []string) {
		for _, t := range o.tables() {
			names = append(names, fileOf(t.name, sep, part, ext))
		}
		return names
	}
}

// fileOf returns the name of a file of a part: without the part's where all is in one.
func fileOf(table, sep, part, ext string) string {
	if part == (Shard{}).String()+"-000" {
		return table + ext
	}
	return table + sep + strings.TrimSuffix(part, "-000") + ext
}

// tables returns the tables that are written.
func (o *Options) tables() []*table {
	if o.Contents {
		return tables()
	}
	return tables()[:len(tables())-1]
}

// A rowWriter writes a table to a file.
type rowWriter interface {
	put(row []any) error
	// take adds the rows of these sessions that an earlier file has, and returns how many there are.
	take(from *os.File, sessions map[string]bool) (int64, error)
	close() error
}

// tableFiles is a partWriter with a file for each table.
type tableFiles struct {
	part   *planned
	tables []*table
	files  []*sessionfmt.NewFile
	rows   []rowWriter
}

// inFiles returns the function that begins a part with a file for each table.
func inFiles(start func(t *table, w io.Writer) rowWriter) func(o *Options, p *planned) (partWriter, error) {
	return func(o *Options, p *planned) (_ partWriter, err error) {
		w := &tableFiles{part: p, tables: o.tables()}
		defer func() {
			if err != nil {
				w.abort()
			}
		}()
		stays := map[string]bool{}
		for _, in := range p.stays {
			stays[in.Session] = true
		}
		for i, name := range p.form.files(o, p.name) {
			name = filepath.Join(o.Dir, filepath.FromSlash(name))
			if err := o.Disk.MkdirAll(filepath.Dir(name)); err != nil {
				return nil, err
			}
			file, err := o.Disk.Create(name)
			if err != nil {
				return nil, err
			}
			w.files = append(w.files, file)
			w.rows = append(w.rows, start(w.tables[i], file))
			if len(stays) == 0 {
				continue
			}
			if err := take(o, name, func(old *os.File) (err error) {
				p.rows[w.tables[i].name], err = w.rows[i].take(old, stays)
				return err
			}); err != nil {
				return nil, err
			}
		}
		return w, nil
	}
}

// take reads the file of a part from which rows stay.
func take(o *Options, name string, rows func(old *os.File) error) error {
	old, err := o.Disk.OpenRegular(name)
	if err == nil {
		defer old.Close()
		err = rows(old)
	}
	if err != nil {
		return sessionfmt.Errorf("%w", err).In(name).
			Hinted("it has rows of sessions that are no longer there: restore it, or export to another folder")
	}
	return nil
}

func (w *tableFiles) put(table int, row []any) error {
	w.part.rows[w.tables[table].name]++
	return w.rows[table].put(row)
}

// commit gives the files their names, each complete.
func (w *tableFiles) commit() error {
	for _, t := range w.rows {
		if err := t.close(); err != nil {
			return err
		}
	}
	return parallel.Each(len(w.files),
		func() func(int) error { return func(k int) error { return w.files[k].Commit() } })
}

// abort removes what has no name yet.
func (w *tableFiles) abort() {
	for _, file := range w.files {
		file.Abort()
	}
}

// A csvTable is a table as lines of comma-separated values. What is null is empty.
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
