package sessionfmt

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// inDatabase splits DATABASE/ID, the name of a session in a database. For any other name id is empty.
func inDatabase(disk Disk, name string) (file, id string) {
	file, id = filepath.Split(name)
	file = filepath.Clean(file)
	if id == "" {
		return name, ""
	}
	if info, err := disk.Stat(file); err != nil || !info.Mode().IsRegular() {
		return name, ""
	}
	return file, id
}

// databaseMagic begins every SQLite database.
const databaseMagic = "SQLite format 3\x00"

func isDatabase(file io.ReaderAt) bool {
	var magic [len(databaseMagic)]byte
	return readFullAt(file, magic[:], 0) == nil && string(magic[:]) == databaseMagic
}

// IsDatabase reports whether a file is a database, plain or compressed. A database is listed like a folder of
// sessions.
func IsDatabase(disk Disk, name string) bool {
	f, err := disk.OpenRegular(name)
	if err != nil {
		return false
	}
	defer f.Close()
	plain, err := Unpack(f)
	if err != nil {
		return false
	}
	defer plain.Close()
	var begin [len(databaseMagic)]byte
	n, _ := io.ReadFull(plain, begin[:])
	return string(begin[:n]) == databaseMagic
}

// fetchRows returns a session of a database as lines, spooled like the content of a compressed file. An
// empty id is that of the only one.
func (d Disk) fetchRows(file, id string) (lines *source, err error) {
	err = d.withDatabase(file, func(db *database) (err error) {
		lines, err = db.session(id)
		return err
	})
	return lines, err
}

// session returns the lines of a session. id may be empty if the database has only one.
func (db *database) session(id string) (*source, error) {
	if err := db.needs(db.by.Database.Sessions, db.by.Database.Needs); err != nil {
		return nil, err
	}
	column := db.by.Database.ID
	if id == "" {
		column = ""
	}
	var found *row
	n := 0
	for row, err := range db.rows(db.by.Database.Sessions, column, id) {
		if err != nil {
			return nil, err
		}
		n, found = n+1, row
	}
	switch {
	case n > 1:
		return nil, &Error{Err: fmt.Errorf("a database of %d sessions", n), Hint: "name one by its id: ctxtool ls " +
			Clean(db.name) + " lists them"}
	case n == 0:
		return nil, &Error{Err: fmt.Errorf("the database has no session %s", Quote(id)), Hint: "ctxtool ls " +
			Clean(db.name) + " lists its sessions"}
	}
	most := db.disk.mostUnpacked(db.size, true)
	lines, err := spool(plain, func(w io.Writer) error {
		out := bufio.NewWriterSize(&capped{w, most, most}, readAhead)
		out.Write(db.line(db.by.Database.Sessions, found))
		if err := db.lines(found.text(db.by.Database.ID), out); err != nil {
			return err
		}
		return out.Flush()
	})
	db.made = nil // release memory: a row may be large, and the copy of the database stays open
	if err == nil {
		lines.instead = "it is in a database"
	}
	return lines, err
}

// lines writes the rows of a session, each as a line.
func (db *database) lines(id string, out *bufio.Writer) error {
	for k, t := range db.by.Database.Rows {
		if last := k == len(db.by.Database.Rows)-1; !last && !db.has(t.Name) {
			continue
		}
		if err := db.needs(t.Name, t.Needs); err != nil {
			return err
		}
		if whole, err := db.whole(t, id); err != nil {
			return err
		} else if !whole {
			continue
		}
		n := 0
		for row, err := range db.rows(t.Name, t.Session, id, t.Order...) {
			if err != nil {
				return err
			}
			if err := db.unpack(row, t.Packed, t.Unpacked); err != nil {
				return fmt.Errorf("table %s, row %d: %w", t.Name, n+1, err)
			}
			if n++; n == 1 && t.Begins != "" && !strings.HasPrefix(row.text("type"), t.Begins) {
				n = 0
				break
			}
			if _, err := out.Write(db.line(t.Name, row)); err != nil {
				return err
			}
			if p := t.Parts; p != nil {
				if err := db.needs(p.Name, p.Needs); err != nil {
					return err
				}
				for part, err := range db.rows(p.Name, p.Session, row.text("id"), p.Order...) {
					if err != nil {
						return err
					}
					if _, err := out.Write(db.line(p.Name, part)); err != nil {
						return err
					}
				}
			}
		}
		if n > 0 {
			break
		}
	}
	return nil
}

