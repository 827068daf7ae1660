package export

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
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
