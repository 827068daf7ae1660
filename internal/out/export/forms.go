package export

import (
	"ctxtool/internal/base/parallel"
	"ctxtool/sessionfmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

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
			Hinted("it has rows of deleted sessions: restore it, or export to another folder")
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
