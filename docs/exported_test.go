package docs_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// public are the packages that others can import.
var public = []string{
	"compact", "migrate", "render", "replay", "replay/hook", "replay/ledger", "replay/models", "replay/origin",
	"replay/prompt", "replay/tokens", "replay/weigh", "sessionfmt", "sessionfmt/dialect", "sessionfmt/jsonl",
	"sessionfmt/rule", "sessionfmt/sqlite", "stats", "stats/table",
}

// unnamed are exported names that have a type in internal, and why. It takes what nothing else can: a test fails for a
// row that is no longer needed.
var unnamed = map[string]string{
	// The difference of the contexts, which patch prints: who computes it again replays the session twice.
	"replay/hook.Trial": "internal/lens/diff.Difference",
}

// TestExported: an importer can name all that a public package exports: no variable, field, method or signature
// has an unexported type, or one of a package in internal. Packages outside internal are in the list of public ones.
func TestExported(t *testing.T) {
	read, excused := compiled(t), 0
	for _, pkg := range public {
		scope := must.Get(read.Import(module + pkg)).Scope()
		for _, name := range scope.Names() {
			if o := scope.Lookup(name); o.Exported() {
				for _, hidden := range (&exports{}).of(o) {
					if unnamed[pkg+"."+name] == hidden {
						excused++
						continue
					}
					t.Errorf("%s.%s has the type %s, which an importer cannot name", pkg, name, hidden)
				}
			}
		}
	}
	if excused != len(unnamed) {
		t.Errorf("%d of %d exceptions are needed", excused, len(unnamed))
	}
	for _, pkg := range packages() {
		if !slices.Contains(public, pkg) && !strings.HasPrefix(pkg, "internal/") && pkg != "docs/checks" && !command(t, pkg) {
			t.Errorf("%s is public, and the list does not have it", pkg)
		}
	}
}

// compiled returns an importer of the packages as they were compiled, also of those that they import.
func compiled(t *testing.T) types.Importer {
	list := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, pkg := range public {
		list = append(list, module+pkg)
	}
	out, err := exec.Command("go", list...).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if pkg, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			files[pkg] = file
		}
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(pkg string) (io.ReadCloser, error) {
		return os.Open(files[pkg])
	})
}

// exports collects the types that an exported name has and that an importer cannot name.
type exports struct {
	hidden []string
	seen   []types.Type
}

func (x *exports) of(o types.Object) []string {
	named, ok := o.Type().(*types.Named)
	if _, declared := o.(*types.TypeName); !declared || !ok {
		x.look(o.Type()) // an alias too: it gives a name to what stays hidden
		return x.hidden
	}
	x.look(named.Underlying())
	for m := range named.Methods() {
		if m.Exported() {
			x.look(m.Type())
		}
	}
	return x.hidden
}

// look adds what is hidden in a type. Types that have a name of their own are looked at where they are declared.
func (x *exports) look(t types.Type) {
	if slices.Contains(x.seen, t) {
		return
	}
	x.seen = append(x.seen, t)
	switch t := t.(type) {
	case *types.Alias:
		x.look(types.Unalias(t))
	case *types.Named:
		if o := t.Obj(); o.Pkg() != nil && strings.HasPrefix(o.Pkg().Path(), module) &&
			(!o.Exported() || strings.Contains(o.Pkg().Path(), "/internal/")) {
			x.hidden = append(x.hidden, strings.TrimPrefix(o.Pkg().Path(), module)+"."+o.Name())
		}
		for arg := range t.TypeArgs().Types() {
			x.look(arg)
		}
	case *types.Map:
		x.look(t.Key())
		x.look(t.Elem())
	case interface{ Elem() types.Type }: // pointers, lists and channels
		x.look(t.Elem())
	case *types.Signature:
		x.look(t.Params())
		x.look(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			x.look(v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				x.look(f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				x.look(m.Type())
			}
		}
	}
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
