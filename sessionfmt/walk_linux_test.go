package sessionfmt

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"ctxtool/internal/test/must"
)

// TestWalkClosed: a folder that cannot be read is left out and reported, and the files beside it
// are visited.
func TestWalkClosed(t *testing.T) {
	dir := t.TempDir()
	must.Do(os.Chmod(filepath.Dir(dir), 0o755)) // for the other user below
	closed := filepath.Join(dir, "closed")
	must.Do(os.Mkdir(closed, 0o700))
	for _, name := range []string{"a.jsonl", "z.jsonl", "closed/b.jsonl"} {
		must.Do(os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	must.Do(os.Chmod(closed, 0))
	defer os.Chmod(closed, 0o700) // or only root could remove it
	var seen, skipped []string
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine, and so does its user
		if os.Geteuid() == 0 { // who may read everything
			must.Do(syscall.Setfsuid(65534))
		}
		disk := Disk{Skipped: func(name string, mode fs.FileMode) { skipped = append(skipped, mode.String()+" "+name) }}
		done <- disk.Walk(dir, func(name string, _ fs.DirEntry) { seen = append(seen, filepath.Base(name)) })
	}()
	if err := <-done; err != nil || !slices.Equal(seen, []string{"a.jsonl", "z.jsonl"}) || !slices.Equal(skipped, []string{fs.ModeDir.String() + " " + closed}) {
		t.Errorf("%v, seen %q, skipped %q", err, seen, skipped)
	}
}
