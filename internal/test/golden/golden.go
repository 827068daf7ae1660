// Package golden compares the output of tests with files under testdata, and rewrites the files
// under go test -update.
package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// Lines is Equal for lines, such as the figures of each sample: a package that has such a file notices a change in
// itself, where its rules are tested by others.
func Lines(t *testing.T, name string, lines []string) {
	t.Helper()
	Equal(t, name, []byte(strings.Join(lines, "\n")+"\n"))
}

// Digest returns the beginning of the hash of a value as JSON, for a line that would be too long with the value.
func Digest(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:4])
}
