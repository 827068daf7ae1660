package export

import (
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// A table is one of the tables, for all forms: its rows are structs, whose tags name the columns.
type table struct {
	name   string
	schema *parquet.Schema
	times  map[int]bool // columns that are times
	values func(r *Rows, yield func(parquet.Row) error) error
}

// tables returns all tables; the last one is written only if it is asked for. Their schemas are read
// from structs, which other commands should not wait for.
var tables = sync.OnceValue(func() []*table {
	return []*table{
		define("sessions", func(r *Rows) []Session { return r.Sessions }),
		define("requests", func(r *Rows) []Request { return r.Requests }),
		define("messages", func(r *Rows) []Message { return r.Messages }),
		define("tool_calls", func(r *Rows) []ToolCall { return r.ToolCalls }),
		define("compactions", func(r *Rows) []Compaction { return r.Compactions }),
		define("findings", func(r *Rows) []Finding { return r.Findings }),
		define("contents", func(r *Rows) []Content { return r.Contents }),
	}
})

// The most that a row group has, which engines give to a thread each and a writer holds in memory, and
// the most that a dictionary has, bytes.
const (
	rowsPerGroup   = 1 << 16
	mostDictionary = 1 << 20
)

func define[T any](name string, of func(r *Rows) []T) *table {
	t := &table{name: name, schema: parquet.SchemaOf(new(T)), times: map[int]bool{}}
	for i, path := range t.schema.Columns() {
		column, _ := t.schema.Lookup(path...)
		if logical := column.Node.Type().LogicalType(); logical != nil {
			_, t.times[i] = logical.Value.(*format.TimestampType)
		}
	}
	t.values = func(r *Rows, yield func(parquet.Row) error) error {
		all := of(r)
		var row parquet.Row
		for i := range all {
			row = t.schema.Deconstruct(row[:0], &all[i])
			if err := yield(row); err != nil {
				return err
			}
		}
		return nil
	}
	return t
}

// create starts a Parquet file of the table.
func (t *table) create(w io.Writer) *parquet.GenericWriter[any] {
	return parquet.NewGenericWriter[any](w, t.schema, parquet.CreatedBy("ctxtool", program(), ""),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault}), parquet.MaxRowsPerRowGroup(rowsPerGroup),
		parquet.DictionaryMaxBytes(mostDictionary))
}

// columns returns the names of the columns.
func (t *table) columns() (names []string) {
	for _, path := range t.schema.Columns() {
		names = append(names, path[0])
	}
	return names
}
