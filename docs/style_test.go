package docs_test

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/test/must"
)

const (
	widestLine  = 120                              // columns, where a tab takes four
	mostWide    = 60                               // lines that are wider; raw strings are among them
	longestFile = 470                              // lines
	rowsOfRules = "../internal/lens/redact/table_" // tables with a rule in a line
	fewComments = 16                               // comments in a hundred lines of public packages, blank lines aside
)

// TestStyle: code that is not a test's can be read without scrolling to the right, the header of an
// if assigns what its condition is about, and public packages say why.
func TestStyle(t *testing.T) {
	t.Parallel()
	wide := 0
	public := map[bool]int{} // lines, by whether they are comments
	must.Do(filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, lines := must.Get(os.Open(name)), 0
		defer file.Close()
		for in := bufio.NewScanner(file); in.Scan(); {
			lines++
			text := strings.ReplaceAll(in.Text(), "\t", "    ")
			if n := utf8.RuneCountInString(text); n > widestLine && !strings.HasPrefix(name, rowsOfRules) {
				wide++
				t.Logf("%s:%d: %d columns, at most %d", name, lines, n, widestLine)
			}
			inside := strings.HasPrefix(name, "../internal/") || strings.HasPrefix(name, "../cmd/")
			if text = strings.TrimSpace(text); text != "" && !inside {
				public[strings.Contains(text, "// ")]++
			}
		}
		if lines > longestFile {
			t.Errorf("%s: %d lines, at most %d", name, lines, longestFile)
		}
		unrelated(t, name)
		return nil
	}))
	if wide > mostWide {
		t.Errorf("%d lines are wider than %d columns, at most %d may be", wide, widestLine, mostWide)
	}
	if all := public[true] + public[false]; public[true]*100 < fewComments*all {
		t.Errorf("%d of %d lines of public packages have comments, at least %d %% must", public[true], all, fewComments)
	}
}

// unrelated reports assignments in the headers of ifs to what their conditions do not name. An else has
// no line before it.
func unrelated(t *testing.T, name string) {
	at, elses := token.NewFileSet(), map[ast.Node]bool{}
	ast.Inspect(must.Get(parser.ParseFile(at, name, nil, parser.SkipObjectResolution)), func(n ast.Node) bool {
		i, ok := n.(*ast.IfStmt)
		if !ok {
			return true
		}
		elses[i.Else] = true
		set, ok := i.Init.(*ast.AssignStmt)
		if !ok || elses[i] || set.Tok == token.DEFINE {
			return true
		}
		named := idents(i.Cond)
		for _, to := range set.Lhs {
			for id := range idents(to) {
				if named[id] {
					return true
				}
			}
		}
		t.Errorf("%s: the condition is not about what is assigned", at.Position(i.Pos()))
		return true
	})
}

// idents returns the identifiers of a node.
func idents(of ast.Node) map[string]bool {
	all := map[string]bool{}
	ast.Inspect(of, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			all[id.Name] = true
		}
		return true
	})
	return all
}
