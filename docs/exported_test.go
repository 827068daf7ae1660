package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// exported are the types and functions that each public package may export, constructors
// included, methods not. A reader of go doc takes in 20 of each: that is the aim. What is
// above it may only fall, and is lowered here when it does.
var exported = []struct {
	pkg          string
	types, funcs int
}{
	{"sessionfmt", 20, 20},
	{"sessionfmt/jsonl", 20, 20},
	{"sessionfmt/outline", 20, 20},
	{"sessionfmt/store", 20, 20},
	{"sessionfmt/check", 20, 20},
	{"sessionfmt/redact", 20, 20},
	{"replay", 20, 20},
	{"replay/origin", 20, 20},
	{"replay/prompt", 20, 20},
	{"replay/weigh", 20, 20},
	{"replay/baseline", 20, 20},
	{"replay/entry", 20, 20},
	{"replay/diff", 20, 20},
	{"replay/reuse", 20, 20},
	{"replay/trace", 20, 20},
	{"replay/cache", 20, 20},
	{"replay/tokens", 20, 20},
	{"replay/models", 20, 20},
	{"stats", 20, 20},
	{"stats/gate", 20, 20},
	{"compact", 20, 20},
	{"migrate", 20, 20},
	{"render", 20, 20},
	{"render/page", 20, 20},
	{"render/html", 20, 20},
}

// TestExported holds the public packages to what they may export.
func TestExported(t *testing.T) {
	public := map[string]bool{}
	for _, e := range exported {
		public[e.pkg] = true
		types, funcs := exports(t, filepath.Join("..", filepath.FromSlash(e.pkg)))
		for _, n := range []struct {
			what    string
			is, may int
		}{{"types", types, e.types}, {"functions", funcs, e.funcs}} {
			switch {
			case n.is > n.may:
				t.Errorf("%s exports %d %s, and may %d", e.pkg, n.is, n.what, n.may)
			case n.is < n.may && n.may > 20:
				t.Errorf("%s exports %d %s: lower its %d to that, or to 20", e.pkg, n.is, n.what, n.may)
			}
		}
	}
	for _, f := range floors {
		if !public[f.pkg] && !strings.HasPrefix(f.pkg, "internal/") && !strings.HasPrefix(f.pkg, "docs") && !command(t, f.pkg) {
			t.Errorf("%s is public, and the table does not say what it may export", f.pkg)
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

// command reports whether a folder has nothing to import: a command, or tests alone.
func command(t *testing.T, pkg string) bool {
	files := parsed(t, filepath.Join("..", filepath.FromSlash(pkg)))
	return len(files) == 0 || files[0].Name.Name == "main"
}

// parsed are the files of a folder that are not tests.
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
