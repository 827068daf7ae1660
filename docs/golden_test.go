package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

var (
	testStart = regexp.MustCompile(`^func Test(\w+)\(`)
	writes    = regexp.MustCompile(`\bgolden\.(Equal|Lines)\(|\bsamples\.Hold\(|UpdateScripts:|if \*update\b`)
)

// TestGoldenTarget: make golden runs the tests that write files, and no others. Those of internal/test are
// written by targets of their own.
func TestGoldenTarget(t *testing.T) {
	_, list, _ := strings.Cut(string(must.Get(os.ReadFile("../Makefile"))), "\nWRITES := ")
	list, _, _ = strings.Cut(list, "\n")
	var want []string
	must.Do(filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && filepath.ToSlash(name) == "../internal/test" {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		test := ""
		for line := range strings.Lines(string(must.Get(os.ReadFile(name)))) {
			if m := testStart.FindStringSubmatch(line); m != nil {
				test = m[1]
			}
			if test != "" && writes.MatchString(line) && !slices.Contains(want, test) {
				want = append(want, test)
			}
		}
		return nil
	}))
	slices.Sort(want)
	if got := strings.Split(list, "|"); !slices.Equal(got, want) {
		t.Errorf("WRITES in the Makefile is\n%v\nand tests that write are\n%v", got, want)
	}
}
