package sessionfmt

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
)

// BackUpDatabase makes a backup of a database that is open, as SQLite does. Package sessionfmt/sqlite
// sets it.
var BackUpDatabase func(c *sql.Conn, to string) error

// A BackUp is a database with what is in its log, in one file, as SQLite backs it up.
type BackUp struct {
	Content
	State string // of the database when it was copied; see DatabaseState
	Less  bool   // it has fewer rows of something than the earlier one
}

// BackUp makes a backup of a database, in a temporary file until it is closed, and compares it with an
// earlier one, unless that is empty.
func (d Disk) BackUp(file, earlier string) (b *BackUp, err error) {
	d.copies = nil // the copy is as long as the backup
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
	if os.Remove(src.temp) == nil { // else Close does
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

// DatabaseState returns what changes with each transaction of a database.
func (d Disk) DatabaseState(file string) string {
	s := d.databaseState(file)
	return s.file + " " + s.grown
}

// lacks reports whether the database has fewer sessions, or fewer rows of something, than an earlier
// state of it.
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

// counts returns the number of a table's rows for each value of a column.
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