// whole reports whether a table has all of the numbered rows of a session.
func (db *database) whole(t dialect.Table, id string) (bool, error) {
	if t.Sequence == "" || !db.has(t.Sequence) {
		return true, nil
	}
	counted := "SELECT count(*), min([" + t.Order[0] + "]), max([" + t.Order[0] + "]) FROM [" + t.Name + "] WHERE [" +
		t.Session + "] = ?"
	for n, err := range db.query(counted, id) {
		if err != nil {
			return false, err
		}
		count, _ := n.values[0].(int64)
		if count == 0 {
			return true, nil
		}
		for row, err := range db.rows(t.Sequence, t.Session, id) {
			if err != nil {
				return false, err
			}
			last := row.values[slices.Index(row.columns, t.Order[0])]
			return n.values[1] == int64(0) && n.values[2] == last && last == count-1, nil
		}
	}
	return true, nil
}

// line returns a row as a line, valid until the next call. A text that is a JSON object is inserted as it is.
func (db *database) line(table string, r *row) []byte {
	line := append(jsonl.AppendQuoted(append(db.made[:0], `{"table":`...), table), ',')
	for k, v := range r.values {
		if v == nil {
			continue
		}
		line = append(jsonl.AppendQuoted(line, r.columns[k]), ':')
		switch v := v.(type) {
		case int64:
			line = strconv.AppendInt(line, v, 10)
		case float64:
			line = strconv.AppendFloat(line, v, 'g', -1, 64)
		case string:
			line = appendColumn(line, v)
		case []byte:
			line = fmt.Appendf(line, `"%x"`, v)
		default: // a column of times or of booleans
			line = jsonl.AppendQuoted(line, fmt.Sprint(v))
		}
		line = append(line, ',')
	}
	ms := int64(0)
	if db.by.Database.Time != nil {
		line[len(line)-1] = '}'
		ms = db.by.Database.Time(line)
		line[len(line)-1] = ','
	}
	if ms > 0 {
		line = append(append(line, `"timestamp":`...), dialect.Stamp(ms)...)
	} else {
		line = line[:len(line)-1]
	}
	db.made = append(line, "}\n"...)
	return db.made
}

// appendColumn appends a text as JSON: as an object if it is one, else as a string.
func appendColumn(line []byte, text string) []byte {
	begin := len(line)
	line = append(line, text...)
	if v, err := jsonl.ParseValue(line[begin:]); err == nil && v.IsObject() {
		if strings.IndexByte(text, '\n') < 0 {
			return line
		}
		var one bytes.Buffer
		if json.Compact(&one, line[begin:]) == nil {
			return append(line[:begin], one.Bytes()...)
		}
	}
	return jsonl.AppendQuoted(line[:begin], text)
}

// InDatabase passes the sessions of a database to see: the name that opens each, its row as its first line, its
// agent, and whether a sub-agent wrote it.
func InDatabase(disk Disk, file string, see func(name string, row jsonl.Value, by *dialect.Dialect, part bool)) error {
	return atFile(file, disk.withDatabase(file, func(db *database) error {
		d := db.by.Database
		if err := db.needs(d.Sessions, d.Needs); err != nil {
			return err
		}
		for row, err := range db.rows(d.Sessions, "", "") {
			if err != nil {
				return err
			}
			line := jsonl.Value(bytes.Clone(bytes.TrimSuffix(db.line(d.Sessions, row), []byte{'\n'})))
			if by := Sniff(line); by != nil {
				see(filepath.Join(file, row.text(d.ID)), line, by, row.text(d.Parent) != "")
			}
		}
		return nil
	}))
}
