package sessionfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"ctxtool/internal/test/must"
)

// A memFile is a file in memory that fails where it is told to.
type memFile struct {
	data      []byte
	room      int    // bytes that can be written before the disk is full
	silent    bool   // a write that is cut short says nothing
	foreign   string // what somebody else appends right after a write
	syncs     int
	badSyncs  []bool // of each sync, whether it fails
	badCut    error
	truncated bool
}

type memInfo struct {
	os.FileInfo
	size int64
}

func (i memInfo) Size() int64 { return i.size }

func (f *memFile) Stat() (os.FileInfo, error) { return memInfo{size: int64(len(f.data))}, nil }

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(f.data).ReadAt(p, off)
}

func (f *memFile) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	f.data = append(append(f.data, p[:n]...), f.foreign...)
	if n < len(p) && !f.silent {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (f *memFile) Truncate(size int64) error {
	if f.badCut == nil {
		f.data, f.truncated = f.data[:size], true
	}
	return f.badCut
}

func (f *memFile) Sync() error {
	f.syncs++
	if len(f.badSyncs) >= f.syncs && f.badSyncs[f.syncs-1] {
		return syscall.EIO
	}
	return nil
}

// bases are sessions to append to: plain, with a broken last line, with lines that
// end as on Windows, with something after its leaf, and with a long one.
var bases = map[string]string{
	"plain":  base,
	"broken": base + `{"type":"message","id":"cc","par` + "\n",
	"crlf":   strings.ReplaceAll(base, "\n", "\r\n"),
	"blank":  base + "null\n17\n\n \n",
	"long":   base + strings.NewReplacer("bb", "cc", "aa", "bb", `"B"`, `"`+strings.Repeat("é", 20<<10)+`"`).Replace(baseB),
}

// loads checks that a file that was base, and now has more after it, holds all
// entries of base as they were, and that what is after is whole entries of the
// batch, in order, or is reported.
func loads(t *testing.T, before *Session, base string, b *Batch, more string) {
	t.Helper()
	after := read(t, base+more)
	defer after.Close()
	was, is := before.NewReader(), after.NewReader()
	for i := range before.Len() {
		x, err := was.Raw(i)
		y, err2 := is.Raw(i)
		if err != nil || err2 != nil || !bytes.Equal(x, y) || after.ID(i) != before.ID(i) || after.Parent(i) != before.Parent(i) {
			t.Fatalf("%q appended: record %d was %.80q, is %.80q; %v, %v", more, i, x, y, err, err2)
		}
	}
	whole := strings.Count(more, "\n")
	open := !strings.HasSuffix(base+more, "\n")
	reported := ""
	for _, f := range after.Findings {
		if f.Line == after.Coverage.Lines && (f.Code == "torn" || f.Code == "unterminated") {
			reported = f.Code
		}
	}
	if reported == "unterminated" {
		whole++
	}
	if open != (reported != "") {
		t.Fatalf("%q appended: the unfinished line is reported as %q", more, reported)
	}
	if n := after.Len() - before.Len(); n != whole {
		t.Fatalf("%q appended: %d new records, want %d", more, n, whole)
	}
	for i, parent := before.Len(), before.Leaf(); i < after.Len(); i++ {
		if !b.names.given[after.ID(i)] || after.Parent(i) != parent {
			t.Fatalf("%q appended: record %d is %q below %d, want one of the batch below %d", more, i, after.ID(i), after.Parent(i), parent)
		}
		parent = i
	}
	torn := after.refuseTail()
	if errors.Is(torn, ErrTorn) != open {
		t.Fatalf("%q appended: %v", more, torn)
	}
	if at := fmt.Sprintf("at offset %d:", len(base)+strings.LastIndex(more, "\n")+1); open && !strings.Contains(torn.Error(), at) {
		t.Fatalf("%q appended: %v, want it %s", more, torn, at)
	}
}

// TestAppendFailsAtEveryByte: wherever a disk is full, breaks, or the process ends,
// all that was there loads, and the error says what has become of the new bytes.
func TestAppendFailsAtEveryByte(t *testing.T) {
	for name, base := range bases {
		t.Run(name, func(t *testing.T) {
			before := read(t, base)
			b := mark(before, before.Leaf())
			lines, start := string(b.Lines()), int64(len(base))
			run := func(f *memFile) error {
				f.data = []byte(base)
				return appendTo(f, start, b.lines)
			}
			loads(t, before, base, b, "")
			for n := range len(lines) {
				f := &memFile{room: n}
				expect(t, run(f), f, base, "unchanged", syscall.ENOSPC)
				f = &memFile{room: n, silent: true}
				expect(t, run(f), f, base, "unchanged", io.ErrShortWrite)

				cut := base + lines[:n]
				if n > 0 {
					f = &memFile{room: n, badCut: syscall.EPERM}
					expect(t, run(f), f, cut, fmt.Sprintf("torn tail at offset %d", start), syscall.ENOSPC, syscall.EPERM, ErrTorn)
					f = &memFile{room: n, badSyncs: []bool{true}}
					expect(t, run(f), f, base, fmt.Sprintf("torn tail at offset %d", start), syscall.ENOSPC, syscall.EIO, ErrTorn)
				}
				f = &memFile{room: n, foreign: "{}\n"}
				expect(t, run(f), f, cut+"{}\n", "another process", syscall.ENOSPC, ErrTorn)
				if f.truncated {
					t.Fatal("another writer's bytes were cut off")
				}
				loads(t, before, base, b, lines[:n]) // also what is left when the process ends here
			}
			loads(t, before, base, b, lines)

			f := &memFile{room: len(lines), badSyncs: []bool{true}}
			expect(t, run(f), f, base, "unchanged", syscall.EIO)
			if f.syncs != 2 {
				t.Errorf("%d syncs, want one of the entries and one of the cut", f.syncs)
			}
			f = &memFile{room: len(lines), badSyncs: []bool{true}, badCut: syscall.EPERM}
			expect(t, run(f), f, base+lines, "torn tail", syscall.EIO, syscall.EPERM)
			f = &memFile{room: len(lines)}
			if err := run(f); err != nil || string(f.data) != base+lines || f.syncs != 1 {
				t.Errorf("a sound disk: %v, %d syncs", err, f.syncs)
			}
		})
	}
}

// expect checks an append that failed: what the file holds, what the error says and
// is, and that it has a hint.
func expect(t *testing.T, err error, f *memFile, content, says string, is ...error) {
	t.Helper()
	if string(f.data) != content {
		t.Fatalf("the file has %d bytes, want %d: %v", len(f.data), len(content), err)
	}
	var at *Error
	if !errors.As(err, &at) || at.Hint == "" || !strings.Contains(err.Error(), says) {
		t.Fatalf("says %v, want %q and a hint", err, says)
	}
	for _, target := range is {
		if !errors.Is(err, target) {
			t.Fatalf("%v: is not %v", err, target)
		}
	}
}

// TestAppend: a batch is at the end of the file, byte for byte, and the leaf is its
// last entry; below any entry, or none, and through a link.
func TestAppend(t *testing.T) {
	for name, base := range bases {
		for _, parent := range []int{-1, 1, 2} {
			s := file(t, base)
			b := mark(s, parent)
			if err := s.Append(b, AppendOptions{}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			holds(t, s.Name, base+string(b.Lines()))
			onlyFiles(t, strings.TrimSuffix(s.Name, "s.jsonl"), "s.jsonl")
			after := reopen(t, s.Name)
			if path, _ := after.Path(after.Leaf()); len(path) != max(parent, 0)+2 || after.ID(after.Leaf()) != b.leaf {
				t.Errorf("%s: below %d the path is %d", name, parent, path)
			}
		}
	}
	s := file(t, base)
	if err := os.Symlink(s.Name, s.Name+".link"); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	linked := reopen(t, s.Name+".link")
	b := mark(linked, linked.Leaf())
	must.Do(linked.Append(b, AppendOptions{}))
	holds(t, s.Name, base+string(b.Lines()))
	if err := s.Append(s.NewBatch(-1, batchTime), AppendOptions{}); err != nil {
		t.Errorf("nothing to append: %v", err)
	}
	err := s.Append(mark(s, 1), AppendOptions{})
	if want := fmt.Sprintf("%s: has changed since it was read: it is %d bytes longer", s.Name, len(b.Lines())); !errors.Is(err, ErrChanged) || err.Error() != want {
		t.Errorf("appended to through another name: %v, want %s", err, want)
	}
}
