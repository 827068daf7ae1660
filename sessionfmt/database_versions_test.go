package sessionfmt

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// rowsOf makes a database of opencode, or of Kilo by its version: a prompt and an answer, in events and as they are now.
const rowsOf = `
CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, version TEXT, time_created INTEGER);
CREATE TABLE event_sequence (aggregate_id TEXT, seq INTEGER);
CREATE TABLE event (id TEXT, aggregate_id TEXT, seq INTEGER, type TEXT, data TEXT);
CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
INSERT INTO session VALUES ('s1', NULL, '/w', 'VERSION', 1);
INSERT INTO event_sequence VALUES ('s1', 4);
INSERT INTO event VALUES ('e0', 's1', 0, 'session.created.1', '{"info":{"id":"s1"}}'),
	('e1', 's1', 1, 'message.updated.1', '{"info":{"id":"m1","role":"user"}}'),
	('e2', 's1', 2, 'message.part.updated.1', '{"part":{"id":"p1","messageID":"m1","type":"text","text":"from the log"}}'),
	('e3', 's1', 3, 'message.updated.1', '{"info":{"id":"m2","role":"assistant"}}'),
	('e4', 's1', 4, 'message.part.updated.1', '{"part":{"id":"p2","messageID":"m2","type":"text","text":"said"}}');
INSERT INTO message VALUES ('m1', 's1', 1, '{"role":"user"}'), ('m2', 's1', 2, '{"role":"assistant"}');
INSERT INTO part VALUES ('p1', 'm1', '{"type":"text","text":"from the row"}'),
	('p2', 'm2', '{"type":"text","text":"said"}');
`

// TestDatabaseVersions: a database that lacks a table or a column is refused by name, one whose events are not all
// there is read by its other rows, and a row that is damaged is reported.
func TestDatabaseVersions(t *testing.T) {
	t.Parallel()
	const other = "the tables of the database are unknown: "
	for k, test := range []struct{ sql, want string }{
		{"SELECT 1", "from the log"},
		{"DROP TABLE event", "from the row"},
		{"DELETE FROM event WHERE seq = 4", "from the row"},
		{"DELETE FROM event WHERE seq = 2", "from the row"},
		{"DELETE FROM event WHERE seq = 0", "from the row"},
		{"UPDATE event_sequence SET seq = 9", "from the row"},
		{"DROP TABLE event_sequence", "from the log"},
		{"DROP TABLE event; DROP TABLE message", "error: the database has no table message"},
		{"DROP TABLE event; DROP TABLE part", "error: the database has no table part"},
		{"DROP TABLE session", "error: a database without sessions of a known agent"},
		{"ALTER TABLE session DROP COLUMN version", "error: " + other + "table session has no column version"},
		{"ALTER TABLE session DROP COLUMN directory", "error: " + other + "table session has no column directory"},
		{"ALTER TABLE event DROP COLUMN data", "error: " + other + "table event has no column data"},
		{"ALTER TABLE event RENAME COLUMN type TO kind", "error: " + other + "table event has no column type"},
		{"ALTER TABLE event RENAME COLUMN seq TO n", "error: " + other + "no such column"},
		{"ALTER TABLE event RENAME COLUMN aggregate_id TO s", "error: " + other + "no such column"},
		{"DROP TABLE event; ALTER TABLE message DROP COLUMN data", "error: " + other + "table message has no column data"},
		{"DROP TABLE event; ALTER TABLE part DROP COLUMN data", "error: " + other + "table part has no column data"},
		{"ALTER TABLE session DROP COLUMN parent_id", "from the log"},
		{"UPDATE event SET data = substr(data, 1, 20) WHERE seq = 2", "finding: the data of the row is not a JSON object"},
		{"UPDATE event SET data = CAST(data AS BLOB) WHERE seq = 2", "finding: the data of the row is not a JSON object"},
	} {
		name := plantedDatabase(t, []string{"1.18.34", "7.7.9"}[k%2], test.sql)
		before := must.Get(os.ReadFile(name))
		if got := readDatabase(name); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", test.sql, got, test.want)
		}
		if string(must.Get(os.ReadFile(name))) != string(before) {
			t.Errorf("%s: the database was written to", test.sql)
		}
	}
	whole := must.Get(os.ReadFile(plantedDatabase(t, "1.18.34", "")))
	for _, size := range []int{100, 5000, len(whole) / 2} {
		name := filepath.Join(t.TempDir(), "opencode.db")
		must.Do(os.WriteFile(name, whole[:size], 0o600))
		if got := readDatabase(name); !strings.HasPrefix(got, "error: the database is damaged") {
			t.Errorf("%d of %d bytes: %s", size, len(whole), got)
		}
	}
}

// plantedDatabase makes a database, and changes it.
func plantedDatabase(t *testing.T, version, change string) string {
	name := filepath.Join(t.TempDir(), "opencode.db")
	db := must.Get(sql.Open("sqlite", name))
	defer db.Close()
	must.Get(db.Exec(strings.Replace(rowsOf, "VERSION", version, 1) + change))
	return name
}

// readDatabase returns the messages of the only session of a database, the first finding, or the error.
func readDatabase(name string) string {
	s, err := Open(name, Options{})
	if err != nil {
		text := err.Error()
		if _, after, ok := strings.Cut(text, name+": "); ok {
			text = after
		}
		return "error: " + text
	}
	defer s.Close()
	for _, f := range s.Findings {
		return "finding: " + f.Text
	}
	lines := s.NewReader()
	var all []string
	for i := range s.Len() {
		all = append(all, string(must.Get(lines.Line(i))))
	}
	return strings.Join(all, "\n")
}
