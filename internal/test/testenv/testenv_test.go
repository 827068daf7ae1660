package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLeftOut: what tests leave out is appended to the file that the gate names, and only a test
// that needs it is skipped.
func TestLeftOut(t *testing.T) {
	name := filepath.Join(t.TempDir(), "left-out")
	t.Setenv(record, name)
	skipped := func(test func(t *testing.T)) (skipped bool) {
		t.Run("part", func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			test(t)
		})
		return skipped
	}
	if skipped(func(t *testing.T) { Shared(t, "none/*.jsonl") }) {
		t.Error("a test that leaves out a part is skipped")
	}
	if !skipped(func(t *testing.T) { NeedShared(t, "none/a", "none/b") }) {
		t.Error("a test without what it needs is not skipped")
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := "./internal/test/testenv TestLeftOut/part: no ../shared/none/*.jsonl\n" +
		"./internal/test/testenv TestLeftOut/part#01: no ../shared/none/a\n" +
		"./internal/test/testenv TestLeftOut/part#01: no ../shared/none/b\n"
	if string(got) != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}
