package export

import (
	"ctxtool/sessionfmt"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// A database is a partWriter with all tables in one SQLite file, which gets its name when it is complete.
type database struct {
	o       *Options
	part    *planned
	out     *sessionfmt.NewFile
	db      *sql.DB
	tx      *sql.Tx
	inserts []*sql.Stmt
}

func beginDatabase(o *Options, p *planned) (_ partWriter, err error) {
	name := filepath.Join(o.Dir, p.form.files(o, p.name)[0])
	w := &database{o: o, part: p}
	defer func() {
		if err != nil {
			w.abort()
		}
	}()
	if w.out, err = o.Disk.Create(name); err != nil {
		return nil, err
	}
	if len(p.stays) > 0 {
		if err = take(o, name, w.copyOf); err != nil {
			return nil, err
		}
	}
	if w.db, err = sql.Open("sqlite", "file:"+w.out.Temporary()+
		"?_pragma=journal_mode(off)&_pragma=synchronous(off)"); err != nil {
		return nil, err
	}
	w.db.SetMaxOpenConns(1)
	return w, w.start()
}

// copyOf copies the database whose rows stay.
func (w *database) copyOf(old *os.File) error {
	_, err := io.Copy(w.out, old)
	if err == nil {
		_, err = w.out.Written()
	}
	return err
}

// start makes the tables, removes the rows of sessions that are read again, and readies what adds rows.
func (w *database) start() (err error) {
	if w.tx, err = w.db.Begin(); err != nil {
		return err
	}
	for _, t := range w.o.tables() {
		columns := t.sqlColumns()
		if _, err = w.tx.Exec("CREATE TABLE IF NOT EXISTS " + t.name + " (" + strings.Join(columns, ", ") +
			")"); err != nil {
			return err
		}
		if _, err = w.tx.Exec("CREATE INDEX IF NOT EXISTS " + t.name + "_session ON " + t.name +
			" (session)"); err != nil {
			return err
		}
		for _, in := range w.part.reads {
			if len(w.part.stays) == 0 {
				break
			}
			if _, err = w.tx.Exec("DELETE FROM "+t.name+" WHERE session = ?", in.Session); err != nil {
				return err
			}
		}
		insert, err := w.tx.Prepare("INSERT INTO " + t.name + " VALUES (" +
			strings.Repeat("?, ", len(columns)-1) + "?)")
		if err != nil {
			return err
		}
		w.inserts = append(w.inserts, insert)
	}
	return nil
}

func (w *database) put(table int, row []any) error {
	_, err := w.inserts[table].Exec(tables()[table].spelled(row)...)
	return err
}

func (w *database) commit() error {
	for _, t := range w.o.tables() {
		var n int64
		if err := w.tx.QueryRow("SELECT count(*) FROM " + t.name).Scan(&n); err != nil {
			return err
		}
		w.part.rows[t.name] = n
	}
	if err := w.tx.Commit(); err != nil {
		return err
	}
	if err := w.db.Close(); err != nil {
		return err
	}
	return w.out.Commit()
}

func (w *database) abort() {
	if w.db != nil {
		w.db.Close()
	}
	if w.out != nil {
		w.out.Abort()
	}
}

// sqlTypes are the types of columns by the kind of their values.
var sqlTypes = map[reflect.Kind]string{
	reflect.Bool: "INTEGER", reflect.Int64: "INTEGER", reflect.Float64: "REAL", reflect.String: "TEXT",
}

// sqlColumns returns the columns with their types.
func (t *table) sqlColumns() (columns []string) {
	for _, c := range t.columns {
		kind := sqlTypes[c.kind]
		if c.time {
			kind = sqlTypes[reflect.String]
		}
		columns = append(columns, `"`+c.name+`" `+kind)
	}
	return columns
}
