package keep_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctxtool/internal/read/keep"
	"ctxtool/internal/test/gen/tables"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	_ "ctxtool/sessionfmt/sqlite"
)

// A bed is a store, and an archive of it.
type bed struct {
	t    *testing.T
	from string
	keep.Archive
}

func newBed(t *testing.T) *bed {
	return &bed{t, t.TempDir(), keep.Archive{Dir: filepath.Join(t.TempDir(), "archive")}}
}

func (b *bed) write(name, text string) {
	must.Do(os.WriteFile(filepath.Join(b.from, name), []byte(text), 0o600))
}

// holds copies a file, and holds what it was to the archive.
func (b *bed) holds(name, state string) keep.Copy {
	b.t.Helper()
	file := filepath.Join(b.from, name)
	c, err := b.Keep(keep.File{Name: file, Place: filepath.Join("x", name), Database: sessionfmt.IsDatabase(b.Disk, file)})
	if err != nil || c.State != state {
		b.t.Fatalf("%s: %q, %v; want %q", name, c.State, err, state)
	}
	return c
}

// kept returns what a copy holds.
func (b *bed) kept(name string) string {
	b.t.Helper()
	c, err := b.Disk.OpenContent(filepath.Join(b.Dir, "x", name))
	if err != nil {
		b.t.Fatal(err)
	}
	defer c.Close()
	return string(must.Get(io.ReadAll(c)))
}

// TestStates: what was appended to is copied in place of the older state; what has lost something leaves it.
func TestStates(t *testing.T) {
	b := newBed(t)
	long := strings.Repeat("a line\n", 50_000)
	b.write("s.jsonl", long)
	b.holds("s.jsonl", keep.New)
	b.holds("s.jsonl", keep.Unchanged)
	b.write("s.jsonl", long+"more\n")
	if c := b.holds("s.jsonl", keep.Grown); c.Older != "" || c.Size != int64(len(long)+5) || c.Packed == 0 {
		t.Errorf("%+v", c)
	}
	b.write("s.jsonl", long)
	if c := b.holds("s.jsonl", keep.Rewritten); filepath.Base(c.Older) != "s.jsonl.zst.orig-1" {
		t.Errorf("%+v", c)
	}
	if b.kept("s.jsonl.zst") != long || b.kept("s.jsonl.zst.orig-1") != long+"more\n" {
		t.Error("the states are others")
	}
	b.write("s.jsonl", "b"+long[1:])
	if c := b.holds("s.jsonl", keep.Rewritten); filepath.Base(c.Older) != "s.jsonl.zst.orig-2" {
		t.Errorf("a file of the same size: %+v", c)
	}
	info := must.Get(os.Stat(filepath.Join(b.Dir, "x", "s.jsonl.zst")))
	if own := must.Get(os.Stat(filepath.Join(b.from, "s.jsonl"))); !info.ModTime().Equal(own.ModTime()) || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy is of %v with mode %v", info.ModTime(), info.Mode())
	}
}

// TestChanges: any change counts, also one that keeps size and time, if it is near the end.
func TestChanges(t *testing.T) {
	b := newBed(t)
	file := filepath.Join(b.from, "s.jsonl")
	at := time.Unix(1767225600, 5)
	set := func(text string, at time.Time) {
		b.write("s.jsonl", text)
		must.Do(os.Chtimes(file, at, at))
	}
	set("abc\n", at)
	b.holds("s.jsonl", keep.New)
	set("abd\n", at)
	b.holds("s.jsonl", keep.Rewritten)
	set("abd\n", at.Add(time.Second)) // touched
	b.holds("s.jsonl", keep.Unchanged)
	if got := must.Get(os.Stat(filepath.Join(b.Dir, "x", "s.jsonl.zst"))).ModTime(); !got.Equal(at.Add(time.Second)) {
		t.Errorf("a touched file is copied with the time %v", got)
	}
	set("", at)
	b.holds("s.jsonl", keep.Rewritten)
	b.holds("s.jsonl", keep.Unchanged)
}

// TestPacked: an agent may pack a session that is kept, and others may have done it with gzip.
func TestPacked(t *testing.T) {
	b := newBed(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("one\ntwo\n"))
	must.Do(z.Close())
	b.write("s.jsonl", "one\n")
	b.holds("s.jsonl", keep.New)
	b.write("s.jsonl.gz", packed.String())
	b.holds("s.jsonl.gz", keep.Grown)
	if b.kept("s.jsonl.zst") != "one\ntwo\n" {
		t.Error("it is not what was packed")
	}
	b.write("s.jsonl.gz", packed.String()[:packed.Len()-3])
	if _, err := b.Keep(keep.File{Name: filepath.Join(b.from, "s.jsonl.gz"), Place: "x/s.jsonl.gz"}); err == nil {
		t.Error("a damaged file is copied")
	}
}

