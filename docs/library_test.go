package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// TestLibrary builds and runs the program of library.md in a module of its own, offline:
// it prints what the page says.
func TestLibrary(t *testing.T) {
	page := must.Get(os.ReadFile("library.md"))
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```\n\nWith `(demo\\.jsonl)` it prints\n\n```\n(.*?)```").FindSubmatch(page)
	if blocks == nil {
		t.Fatal("library.md has no program, or does not say what it prints")
	}
	program, session, want := string(blocks[1]), string(blocks[2]), string(blocks[3])
	if n := strings.Count(program, "\n"); n > 45 {
		t.Errorf("the program has %d lines, over 45", n)
	}
	root := must.Get(filepath.Abs(".."))
	sums := must.Get(os.ReadFile("../go.sum"))
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": program,
		"go.sum":  string(sums),
		"go.mod":  "module example\n\ngo 1.26.0\n\nrequire ctxtool v0.0.0\n\nreplace ctxtool => " + root + "\n",
	} {
		must.Do(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	run := exec.Command("go", "run", ".", filepath.Join(root, "testdata", "sessions", session))
	run.Dir = dir
	run.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	var failed strings.Builder
	run.Stderr = &failed
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, failed.String())
	}
	if *update {
		must.Do(os.WriteFile("library.md", []byte(strings.Replace(string(page), want, string(out), 1)), 0o644))
	} else if string(out) != want {
		t.Errorf("it prints\n%s", out)
	}
}
