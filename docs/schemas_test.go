package docs_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

var update = flag.Bool("update", false, "write the tables of formats.md")

// schemaMark begins a table of formats.md that is made of structs, and names them, and
// after less the fields that have a table of their own.
var schemaMark = regexp.MustCompile(`(?m)^<!-- struct ((?:[\w/]+\.\w+ ?)+)(?:less ((?:\w+ )+))?-->\n(?:\|.*\n)*`)

// TestSchemas holds the tables of formats.md to the structs that are printed: a row a
// field, by its tag and its comment.
func TestSchemas(t *testing.T) {
	s := structs{packages: map[string]*parsedPackage{}}
	data := must.Get(os.ReadFile("formats.md"))
	tables := 0
	want := schemaMark.ReplaceAllStringFunc(string(data), func(was string) string {
		tables++
		mark := schemaMark.FindStringSubmatch(was)
		first, _, _ := strings.Cut(was, "\n")
		out := first + "\n| key | type | what |\n|---|---|---|\n"
		s.less = strings.Fields(mark[2])
		for _, name := range strings.Fields(mark[1]) {
			k := strings.LastIndexByte(name, '.')
			out += s.table(t, name[:k], name[k+1:], "", map[string]bool{})
		}
		return out
	})
	if tables == 0 {
		t.Error("formats.md has no table of a struct")
	}
	if *update {
		must.Do(os.WriteFile("formats.md", []byte(want), 0o644))
	} else if want != string(data) {
		t.Error("the structs are not as formats.md has them; go test ./docs -run Schemas -update")
	}
}

// A parsedPackage is what a package declares: its types, and those that marshal as text.
type parsedPackage struct {
	types map[string]ast.Expr
	files map[string]*ast.File // of the types
	text  map[string]bool
}

type structs struct {
	packages map[string]*parsedPackage
	less     []string // the keys of fields that have a table of their own
}

// open parses a package of the module, by its path below the module's.
func (s *structs) open(t *testing.T, pkg string) *parsedPackage {
	if p := s.packages[pkg]; p != nil {
		return p
	}
	p := &parsedPackage{types: map[string]ast.Expr{}, files: map[string]*ast.File{}, text: map[string]bool{}}
	s.packages[pkg] = p
	names, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pkg), "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no package %s: %v", pkg, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments))
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						p.types[spec.Name.Name], p.files[spec.Name.Name] = spec.Type, file
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == "MarshalText" {
					p.text[typeName(d.Recv.List[0].Type)] = true
				}
			}
		}
	}
	return p
}

func typeName(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// A field is a field of a struct as JSON has it.
type field struct {
	key, what string
	optional  bool
	typ       ast.Expr
	pkg, in   string // where the struct is declared
}

// fields are the fields of a struct, those of what it embeds in their place.
func (s *structs) fields(t *testing.T, pkg, name string) (all []field) {
	p := s.open(t, pkg)
	st, ok := p.types[name].(*ast.StructType)
	if !ok {
		t.Fatalf("%s.%s is no struct", pkg, name)
	}
	for _, f := range st.Fields.List {
		tag := ""
		if f.Tag != nil {
			text, _ := strconv.Unquote(f.Tag.Value)
			tag = reflect.StructTag(text).Get("json")
			if column, _, _ := strings.Cut(reflect.StructTag(text).Get("parquet"), ","); tag == "" {
				tag = column // of a table
			}
		}
		key, option, _ := strings.Cut(tag, ",")
		if len(f.Names) == 0 && tag == "" {
			in, embedded := s.resolve(t, pkg, name, f.Type)
			all = append(all, s.fields(t, in, embedded)...)
			continue
		}
		if key == "-" || key == "" {
			continue
		}
		what := f.Comment.Text()
		if f.Doc != nil {
			what = f.Doc.Text()
		}
		what = strings.Join(strings.Fields(what), " ")
		all = append(all, field{key, what, option != "", f.Type, pkg, name})
	}
	return slices.DeleteFunc(all, func(f field) bool { return f.key == "schema" })
}

// resolve finds the package and name of a type that a struct refers to.
func (s *structs) resolve(t *testing.T, pkg, in string, e ast.Expr) (string, string) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return s.resolve(t, pkg, in, e.X)
	case *ast.Ident:
		return pkg, e.Name
	case *ast.SelectorExpr:
		from := e.X.(*ast.Ident).Name
		for _, i := range s.open(t, pkg).files[in].Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if rest, ok := strings.CutPrefix(path, "ctxtool/"); ok && (i.Name != nil && i.Name.Name == from || i.Name == nil && filepath.Base(rest) == from) {
				return rest, e.Sel.Name
			}
		}
	}
	return "", ""
}

// table are the rows of a struct, and of those of its package in it that have not been
// told yet.
func (s *structs) table(t *testing.T, pkg, name, prefix string, told map[string]bool) (rows string) {
	told[pkg+"."+name] = true
	for _, f := range s.fields(t, pkg, name) {
		key := prefix + f.key
		e, list, optional := f.typ, "", f.optional
		if star, ok := e.(*ast.StarExpr); ok {
			e, f.optional = star.X, false
		}
		if array, ok := e.(*ast.ArrayType); ok {
			e, list = array.Elt, "[]"
		}
		typ, deeper := s.typeOf(t, f, e)
		if star, ok := f.typ.(*ast.StarExpr); ok && star.X == e && !optional {
			typ += " or null"
		}
		rows += fmt.Sprintf("| `%s` | %s | %s |\n", key+list, typ, f.what)
		if deeper[1] != "" && !slices.Contains(s.less, f.key) && !told[deeper[0]+"."+deeper[1]] {
			rows += s.table(t, deeper[0], deeper[1], key+list+".", told)
		}
	}
	return rows
}

// typeOf is the type of a field, and the struct whose fields follow: one with comments;
// one without is spelled.
func (s *structs) typeOf(t *testing.T, f field, e ast.Expr) (typ string, deeper [2]string) {
	if _, ok := e.(*ast.MapType); ok {
		return "object", deeper
	}
	pkg, name := s.resolve(t, f.pkg, f.in, e)
	switch name {
	case "":
		return "object", deeper
	case "bool":
		if f.optional {
			return "true", deeper
		}
		return "bool", deeper
	case "string":
		return "string", deeper
	case "int", "int64", "float64", "uint64":
		return "number", deeper
	}
	p := s.open(t, pkg)
	if p.text[name] {
		return "string", deeper
	}
	switch under := p.types[name].(type) {
	case *ast.Ident:
		f.pkg, f.in = pkg, name
		return s.typeOf(t, f, under)
	case *ast.StructType:
		all := s.fields(t, pkg, name)
		if slices.ContainsFunc(all, func(f field) bool { return f.what != "" }) {
			if pkg == f.pkg {
				deeper = [2]string{pkg, name}
			}
			return "object", deeper
		}
		var keys []string
		for _, f := range all {
			if f.optional {
				f.key += "?"
			}
			keys = append(keys, f.key)
		}
		return "`{" + strings.Join(keys, ", ") + "}`", deeper
	}
	return "object", deeper
}
