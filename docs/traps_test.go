package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

var (
	trapTest   = regexp.MustCompile(`^TestTrap`)
	trapOfTest = regexp.MustCompile(`^TestTrap([TN]\d+)[A-Z]`)
	trapNumber = regexp.MustCompile(`^[TN]\d+$`)
	heldBy     = regexp.MustCompile("`([^`]+)`")
	notOurs    = regexp.MustCompile(`^does not apply: \w`)
	issue      = regexp.MustCompile(`\bissue \d`)
)

// TestTableOfTraps: the table has a row for every trap, in order; a row names the
// tests that hold its trap, all of them and no others; where none does, it says why
// the trap does not apply.
func TestTableOfTraps(t *testing.T) {
	text := must.Get(os.ReadFile("traps.md"))
	holding := trapTests(t)
	var rows []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		trap := cells[0]
		if len(cells) != 3 || !trapNumber.MatchString(trap) {
			continue
		}
		rows = append(rows, trap)
		var named []string
		for _, m := range heldBy.FindAllStringSubmatch(cells[2], -1) {
			named = append(named, m[1])
		}
		slices.Sort(named)
		if !slices.Equal(named, holding[trap]) {
			t.Errorf("%s: the table names %q, the tests that hold it are %q", trap, named, holding[trap])
		}
		if len(named) == 0 && !notOurs.MatchString(cells[2]) {
			t.Errorf("%s: nothing holds it: %s", trap, cells[2])
		}
		if issue.MatchString(cells[2]) {
			t.Errorf("%s: an issue holds nothing: %s", trap, cells[2])
		}
	}
	var want []string
	for k := 1; k <= 55; k++ {
		want = append(want, fmt.Sprintf("T%d", k))
	}
	for k := 1; k <= 40; k++ {
		want = append(want, fmt.Sprintf("N%d", k))
	}
	if !slices.Equal(rows, want) {
		t.Errorf("rows %q, want each trap once, in order", rows)
	}
}

// trapTests returns the tests of each trap, sorted, as `go test -run` takes
// them after the package: one that has it in its name, or in a table of its own.
func trapTests(t *testing.T) map[string][]string {
	t.Helper()
	holding := map[string][]string{}
	for dir, files := range testFiles() {
		tables := map[string][]string{} // by variable of the package
		for _, f := range files {
			for _, spec := range packageVars(f) {
				for _, name := range spec.Names {
					tables[name.Name] = trapsIn(spec, nil)
				}
			}
		}
		for _, f := range files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || !trapTest.MatchString(fn.Name.Name) {
					continue
				}
				test := filepath.Base(dir) + "." + fn.Name.Name
				traps := trapsIn(fn, tables)
				for _, trap := range traps {
					holding[trap] = append(holding[trap], test+"/"+trap)
				}
				if m := trapOfTest.FindStringSubmatch(fn.Name.Name); m != nil {
					holding[m[1]] = append(holding[m[1]], test)
				} else if len(traps) == 0 {
					t.Errorf("%s holds no trap", test)
				}
			}
		}
	}
	for _, tests := range holding {
		slices.Sort(tests)
	}
	return holding
}

// trapsIn are the traps that a piece of code names, itself or by a table.
func trapsIn(n ast.Node, tables map[string][]string) (traps []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			traps = append(traps, tables[n.Name]...)
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && trapNumber.MatchString(s) {
				traps = append(traps, s)
			}
		}
		return true
	})
	slices.Sort(traps)
	return slices.Compact(traps)
}

func packageVars(f *ast.File) (specs []*ast.ValueSpec) {
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				specs = append(specs, s.(*ast.ValueSpec))
			}
		}
	}
	return specs
}

// testFiles are the module's test files by folder.
func testFiles() map[string][]*ast.File {
	files := map[string][]*ast.File{}
	must.Do(filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		files[filepath.Dir(path)] = append(files[filepath.Dir(path)], f)
		return err
	}))
	return files
}
