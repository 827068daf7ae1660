// Package sqlite lets [sessionfmt] read the sessions of agents that keep them in SQLite databases, such as
// opencode. Import it for its effect in a program that reads such sessions:
//
// import _ "ctxtool/sessionfmt/sqlite"
//
// Other programs need not link SQLite.
package sqlite

import (
	"database/sql"
	"errors"

	"ctxtool/sessionfmt"

	"modernc.org/sqlite" // also registers the driver for package database/sql
)

func init() {
	sessionfmt.LimitDatabase = func(c *sql.Conn, bytes int) error {
		_, err := sqlite.Limit(c, limitLength, bytes)
		return err
	}
	sessionfmt.BackUpDatabase = backUp
}

// backUp copies a database page by page.
func backUp(c *sql.Conn, to string) error {
	return c.Raw(func(driver any) error {
		from, ok := driver.(interface {
			NewBackup(to string) (*sqlite.Backup, error)
		})
		if !ok {
			return errors.ErrUnsupported
		}
		b, err := from.NewBackup(to)
		if err != nil {
			return err
		}
		_, err = b.Step(-1)
		return errors.Join(err, b.Finish())
	})
}

// limitLength is SQLite's number for the limit of a text or row (SQLITE_LIMIT_LENGTH).
const limitLength = 0
