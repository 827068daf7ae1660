package fields_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/read/dialect/pi"
	"ctxtool/internal/read/fields"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// A source is what the Go files of packages name.
type source struct {
	files    *token.FileSet
	asked    map[string]token.Pos // fields that readers ask for, and where
	named    map[string]bool      // texts, and fields of shapes
	used     map[string]bool      // fields of structs
	declared map[string][]declared
	structs  map[string]token.Pos // that declare fields
	idents   map[string]int       // how often a name occurs

	declaring bool                       // the file declares fields
	shapes    []ast.Expr                 // types of shapes
	types     map[string]*ast.StructType // in other files
}

// A declared field has the type with which it is declared.
type declared struct {
	as, field string // and its Go name
	at        token.Pos
}

func newSource() *source {
	return &source{files: token.NewFileSet(), asked: map[string]token.Pos{}, named: map[string]bool{},
		used: map[string]bool{}, declared: map[string][]declared{}, structs: map[string]token.Pos{}, idents: map[string]int{},
		types: map[string]*ast.StructType{}}
}

// parse reads the packages in folders.
func parse(t *testing.T, folders ...string) *source {
	s := newSource()
	for _, folder := range folders {
		for _, name := range must.Get(filepath.Glob(filepath.Join(corpus.Root(t), folder, "*.go"))) {
			if !strings.HasSuffix(name, "_test.go") {
				s.file(name, nil)
			}
		}
	}
	return s
}

// file reads a file, or its text.
func (s *source) file(name string, text any) {
	s.declaring = strings.HasPrefix(filepath.Base(name), "lines")
	ast.Inspect(must.Get(parser.ParseFile(s.files, name, text, parser.SkipObjectResolution)), s.node)
}

// shape notes the fields of a shape that is declared where it is read.
func (s *source) shape(t ast.Expr) {
	of, ok := t.(*ast.StructType)
	if id, named := t.(*ast.Ident); named {
		of, ok = s.types[id.Name]
	}
	if !ok {
		return
	}
	for _, f := range of.Fields.List {
		s.shape(f.Type)
		if t, ok := f.Type.(*ast.SelectorExpr); ok && isName(t.X, "fields") {
			continue // it is known, and not read
		}
		for _, id := range f.Names {
			if name := fieldName(f, id); name != "raw" && !isName(f.Type, "bool") {
				s.asked[name], s.named[name] = id.Pos(), true
			}
		}
	}
}

func isTag(e ast.Expr) bool {
	f, ok := e.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "Tag"
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// fieldName is the name of a line's field that a field of a struct stands for.
func fieldName(f *ast.Field, id *ast.Ident) string {
	if f.Tag == nil {
		return id.Name
	}
	return reflect.StructTag(text(f.Tag)).Get("jsonl")
}

// readers are the methods of values and cursors that take names of fields.
var readers = strings.Fields("Get First All Fields Ints Field Enter")

func (s *source) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ident:
		s.idents[n.Name]++
	case *ast.SelectorExpr:
		s.used[n.Sel.Name] = true
	case *ast.BasicLit:
		s.named[text(n)] = true
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(readers, f.Sel.Name) && !isTag(f.X) {
			s.ask(n.Args...)
		}
	case *ast.SwitchStmt:
		if isKey(n.Tag) {
			for _, c := range n.Body.List {
				s.ask(c.(*ast.CaseClause).List...)
			}
		}
	case *ast.BinaryExpr:
		if isKey(n.X) {
			s.ask(n.Y)
		}
	case *ast.TypeSpec:
		if s.declaring {
			s.structs[n.Name.Name] = n.Pos()
		} else if of, ok := n.Type.(*ast.StructType); ok {
			s.types[n.Name.Name] = of
		}
	case *ast.IndexExpr:
		f, ok := n.X.(*ast.SelectorExpr)
		if of, named := n.Index.(*ast.Ident); ok && named && f.Sel.Name == "ShapeOf" {
			s.shapes = append(s.shapes, of)
		}
	case *ast.Field:
		if s.declaring {
			s.declare(n)
		}
	}
	return true
}

// ask notes the texts among expressions as fields that are asked for.
func (s *source) ask(of ...ast.Expr) {
	for _, e := range of {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			s.asked[text(lit)] = lit.Pos()
		}
	}
}

