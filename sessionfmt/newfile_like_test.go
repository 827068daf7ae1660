package sessionfmt_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// TestLike: a new file grants others no more than the file that it is like, in another folder too.
func TestLike(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out: files have no modes there")
	}
	private := filepath.Join(t.TempDir(), "a.jsonl")
	must.Do(os.WriteFile(private, []byte("{}\n"), 0o600))
	name := filepath.Join(t.TempDir(), "b.jsonl")
	f := must.Get(sessionfmt.Disk{}.Create(name))
	f.Like(must.Get(os.Stat(private)))
	must.Do(f.Commit())
	if mode := must.Get(os.Stat(name)).Mode().Perm(); mode != 0o600 {
		t.Errorf("mode %o", mode)
	}
}
