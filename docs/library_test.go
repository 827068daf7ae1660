package docs_test

import (
	"cmp"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
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
	ours := strings.TrimSuffix(module, "/")
	root := must.Get(filepath.Abs(".."))
	sums := must.Get(os.ReadFile("../go.sum"))
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": program,
		"go.sum":  string(sums),
		"go.mod":  "module example\n\ngo 1.26.0\n\nrequire " + ours + " v0.0.0\n\nreplace " + ours + " => " + root + "\n",
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

// TestModule: make module gives the module another path, in a copy, in which each import then leads somewhere; with
// CTXTOOL_WHOLE it is built and vetted too.
func TestModule(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		testenv.Skip(t, "make, to give the module another path")
	}
	dir, whole := t.TempDir(), os.Getenv("CTXTOOL_WHOLE") != ""
	must.Do(filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == ".git" {
			return cmp.Or(err, fs.SkipDir)
		}
		if !whole && !d.IsDir() && strings.Contains(name, "testdata") && filepath.Ext(name) != ".mjs" { // which are embedded
			return nil
		}
		to := filepath.Join(dir, strings.TrimPrefix(filepath.ToSlash(name), "../"))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		return os.WriteFile(to, must.Get(os.ReadFile(name)), 0o644)
	}))
	const path = "example.org/you/ctxtool"
	commands := [][]string{{"make", "-s", "module", "MODULE=" + path}, {"go", "list", "-deps", "-test", "-mod=readonly", "./..."}}
	if whole {
		commands = append(commands, []string{"go", "build", "./..."}, []string{"go", "vet", "./..."})
	}
	var packages []byte
	for k, command := range commands {
		run := exec.Command(command[0], command[1:]...)
		run.Dir, run.Env = dir, append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOPROXY=off", "GOWORK=off")
		out, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
		}
		if k == 1 {
			packages = out
		}
	}
	if strings.Contains("\n"+string(packages), "\n"+module) || !strings.Contains(string(packages), path+"/replay\n") {
		t.Errorf("not all packages have the new path:\n%s", packages)
	}
	if text := string(must.Get(os.ReadFile(filepath.Join(dir, "docs/library.md")))); !strings.Contains(text, path+"/replay\"") {
		t.Error("docs/library.md imports the old path")
	}
}
