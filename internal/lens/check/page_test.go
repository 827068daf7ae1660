package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
)

// TestPages holds docs/checks to the table: a page for each check, which begins with
// what its row says, and one that lists them.
func TestPages(t *testing.T) {
	const dir = "../../../docs/checks"
	want := map[string]bool{"README.md": true, "pages.go": true}
	var list strings.Builder
	list.WriteString("# Checks\n\nWhat `ctxtool check` looks for. `ctxtool check --explain CODE` prints a page; `--only` and `--skip` take codes and groups.\n\nA session of another agent is checked too, and never written to: where a page names a command that writes, import the session first, with `ctxtool import SESSION -o FILE`. The report says what a broken line of it hides.\n")
	for _, g := range Groups() {
		fmt.Fprintf(&list, "\n## %s\n\n%s.\n\n| code | severity | what | fix |\n|---|---|---|---|\n", g.Name, capital(g.About))
		for _, c := range All() {
			if c.Group == g.Name {
				fmt.Fprintf(&list, "| [%s](%s.md) | %s | %s | %s |\n", c.Code, c.Code, c.Severity, c.Title, c.shortFix())
			}
		}
	}
	golden.Equal(t, filepath.Join(dir, "README.md"), []byte(list.String()))
	for _, c := range All() {
		want[c.Code+".md"] = true
		file := filepath.Join(dir, c.Code+".md")
		page, _ := os.ReadFile(file) // none of a new check, before its first -update
		_, text, _ := strings.Cut(string(page), "\n\nSeverity: ")
		_, text, _ = strings.Cut(text, "\n")
		head := fmt.Sprintf("# %s\n\n%s.\n\n%s\n", c.Code, capital(c.Title), c.head())
		golden.Equal(t, file, []byte(head+text))
	}
	files := must.Get(os.ReadDir(dir))
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
	for _, c := range All() {
		known := false
		for _, g := range Groups() {
			known = known || g.Name == c.Group
		}
		if !known || seen[c.Code] || c.Title == "" || c.About() == "" || c.Help() == "" {
			t.Errorf("%s: group %q, seen %v, or something to say is missing", c.Code, c.Group, seen[c.Code])
		}
		seen[c.Code] = true
	}
	for _, c := range All() {
		if (c.Fix() == repairs) != (c.mend != 0) {
			t.Errorf("%s: repair fixes it, or says so, and not both", c.Code)
		}
	}
}

// TestRules: each rule of a provider belongs to a check of the group provider.
func TestRules(t *testing.T) {
	for _, r := range rules {
		if c := Find(r.code); c == nil || c.Group != "provider" || r.find == nil {
			t.Errorf("%s: %s", r.code, r.quote)
		}
	}
}

// capital is a sentence with a capital first letter.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
