package dialect

import "ctxtool/sessionfmt/jsonl"

// A Database is an SQLite database with the sessions of an agent. A session is read as lines:
// its row in the table of sessions, and its rows in other tables. A line is an object of the
// columns, after the name of the table as table, and before the time of the row as timestamp.
type Database struct {
	Files    string // the names of databases, a pattern of [path/filepath.Match]
	Sessions string // the table with a row for each session
	ID       string // the column of that table with the id of the session
	Parent   string // the column of that table with the session that a sub-agent works for
	// Rows are tables with what a session has. Those of the first one count that has rows of the
	// session, and begins as it should.
	Rows []Table
	// Time is when a row was written, milliseconds since 1970, 0 if that is not known.
	Time func(line jsonl.Value) int64
}

// A Table is one with rows of sessions.
type Table struct {
	Name    string
	Session string   // the column with the id of what its rows belong to
	Order   []string // the columns by which they are ordered
	Begins  string   // how the type of the first row begins, empty for anything
	// Packed is a column with what the column Unpacked has in other rows, packed by zstd. Empty for
	// none.
	Packed, Unpacked string
	Parts            *Table // has more rows, which belong to a row of this one, and follow it
}
