// Package sqlite lets [sessionfmt] read the sessions of agents that keep them in SQLite databases,
// such as opencode. A program that reads such sessions imports it for its effect:
//
//	import _ "ctxtool/sessionfmt/sqlite"
//
// Others do not link SQLite.
package sqlite

import (
	"database/sql"

	"ctxtool/sessionfmt"

	"modernc.org/sqlite" // also the driver of package database/sql
)

func init() {
	sessionfmt.LimitDatabase = func(c *sql.Conn, bytes int) error {
		_, err := sqlite.Limit(c, limitLength, bytes)
		return err
	}
}

// limitLength is SQLite's name of the limit for a text or a row.
const limitLength = 0
