package terminal

import (
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// TestInterruptsRest: without a temporary file nobody waits for signals.
func TestInterruptsRest(t *testing.T) {
	x := &Interrupts{}
	d := sessionfmt.Disk{Dir: t.TempDir(), Temporary: x.Note}
	a := must.Get(d.Create("a"))
	b := must.Get(d.Create("b"))
	if len(x.files) != 2 || x.signals == nil {
		t.Errorf("%d files", len(x.files))
	}
	a.Abort()
	if x.signals == nil {
		t.Error("nobody waits, and there is a file")
	}
	must.Do(b.Commit())
	if len(x.files) != 0 || x.signals != nil {
		t.Errorf("%d files, and somebody waits", len(x.files))
	}
}
