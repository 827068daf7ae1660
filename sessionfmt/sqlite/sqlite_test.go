package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// open opens a database with its log, if there is one.
func open(t testing.TB, name string) *DB {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var wal *bytes.Reader
	if log, err := os.ReadFile(name + "-wal"); err == nil {
		wal = bytes.NewReader(log)
	}
	var db *DB
	if wal == nil {
		db, err = Open(bytes.NewReader(data), int64(len(data)), nil)
	} else {
		db, err = Open(bytes.NewReader(data), int64(len(data)), wal)
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// sqlite3 runs statements in SQLite itself.
func sqlite3(t *testing.T, name, sql string) string {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("left out: no sqlite3")
	}
	cmd := exec.Command("sqlite3", name)
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// shown is a table as sqlite3 shows it in quote mode, for texts and numbers.
func shown(t *testing.T, db *DB, table, column, text, order string) string {
	var b strings.Builder
	for row, err := range db.Rows(table, column, text, order) {
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range row.Values {
			if k > 0 {
				b.WriteByte(',')
			}
			switch v.Type {
			case Null:
				b.WriteString("NULL")
			case Integer:
				fmt.Fprint(&b, v.Int)
			case Real:
				fmt.Fprint(&b, v.Float)
			case Text:
				b.WriteString("'" + string(v.Text) + "'")
			case Blob:
				fmt.Fprintf(&b, "X'%x'", v.Text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const rows = `create table "e" (id text primary key, [of] text not null, seq integer, data, CONSTRAINT c CHECK (seq >= -9e9));
with recursive n(k) as (select 1 union all select k+1 from n where k < 3000)
insert into e select 'id'||k, 'a'||(k%7), (k*7919)%3001 - 1500, case k%5 when 0 then k%2 when 1 then replace(hex(zeroblob(k)),'00','xyz') when 2 then null when 3 then x'00ff' else (k-1500)*k*k*k*k end from n;
`

// TestRows holds what is read to what SQLite itself reads: values of all types and sizes, by an
// index and without one, with small pages and large ones.
func TestRows(t *testing.T) {
	for _, setup := range []string{"pragma page_size=512;", "pragma page_size=65536;", "pragma auto_vacuum=1;"} {
		for _, index := range []string{"", "create index i on e([of], seq);", "create index i on e([of], seq) where seq > 0;"} {
			name := filepath.Join(t.TempDir(), "x.db")
			sqlite3(t, name, setup+rows+index)
			db := open(t, name)
			for _, of := range []string{"a0", "a3", "nothing"} {
				want := sqlite3(t, name, ".mode quote\nselect * from e where [of]='"+of+"' order by seq;")
				if got := shown(t, db, "e", "of", of, "seq"); got != want {
					t.Errorf("%s%s %s: %d bytes, want %d", setup, index, of, len(got), len(want))
				}
			}
			if got, want := shown(t, db, "e", "", "", ""), sqlite3(t, name, ".mode quote\nselect * from e order by rowid;"); got != want {
				t.Errorf("%s%s: %d bytes, want %d", setup, index, len(got), len(want))
			}
		}
	}
}

// TestLog: a log is read up to its last commit, whatever follows, and without one the database
// is what was there before.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	name, copied := filepath.Join(dir, "x.db"), filepath.Join(dir, "y.db")
	sqlite3(t, name, "pragma journal_mode=wal; pragma wal_autocheckpoint=0; create table e(id, seq); insert into e values('a',1);\npragma wal_checkpoint(truncate); insert into e values('b',2); begin; insert into e values('c',3); commit; update e set id='A' where id='a';\n.shell cp "+name+" "+copied+"; cp "+name+"-wal "+copied+"-wal\n")
	if got, want := shown(t, open(t, copied), "e", "", "", ""), "'A',1\n'b',2\n'c',3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	log, err := os.ReadFile(copied + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for _, wal := range [][]byte{log[:len(log)-1], append(bytes.Clone(log[:len(log)-1]), 'x')} {
		os.WriteFile(copied+"-wal", wal, 0o600)
		if got, want := shown(t, open(t, copied), "e", "", "", ""), "'a',1\n'b',2\n'c',3\n"; got != want {
			t.Errorf("cut: got %q, want %q", got, want)
		}
	}
	os.Remove(copied + "-wal")
	if got := shown(t, open(t, copied), "e", "", "", ""); got != "'a',1\n" {
		t.Errorf("without log: %q", got)
	}
}

// TestColumns: as statements spell them.
func TestColumns(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE TABLE `a` (\n `id` text PRIMARY KEY,\n \"b c\" integer DEFAULT (1,2),\n [d] x, CONSTRAINT `f` FOREIGN KEY (`id`) REFERENCES z(`q`), e TEXT DEFAULT ',)')": "id|b c|d|e",
		"create index i on t(a, b desc)": "a|b", "": "", "create table t(a": "", "create table t(,)": "",
	} {
		if got := strings.Join(columns(sql), "|"); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// FuzzDamage: no damage makes it panic or run on.
func FuzzDamage(f *testing.F) {
	name := filepath.Join(f.TempDir(), "x.db")
	cmd := exec.Command("sqlite3", name)
	cmd.Stdin = strings.NewReader("pragma page_size=512; create table e(id text, seq integer, data); create index i on e(id, seq); with recursive n(k) as (select 1 union all select k+1 from n where k < 60) insert into e select 'a', k, hex(zeroblob(k*9)) from n;")
	if cmd.Run() == nil {
		data, _ := os.ReadFile(name)
		f.Add(data, uint16(0), uint16(0))
		f.Add(data, uint16(513), uint16(0xff))
	}
	f.Add([]byte(Magic), uint16(0), uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, at, to uint16) {
		data = bytes.Clone(data)
		if int(at) < len(data) {
			data[at] ^= byte(to)
		}
		db, err := Open(bytes.NewReader(data), int64(len(data)), bytes.NewReader(data))
		if err != nil {
			if db, err = Open(bytes.NewReader(data), int64(len(data)), nil); err != nil {
				return
			}
		}
		for _, o := range db.schema {
			for range db.Rows(o.name, "id", "a", "seq") {
			}
			for range db.Rows(o.name, "", "", "") {
			}
		}
	})
}

// TestReal: sqlite3 rounds what it shows of numbers, so that one is read here.
func TestReal(t *testing.T) {
	values, err := decode([]byte{3, 7, 8, 0xbf, 0xe4, 0, 0, 0, 0, 0, 0})
	if err != nil || len(values) != 2 || values[0].Type != Real || values[0].Float != -0.625 || values[1].Type != Integer {
		t.Error(values, err)
	}
}
