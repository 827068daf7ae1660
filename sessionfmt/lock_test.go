package sessionfmt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctxtool/internal/test/must"
)

// touch makes an empty file in a folder of its own.
func touch(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	must.Do(os.WriteFile(file, nil, 0o600))
	return file
}

// onlyFiles checks that a folder holds those files and no others.
func onlyFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	left := must.Get(os.ReadDir(dir))
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if fmt.Sprint(names) != fmt.Sprint(want) {
		t.Errorf("the folder holds %q, want %q", names, want)
	}
}

// holder starts a process that holds the lock of file.
func holder(t *testing.T, file string) *child {
	t.Helper()
	c := start(t, "hold", file)
	if line, err := c.out.ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return c
}

// TestLockNamesItsHolder: who cannot get a lock is told who has it, and gets it
// when that process lets go.
func TestLockNamesItsHolder(t *testing.T) {
	file := touch(t, "s.jsonl")
	other := holder(t, file)
	start := time.Now()
	unlock, err := (Disk{}).Lock(file, "ctxtool label", 50*time.Millisecond)
	if unlock != nil || !errors.Is(err, ErrLocked) {
		t.Fatalf("locked twice: %v", err)
	}
	if took := time.Since(start); took < 50*time.Millisecond {
		t.Errorf("gave up after %v", took)
	}
	host, _ := os.Hostname()
	want := fmt.Sprintf(`^%s: locked by ctxtool hold \(pid %d on %s\) since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`,
		regexp.QuoteMeta(file), other.Process.Pid, regexp.QuoteMeta(host))
	if !regexp.MustCompile(want).MatchString(err.Error()) {
		t.Errorf("says %q, want %s", err, want)
	}
	var at *Error
	if !errors.As(err, &at) || at.Hint == "" {
		t.Error("no hint")
	}
	other.in.Close()
	if unlock, err = (Disk{}).Lock(file, "ctxtool label", 10*time.Second); err != nil {
		t.Fatal(err)
	}
	unlock()
	onlyFiles(t, filepath.Dir(file), "s.jsonl")
}

// TestLockOfTheDead: a killed process leaves no lock, only its file, which goes with
// the next one to lock; a shorter name there leaves nothing of the longer one.
func TestLockOfTheDead(t *testing.T) {
	file := touch(t, "s.jsonl")
	holder(t, file).kill()
	onlyFiles(t, filepath.Dir(file), ".s.jsonl.lock", "s.jsonl")
	unlock := must.Get((Disk{}).Lock(file, "me", 10*time.Second))
	want := fmt.Sprintf("me (pid %d on ", os.Getpid())
	if got := readHolder(filepath.Join(filepath.Dir(file), ".s.jsonl.lock")); got[:len(want)] != want {
		t.Errorf("held by %q, want %q...", got, want)
	}
	unlock()
	onlyFiles(t, filepath.Dir(file), "s.jsonl")
}

// TestLockBehindLinks: two names of one file have one lock.
func TestLockBehindLinks(t *testing.T) {
	file := touch(t, "s.jsonl")
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(file, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	unlock := must.Get((Disk{}).Lock(link, "me", 0))
	if _, err := (Disk{}).Lock(file, "me", 0); !errors.Is(err, ErrLocked) {
		t.Errorf("locked under its other name too: %v", err)
	}
	unlock()
	os.Remove(file)
	if _, err := (Disk{}).Lock(link, "me", 0); !errors.Is(err, errDangling) {
		t.Errorf("a dangling symlink: %v", err)
	}
}

// TestLockUnreadable: what stands in a lock's file can be anything, and is shown
// without harm.
func TestLockUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nobody else can write to a locked file here")
	}
	file := touch(t, "s.jsonl")
	unlock := must.Get((Disk{}).Lock(file, "me", 0))
	defer unlock()
	for text, want := range map[string]string{
		"":               "another process",
		"\x00no end":     "another process",
		"\x00\x1b[2Ja\n": "\uFFFD[2Ja",
	} {
		must.Do(os.WriteFile(filepath.Join(filepath.Dir(file), ".s.jsonl.lock"), []byte(text), 0o600))
		if _, err := (Disk{}).Lock(file, "me", 0); err == nil || err.Error() != file+": locked by "+want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestLockOneAtATime: of many who want a lock one has it, whatever becomes of the
// lock's file in between.
func TestLockOneAtATime(t *testing.T) {
	file := touch(t, "s.jsonl")
	var inside, turns atomic.Int32
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for range 10 {
				unlock, err := (Disk{}).Lock(file, "me", time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two hold it")
				}
				turns.Add(1)
				runtime.Gosched()
				inside.Add(-1)
				unlock()
			}
		})
	}
	wg.Wait()
	if turns.Load() != 500 {
		t.Errorf("%d turns, want 500", turns.Load())
	}
	onlyFiles(t, filepath.Dir(file), "s.jsonl")
}

// TestLockPlanted: what somebody else has put where a lock belongs is neither written to nor
// removed, whatever it leads to, and nobody waits for the other end of a pipe.
func TestLockPlanted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out: only privileged users can make links")
	}
	for kind, plant := range map[string]func(other, lock string) error{
		"symbolic link": os.Symlink,
		"dangling link": func(_, lock string) error { return os.Symlink("nowhere", lock) },
		"hard link":     os.Link,
		"pipe":          func(_, lock string) error { return makePipe(lock) },
		"folder":        func(_, lock string) error { return os.Mkdir(lock, 0o700) },
	} {
		file := touch(t, "s.jsonl")
		other, lock := filepath.Join(t.TempDir(), "precious"), filepath.Join(filepath.Dir(file), ".s.jsonl.lock")
		must.Do(os.WriteFile(other, []byte(strings.Repeat("precious ", 20)), 0o600))
		must.Do(plant(other, lock))
		_, err := (Disk{}).Lock(file, "me", 0)
		if want := file + ": its lock .s.jsonl.lock: must be a regular file with one name"; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", kind, err, want)
		}
		if readHolder(lock) != "another process" {
			t.Errorf("%s: its text is told", kind)
		}
		if got := must.Get(os.ReadFile(other)); string(got) != strings.Repeat("precious ", 20) {
			t.Errorf("%s: the other file is now %q", kind, got)
		}
		onlyFiles(t, filepath.Dir(file), ".s.jsonl.lock", "s.jsonl")
	}
}

// TestLockIsAsPrivateAsItsSession: nobody reads the lock who may not read the session.
func TestLockIsAsPrivateAsItsSession(t *testing.T) {
	file := touch(t, "s.jsonl")
	unlock := must.Get((Disk{}).Lock(file, "me", 0))
	defer unlock()
	if mode := must.Get(os.Stat(filepath.Join(filepath.Dir(file), ".s.jsonl.lock"))).Mode().Perm(); mode != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("mode %v, want 0600", mode)
	}
}
