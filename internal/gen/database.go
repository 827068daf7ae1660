package gen

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// databasePage is the size of a page, the largest one: a table is one page.
const databasePage = 1 << 16

// Database returns an SQLite database with rows: each line is an object with the table, and the
// columns of the row, which are texts, whole numbers, or objects, which are texts too. A table
// has up to 60 KB.
func Database(lines []byte) []byte {
	type table struct {
		name    string
		columns []string
		rows    []map[string]json.RawMessage
	}
	var tables []*table
	for line := range bytes.Lines(lines) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		row := map[string]json.RawMessage{}
		names := members(line)
		if err := json.Unmarshal(line, &row); err != nil {
			panic(err)
		}
		name := string(text(row["table"]))
		k := slices.IndexFunc(tables, func(t *table) bool { return t.name == name })
		if k < 0 {
			k, tables = len(tables), append(tables, &table{name: name})
		}
		t := tables[k]
		t.rows = append(t.rows, row)
		for _, column := range names {
			if column != "table" && !slices.Contains(t.columns, column) {
				t.columns = append(t.columns, column)
			}
		}
	}
	var schema [][]byte
	file := make([]byte, databasePage)
	for k, t := range tables {
		sql := "CREATE TABLE " + t.name + " (" + strings.Join(t.columns, ", ") + ")"
		schema = append(schema, record("table", t.name, t.name, k+2, sql))
		var rows [][]byte
		for _, row := range t.rows {
			values := []any{}
			for _, column := range t.columns {
				values = append(values, cellValue(row[column]))
			}
			rows = append(rows, record(values...))
		}
		file = append(file, leaf(rows, 0)...)
	}
	copy(file, leaf(schema, 100))
	head := append([]byte("SQLite format 3\x00"), 0, 1, 1, 1, 0, 64, 32, 32)
	copy(file, head)
	for at, n := range map[int]int{24: 1, 28: len(tables) + 1, 40: 1, 44: 4, 56: 1, 92: 1, 96: 3045000} {
		binary.BigEndian.PutUint32(file[at:], uint32(n))
	}
	return file
}

// members are the names of an object's members, in their order.
func members(line []byte) (names []string) {
	in := json.NewDecoder(bytes.NewReader(line))
	in.Token()
	for in.More() {
		name, _ := in.Token()
		names = append(names, fmt.Sprint(name))
		var skipped json.RawMessage
		if in.Decode(&skipped) != nil {
			break
		}
	}
	return names
}

func text(raw json.RawMessage) []byte {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return raw
	}
	return []byte(s)
}

func cellValue(raw json.RawMessage) any {
	var n int
	switch {
	case raw == nil || string(raw) == "null":
		return nil
	case json.Unmarshal(raw, &n) == nil:
		return n
	}
	return string(text(raw))
}

// record is a row as a database has it.
func record(values ...any) []byte {
	var types, body []byte
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			types = append(types, 0)
		case int:
			types, body = append(types, 6), binary.BigEndian.AppendUint64(body, uint64(v))
		case string:
			types, body = appendVarint(types, 13+2*len(v)), append(body, v...)
		}
	}
	size := len(types) + 1
	if size > 127 {
		size++
	}
	return append(append(appendVarint(nil, size), types...), body...)
}

func appendVarint(b []byte, n int) []byte {
	for shift := 56; shift > 0; shift -= 7 {
		if n >= 1<<shift {
			b = append(b, byte(n>>shift)|0x80)
		}
	}
	return append(b, byte(n)&0x7f)
}

// leaf is a page of a table whose header begins at an offset.
func leaf(rows [][]byte, begin int) []byte {
	page := make([]byte, databasePage)
	end := databasePage
	for k, row := range rows {
		cell := append(appendVarint(appendVarint(nil, len(row)), k+1), row...)
		if end -= len(cell); end < begin+8+2*len(rows) {
			panic("gen: a table has more rows than a page can hold")
		}
		copy(page[end:], cell)
		binary.BigEndian.PutUint16(page[begin+8+2*k:], uint16(end))
	}
	page[begin] = 13
	binary.BigEndian.PutUint16(page[begin+3:], uint16(len(rows)))
	binary.BigEndian.PutUint16(page[begin+5:], uint16(end))
	return page
}
