// Package golden compares the output of tests with files under testdata, and rewrites the files
// under go test -update.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Update reports whether golden files are to be rewritten.
var Update = flag.Bool("update", false, "rewrite golden files and generated pages")

// Equal fails the test if got differs from the named file.
func Equal(t *testing.T, name string, got []byte) {
	t.Helper()
	if *Update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v: go test -update writes it", err)
	}
	if bytes.Equal(got, want) {
		return
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	line := 0
	for line < min(len(a), len(b))-1 && a[line] == b[line] {
		line++
	}
	t.Errorf("%s, line %d: go test -update rewrites it\n got %q\nwant %q", name, line+1, a[line], b[line])
}
