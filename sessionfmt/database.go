package sessionfmt

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/sqlite"
)

// A database is one with the sessions of an agent.
type database struct {
	*sqlite.DB
	by   *dialect.Dialect
	name string
}

// inDatabase splits the name of a session in a database, DATABASE/ID. id is empty for any other
// name.
func inDatabase(disk Disk, name string) (file, id string) {
	file, id = filepath.Split(name)
	if file = filepath.Clean(file); id == "" {
		return name, ""
	}
	if info, err := disk.Stat(file); err != nil || !info.Mode().IsRegular() {
		return name, ""
	}
	return file, id
}

func (s *source) isDatabase() bool {
	var magic [len(sqlite.Magic)]byte
	return readFullAt(s.bytes, magic[:], 0) == nil && string(magic[:]) == sqlite.Magic
}

// mostTries is how often a database is read that is written to meanwhile.
const mostTries = 3

// rows returns a session of a database as lines, spooled like the content of a compressed file.
// The database and its write-ahead log are only read, and not locked: what a checkpoint changes
// meanwhile is noticed by the time of the file and the beginning of the log.
func (s *source) rows(disk Disk, file, id string) (lines *source, err error) {
	for try := 0; ; try++ {
		again := false
		err = s.withDatabase(disk, file, func(db *database) (err error) {
			if lines, err = db.session(id); err == nil {
				again = db.changed(disk, s)
			}
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case !again:
			return lines, nil
		}
		lines.close()
		if try == mostTries {
			return nil, &Error{Err: errors.New("the database is being written to"), Hint: "try again, or copy it together with its -wal file"}
		}
	}
}

// withDatabase opens a database for the time of a function.
func (s *source) withDatabase(disk Disk, file string, do func(db *database) error) error {
	if j, err := disk.ReadFile(file + "-journal"); err == nil && len(bytes.Trim(j[:min(len(j), 8)], "\x00")) > 0 {
		return &Error{Err: errors.New("the database is locked: a transaction in its -journal file is not finished"), Hint: "let the agent finish, or start it once more"}
	}
	var wal io.ReaderAt
	if log, err := disk.Open(file + "-wal"); err == nil {
		defer log.Close()
		wal = log
	} else if !errors.Is(err, os.ErrNotExist) {
		return plainPathError(err)
	}
	opened, err := sqlite.Open(s.bytes, s.size, wal)
	if err != nil {
		return err
	}
	for _, d := range dialects {
		if d.Database != nil && opened.Has(d.Database.Sessions) {
			return do(&database{opened, d, file})
		}
	}
	return &Error{Err: errors.New("a database without sessions of a known agent"), Hint: ErrNotSession.Error()}
}

// changed reports whether the database is another one than when it was opened.
func (db *database) changed(disk Disk, s *source) bool {
	info, err := disk.Stat(db.name)
	return s.info != nil && (err != nil || info.Size() != s.info.Size() || !info.ModTime().Equal(s.info.ModTime())) || !db.LogStands()
}

// session returns the lines of a session. An id is not needed if there is only one.
func (db *database) session(id string) (*source, error) {
	var found *sqlite.Row
	n := 0
	for row, err := range db.Rows(db.by.Database.Sessions, "", "", "") {
		if err != nil {
			return nil, err
		}
		if n++; id == "" && n == 1 || id != "" && string(row.Get("id").Text) == id {
			found = row
		}
	}
	switch {
	case id == "" && n > 1:
		return nil, &Error{Err: fmt.Errorf("a database of %d sessions", n), Hint: "name one by its id: ctxtool ls " + Quote(db.name) + " lists them"}
	case found == nil:
		return nil, &Error{Err: fmt.Errorf("the database has no session %s", Quote(id)), Hint: "ctxtool ls " + Quote(db.name) + " lists its sessions"}
	}
	return spool(plain, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, readAhead)
		out.Write(db.line(db.by.Database.Sessions, found))
		err := db.lines(string(found.Get("id").Text), out)
		return errors.Join(err, out.Flush())
	})
}

// lines writes the rows of a session.
func (db *database) lines(id string, out *bufio.Writer) error {
	for _, t := range db.by.Database.Rows {
		if !db.Has(t.Name) {
			continue
		}
		n := 0
		for row, err := range db.Rows(t.Name, t.Session, id, t.Order) {
			if err != nil {
				return err
			}
			if n++; n == 1 && t.Begins != "" && !bytes.HasPrefix(row.Get("type").Text, []byte(t.Begins)) {
				n = 0
				break
			}
			out.Write(db.line(t.Name, row))
			if p := t.Parts; p != nil {
				for part, err := range db.Rows(p.Name, p.Session, string(row.Get("id").Text), p.Order) {
					if err != nil {
						return err
					}
					out.Write(db.line(p.Name, part))
				}
			}
		}
		if n > 0 {
			break
		}
	}
	return nil
}

// line is a row as a line. A text that is a JSON object stands as it is.
func (db *database) line(table string, row *sqlite.Row) []byte {
	line := append(jsonl.AppendQuoted([]byte(`{"table":`), table), ',')
	for k, v := range row.Values[:min(len(row.Values), len(row.Columns))] {
		if v.Type == sqlite.Null {
			continue
		}
		line = append(jsonl.AppendQuoted(line, row.Columns[k]), ':')
		switch v.Type {
		case sqlite.Integer:
			line = strconv.AppendInt(line, v.Int, 10)
		case sqlite.Real:
			line = strconv.AppendFloat(line, v.Float, 'g', -1, 64)
		case sqlite.Text:
			line = appendColumn(line, v.Text)
		default:
			line = fmt.Appendf(line, `"%x"`, v.Text)
		}
		line = append(line, ',')
	}
	ms := int64(0)
	if db.by.Database.Time != nil {
		ms = db.by.Database.Time(append(bytes.Clone(line[:len(line)-1]), '}'))
	}
	if ms > 0 {
		line = time.UnixMilli(ms).UTC().AppendFormat(append(line, `"timestamp":"`...), "2006-01-02T15:04:05.000Z07:00\"")
	} else {
		line = line[:len(line)-1]
	}
	return append(line, "}\n"...)
}

// appendColumn appends a text, or the object that it is.
func appendColumn(line, text []byte) []byte {
	if v, err := jsonl.ParseValue(text); err == nil && v.IsObject() {
		if bytes.IndexByte(text, '\n') < 0 {
			return append(line, text...)
		}
		var one bytes.Buffer
		if json.Compact(&one, text) == nil {
			return append(line, one.Bytes()...)
		}
	}
	return jsonl.AppendQuoted(line, string(text))
}

// InDatabase passes the sessions of a database to see: the name with which each is opened, its
// row as its first line, its agent, and whether it is that of a sub-agent. It reports whether
// the file is a database.
func InDatabase(disk Disk, file string, see func(name string, row jsonl.Value, by *dialect.Dialect, part bool)) (is bool, err error) {
	src, err := openBytes(file, nil, disk)
	if err != nil {
		return false, nil
	}
	defer src.close()
	if !src.isDatabase() {
		return false, nil
	}
	err = src.withDatabase(disk, file, func(db *database) error {
		d := db.by.Database
		for row, err := range db.Rows(d.Sessions, "", "", "") {
			if err != nil {
				return err
			}
			line := jsonl.Value(bytes.TrimSuffix(db.line(d.Sessions, row), []byte{'\n'}))
			see(filepath.Join(file, string(row.Get("id").Text)), line, Sniff(line), len(row.Get(d.Parent).Text) > 0)
		}
		return nil
	})
	if err != nil {
		err = inFile(file, err)
	}
	return true, err
}
