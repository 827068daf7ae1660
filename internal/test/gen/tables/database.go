// Package tables writes SQLite databases for tests.
package tables

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	_ "modernc.org/sqlite" // writes it
)

// Database writes an SQLite database with rows: each line is an object with the table, and the
// columns of the row, which are texts, whole numbers, or objects, which are texts too. A column
// whose name ends in _zstd is packed, unless its text is not an object. With a log, rows are in the write-ahead log alone: close ends what holds it there.
func Database(name string, lines []byte, log bool) (close func() error, err error) {
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if log {
		_, err = db.Exec("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0")
	}
	for _, statement := range statements(lines) {
		if err == nil {
			_, err = db.Exec(statement.text, statement.values...)
		}
	}
	return db.Close, err
}

// A statement is one of SQL.
type statement struct {
	text   string
	values []any
}

// statements creates tables with the columns of all their rows, and inserts these.
func statements(lines []byte) (all []statement) {
	columns := map[string][]string{}
	for line := range bytes.Lines(lines) {
		row := map[string]json.RawMessage{}
		if json.Unmarshal(line, &row) != nil {
			continue
		}
		table := value(row["table"]).(string)
		delete(row, "table")
		insert := statement{}
		var names []string
		for name, v := range row {
			column := value(v)
			if strings.HasSuffix(name, "_zstd") {
				column = packed(column.(string))
			}
			names, insert.values = append(names, name), append(insert.values, column)
			if !slices.Contains(columns[table], name) {
				columns[table] = append(columns[table], name)
			}
		}
		insert.text = "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ") + ")"
		all = append(all, insert)
	}
	for table, names := range columns {
		slices.Sort(names)
		all = slices.Insert(all, 0, statement{text: "CREATE TABLE " + table + " (" + strings.Join(names, ", ") + ")"})
	}
	return all
}

// value returns a text, a number, or the text of an object.
func value(v json.RawMessage) any {
	var text string
	var number int64
	switch {
	case json.Unmarshal(v, &text) == nil:
		return text
	case json.Unmarshal(v, &number) == nil:
		return number
	}
	return string(v)
}

// packed returns an object, packed by zstd; any other text is damage.
func packed(text string) []byte {
	if !strings.HasPrefix(text, "{") {
		return []byte(text)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		return nil
	}
	return enc.EncodeAll([]byte(text), nil)
}
