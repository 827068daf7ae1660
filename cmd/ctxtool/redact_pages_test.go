package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// TestStoreRedactedNames holds that with --redact no page is called after a secret, and
// that none takes the place of another.
func TestStoreRedactedNames(t *testing.T) {
	t.Parallel()
	session := must.Get(os.ReadFile(filepath.Join(corpus.Root(t), "testdata", "sessions", "good", "bash.jsonl")))
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "pages")
	secrets := []string{"ghp" + "_ujOeHwdFcAefAZhnM6Jy8c1rihtYlKNxHddm", "ghp" + "_Qm4TzR8wLp2VxK9cYb7NsJd3HfGa6EuXo1Wi"}
	for _, secret := range secrets {
		must.Do(os.WriteFile(filepath.Join(dir, "s "+secret+".jsonl"), session, 0o666))
	}
	if r := ranIn("", "render", dir, "-f", "html", "--redact", "-o", out); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, &r.stderr)
	}
	pages := must.Get(os.ReadDir(out))
	if len(pages) != 3 {
		t.Errorf("%d files, want two pages and the index", len(pages))
	}
	for _, page := range pages {
		for _, secret := range secrets {
			if strings.Contains(page.Name(), secret) {
				t.Errorf("a page is called %s", page.Name())
			}
		}
	}
}
