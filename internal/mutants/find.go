//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is one small change of one file.
type mutant struct {
	key      string // names it in every version of the code that has the expression
	pkg      string // import path
	file     string // relative to the module's root, with slashes
	src      []byte // the file
	line     int
	from, to int // the bytes of src to replace
	with     string
}

// swaps says which operator replaces which.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	token.INC: token.DEC, token.DEC: token.INC,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
}

// A finder collects the mutants of one file.
type finder struct {
	pkg, file string
	src       []byte
	pos       *token.File
	where     string // the enclosing function or declaration
	equals    map[string]int
	found     []mutant
}

// findMutants returns the mutants of a file in the order of its text. Generated files
// have none: their generator is what needs tests.
func findMutants(pkg, root, file string) ([]mutant, error) {
	src, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, filepath.Join(root, file), src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(tree) {
		return nil, nil
	}
	f := &finder{pkg: pkg, file: filepath.ToSlash(file), src: src, pos: fset.File(tree.Pos()), equals: map[string]int{}}
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			f.where = d.Name.Name
			if d.Recv != nil {
				f.where = strings.TrimLeft(f.text(d.Recv.List[0].Type), "*") + "." + f.where
			}
			f.walk(d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					f.where = d.Tok.String() + " " + s.Names[0].Name
					f.walk(s)
				case *ast.TypeSpec:
					f.where = "type " + s.Name.Name
					f.walk(s)
				}
			}
		}
	}
	return f.found, nil
}

// walk collects the mutants of a declaration. It leaves out capacities given to make,
// which no test can notice, and lengths of array types, which rarely compile or matter.
func (f *finder) walk(decl ast.Node) {
	ast.PreorderStack(decl, nil, func(n ast.Node, stack []ast.Node) bool {
		named := n
		if len(stack) > 0 {
			switch p := stack[len(stack)-1].(type) {
			case *ast.ArrayType:
				if n == p.Len {
					return false
				}
			case *ast.CallExpr:
				if isCapacity(p, n) {
					return false
				}
				named = p
			case *ast.CaseClause, *ast.RangeStmt, *ast.ForStmt, *ast.IfStmt, *ast.SwitchStmt:
				// Their text includes a body, whose edits would change the key.
			default:
				named = p
			}
		}
		f.node(n, named)
		return true
	})
}

// isCapacity reports whether n is the argument of make that changes no result: the
// capacity of a slice or the size hint of a map.
func isCapacity(call *ast.CallExpr, n ast.Node) bool {
	name, ok := call.Fun.(*ast.Ident)
	if !ok || name.Name != "make" {
		return false
	}
	k := slices.IndexFunc(call.Args, func(a ast.Expr) bool { return a == n })
	_, isMap := call.Args[0].(*ast.MapType)
	return k == 2 || k == 1 && isMap
}

// node adds the mutants of one node. The text of a constant alone would not tell it
// from others: named is the expression or statement around it.
func (f *finder) node(n, named ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if isString(n) {
			return // only + compiles
		}
		f.swap(n, n.OpPos, n.Op)
		if c, ok := n.Y.(*ast.BasicLit); ok && c.Kind == token.INT && (n.Op == token.ADD || n.Op == token.SUB) {
			f.add(n, n.X.End(), n.End(), "", fmt.Sprintf("x %s %s to x", n.Op, c.Value))
		}
	case *ast.IncDecStmt:
		f.swap(n, n.TokPos, n.Tok)
	case *ast.AssignStmt:
		f.swap(n, n.TokPos, n.Tok)
	case *ast.BasicLit:
		v, ok := new(big.Int).SetString(n.Value, 0)
		if n.Kind != token.INT || !ok {
			return
		}
		next := v.Add(v, big.NewInt(1)).String()
		f.add(named, n.Pos(), n.End(), next, n.Value+" to "+next)
	case *ast.Ident:
		if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" {
			f.add(named, n.Pos(), n.End(), other, n.Name+" to "+other)
		}
	}
}

// isString reports whether an expression has a string literal as an operand.
func isString(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isString(e.X) || isString(e.Y))
	case *ast.ParenExpr:
		return isString(e.X)
	}
	return false
}

func (f *finder) swap(n ast.Node, at token.Pos, op token.Token) {
	if other, ok := swaps[op]; ok {
		f.add(n, at, at+token.Pos(len(op.String())), other.String(), op.String()+" to "+other.String())
	}
}

func (f *finder) text(n ast.Node) string {
	return string(f.src[f.pos.Offset(n.Pos()):f.pos.Offset(n.End())])
}

// add adds the mutant that replaces the text between two positions. Its key has no line
// number, so that edits elsewhere in the file do not change it.
func (f *finder) add(named ast.Node, from, to token.Pos, with, change string) {
	key := fmt.Sprintf("%s %s: %s (%s)", f.file, f.where, oneLine(f.text(named)), change)
	f.equals[key]++
	if k := f.equals[key]; k > 1 {
		key += fmt.Sprintf(" #%d", k)
	}
	f.found = append(f.found, mutant{
		key: key, pkg: f.pkg, file: f.file, line: f.pos.Line(from),
		src: f.src, from: f.pos.Offset(from), to: f.pos.Offset(to), with: with,
	})
}

// oneLine makes a text part of a key. A long text is cut, and its hash tells it from
// others that begin alike.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 100
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s… %x", strings.ToValidUTF8(text[:most], ""), sha256.Sum256([]byte(text)))[:most+12]
}

// mutated returns the mutated file.
func (m *mutant) mutated() []byte {
	return slices.Concat(m.src[:m.from], []byte(m.with), m.src[m.to:])
}

// draw sorts mutants by the SHA-256 of the seed and the key. The first n are a sample of
// n, so a larger sample begins with a smaller one, and edits of other code move nothing
// but the end of a sample.
func draw(all []mutant, seed int) {
	rank := make(map[string][32]byte, len(all))
	for i := range all {
		rank[all[i].key] = sha256.Sum256(fmt.Appendf(nil, "%d\n%s", seed, all[i].key))
	}
	slices.SortFunc(all, func(a, b mutant) int {
		x, y := rank[a.key], rank[b.key]
		return slices.Compare(x[:], y[:])
	})
}

// folder returns the package's folder, relative to the module's root.
func (m *mutant) folder() string { return path.Dir(m.file) }
