package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/test/must"
)

// A Mutant is a change of one place of a file.
type Mutant struct {
	File       string
	Line       int
	What       string // what becomes of what
	start, end int    // the place, bytes
	text       string // what stands there instead
}

// String is the mutant's place and change.
func (m Mutant) String() string { return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.What) }

// Source returns the file with the change.
func (m Mutant) Source(src []byte) []byte {
	return slices.Concat(src[:m.start], []byte(m.text), src[m.end:])
}

// operators are what operators become.
var operators = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ,
	token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND, token.SUB: token.ADD, token.MUL: token.QUO,
}

// Mutants returns all changes in the functions of a file.
func Mutants(file string, src []byte) (all []Mutant) {
	set := token.NewFileSet()
	f := must.Get(parser.ParseFile(set, file, src, parser.SkipObjectResolution))
	offset := func(at token.Pos) int { return set.Position(at).Offset }
	text := func(n ast.Node) string { return string(src[offset(n.Pos()):offset(n.End())]) }
	add := func(n ast.Node, what, instead string) {
		what, _, _ = strings.Cut(what, "\n")
		all = append(all, Mutant{file, set.Position(n.Pos()).Line, what, offset(n.Pos()), offset(n.End()), instead})
	}
	change := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			to, ok := operators[n.Op]
			if count, isCount := n.Y.(*ast.BasicLit); n.Op == token.ADD && isCount && count.Kind == token.INT {
				to, ok = token.SUB, true // a sum of texts has no difference
			}
			if ok {
				add(n, n.Op.String()+" becomes "+to.String()+" in "+text(n), text(n.X)+" "+to.String()+" "+text(n.Y))
			}
		case *ast.BasicLit:
			if v, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
				add(n, n.Value+" becomes "+strconv.Itoa(v+1), strconv.Itoa(v+1))
			}
		case *ast.IfStmt:
			add(n.Cond, "negated: if "+text(n.Cond), "!("+text(n.Cond)+")")
		case *ast.BlockStmt:
			for _, s := range n.List {
				without(s, text, add)
			}
		case *ast.Ident:
			if not := map[string]string{"true": "false", "false": "true"}[n.Name]; not != "" {
				add(n, n.Name+" becomes "+not, not)
			}
		}
		return true
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			ast.Inspect(fn.Body, change)
		}
	}
	return all
}

// without adds the removal of a statement.
func without(s ast.Stmt, text func(ast.Node) string, add func(n ast.Node, what, instead string)) {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt:
		add(s, "removed: "+text(s), "")
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE && len(s.Lhs) == 1 {
			add(s, "removed: "+text(s), "_ = "+text(s.Lhs[0])) // so that it is used
		}
	case *ast.BranchStmt:
		if s.Tok == token.CONTINUE && s.Label == nil {
			add(s, "continue becomes break", "break")
		}
	}
}
