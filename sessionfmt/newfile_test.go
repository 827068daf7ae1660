package sessionfmt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/must"
)

// begun begins a file and writes text to it.
func begun(t *testing.T, name, text string) *NewFile {
	t.Helper()
	f := must.Get(Disk{}.Create(name))
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return f
}

func holds(t *testing.T, name, want string) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
	}
}

// put writes a file that a test starts from.
func put(name, text string, mode fs.FileMode) {
	must.Do(os.WriteFile(name, []byte(text), mode))
	must.Do(os.Chmod(name, mode))
}

// TestCommit: a file appears when it is committed, not before, and keeps the mode
// of the one it replaces.
func TestCommit(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "new")
	f := begun(t, name, "text")
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there before it is committed: %v", err)
	}
	must.Do(f.Commit())
	f.Abort()
	holds(t, name, "text")
	for _, mode := range []fs.FileMode{0o600, 0o666, 0o444} {
		old := filepath.Join(dir, fmt.Sprint(mode))
		put(old, "old", mode)
		f := begun(t, old, "text")
		holds(t, old, "old")
		must.Do(f.Commit())
		holds(t, old, "text")
		if info, err := os.Stat(old); err != nil || info.Mode() != mode && runtime.GOOS != "windows" {
			t.Errorf("mode %v, %v; want %v", info.Mode(), err, mode)
		}
		os.Remove(old)
	}
	onlyFiles(t, dir, "new")
}

// TestAbort: what is not committed leaves nothing after, and nothing changed.
func TestAbort(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	put(old, "old", 0o600)
	begun(t, old, "text").Abort()
	begun(t, filepath.Join(dir, "new"), "text").Abort()
	holds(t, old, "old")
	onlyFiles(t, dir, "old")
}

// TestCreateRefuses: only regular files are replaced.
func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	must.Do(os.Symlink(dir, filepath.Join(dir, "folder")))
	for name, want := range map[string]error{
		dir:                                errNotRegular,
		filepath.Join(dir, "folder"):       errNotRegular,
		os.DevNull:                         errNotRegular,
		filepath.Join(dir, "dangling"):     errDangling,
		filepath.Join(dir, "none", "file"): fs.ErrNotExist,
	} {
		f, err := Disk{}.Create(name)
		var at *Error
		if f != nil || !errors.Is(err, want) || !errors.As(err, &at) || at.Pos.File != name {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	onlyFiles(t, dir, "dangling", "folder")
}

// TestCommitBehindLinks: the file after a link is replaced, the link stays.
func TestCommitBehindLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(other, "link")
	put(file, "old", 0o640)
	if err := os.Symlink(file, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	kept, err := begun(t, link, "text").CommitKeeping()
	if err != nil || kept != file+".orig-1" {
		t.Fatalf("kept as %q, %v", kept, err)
	}
	holds(t, file, "text")
	holds(t, kept, "old")
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	onlyFiles(t, other, "link")
}

// TestCommitKeeping: what was there is kept under the next free number, whatever
// took the others; where nothing was, nothing is kept.
func TestCommitKeeping(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "s")
	if kept, err := begun(t, file, "0").CommitKeeping(); kept != "" || err != nil {
		t.Fatalf("kept %q, %v", kept, err)
	}
	must.Do(os.Mkdir(file+".orig-2", 0o700))
	for k, want := range []string{"s.orig-1", "s.orig-3", "s.orig-4"} {
		before := must.Get(os.Stat(file))
		kept, err := begun(t, file, fmt.Sprint(k+1)).CommitKeeping()
		if err != nil || filepath.Base(kept) != want {
			t.Fatalf("kept as %q, %v; want %s", kept, err, want)
		}
		holds(t, file, fmt.Sprint(k+1))
		holds(t, kept, fmt.Sprint(k))
		if after, err := os.Stat(kept); err != nil || !os.SameFile(before, after) {
			t.Errorf("what is kept is not the file that was there: %v", err)
		}
	}
	if free := (Disk{}).FreeName(file, "quarantine"); free != file+".quarantine-1" {
		t.Errorf("free is %s", free)
	}
	if free := (Disk{}).FreeName(file, "orig"); free != file+".orig-5" {
		t.Errorf("free is %s", free)
	}
}

// TestCopyKeeps: where there are no links a copy is kept, and overwrites nothing.
func TestCopyKeeps(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	put(from, "text", 0o666) // more than a umask allows
	synced := 0
	disk := Disk{Sync: func(f *os.File) error { synced++; return f.Sync() }}
	if err := disk.copyFile(to, from); err != nil || synced != 1 {
		t.Fatalf("%v, synced %d times", err, synced)
	}
	holds(t, to, "text")
	a, _ := os.Stat(from)
	if b, err := os.Stat(to); err != nil || b.Mode() != a.Mode() || !b.ModTime().Equal(a.ModTime()) {
		t.Errorf("mode %v and time %v, %v; want %v, %v", b.Mode(), b.ModTime(), err, a.Mode(), a.ModTime())
	}
	put(from, "other", 0o640)
	if err := (Disk{}).copyFile(to, from); !errors.Is(err, fs.ErrExist) {
		t.Errorf("copied over a file: %v", err)
	}
	holds(t, to, "text")
}

