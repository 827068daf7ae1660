package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
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

// TestExported: what a public package exports can be named by those who import it: no field and no
// signature has an unexported type. Packages outside internal are in the list of public ones.
func TestExported(t *testing.T) {
	for _, pkg := range public {
		for _, file := range parsed(t, filepath.Join("..", filepath.FromSlash(pkg))) {
			for _, d := range file.Decls {
				for _, name := range unnamed(d) {
					t.Errorf("%s exports something of the type %s", pkg, name)
				}
			}
		}
	}
	for _, pkg := range packages() {
		if !slices.Contains(public, pkg) && !strings.HasPrefix(pkg, "internal/") && pkg != "docs/checks" && !command(t, pkg) {
			t.Errorf("%s is public, and the list does not have it", pkg)
		}
	}
}

// unnamed returns the unexported types in the exported fields and signatures of a declaration.
func unnamed(d ast.Decl) (all []string) {
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				return false
			case *ast.Field:
				if len(n.Names) > 0 && !slices.ContainsFunc(n.Names, (*ast.Ident).IsExported) {
					return false
				}
				if len(n.Names) == 0 { // embedded: what it has is there, its name is not
					return exportedReceiver(n.Type)
				}
			case *ast.Ident:
				if !n.IsExported() && types.Universe.Lookup(n.Name) == nil {
					all = append(all, n.Name)
				}
			}
			return true
		})
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv.List[0].Type)) {
			for _, list := range []*ast.FieldList{d.Type.Params, d.Type.Results} {
				for i := 0; list != nil && i < len(list.List); i++ {
					look(&ast.ParenExpr{X: list.List[i].Type})
				}
			}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && !s.Assign.IsValid() {
				look(s.Type)
			}
		}
	}
	return all
}

// exportedReceiver reports whether a receiver or an embedded field has an exported type.
func exportedReceiver(e ast.Expr) bool {
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	name, ok := e.(*ast.Ident)
	return ok && name.IsExported()
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

// TestExamples: every public package that is used by name has an example, which runs.
func TestExamples(t *testing.T) {
	for _, pkg := range public {
		if pkg == "sessionfmt/sqlite" {
			continue // it is imported for its effect
		}
		data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(pkg), "example_test.go"))
		if err != nil || !strings.Contains(string(data), "// Output:") {
			t.Errorf("%s has no example that runs: %v", pkg, err)
		}
	}
}
