// Package tmpl executes templates in Go's template language: text, fields, variables, pipelines, if, with, range,
// define, block and template.
//
// text/template calls methods by their names. A linker that sees this keeps the exported methods of all types, which
// is 3.4 MB of ctxtool. The values of these templates have no methods: a field is a member of a map.
package tmpl

import (
	"fmt"
	"maps"
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
	s := scope{t, w, []variable{{"$", data}}}
	return s.list(data, tree.Root)
}

type variable struct {
	name  string
	value any
}

// A scope is where a template is executed, with the variables that are visible there.
type scope struct {
	templates Templates
	w         *strings.Builder
	variables []variable
}

// list executes nodes. The variables that they declare end with them.
func (s *scope) list(dot any, nodes *parse.ListNode) error {
	visible := len(s.variables)
	for _, n := range nodes.Nodes {
		if err := s.node(dot, n); err != nil {
			return err
		}
	}
	s.variables = s.variables[:visible]
	return nil
}

func (s *scope) node(dot any, n parse.Node) error {
	switch n := n.(type) {
	case *parse.TextNode:
		s.w.Write(n.Text)
		return nil
	case *parse.CommentNode:
		return nil
	case *parse.ActionNode:
		v, err := s.pipe(dot, n.Pipe)
		if err == nil && len(n.Pipe.Decl) == 0 {
			fmt.Fprint(s.w, v)
		}
		return err
	case *parse.IfNode:
		return s.branch(dot, &n.BranchNode)
	case *parse.WithNode:
		return s.branch(dot, &n.BranchNode)
	case *parse.RangeNode:
		return s.branch(dot, &n.BranchNode)
	case *parse.TemplateNode:
		data, err := s.pipe(dot, n.Pipe)
		if err == nil {
			err = s.templates.Execute(s.w, n.Name, data)
		}
		return err
	}
	return unsupported(n)
}

// branch executes if, with and range. A variable that one of them declares ends with it.
func (s *scope) branch(dot any, n *parse.BranchNode) error {
	visible := len(s.variables)
	defer func() { s.variables = s.variables[:visible] }()
	v, err := s.pipe(dot, n.Pipe)
	if err != nil {
		return err
	}
	if !truth(v) {
		if n.ElseList == nil {
			return nil
		}
		return s.list(dot, n.ElseList)
	}
	switch n.NodeType {
	case parse.NodeWith:
		dot = v
	case parse.NodeRange:
		return s.each(v, n)
	}
	return s.list(dot, n.List)
}

// each executes a range over texts, which are the only lists.
func (s *scope) each(v any, n *parse.BranchNode) error {
	texts, ok := v.([]string)
	if !ok || len(n.Pipe.Decl) > 0 {
		return unsupported(n)
	}
	for _, text := range texts {
		if err := s.list(text, n.List); err != nil {
			return err
		}
	}
	return nil
}

// pipe returns the value of a pipeline, nil for none, and sets the variables that it declares or assigns.
func (s *scope) pipe(dot any, n *parse.PipeNode) (v any, err error) {
	if n == nil {
		return nil, nil
	}
	for k, command := range n.Cmds {
		var piped []any
		if k > 0 {
			piped = []any{v}
		}
		if v, err = s.command(dot, command, piped); err != nil {
			return nil, err
		}
	}
	for _, d := range n.Decl {
		if !n.IsAssign {
			s.variables = append(s.variables, variable{d.Ident[0], v})
			continue
		}
		s.variable(d.Ident[0]).value = v
	}
	return v, nil
}

// command calls a function with its arguments and the value of the command before it, or returns a single value.
func (s *scope) command(dot any, n *parse.CommandNode, piped []any) (any, error) {
	name, ok := n.Args[0].(*parse.IdentifierNode)
	if !ok {
		if len(n.Args)+len(piped) > 1 {
			return nil, unsupported(n)
		}
		return s.value(dot, n.Args[0])
	}
	var args []any
	for _, a := range n.Args[1:] {
		v, err := s.value(dot, a)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return call(name, append(args, piped...))
}

func (s *scope) value(dot any, n parse.Node) (any, error) {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.FieldNode:
		return field(dot, n, n.Ident)
	case *parse.VariableNode:
		return field(s.variable(n.Ident[0]).value, n, n.Ident[1:])
	case *parse.IdentifierNode:
		return call(n, nil)
	case *parse.PipeNode:
		return s.pipe(dot, n)
	case *parse.StringNode:
		return n.Text, nil
	case *parse.BoolNode:
		return n.True, nil
	case *parse.NumberNode:
		if n.IsInt {
			return int(n.Int64), nil
		}
	}
	return nil, unsupported(n)
}

// variable returns the innermost variable of a name; the parser refuses a name that has none.
func (s *scope) variable(name string) *variable {
	k := len(s.variables) - 1
	for s.variables[k].name != name {
		k--
	}
	return &s.variables[k]
}

func field(v any, n parse.Node, names []string) (any, error) {
	for _, name := range names {
		members, _ := v.(map[string]any)
		member, ok := members[name]
		if !ok {
			return nil, failed(n, "no field %s", name)
		}
		v = member
	}
	return v, nil
}

func unsupported(n parse.Node) error { return failed(n, "not supported") }

// failed returns an error with the place of a node. A tree that is not the node's own finds it too.
func failed(n parse.Node, format string, args ...any) error {
	location, context := (*parse.Tree)(nil).ErrorContext(n)
	return fmt.Errorf("template: %s: %s: %s", location, fmt.Sprintf(format, args...), context)
}
