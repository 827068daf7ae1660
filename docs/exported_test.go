package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// public are the packages that others can import.
var public = []string{
	"compact", "migrate", "render", "replay", "replay/hook", "replay/ledger", "replay/models", "replay/origin",
	"replay/prompt", "replay/tokens", "replay/weigh", "sessionfmt", "sessionfmt/jsonl", "sessionfmt/sqlite", "stats",
}

// mostExported limits the exported types of a public package, and its exported functions
// including constructors but not methods, to what a reader of go doc can take in.
const mostExported = 20

// TestExported limits how much the public packages export.
func TestExported(t *testing.T) {
	for _, pkg := range public {
		types, funcs := exports(t, filepath.Join("..", filepath.FromSlash(pkg)))
		if types > mostExported || funcs > mostExported {
			t.Errorf("%s exports %d types and %d functions, at most %d of each", pkg, types, funcs, mostExported)
		}
	}
	for pkg := range strings.FieldsSeq(strings.Join(ranks, " ")) {
		if !slices.Contains(public, pkg) && !strings.HasPrefix(pkg, "internal/") && !strings.HasPrefix(pkg, "docs") && !command(t, pkg) {
			t.Errorf("%s is public, and the list does not have it", pkg)
		}
	}
}

// exports counts the exported types and functions of the package in a folder.
func exports(t *testing.T, dir string) (types, funcs int) {
	for _, file := range parsed(t, dir) {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() {
						types++
					}
				}
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					funcs++
				}
			}
		}
	}
	return types, funcs
}

// command reports whether a folder cannot be imported: a command, or tests only.
func command(t *testing.T, pkg string) bool {
	files := parsed(t, filepath.Join("..", filepath.FromSlash(pkg)))
	return len(files) == 0 || files[0].Name.Name == "main"
}

// parsed returns the files of a folder, except tests.
func parsed(t *testing.T, dir string) (files []*ast.File) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}