// TestCommitFails: a rename that fails leaves what was there, under one name.
func TestCommitFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "s")
	put(file, "old", 0o600)
	for _, commit := range []func(*NewFile) error{
		(*NewFile).Commit,
		func(f *NewFile) error { _, err := f.CommitKeeping(); return err },
	} {
		f := begun(t, file, "text")
		if err := os.Remove(f.temp.Name()); err != nil {
			t.Skip("an open file cannot be removed here:", err)
		}
		var at *Error
		if err := commit(f); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &at) || at.Pos.File != file {
			t.Errorf("commits without its file: %v", err)
		}
		holds(t, file, "old")
		onlyFiles(t, dir, "s")
	}
	f := begun(t, file, "text") // a write that fails
	f.temp.Close()
	if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("commits what could not be written: %v", err)
	}
	holds(t, file, "old")
	onlyFiles(t, dir, "s")
}

// TestSweep: a temporary file of a process that was killed goes with the next one for the same file,
// and no other.
func TestSweep(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing is swept here")
	}
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{".s.jsonl.0123abcd", ".s.jsonl.89abcdef", ".s.jsonl.notes", ".t.jsonl.0123abcd", ".s.jsonl.00000000", "ctxtool-12.db", "ctxtool-12.db-wal", "ctxtool-12.txt"} {
		must.Do(os.WriteFile(filepath.Join(dir, name), []byte("a part"), 0o600))
		must.Do(os.Chtimes(filepath.Join(dir, name), old, old))
	}
	must.Do(os.Chtimes(filepath.Join(dir, ".s.jsonl.00000000"), time.Now(), time.Now()))
	held := must.Get(os.Open(filepath.Join(dir, ".s.jsonl.89abcdef")))
	defer held.Close()
	if !hold(held) {
		t.Skip("no locks here")
	}
	f := must.Get((Disk{Dir: dir}).Create("s.jsonl"))
	must.Do(f.Commit())
	onlyFiles(t, dir, ".s.jsonl.00000000", ".s.jsonl.89abcdef", ".s.jsonl.notes", ".t.jsonl.0123abcd", "ctxtool-12.db", "ctxtool-12.db-wal", "ctxtool-12.txt", "s.jsonl")
	sweep(dir, "ctxtool-", justCopied)
	onlyFiles(t, dir, ".s.jsonl.00000000", ".s.jsonl.89abcdef", ".s.jsonl.notes", ".t.jsonl.0123abcd", "ctxtool-12.txt", "s.jsonl")
}

// TestPrivateAndOwned: what is written beside a session is no more open than it, and a file that is
// replaced stays its owner's.
func TestPrivateAndOwned(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	dir := t.TempDir()
	disk := Disk{Dir: dir}
	must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), nil, 0o600))
	write := func(name string, of ...string) os.FileInfo {
		f := must.Get(disk.Create(name, of...))
		must.Do(f.Commit())
		return must.Get(disk.Stat(name))
	}
	if mode := write("out.jsonl", "s.jsonl").Mode().Perm(); mode != 0o600 {
		t.Errorf("beside a session with 0600: %v", mode)
	}
	if mode := write("out2.jsonl").Mode().Perm(); mode&0o600 != 0o600 {
		t.Errorf("of nothing: %v", mode)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	must.Do(os.Chown(filepath.Join(dir, "s.jsonl"), 1234, 2345))
	before := must.Get(disk.Stat("s.jsonl"))
	after := write("s.jsonl")
	if got := fmt.Sprint(ownerOf(after)); got != fmt.Sprint(ownerOf(before)) || after.Mode() != before.Mode() || os.SameFile(before, after) {
		t.Errorf("replaced: owner and mode %s %v", got, after.Mode())
	}
}

// TestOwnerNotKept: a process that may not give files away says whose a file becomes, and opens it
// no further to the group that it has now.
func TestOwnerNotKept(t *testing.T) {
	if dir := os.Getenv("CTXTOOL_TEST_OWNED"); dir != "" { // the other user's process
		taken := ""
		disk := Disk{Dir: dir, Taken: func(name string) { taken = name }}
		must.Do(must.Get(disk.Create("s.jsonl")).Commit())
		info := must.Get(disk.Stat("s.jsonl"))
		fmt.Printf("taken %s %v %v\n", taken, ownerOf(info), info.Mode().Perm())
		return
	}
	dir := must.Get(os.MkdirTemp("", "owned")) // that of t, and that of the program, are for their user only
	defer os.RemoveAll(dir)
	must.Do(os.Chmod(dir, 0o777))
	program := filepath.Join(dir, "program")
	cmd := exec.Command(program, "-test.run=^TestOwnerNotKept$")
	if os.Getuid() != 0 || !asUser(cmd, 4321) {
		t.Skip("only root can be another user")
	}
	must.Do(os.WriteFile(program, must.Get(os.ReadFile(must.Get(os.Executable()))), 0o755))
	must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), nil, 0o600))
	must.Do(os.Chmod(filepath.Join(dir, "s.jsonl"), 0o664))
	must.Do(os.Chown(filepath.Join(dir, "s.jsonl"), 1234, 2345))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CTXTOOL_TEST_OWNED="+dir)
	out, err := cmd.CombinedOutput()
	if want := "taken s.jsonl [4321 4321] -rw-r--r--\n"; err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
}
