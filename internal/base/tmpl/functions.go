package tmpl

import (
	"cmp"
	"fmt"
	"slices"
	"text/template/parse"
)

// A function takes at least one argument and at most so many; zero is no limit. It returns nil for arguments that it
// is not for.
type function struct {
	most int
	call func(args []any) any
}

// functions are those that a template can call. The parser only looks for their names.
var functions = map[string]any{
	"and":     function{0, func(args []any) any { return firstOr(args, false) }},
	"or":      function{0, func(args []any) any { return firstOr(args, true) }},
	"not":     function{1, func(args []any) any { return !truth(args[0]) }},
	"eq":      function{0, func(args []any) any { return slices.ContainsFunc(args[1:], equals(args[0])) }},
	"ne":      function{2, func(args []any) any { return !slices.ContainsFunc(args[1:], equals(args[0])) }},
	"lt":      function{2, ordered(func(c int) bool { return c < 0 })},
	"le":      function{2, ordered(func(c int) bool { return c <= 0 })},
	"gt":      function{2, ordered(func(c int) bool { return c > 0 })},
	"ge":      function{2, ordered(func(c int) bool { return c >= 0 })},
	"len":     function{1, length},
	"print":   function{0, func(args []any) any { return fmt.Sprint(args...) }},
	"println": function{0, func(args []any) any { return fmt.Sprintln(args...) }},
	"printf":  function{0, printf},
}

func call(n *parse.IdentifierNode, args []any) (any, error) {
	f := functions[n.Ident].(function)
	if len(args) > 0 && (f.most == 0 || len(args) <= f.most) {
		if v := f.call(args); v != nil {
			return v, nil
		}
	}
	return nil, failed(n, "wrong arguments")
}

// truth reports whether a value is one that if and with take: not zero, and not empty.
func truth(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case int:
		return v != 0
	}
	n, ok := length([]any{v}).(int)
	return ok && n > 0
}

func length(args []any) any {
	switch v := args[0].(type) {
	case string:
		return len(v)
	case []string:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return nil
}

// firstOr returns the first argument of a truth, or the last one.
func firstOr(args []any, truthful bool) any {
	for _, v := range args {
		if truth(v) == truthful {
			return v
		}
	}
	return args[len(args)-1]
}

// equals compares with one value; a list or a map equals nothing.
func equals(v any) func(any) bool {
	return func(other any) bool {
		switch v.(type) {
		case bool, int, string:
			return v == other
		}
		return false
	}
}

// ordered compares two numbers or two texts.
func ordered(accepts func(c int) bool) func(args []any) any {
	return func(args []any) any {
		if len(args) != 2 {
			return nil
		}
		switch a := args[0].(type) {
		case int:
			if b, ok := args[1].(int); ok {
				return accepts(cmp.Compare(a, b))
			}
		case string:
			if b, ok := args[1].(string); ok {
				return accepts(cmp.Compare(a, b))
			}
		}
		return nil
	}
}

func printf(args []any) any {
	format, ok := args[0].(string)
	if !ok {
		return nil
	}
	return fmt.Sprintf(format, args[1:]...)
}
