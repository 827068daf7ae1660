package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// besideTestenv are ways to read ../shared, or to skip a test for what a machine lacks, that nothing records.
var besideTestenv = regexp.MustCompile(`"(\.\./)+shared\b|"\.\.", "shared"|\bt\.Skipf?\("left out: no [^-]`)

// TestTestenv: tests read ../shared, and leave out what a machine lacks, through internal/test/testenv alone,
// which records what they leave out: the gate prints it.
func TestTestenv(t *testing.T) {
	must.Do(filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.Contains(name, "/testenv") {
			return err
		}
		for _, found := range besideTestenv.FindAllString(string(must.Get(os.ReadFile(name))), -1) {
			t.Errorf("%s has %s: testenv.Shared, testenv.NeedShared and testenv.Skip record what is left out", name, found)
		}
		return nil
	}))
	for _, bad := range []string{`filepath.Glob("../../shared/corpus/*")`, `Join(root, "..", "shared")`, `t.Skip("left out: no node")`} {
		if !besideTestenv.MatchString(bad) {
			t.Errorf("%s is not found", bad)
		}
	}
}
