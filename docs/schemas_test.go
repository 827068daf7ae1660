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
	"unicode"

	"ctxtool/internal/test/must"
)

var update = flag.Bool("update", false, "write the tables of formats.md")

// schemaMark begins a table of formats.md that is made of structs, and names them, and
// after less the fields that have a table of their own.
var schemaMark = regexp.MustCompile(`(?m)^<!-- struct ((?:[\w/]+\.\w+ ?)+)(?:less ((?:\w+ )+))?-->\n(?:\|.*\n)*`)

// TestSchemas holds the tables of formats.md to the structs that are printed: a row a
// field, by its tag and its comment.
func TestSchemas(t *testing.T) {
	s := structs{packages: map[string]*parsedPackage{}, earlier: map[string]place{}}
	data := must.Get(os.ReadFile("formats.md"))
	s.sections = sectionsOf(string(data))
	tables := 0
	want := schemaMark.ReplaceAllStringFunc(string(data), func(was string) string {
		tables++
		mark := schemaMark.FindStringSubmatch(was)
		first, _, _ := strings.Cut(was, "\n")
		out := first + "\n| key | what |\n|---|---|\n"
		s.less = strings.Fields(mark[2])
		var rows []row
		s.section = s.sections[strings.Fields(mark[1])[0]]
		for _, name := range strings.Fields(mark[1]) {
			k := strings.LastIndexByte(name, '.')
			rows = append(rows, s.table(t, name[:k], name[k+1:], "", map[string]bool{})...)
		}
		return out + joined(withCommon(rows))
	})
	want = commonMark.ReplaceAllLiteralString(want, commonTable())
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
	sections map[string]string // links to the sections of structs that have a table, by the struct's name
	earlier  map[string]place  // the first rows of each struct
	section  string            // the section of the current table, as a link
	less     []string          // the keys of fields that have a table of their own
}

// A place is a key whose rows describe a struct, and the section with these rows.
type place struct{ key, section string }

// impliedType matches rows whose description shows the type: units those of numbers, values those of strings.
var impliedType = regexp.MustCompile("^(?:number: (?:tokens|bytes|US dollars|seconds|number of|share)\\b|string: (?:`|id of\\b))")

// reading is the struct that reports embed: its table is not repeated in theirs.
const reading = "sessionfmt/dialect.Reading"

var headingOrMark = regexp.MustCompile(`(?m)^#+ (.*)\n|^<!-- struct (\S+?) ?(?:less .*)?-->`)

// sectionsOf returns a link to the section of each struct with a table, except where two tables are made of it.
func sectionsOf(page string) map[string]string {
	links, heading := map[string]string{}, ""
	for _, m := range headingOrMark.FindAllStringSubmatch(page, -1) {
		if m[1] != "" {
			heading = m[1]
			continue
		}
		name := m[2]
		title, _, _ := strings.Cut(heading, ": ")
		if links[name] != "" {
			title = ""
		}
		links[name] = ""
		if title != "" {
			links[name] = "[" + title + "](#" + slug(heading) + ")"
		}
	}
	return links
}

// slug returns the anchor that GitHub gives a heading.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// A row is a row of a table: a key below a prefix, such as `layers[].`.
type row struct{ prefix, key, typ, what string }

// joined returns the lines of rows. Neighbouring keys of one object with the same type and description share
// a row.
func joined(rows []row) (lines string) {
	for i := 0; i < len(rows); {
		if r := &rows[i]; r.typ == "object" && i+1 < len(rows) && rows[i+1].prefix == r.prefix+r.key+"." {
			if r.typ = ""; r.what == "" { // the keys below it show that there is an object
				i++
				continue
			}
		}
		keys, r := "`"+rows[i].prefix+rows[i].key+"`", rows[i]
		for i++; i < len(rows) && rows[i].prefix == r.prefix && rows[i].typ == r.typ && rows[i].what == r.what; i++ {
			keys += ", `" + rows[i].key + "`"
		}
		what := r.what
		if impliedType.MatchString(r.typ + ": " + what) {
			r.typ = ""
		}
		if r.typ != "" && what != "" {
			what = ": " + what
		}
		lines += fmt.Sprintf("| %s | %s |\n", keys, r.typ+what)
	}
	return lines
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
			if in+"."+embedded == reading {
				all = append(all, field{key: "agent`, `certainty"})
				continue
			}
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
		if of, ok := s.open(t, pkg).types[e.Name].(*ast.SelectorExpr); ok { // another name for a type of a public package
			return s.resolve(t, pkg, e.Name, of)
		}
		return pkg, e.Name
	case *ast.SelectorExpr:
		from := e.X.(*ast.Ident).Name
		for _, i := range s.open(t, pkg).files[in].Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if rest, ok := strings.CutPrefix(path, module); ok && (i.Name != nil && i.Name.Name == from || i.Name == nil && filepath.Base(rest) == from) {
				return s.resolve(t, rest, "", e.Sel)
			}
		}
	}
	return "", ""
}

// table returns the rows of a struct, and of the structs of its package in it, each once. A struct with a
// table of its own is a link to that.
func (s *structs) table(t *testing.T, pkg, name, prefix string, told map[string]bool) (rows []row) {
	told[pkg+"."+name] = true
	for _, f := range s.fields(t, pkg, name) {
		e, list, optional := f.typ, "", f.optional
		if e == nil { // the fields of reading
			rows = append(rows, row{prefix, f.key, "", f.what})
			continue
		}
		if star, ok := e.(*ast.StarExpr); ok {
			e, f.optional = star.X, false
		}
		if array, ok := e.(*ast.ArrayType); ok {
			e, list = array.Elt, "[]"
		}
		typ, deeper := s.typeOf(t, f, e)
		if star, ok := f.typ.(*ast.StarExpr); ok && star.X == e && !optional {
			typ += "?"
		}
		of := deeper[0] + "." + deeper[1]
		if link := s.sections[of]; deeper[1] != "" && link != "" && !told[of] {
			rows = append(rows, row{prefix, f.key + list, link, f.what})
			continue
		}
		below := deeper[1] != "" && !slices.Contains(s.less, f.key) && !told[of]
		if at := s.earlier[of]; below && at.key != "" {
			typ = "as " + at.key
			if at.section != s.section {
				typ += " of " + at.section
			}
			rows = append(rows, row{prefix, f.key + list, typ, f.what})
			continue
		}
		rows = append(rows, row{prefix, f.key + list, typ, f.what})
		if below {
			inner := s.table(t, deeper[0], deeper[1], prefix+f.key+list+".", told)
			if rows = append(rows, inner...); len(inner) > 2 && s.earlier[of].key == "" && strings.HasPrefix(s.section, "[") {
				s.earlier[of] = place{"`" + prefix + f.key + list + "`", s.section}
			}
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
			if _, here := e.(*ast.Ident); here || pkg == f.pkg { // declared in the same package, or named there
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
