//go:build unix

package main

import (
	"bytes"
	"os"
	"testing"

	"ctxtool/internal/test/must"
)

func TestMain(m *testing.M) {
	if launching() {
		launch()
		return
	}
	os.Exit(m.Run())
}

// TestPeakMemory: the peak of a command is its own, whatever the bench holds.
func TestPeakMemory(t *testing.T) {
	held := bytes.Repeat([]byte{1}, 128<<20)
	for _, test := range []struct {
		name       string
		args       []string
		least, top int64 // MB
	}{
		{"small", []string{"true"}, 0, 16},
		{"large", []string{"sh", "-c", "x=$(head -c 40000000 /dev/zero | tr '\\0' x)"}, 40, 127},
	} {
		f := must.Get(launched(test.args))
		if mb := f.memory / 1e6; mb < test.least || mb > test.top {
			t.Errorf("%s: a peak of %d MB, want %d to %d", test.name, mb, test.least, test.top)
		}
		if f.wall <= 0 {
			t.Errorf("%s: took %v", test.name, f.wall)
		}
	}
	if _, err := launched([]string{"sh", "-c", "exit 2"}); err == nil {
		t.Error("a command that fails has a figure")
	}
	if held[0] != 1 {
		t.Fatal("unreachable: keeps held alive")
	}
}
