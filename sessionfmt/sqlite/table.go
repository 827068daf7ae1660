package sqlite

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
)

// A Type is that of a value.
type Type uint8

// The types.
const (
	Null Type = iota
	Integer
	Real
	Text
	Blob
)

// A Value is one of a row.
type Value struct {
	Type  Type
	Int   int64
	Float float64
	Text  []byte // of a text or blob
}

// An object is a table or an index of the schema.
type object struct {
	name, table string
	root        uint32
	columns     []string
	index       bool
}

// A Row is one of a table.
type Row struct {
	Columns []string
	Values  []Value // as many, or fewer: columns that were added later are missing
}

// Get is the value of a column, null for none.
func (r *Row) Get(column string) Value {
	if at := slices.Index(r.Columns, column); at >= 0 && at < len(r.Values) {
		return r.Values[at]
	}
	return Value{}
}

// readSchema reads what tables and indexes there are.
func (db *DB) readSchema() error {
	return db.walk().scan(1, func(c *cell) error {
		content, err := db.content(c)
		if err != nil {
			return err
		}
		row, err := decode(content)
		if err != nil || len(row) < 5 {
			return errors.New("the database is damaged: its schema cannot be read")
		}
		sql := string(row[4].Text)
		o := object{name: string(row[1].Text), table: string(row[2].Text), root: uint32(row[3].Int), columns: columns(sql), index: string(row[0].Text) == "index"}
		partial := o.index && strings.Contains(strings.ToUpper(sql), " WHERE ")
		if o.root > 0 && !partial {
			db.schema = append(db.schema, o)
		}
		return nil
	})
}

// Has reports whether there is a table of that name.
func (db *DB) Has(table string) bool { return db.table(table) != nil }

func (db *DB) table(name string) *object {
	at := slices.IndexFunc(db.schema, func(o object) bool { return !o.index && o.name == name })
	if at < 0 {
		return nil
	}
	return &db.schema[at]
}

// Rows yields the rows of a table in which a column is a text, by another column; all rows in
// their order where column is empty.
func (db *DB) Rows(table, column, text, order string) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		t := db.table(table)
		if t == nil {
			yield(nil, fmt.Errorf("the database has no table %s", table))
			return
		}
		for _, name := range []string{column, order} {
			if name != "" && !slices.Contains(t.columns, name) {
				yield(nil, fmt.Errorf("table %s of the database has no column %s", table, name))
				return
			}
		}
		rowids, err := db.rowids(t, column, text, order)
		for _, id := range rowids {
			var row *Row
			if row, err = db.row(t, id); err != nil || row != nil && !yield(row, nil) {
				break
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// rowids are those of rows, by an index if there is one that begins with the columns.
func (db *DB) rowids(t *object, column, text, order string) (ids []int64, err error) {
	for _, x := range db.schema {
		if x.index && x.table == t.name && column != "" && len(x.columns) > 1 && x.columns[0] == column && x.columns[1] == order {
			_, err := db.walk().look(x.root, text, func(id int64) { ids = append(ids, id) })
			return ids, err
		}
	}
	type placed struct {
		id int64
		by Value
	}
	var all []placed
	err = db.walk().scan(t.root, func(c *cell) error {
		row := &Row{Columns: t.columns}
		if column != "" {
			content, err := db.content(c)
			if err == nil {
				row.Values, err = decode(content)
			}
			if at := row.Get(column); err != nil || at.Type != Text || string(at.Text) != text {
				return err
			}
		}
		by := row.Get(order)
		by.Text = slices.Clone(by.Text)
		all = append(all, placed{c.rowid, by})
		return nil
	})
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.by.Int, b.by.Int), strings.Compare(string(a.by.Text), string(b.by.Text)))
	})
	for _, p := range all {
		ids = append(ids, p.id)
	}
	return ids, err
}

func (db *DB) row(t *object, id int64) (*Row, error) {
	content, err := db.find(t.root, id)
	if err != nil || content == nil {
		return nil, err
	}
	values, err := decode(content)
	return &Row{t.columns, values}, err
}

// columns are the names of the columns in the statement that made a table or an index.
func columns(sql string) (names []string) {
	_, list, ok := strings.Cut(sql, "(")
	if !ok {
		return nil
	}
	depth, start := 1, 0
	take := func(end int) {
		name := strings.TrimSpace(list[start:end])
		start = end + 1
		if name == "" {
			return
		}
		if at := strings.IndexByte("`\"[", name[0]); at >= 0 {
			if end := strings.IndexByte(name[1:], "`\"]"[at]); end >= 0 {
				names = append(names, name[1:1+end])
			}
			return
		}
		name = strings.FieldsFunc(name, func(r rune) bool { return r <= ' ' || r == '(' })[0]
		if !slices.Contains([]string{"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}, strings.ToUpper(name)) {
			names = append(names, name)
		}
	}
	for k := 0; k < len(list) && depth > 0; k++ {
		switch list[k] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				take(k)
			}
		case ',':
			if depth == 1 {
				take(k)
			}
		case '\'', '"', '`':
			if end := strings.IndexByte(list[k+1:], list[k]); end >= 0 {
				k += 1 + end
			}
		}
	}
	return names
}

var errRecord = errors.New("the database is damaged: a row cannot be read")

// decode reads the values of a record. Texts are parts of it.
func decode(b []byte) (values []Value, err error) {
	size, w := varint(b)
	if size < int64(w) || size > int64(len(b)) {
		return nil, errRecord
	}
	head, body := b[w:size], b[size:]
	for len(head) > 0 {
		code, w := varint(head)
		head = head[w:]
		v, n := Value{}, int64(0)
		switch {
		case code == 8 || code == 9:
			v = Value{Type: Integer, Int: code - 8}
		case code >= 12:
			v.Type, n = Blob-Type(code&1), (code-12)/2
		case code > 0 && code < 8:
			v.Type, n = Integer, [...]int64{0, 1, 2, 3, 4, 6, 8, 8}[code]
		}
		if n < 0 || n > int64(len(body)) {
			return nil, errRecord
		}
		part := body[:n]
		body = body[n:]
		switch {
		case v.Type >= Text:
			v.Text = part
		case code == 7:
			v.Type, v.Float = Real, math.Float64frombits(binary.BigEndian.Uint64(part))
		case n > 0:
			v.Int = integer(part)
		}
		values = append(values, v)
	}
	return values, nil
}

func integer(b []byte) int64 {
	n := int64(int8(b[0]))
	for _, c := range b[1:] {
		n = n<<8 | int64(c)
	}
	return n
}
