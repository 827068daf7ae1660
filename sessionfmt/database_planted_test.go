package sessionfmt

import (
	"database/sql"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// TestDatabasePlanted: a database that somebody else has made is refused before it takes memory or
// space that its file does not have.
func TestDatabasePlanted(t *testing.T) {
	t.Parallel()
	const events = "; CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT)"
	const sessions = "CREATE TABLE session_windows (session_id TEXT, session_key TEXT)" + events + "; INSERT INTO session_windows VALUES ('s1', 'k')"
	grow := func(size int64) func(name string) error {
		return func(name string) error {
			f := must.Get(os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600))
			defer f.Close()
			return f.Truncate(size)
		}
	}
	for kind, test := range map[string]struct {
		sql, want string
		plant     func(name string) error
		end       string // of the planted file's name
	}{
		"as it is":               {sql: sessions, want: ""},
		"computed column":        {sql: "CREATE TABLE session_windows (session_id TEXT, x AS (zeroblob(1000000000)))" + events + "; INSERT INTO session_windows VALUES ('s1')", want: "column x is computed"},
		"stored column":          {sql: "CREATE TABLE session_windows (session_id TEXT, x TEXT AS (session_id || 'x') STORED); INSERT INTO session_windows VALUES ('s1')", want: "column x is computed"},
		"computed event":         {sql: "CREATE TABLE session_windows (session_id TEXT); CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT AS (hex(zeroblob(500000000)))); INSERT INTO session_windows VALUES ('s1')", want: "column event_json is computed"},
		"large row":              {sql: sessions + "; INSERT INTO transcript_events VALUES ('s1', 1, zeroblob(270000000))", want: "a row has 27000"},
		"view":                   {sql: "CREATE VIEW session_windows AS SELECT 's1' AS session_id", want: "without sessions of a known agent"},
		"virtual table":          {sql: "CREATE VIRTUAL TABLE session_windows USING fts5(session_id)", want: "without sessions of a known agent"},
		"log of holes":           {sql: sessions, want: "its -wal file has 4294967296 bytes, most of them holes", plant: grow(4 << 30), end: logEnd},
		"database of holes":      {sql: sessions, want: "the database has 4294967296 bytes, most of them holes", plant: grow(4 << 30)},
		"log that is a pipe":     {sql: sessions, want: "its -wal file: not a regular file", plant: makePipe, end: logEnd},
		"journal that is a pipe": {sql: sessions, want: "", plant: makePipe, end: journalEnd},
	} {
		if test.plant != nil && runtime.GOOS == "windows" {
			continue
		}
		name := filepath.Join(t.TempDir(), "openclaw-agent.sqlite")
		db := must.Get(sql.Open("sqlite", name))
		must.Get(db.Exec(test.sql))
		must.Do(db.Close())
		if test.plant != nil {
			must.Do(test.plant(name + test.end))
		}
		s, err := Open(name, Options{})
		if err == nil {
			s.Close()
		}
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", kind, err, test.want)
		}
	}
}
