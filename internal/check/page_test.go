package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/golden"
)

// TestPages holds docs/checks to the table: a page for each check, and one that
// lists them.
func TestPages(t *testing.T) {
	const dir = "../../docs/checks"
	want := map[string]bool{"README.md": true}
	var list strings.Builder
	list.WriteString("# Checks\n\nWhat `ctxtool check` looks for. `ctxtool check --explain CODE` prints a page; `--only` and `--skip` take codes and groups.\n")
	for _, g := range Groups {
		fmt.Fprintf(&list, "\n## %s\n\n%s.\n\n| code | severity | what |\n|---|---|---|\n", g.Name, capital(g.About))
		for _, c := range checks {
			if c.Group == g.Name {
				fmt.Fprintf(&list, "| [%s](%s.md) | %s | %s |\n", c.Code, c.Code, c.Severity, c.Title)
			}
		}
	}
	golden.Equal(t, filepath.Join(dir, "README.md"), []byte(list.String()))
	for _, c := range checks {
		want[c.Code+".md"] = true
		golden.Equal(t, filepath.Join(dir, c.Code+".md"), []byte(c.Page()))
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] {
			t.Errorf("%s is the page of no check", f.Name())
		}
	}
}

// TestTable: each check has a group that is listed, a page that says something,
// and a code of its own.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range checks {
		known := false
		for _, g := range Groups {
			known = known || g.Name == c.Group
		}
		if !known || seen[c.Code] || c.Title == "" || c.About == "" || c.Help == "" {
			t.Errorf("%s: group %q, seen %v, or something to say is missing", c.Code, c.Group, seen[c.Code])
		}
		seen[c.Code] = true
		if file := "check_" + strings.ReplaceAll(c.Code, "-", "_") + ".go"; !exists(file) {
			t.Errorf("%s has no file %s", c.Code, file)
		}
	}
	for _, code := range mends {
		if !seen[code] {
			t.Errorf("repair mends %s, which is no check", code)
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
