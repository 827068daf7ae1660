package check

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ctxtool/internal/test/must"
)

// TestFreshTail: a tail that was torn just now may still be growing, and is nothing
// to fail on; a little later it is damage.
func TestFreshTail(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(os.WriteFile(name, []byte(called+`{"type":"message","id":"x","par`), 0o600))
	choice := must.Get(Choose(nil, nil))
	written := time.Now()
	must.Do(os.Chtimes(name, written, written))
	for after, want := range map[time.Duration]Severity{time.Second: Info, freshly + time.Second: Error} {
		r := File(name, Options{Choice: choice, Now: written.Add(after)})
		if worst, any := r.Worst(); !any || worst != want {
			t.Errorf("%s after it was written: %v, want %s", after, r.Findings, want)
		}
	}
}
