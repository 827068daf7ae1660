// Package tmpl executes templates in a part of Go's template language: text, fields, if, with, range, define, block
// and template, and the functions and, or, not, eq and ne.
//
// text/template calls methods by their names. A linker that sees this keeps the exported methods of all types, which
// is 3.4 MB of ctxtool. The values of these templates have no methods: a field is a member of a map.
package tmpl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"
)

// Templates are parsed templates by their names.
type Templates map[string]*parse.Tree

// Parse adds a template, and those that it defines.
func (t Templates) Parse(name, text string) error {
	trees, err := parse.Parse(name, text, "", "", functions)
	maps.Copy(t, trees)
	return err
}

// Execute writes what a template makes of data.
func (t Templates) Execute(w *strings.Builder, name string, data any) error {
	tree := t[name]
	if tree == nil {
		return fmt.Errorf("template: no template %q", name)
	}
	return t.list(w, data, tree.Root)
}

func (t Templates) list(w *strings.Builder, dot any, nodes *parse.ListNode) error {
	for _, n := range nodes.Nodes {
		if err := t.node(w, dot, n); err != nil {
			return err
		}
	}
	return nil
}

func (t Templates) node(w *strings.Builder, dot any, n parse.Node) error {
	switch n := n.(type) {
	case *parse.TextNode:
		w.Write(n.Text)
	case *parse.CommentNode:
	case *parse.ActionNode:
		v, err := value(dot, n.Pipe)
		if err == nil {
			fmt.Fprint(w, v)
		}
		return err
	case *parse.IfNode:
		return t.branch(w, dot, &n.BranchNode)
	case *parse.WithNode:
		return t.branch(w, dot, &n.BranchNode)
	case *parse.RangeNode:
		return t.branch(w, dot, &n.BranchNode)
	case *parse.TemplateNode:
		var data any
		if n.Pipe != nil {
			var err error
			if data, err = value(dot, n.Pipe); err != nil {
				return err
			}
		}
		return t.Execute(w, n.Name, data)
	default:
		return failed(n, "not supported")
	}
	return nil
}

// branch executes if, with and range, the last of which is over texts, the only lists.
func (t Templates) branch(w *strings.Builder, dot any, n *parse.BranchNode) error {
	v, err := value(dot, n.Pipe)
	texts, ok := v.([]string)
	switch {
	case err != nil:
		return err
	case n.NodeType == parse.NodeRange && !ok:
		return failed(n, "not supported")
	case !truth(v):
		if n.ElseList == nil {
			return nil
		}
		return t.list(w, dot, n.ElseList)
	case n.NodeType == parse.NodeWith:
		dot = v
	case n.NodeType == parse.NodeRange:
		for _, text := range texts {
			if err := t.list(w, text, n.List); err != nil {
				return err
			}
		}
		return nil
	}
	return t.list(w, dot, n.List)
}

// value returns the value of a field, a text, a number, or a call of a function.
func value(dot any, n parse.Node) (any, error) {
	switch n := n.(type) {
	case *parse.PipeNode:
		if len(n.Cmds) == 1 && len(n.Decl) == 0 {
			return call(dot, n.Cmds[0])
		}
	case *parse.DotNode:
		return dot, nil
	case *parse.FieldNode:
		for _, name := range n.Ident {
			members, _ := dot.(map[string]any)
			var ok bool
			if dot, ok = members[name]; !ok {
				return nil, failed(n, "no field %s", name)
			}
		}
		return dot, nil
	case *parse.StringNode:
		return n.Text, nil
	case *parse.NumberNode:
		if n.IsInt {
			return int(n.Int64), nil
		}
	}
	return nil, failed(n, "not supported")
}

// call returns the value of a command: of its only word, or of a function and its arguments.
func call(dot any, n *parse.CommandNode) (any, error) {
	name, ok := n.Args[0].(*parse.IdentifierNode)
	switch {
	case ok && len(n.Args) == 1:
		return nil, failed(n, "no arguments")
	case ok:
	case len(n.Args) > 1:
		return nil, failed(n, "not supported")
	default:
		return value(dot, n.Args[0])
	}
	var args []any
	for _, a := range n.Args[1:] {
		v, err := value(dot, a)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return functions[name.Ident].(func(args []any) any)(args), nil
}

// functions are those that a template can call, with at least one argument. The parser only looks for their names.
var functions = map[string]any{
	"and": func(args []any) any { return firstOr(args, false) },
	"or":  func(args []any) any { return firstOr(args, true) },
	"not": func(args []any) any { return !truth(args[0]) },
	"eq":  func(args []any) any { return slices.ContainsFunc(args[1:], equals(args[0])) },
	"ne":  func(args []any) any { return !slices.ContainsFunc(args[1:], equals(args[0])) },
}

// truth reports whether a value is one that if and with take: not zero, and not empty.
func truth(v any) bool {
	switch v := v.(type) {
	case []string:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return !slices.Contains([]any{nil, false, 0, ""}, v)
}

// firstOr returns the first argument of a truth, or the last one.
func firstOr(args []any, truthful bool) any {
	k := slices.IndexFunc(args, func(v any) bool { return truth(v) == truthful })
	if k < 0 {
		k = len(args) - 1
	}
	return args[k]
}

// equals compares texts and numbers with one of them.
func equals(v any) func(any) bool {
	return func(other any) bool { return fmt.Sprintf("%#v", v) == fmt.Sprintf("%#v", other) }
}

// failed returns an error with the place of a node. A tree that is not the node's own finds it too.
func failed(n parse.Node, format string, args ...any) error {
	location, context := (*parse.Tree)(nil).ErrorContext(n)
	return fmt.Errorf("template: %s: %s: %s", location, fmt.Sprintf(format, args...), context)
}
