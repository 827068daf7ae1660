package sessionfmt

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"ctxtool/internal/read/unread"
)

// open opens the copy, and finds whose sessions it has. One connection in exclusive mode needs
// no memory that is shared by a file.
func (db *database) open() (err error) {
	at := filepath.ToSlash(db.files[0])
	if !strings.HasPrefix(at, "/") {
		at = "/" + at // a drive
	}
	name := url.URL{Scheme: "file", Path: at,
		RawQuery: "_pragma=locking_mode(exclusive)&_pragma=trusted_schema(0)" +
			"&_pragma=query_only(1)&_pragma=cache_size(-2000)"}
	if db.pool, err = sql.Open("sqlite", name.String()); err != nil {
		return err
	}
	if db.conn, err = db.pool.Conn(context.Background()); err != nil {
		return databaseError(err)
	}
	if err = LimitDatabase(db.conn, mostRow); err != nil {
		return databaseError(err)
	}
	db.tables = map[string][]string{}
	// not a virtual one
	for row, err := range db.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0") {
		if err != nil {
			return err
		}
		db.tables[row.text("name")] = nil
	}
	db.unname() // SQLite has opened them
	for _, d := range dialects {
		if d.Database != nil && db.has(d.Database.Sessions) {
			db.by = d
			return nil
		}
	}
	if a := unread.OfTables(db.has); a != nil {
		return writtenBy("a database", a)
	}
	return &Error{Err: errors.New("a database without sessions of a known agent"), Hint: ErrNotSession.Error()}
}

func (db *database) has(table string) bool {
	_, ok := db.tables[table]
	return ok
}

// columns returns the columns of a table as an SQL list. A database may be somebody else's, so it
// refuses columns that are computed, and looks at the sizes of rows before their values are read.
func (db *database) columns(table string) (list string, err error) {
	if names := db.tables[table]; names != nil {
		return strings.Join(names, ", "), nil
	}
	var names, sizes []string
	for row, err := range db.query("SELECT name, hidden FROM pragma_table_xinfo(?)", table) {
		if err != nil {
			return "", err
		}
		if row.values[1] != int64(0) {
			return "", &Error{Err: fmt.Errorf("table %s: column %s is computed: no agent's database has such columns",
				table, Quote(row.text("name")))}
		}
		name := `"` + strings.ReplaceAll(row.text("name"), `"`, `""`) + `"`
		names, sizes = append(names, name), append(sizes, "coalesce(octet_length("+name+"), 0)")
	}
	if len(names) == 0 {
		return "", &Error{Err: fmt.Errorf("the database has no table %s", table)}
	}
	for row, err := range db.query("SELECT max(" + strings.Join(sizes, " + ") + ") FROM [" + table + "]") {
		if err != nil {
			return "", err
		}
		if size, _ := row.values[0].(int64); size > mostRow {
			return "", &Error{Err: fmt.Errorf("table %s: a row has %d bytes, at most %d are read", table,
				size, mostRow)}
		}
	}
	db.tables[table] = names
	return strings.Join(names, ", "), nil
}

// needs returns an error if a table lacks one of several columns.
func (db *database) needs(table string, columns []string) error {
	if _, err := db.columns(table); err != nil {
		return err
	}
	for _, name := range columns {
		if !slices.Contains(db.tables[table], `"`+name+`"`) {
			return otherTables(fmt.Sprintf("table %s has no column %s", table, name))
		}
	}
	return nil
}

// mostRow is how large a row of a table may be, bytes.
const mostRow = 256 << 20

// A row is one of a table.
type row struct {
	columns []string
	values  []any // nil for NULL
}

// text returns the text of a column, empty if the row has none.
func (r *row) text(column string) string {
	for k, name := range r.columns {
		if name == column {
			text, _ := r.values[k].(string)
			return text
		}
	}
	return ""
}

// unpack replaces a packed column of a row by the one that it holds. An empty name is that of
// none.
func (db *database) unpack(r *row, packed, unpacked string) (err error) {
	at := slices.Index(r.columns, packed)
	if at < 0 || r.values[at] == nil {
		return nil
	}
	if db.zstd == nil {
		if db.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(mostMemory)); err != nil {
			return err
		}
	}
	data, _ := r.values[at].([]byte)
	text, err := db.zstd.DecodeAll(data, nil)
	r.columns = slices.Clone(r.columns)
	r.columns[at], r.values[at] = unpacked, string(text)
	return labelled("zstd", err)
}

// rows yields the rows of a table whose column has a text, or all if column is empty. Names in
// brackets are never taken for texts.
func (db *database) rows(table, column, text string, order ...string) iter.Seq2[*row, error] {
	columns, err := db.columns(table)
	if err != nil {
		return func(yield func(*row, error) bool) { yield(nil, err) }
	}
	var args []any
	query := "SELECT " + columns + " FROM [" + table + "]"
	if column != "" {
		query, args = query+" WHERE ["+column+"] = ?", []any{text}
	}
	if len(order) > 0 {
		query += " ORDER BY [" + strings.Join(order, "], [") + "]"
	}
	return db.query(query, args...)
}

func (db *database) query(query string, args ...any) iter.Seq2[*row, error] {
	return func(yield func(*row, error) bool) {
		found, err := db.conn.QueryContext(context.Background(), query, args...)
		if err != nil {
			yield(nil, databaseError(err))
			return
		}
		defer found.Close()
		columns, err := found.Columns()
		for err == nil && found.Next() {
			r := &row{columns: columns, values: make([]any, len(columns))}
			into := make([]any, len(columns))
			for k := range into {
				into[k] = &r.values[k]
			}
			if err = found.Scan(into...); err == nil && !yield(r, nil) {
				return
			}
		}
		if err == nil {
			err = found.Err()
		}
		if err != nil {
			yield(nil, databaseError(err))
		}
	}
}

// databaseError returns what SQLite reports, with what helps.
func databaseError(err error) error {
	var e interface { // the driver's
		error
		Code() int
	}
	if !errors.As(err, &e) {
		return err
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(e.Error(), "SQL logic error: "), " (")
	switch e.Code() & 0xff {
	case 1: // a table or column is missing
		return otherTables(text)
	case 18:
		return &Error{Err: fmt.Errorf("the database has a value of more than %d bytes", mostRow)}
	case 11, 26:
		return &Error{Err: fmt.Errorf("the database is damaged: %s", text),
			Hint: "sqlite3's .recover, run on a copy, saves what can be read"}
	}
	return fmt.Errorf("the database cannot be read: %s", text)
}

func otherTables(lacks string) error {
	return &Error{Err: fmt.Errorf("the tables of the database are unknown: %s", lacks),
		Hint: "it may be of a newer or older version of the agent"}
}