// isKey reports whether an expression is string(key) or string(name), the name of a field.
func isKey(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	f, ok := call.Fun.(*ast.Ident)
	arg, named := call.Args[0].(*ast.Ident)
	return ok && named && f.Name == "string" && (arg.Name == "key" || arg.Name == "name")
}

func text(lit *ast.BasicLit) string {
	s, _ := strconv.Unquote(lit.Value)
	return s
}

// declare notes a field of a struct.
func (s *source) declare(f *ast.Field) {
	as := ""
	if t, ok := f.Type.(*ast.SelectorExpr); ok {
		as = t.Sel.Name
	}
	for _, id := range f.Names {
		name := fieldName(f, id)
		s.declared[name] = append(s.declared[name], declared{as, id.Name, id.Pos()})
		s.named[name] = s.named[name] || as == "Value" || as == "String"
		s.idents[id.Name]--
	}
}

// at is a place in a package's folder.
func (s *source) at(at token.Pos) string {
	p := s.files.Position(at)
	return path.Base(filepath.Dir(p.Filename)) + "/" + filepath.Base(p.Filename) + ":" + strconv.Itoa(p.Line)
}

// mistakes lists what readers and declarations do not agree on, one line each. What other packages declare and name
// counts too.
func (s *source) mistakes(other *source) (all []string) {
	for _, of := range s.shapes {
		s.shape(of)
	}
	for name, at := range s.asked {
		of := append(slices.Clone(s.declared[name]), other.declared[name]...)
		i := slices.IndexFunc(of, func(d declared) bool { return d.as != "Kept" && d.as != "Unread" })
		switch {
		case i >= 0 || slices.Contains([]string{"table", "type", "role"}, name): // these name types
		case len(of) == 0:
			all = append(all, s.at(at)+": no struct declares the field "+strconv.Quote(name)+" that is read here")
		default:
			all = append(all, s.at(at)+": "+strconv.Quote(name)+" is read here, and declared as "+of[0].as+" at "+s.at(of[0].at))
		}
	}
	for name, of := range s.declared {
		for _, d := range of {
			switch shaped := d.as == "Value" || d.as == "String"; {
			case d.as == "Read" && !s.named[name] && !other.named[name]:
				all = append(all, s.at(d.at)+": "+strconv.Quote(name)+" is declared as Read, and no reader names it: is it Kept, or Unread?")
			case shaped && d.field != "raw" && !s.used[d.field] && !other.used[d.field]:
				all = append(all, s.at(d.at)+": a shape reads "+strconv.Quote(name)+", and nothing uses it: is it Kept, or Unread?")
			}
		}
	}
	for name, at := range s.structs {
		if s.idents[name] < 2 {
			all = append(all, s.at(at)+": "+name+" declares fields of no line")
		}
	}
	slices.Sort(all)
	return all
}

// TestReaders: a field that a reader asks for is declared, and one that is declared as read is asked for.
func TestReaders(t *testing.T) {
	t.Parallel()
	folders := map[string]bool{}
	for _, d := range sessionfmt.Dialects() {
		if d.Fields == nil {
			t.Errorf("%s: the dialect has no Fields: declare them in lines.go", d.Name)
			continue
		}
		fields.OfType(d.Fields) // panics if a field is declared twice
		folder := strings.ReplaceAll(d.Name, "-", "")
		if folder == "opencode2" || folder == "kilo" {
			folder = "opencode"
		}
		folders[folder] = true
	}
	// Qwen Code reads parts as Gemini CLI does, and rows of OpenClaw hold lines of pi.
	others := map[string]*source{"qwen": parse(t, "internal/read/dialect/gemini"), "openclaw": parse(t, "internal/read/dialect/pi")}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		for _, wrong := range parse(t, "internal/read/dialect/"+folder).mistakes(cmp.Or(others[folder], newSource())) {
			t.Error(wrong)
		}
	}
	pi.Fields(nil)
	s := parse(t, "internal/read/dialect/pi", "sessionfmt", "sessionfmt/jsonl", "replay")
	above := parse(t, "internal/read/activity", "internal/read/ops", "internal/read/outline", "stats", "compact", "migrate",
		"internal/lens/check", "internal/lens/cache", "internal/out/transcript", "internal/out/body")
	for _, wrong := range s.mistakes(above) {
		t.Error(wrong)
	}
}
