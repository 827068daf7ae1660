package export

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ctxtool/internal/base/parallel"
	"ctxtool/sessionfmt"

	"github.com/parquet-go/parquet-go"
)

// The forms of tables.
var (
	parquetForm = &form{name: "parquet", partitioned: true, files: eachTable("/", ".parquet"), begin: inFiles(newParquetTable)}
	csvForm     = &form{name: "csv", files: eachTable("-", ".csv"), begin: inFiles(newCSVTable)}
	sqliteForm  = &form{
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

// A tableWriter writes a table to a file.
type tableWriter interface {
	add(r *Rows) error
	// take adds the rows of these sessions that an earlier file has.
	take(from *os.File, sessions map[string]bool) error
	// close ends the table, and returns the number of its rows.
	close() (int64, error)
}

// tableFiles is a partWriter with a file for each table.
type tableFiles struct {
	part   *planned
	tables []*table
	files  []*sessionfmt.NewFile
	rows   []tableWriter
}

// inFiles returns the function that begins a part with a file for each table.
func inFiles(start func(o *Options, t *table, w io.Writer) tableWriter) func(o *Options, p *planned) (partWriter, error) {
	return func(o *Options, p *planned) (partWriter, error) {
		w := &tableFiles{part: p, tables: o.tables()}
		stays := map[string]bool{}
		for _, in := range p.stays {
			stays[in.Session] = true
		}
		for i, name := range p.form.files(o, p.name) {
			name = filepath.Join(o.Dir, filepath.FromSlash(name))
			if err := o.Disk.MkdirAll(filepath.Dir(name)); err != nil {
				w.abort()
				return nil, err
			}
			file, err := o.Disk.Create(name)
			if err != nil {
				w.abort()
				return nil, err
			}
			w.files = append(w.files, file)
			w.rows = append(w.rows, start(o, w.tables[i], file))
			if len(stays) == 0 {
				continue
			}
			if err := take(o, name, func(old *os.File) error { return w.rows[i].take(old, stays) }); err != nil {
				w.abort()
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
		return &sessionfmt.Error{
			Pos: sessionfmt.Pos{File: name}, Err: err,
			Hint: "it has rows of sessions that are no longer there: restore it, or export to another folder",
		}
	}
	return nil
}

func (w *tableFiles) add(r *Rows) error {
	for _, t := range w.rows {
		if err := t.add(r); err != nil {
			return err
		}
	}
	return nil
}

// commit gives the files their names, each complete.
func (w *tableFiles) commit() error {
	for i, t := range w.rows {
		n, err := t.close()
		if err != nil {
			return err
		}
		w.part.rows[w.tables[i].name] = n
	}
	return parallel.Each(len(w.files), func() func(int) error { return func(k int) error { return w.files[k].Commit() } })
}

// abort removes what has no name yet.
func (w *tableFiles) abort() {
	for _, file := range w.files {
		file.Abort()
	}
}

// A parquetTable is a table in a Parquet file.
type parquetTable struct {
	*parquet.GenericWriter[any]
	t     *table
	n     int64
	batch []parquet.Row // of which the first ones wait to be written
	waits int
}

// rowsAtOnce is how many rows are written together.
const rowsAtOnce = 128

func newParquetTable(o *Options, t *table, w io.Writer) tableWriter {
	return &parquetTable{GenericWriter: t.create(w), t: t, batch: make([]parquet.Row, rowsAtOnce)}
}

func (p *parquetTable) take(from *os.File, sessions map[string]bool) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(from, info.Size(), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	for _, group := range file.RowGroups() {
		if err := p.takeGroup(group, sessions); err != nil {
			return err
		}
	}
	return nil
}

// takeGroup takes rows of a row group, of which the first column is the session.
func (p *parquetTable) takeGroup(group parquet.RowGroup, sessions map[string]bool) error {
	rows := group.Rows()
	defer rows.Close()
	batch := make([]parquet.Row, 256)
	for {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			if !sessions[row[0].String()] {
				continue
			}
			if err := p.put(row); err != nil {
				return err
			}
		}
		if err := p.flush(); err != nil { // the texts of rows are valid until the next ones are read
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *parquetTable) add(r *Rows) error {
	return p.t.values(r, p.put)
}

// put adds a row, of which it copies the values, but not their texts.
func (p *parquetTable) put(row parquet.Row) error {
	p.n++
	p.batch[p.waits] = append(p.batch[p.waits][:0], row...)
	if p.waits++; p.waits < len(p.batch) {
		return nil
	}
	return p.flush()
}

func (p *parquetTable) flush() error {
	_, err := p.WriteRows(p.batch[:p.waits])
	p.waits = 0
	return err
}

func (p *parquetTable) close() (int64, error) {
	if err := p.flush(); err != nil {
		return 0, err
	}
	return p.n, p.Close()
}
