package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// numbers are the words for numbers from ten on, as far as the documents need them.
var numbers = strings.Fields("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty")

// TestAgentsListed: what people write of agents names each dialect.
func TestAgentsListed(t *testing.T) {
	for _, list := range []string{"../sessionfmt/dialect/reading.go", "session-format.md"} {
		text := strings.ToLower(string(must.Get(os.ReadFile(list))))
		for _, d := range sessionfmt.Dialects() {
			if !strings.Contains(text, d.Name) {
				t.Errorf("%s does not name %s", list, d.Name)
			}
		}
	}
}

// TestGuideCounted: the README counts the pages of the guide correctly.
func TestGuideCounted(t *testing.T) {
	pages := must.Get(filepath.Glob("guide/*.md"))
	n := len(pages) - 1 // without its own README
	if n < 10 || n-10 >= len(numbers) {
		t.Fatalf("%d pages: add their word to numbers", n)
	}
	want := fmt.Sprintf("(docs/guide/README.md): %s tasks", numbers[n-10])
	if !strings.Contains(string(must.Get(os.ReadFile("../README.md"))), want) {
		t.Errorf("the guide has %d pages: the README must have %q", n, want)
	}
}

// TestPackagesListed: design.md lists the packages of the program. Dialects share one line, and so do tests.
func TestPackagesListed(t *testing.T) {
	_, listing, _ := strings.Cut(string(must.Get(os.ReadFile("design.md"))), "## Layers\n\n```\n")
	listing, _, _ = strings.Cut(listing, "\n```\n")
	listed := map[string]bool{}
	for _, word := range strings.Fields(listing) {
		listed[path.Base(word)] = true
	}
	skipped := []string{"test", "testdata", "dialect"} // below them is nothing that is listed
	must.Do(filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || name == ".." {
			return err
		}
		base := d.Name()
		if strings.HasPrefix(base, ".") || base == "docs" || base == "findings" {
			return fs.SkipDir
		}
		files, _ := filepath.Glob(filepath.Join(name, "*.go"))
		files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
		if len(files) > 0 && !listed[base] {
			t.Errorf("docs/design.md does not list the package %s", filepath.ToSlash(name)[3:])
		}
		if slices.Contains(skipped, base) {
			return fs.SkipDir
		}
		return nil
	}))
}
