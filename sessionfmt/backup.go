package sessionfmt

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
)

// BackUpDatabase copies an open database with SQLite's backup API. Importing sessionfmt/sqlite sets it, so that
// programs without databases need no SQLite.
var BackUpDatabase func(c *sql.Conn, to string) error

// A BackUp is a consistent copy of a database and its write-ahead log in a single file.
type BackUp struct {
	Content
	State string // state of the database when it was copied; see DatabaseState
	Less  bool   // the copy has fewer sessions or rows than the earlier backup
}

// BackUp copies a database to a temporary file, which Close removes, and compares it with an earlier backup
// unless that name is empty.
func (d Disk) BackUp(file, earlier string) (b *BackUp, err error) {
	d.copies = nil // the copy is never larger than the backup
	b = &BackUp{State: d.DatabaseState(file)}
	err = d.withDatabase(file, func(db *database) error {
		if earlier != "" {
			err := d.withDatabase(earlier, func(old *database) (err error) {
				b.Less, err = db.lacks(old)
				return err
			})
			if err != nil {
				return err
			}
		}
		b.Content, err = db.backUp()
		return err
	})
	return b, err
}

func (db *database) backUp() (c Content, err error) {
	f, err := os.CreateTemp("", "ctxtool-*.db")
	if err != nil {
		return c, copyError(err)
	}
	src := &source{file: f, temp: f.Name()}
	db.disk.temporary(src.temp, true)
	err = BackUpDatabase(db.conn, src.temp)
	if os.Remove(src.temp) == nil { // otherwise Close removes it
		db.disk.temporary(src.temp, false)
		src.temp = ""
	}
	info, wrong := f.Stat()
	if err = cmp.Or(err, wrong); err != nil {
		src.close()
		return c, err
	}
	return Content{io.NewSectionReader(f, 0, info.Size()), closer(src.close)}, nil
}

// DatabaseState returns a text that changes with each transaction of a database.
func (d Disk) DatabaseState(file string) string {
	s := d.databaseState(file)
	return s.file + " " + s.grown
}

// lacks reports whether the database has lost sessions, or rows of a table, since an earlier state.
func (db *database) lacks(old *database) (bool, error) {
	if old.by != db.by {
		return true, nil
	}
	d := db.by.Database
	counted := [][2]string{{d.Sessions, d.ID}}
	for _, t := range d.Rows {
		counted = append(counted, [2]string{t.Name, t.Session})
		if t.Parts != nil {
			counted = append(counted, [2]string{t.Parts.Name, t.Parts.Session})
		}
	}
	for _, t := range counted {
		if !old.has(t[0]) {
			continue
		}
		rows, err := old.counts(t[0], t[1])
		if err != nil {
			return false, err
		}
		now := map[string]int64{}
		if db.has(t[0]) {
			if now, err = db.counts(t[0], t[1]); err != nil {
				return false, err
			}
		}
		for key, n := range rows {
			if now[key] < n {
				return true, nil
			}
		}
	}
	return false, nil
}

// counts returns the number of rows for each value of a column.
func (db *database) counts(table, column string) (map[string]int64, error) {
	all := map[string]int64{}
	rows, err := db.conn.QueryContext(context.Background(), "SELECT ["+column+"], count(*) FROM ["+table+"] GROUP BY 1")
	if err != nil {
		return nil, databaseError(err)
	}
	defer rows.Close()
	for rows.Next() {
		var key sql.NullString
		var n int64
		if err = rows.Scan(&key, &n); err != nil {
			break
		}
		all[key.String] = n
	}
	if err = errors.Join(err, rows.Err()); err != nil {
		return nil, databaseError(err)
	}
	return all, nil
}
