package docs_test

import (
	"ctxtool/internal/test/must"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// effect matches the names of functions that do more than to return a value.
var effect = regexp.MustCompile(`^(?i:abort|add|append|bill|close|commit|content|convert|copy|create|do|edit|emit|flush|hold|load|mark|measure|move|narrow|open|print|put|read|remove|rename|render|replace|report|restore|run|save|send|store|sync|undo|unmarshal|walk|warn|write)([A-Z]|$)`)

// TestEffects: cmp.Or evaluates all its arguments, so that a call with an effect has it even after
// an error, and Go does not say whether a field is read before or after a call that changes it.
func TestEffects(t *testing.T) {
	seen, set := 0, token.NewFileSet()
	err := filepath.WalkDir("..", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") {
			return err
		}
		ast.Inspect(must.Get(parser.ParseFile(set, name, nil, parser.SkipObjectResolution)), func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || nameOf(call) != "Or" || rootOf(call.Fun) != "cmp" {
				return true
			}
			seen++
			roots := map[string]bool{}
			for _, arg := range call.Args {
				if field, ok := arg.(*ast.SelectorExpr); ok && roots[rootOf(field)] {
					t.Errorf("%s: cmp.Or reads %s.%s beside a call that may change it", set.Position(arg.Pos()), rootOf(field), field.Sel.Name)
				}
				ast.Inspect(arg, func(n ast.Node) bool {
					if inner, ok := n.(*ast.CallExpr); ok {
						if name := nameOf(inner); effect.MatchString(name) {
							t.Errorf("%s: cmp.Or calls %s even after an error", set.Position(inner.Pos()), name)
						}
						for _, a := range inner.Args {
							roots[rootOf(a)] = true
						}
					}
					return true
				})
				delete(roots, "")
			}
			return true
		})
		return nil
	})
	if must.Do(err); seen < 100 {
		t.Errorf("only %d calls of cmp.Or", seen)
	}
}

// nameOf returns the name of the function that is called.
func nameOf(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// rootOf returns the variable or package that an expression begins with.
func rootOf(x ast.Expr) string {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			return e.Name
		case *ast.SelectorExpr:
			x = e.X
		case *ast.UnaryExpr:
			if e.Op != token.AND {
				return ""
			}
			x = e.X
		default:
			return ""
		}
	}
}