// TestDocuments: an agent writes a document again each time. It has grown if it has all entries still.
func TestDocuments(t *testing.T) {
	b := newBed(t)
	document := func(updated string, ids ...string) {
		text := `{"sessionId":"s1","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"` + updated + `","messages":[`
		for k, id := range ids {
			if k > 0 {
				text += ","
			}
			text += `{"id":"` + id + `","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":"` + id + `"}`
		}
		b.write("session-1.json", text+"]}")
	}
	document("1", "a")
	b.holds("session-1.json", keep.New)
	document("2", "a", "b")
	b.holds("session-1.json", keep.Grown)
	document("3", "a", "c")
	b.holds("session-1.json", keep.Rewritten)
	s, err := sessionfmt.Open(filepath.Join(b.Dir, "x", "session-1.json.zst"), sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Find("c") < 0 || s.Dialect() == nil {
		t.Error("the copy is not read as the document is")
	}
}

// TestDatabases: a copy of a database has what is in its log, and its sessions are read as they are. It has
// lost something when it has fewer rows.
func TestDatabases(t *testing.T) {
	b := newBed(t)
	const name = "opencode.db"
	session := `{"table":"session","id":"ses_1","directory":"/x","version":"1.2.0","title":"t","time_created":1,"time_updated":1}` + "\n"
	message := func(id string) string {
		return `{"table":"message","id":"` + id + `","session_id":"ses_1","time_created":1,"time_updated":1,"data":{"role":"user","time":{"created":1}}}` + "\n"
	}
	part := `{"table":"part","id":"p1","message_id":"m1","session_id":"ses_1","time_created":1,"time_updated":1,"data":{"type":"text","text":"hello there"}}` + "\n"
	fill := func(lines ...string) func() error {
		for _, end := range []string{"", "-wal", "-shm"} {
			os.Remove(filepath.Join(b.from, name+end))
		}
		return must.Get(tables.Database(filepath.Join(b.from, name), []byte(strings.Join(lines, "")), true))
	}
	done := fill(session, message("m1"), part)
	b.holds(name, keep.New) // all of it is in the log
	b.holds(name, keep.Unchanged)
	must.Do(done())
	for _, in := range []string{filepath.Join(b.from, name), filepath.Join(b.Dir, "x", name+".zst")} {
		s, err := sessionfmt.Open(filepath.Join(in, "ses_1"), sessionfmt.Options{})
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if s.Len() < 2 {
			t.Errorf("%s has %d records", in, s.Len())
		}
		s.Close()
	}
	must.Do(fill(session, message("m1"), part, message("m2"))())
	b.holds(name, keep.Grown)
	must.Do(fill(session, message("m1"), part)())
	b.holds(name, keep.Rewritten)
	if got := b.kept(name + ".zst"); !strings.HasPrefix(got, "SQLite format 3\x00") {
		t.Error("the copy is no database")
	}
}

// TestDamagedCopy: a copy that cannot be read stays, and the file is copied again.
func TestDamagedCopy(t *testing.T) {
	b := newBed(t)
	b.write("s.jsonl", strings.Repeat("abc\n", 10_000))
	b.holds("s.jsonl", keep.New)
	file := filepath.Join(b.Dir, "x", "s.jsonl.zst")
	data := must.Get(os.ReadFile(file))
	damaged := slices.Concat(data[:len(data)/3], []byte("????"))
	must.Do(os.WriteFile(file, damaged, 0o600))
	c := b.holds("s.jsonl", keep.Rewritten)
	if got := must.Get(os.ReadFile(c.Older)); !bytes.Equal(got, damaged) || len(b.kept("s.jsonl.zst")) != 40_000 {
		t.Error("the damaged copy is another one, or the new one")
	}
}

// TestFullDisk: a copy that cannot be written leaves the earlier one, and no file.
func TestFullDisk(t *testing.T) {
	b := newBed(t)
	b.write("s.jsonl", "one\n")
	b.holds("s.jsonl", keep.New)
	b.write("s.jsonl", "one\ntwo\n")
	b.Disk.Sync = func(*os.File) error { return syscall.ENOSPC }
	_, err := b.Keep(keep.File{Name: filepath.Join(b.from, "s.jsonl"), Place: "x/s.jsonl"})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if left := must.Get(os.ReadDir(filepath.Join(b.Dir, "x"))); len(left) != 1 || b.kept("s.jsonl.zst") != "one\n" {
		t.Errorf("%v", left)
	}
}

// TestDry: nothing is written.
func TestDry(t *testing.T) {
	b := newBed(t)
	b.Dry = true
	b.write("s.jsonl", "one\n")
	b.holds("s.jsonl", keep.New)
	if _, err := os.Stat(b.Dir); err == nil {
		t.Error("there is an archive")
	}
}
