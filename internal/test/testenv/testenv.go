// Package testenv gives tests what not every machine has, such as the files of ../shared, and
// records what they leave out without it.
package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// record names the environment variable with the file to which LeftOut appends. The gate sets it,
// since go test prints nothing of tests that pass; its new name makes go test run cached tests again.
const record = "CTXTOOL_LEFT_OUT"

// Root returns the project's folder.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

// LeftOut records that this machine lacks something, and the test a part without it.
func LeftOut(t testing.TB, lacks string, args ...any) {
	t.Helper()
	lacks = fmt.Sprintf(lacks, args...)
	t.Log("left out: " + lacks)
	name := os.Getenv(record)
	if name == "" {
		return
	}
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.Rel(Root(t), dir)
	}
	f, openErr := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil || openErr != nil {
		t.Fatalf("cannot record what is left out: %v %v", err, openErr)
	}
	fmt.Fprintf(f, "./%s %s: %s\n", filepath.ToSlash(dir), t.Name(), lacks)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Skip skips a test that this machine lacks something for, and records it.
func Skip(t testing.TB, lacks string, args ...any) {
	t.Helper()
	LeftOut(t, lacks, args...)
	t.SkipNow()
}

// Shared returns the files and folders of ../shared that match patterns, such as "corpus/*.jsonl".
// Each pattern without a match is left out.
func Shared(t testing.TB, patterns ...string) (all []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(Root(t), "..", "shared", pattern))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			LeftOut(t, "no ../shared/%s", pattern)
		}
		all = append(all, found...)
	}
	return all
}

// NeedShared returns what Shared does, and skips the test if there is nothing.
func NeedShared(t testing.TB, patterns ...string) []string {
	t.Helper()
	all := Shared(t, patterns...)
	if len(all) == 0 {
		t.SkipNow()
	}
	return all
}
