package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A held trap names tests as `package.TestName`.
var testName = regexp.MustCompile("`([a-z]+)\\.(Test\\w+)`")

// TestTrapTable: every trap of the specs has its row, and what a row names holds
// it.
func TestTrapTable(t *testing.T) {
	text, err := os.ReadFile("traps.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for k := 1; k <= 55; k++ {
		want[fmt.Sprintf("T%d", k)] = true
	}
	for k := 1; k <= 40; k++ {
		want[fmt.Sprintf("N%d", k)] = true
	}
	tests := map[string]map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, " | ")
		name := strings.TrimPrefix(cells[0], "| ")
		if len(cells) != 3 || name == "trap" {
			continue
		}
		if !want[name] {
			t.Errorf("%s: no such trap, or a second row", name)
		}
		delete(want, name)
		held := testName.FindAllStringSubmatch(cells[2], -1)
		if len(held) == 0 && !strings.Contains(cells[2], "issue ") && !strings.Contains(cells[2], "does not apply: ") {
			t.Errorf("%s: nothing holds it", name)
		}
		for _, m := range held {
			if tests[m[1]] == nil {
				tests[m[1]] = testBodies(t, m[1])
			}
			body, ok := tests[m[1]][m[2]]
			if !ok {
				t.Errorf("%s: there is no %s.%s", name, m[1], m[2])
			}
			// A table names its traps; a test of one trap has it in its name.
			as := name
			if _, other, ok := strings.Cut(cells[2], " as "); ok {
				as, _, _ = strings.Cut(other, ";")
			}
			if !strings.Contains(body, `"`+as+`"`) && !strings.Contains(m[2], "Trap"+as) {
				t.Errorf("%s: %s.%s does not name it", name, m[1], m[2])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		t.Errorf("%s has no row", name)
	}
}

// testBodies maps the tests of a package to their text. The tables that a test
// ranges over, which stand outside of it, count to all of them.
func testBodies(t *testing.T, pkg string) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	var tables strings.Builder
	files, err := filepath.Glob("../" + pkg + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			body := string(src[fset.Position(d.Pos()).Offset:fset.Position(d.End()).Offset])
			if f, ok := d.(*ast.FuncDecl); ok {
				bodies[f.Name.Name] = body
			} else {
				tables.WriteString(body)
			}
		}
	}
	for name := range bodies {
		if name == "TestTraps" {
			bodies[name] += tables.String()
		}
	}
	return bodies
}
