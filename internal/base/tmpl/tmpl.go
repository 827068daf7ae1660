// Package tmpl executes templates in a part of Go's template language: text, fields, if, with, range, define, block
// and template, and the functions and, or, not, eq and ne, and those of who uses it.
//
// text/template calls methods by their names. A linker that sees this keeps the exported methods of all types, which
// is 3.4 MB of ctxtool. In these templates a field is one of a struct or a member of a map, and never a method.
package tmpl

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
)

// Templates are parsed templates. The zero value has none.
type Templates struct {
	// Functions are those that templates can call besides the package's own, with one result each.
	Functions map[string]any
	Print     func(v any) string // returns a value as it is written; nil stands for fmt.Sprint

	trees map[string]*parse.Tree
	root  any // the data of the template that is executed
}

// Parse adds a template, and those that it defines.
func (t *Templates) Parse(name, text string) error {
	trees, err := parse.Parse(name, text, "", "", t.Functions, functions)
	if t.trees == nil {
		t.trees = trees
	}
	maps.Copy(t.trees, trees)
	return err
}

// Execute writes what a template makes of data.
func (t Templates) Execute(w *strings.Builder, name string, data any) error {
	tree := t.trees[name]
	if tree == nil {
		return fmt.Errorf("template: no template %q", name)
	}
	t.root = data
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
		v, err := t.value(dot, n.Pipe)
		if err == nil && t.Print != nil {
			v = t.Print(v)
		}
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
			if data, err = t.value(dot, n.Pipe); err != nil {
				return err
			}
		}
		return t.Execute(w, n.Name, data)
	default:
		return failed(n, "not supported")
	}
	return nil
}

// branch executes if, with and range, the last of which is over a list.
func (t Templates) branch(w *strings.Builder, dot any, n *parse.BranchNode) error {
	v, err := t.value(dot, n.Pipe)
	list := reflect.ValueOf(v)
	switch {
	case err != nil:
		return err
	case n.NodeType == parse.NodeRange && list.Kind() != reflect.Slice:
		return failed(n, "not supported")
	case !truth(v):
		if n.ElseList == nil {
			return nil
		}
		return t.list(w, dot, n.ElseList)
	case n.NodeType == parse.NodeWith:
		dot = v
	case n.NodeType == parse.NodeRange:
		for k := range list.Len() {
			if err := t.list(w, list.Index(k).Interface(), n.List); err != nil {
				return err
			}
		}
		return nil
	}
	return t.list(w, dot, n.List)
}

// value returns the value of a field, a text, a number, or a call of a function.
func (t Templates) value(dot any, n parse.Node) (any, error) {
	switch n := n.(type) {
	case *parse.PipeNode:
		if len(n.Cmds) == 1 && len(n.Decl) == 0 {
			return t.call(dot, n.Cmds[0])
		}
	case *parse.DotNode:
		return dot, nil
	case *parse.FieldNode:
		return field(dot, n, n.Ident)
	case *parse.VariableNode: // the data, which is all that has a name
		return field(t.root, n, n.Ident[1:])
	case *parse.StringNode:
		return n.Text, nil
	case *parse.NumberNode:
		if n.IsInt {
			return int(n.Int64), nil
		}
	}
	return nil, failed(n, "not supported")
}

// field returns a field of a field.
func field(v any, n parse.Node, names []string) (any, error) {
	for _, name := range names {
		var member reflect.Value
		switch of := reflect.Indirect(reflect.ValueOf(v)); of.Kind() {
		case reflect.Map:
			member = of.MapIndex(reflect.ValueOf(name))
		case reflect.Struct:
			member = of.FieldByName(name)
		}
		if !member.IsValid() {
			return nil, failed(n, "no field %s", name)
		}
		v = member.Interface()
	}
	return v, nil
}

// call returns the value of a command: of its only word, or of a function and its arguments.
func (t Templates) call(dot any, n *parse.CommandNode) (any, error) {
	name, ok := n.Args[0].(*parse.IdentifierNode)
	switch {
	case ok && len(n.Args) == 1:
		return nil, failed(n, "no arguments")
	case ok:
	case len(n.Args) > 1:
		return nil, failed(n, "not supported")
	default:
		return t.value(dot, n.Args[0])
	}
	f := reflect.ValueOf(functions[name.Ident])
	if own, ok := t.Functions[name.Ident]; ok {
		f = reflect.ValueOf(own)
	}
	var args []reflect.Value
	for k, a := range n.Args[1:] {
		v, err := t.value(dot, a)
		if err != nil {
			return nil, err
		}
		args = append(args, argument(f.Type(), k, reflect.ValueOf(v)))
	}
	return f.Call(args)[0].Interface(), nil
}

// argument returns a value as a function takes it: a pointer, what one leads to, or a text or a number of its type.
func argument(f reflect.Type, k int, v reflect.Value) reflect.Value {
	want := f.In(min(k, f.NumIn()-1))
	if f.IsVariadic() && k >= f.NumIn()-1 {
		want = want.Elem()
	}
	switch {
	case !v.IsValid():
		return reflect.Zero(want)
	case v.Kind() == reflect.Pointer && v.Type().Elem() == want:
		return v.Elem()
	case want.Kind() == reflect.Pointer && v.Type() == want.Elem():
		to := reflect.New(v.Type())
		to.Elem().Set(v)
		return to
	case v.Kind() == reflect.String || v.CanInt():
		return v.Convert(want)
	}
	return v
}

// functions are those that a template can call, with at least one argument. The parser only looks for their names.
var functions = map[string]any{
	"and": func(args ...any) any { return firstOr(args, false) },
	"or":  func(args ...any) any { return firstOr(args, true) },
	"not": func(v any, _ ...any) any { return !truth(v) },
	"eq":  func(v any, others ...any) any { return slices.ContainsFunc(others, equals(v)) },
	"ne":  func(v any, others ...any) any { return !slices.ContainsFunc(others, equals(v)) },
}

// truth reports whether a value is one that if and with take: not zero, and not empty.
func truth(v any) bool {
	of := reflect.ValueOf(v)
	if of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		return of.Len() > 0
	}
	return of.IsValid() && !of.IsZero()
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
