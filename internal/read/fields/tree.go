package fields

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"ctxtool/sessionfmt/jsonl"
)

// The types of fields whose own fields are not declared. They have no size, so a struct with them can be a
// [jsonl.Shape], whose fields of type [jsonl.Value] and [jsonl.String] count as Read.
type (
	// Read is a field that a reader of the package asks for by its name.
	Read struct{}
	// Kept is a field that no reader uses by name, but that is sent or shown unchanged.
	Kept struct{}
	// Free is Read or Kept, with whatever is in it.
	Free struct{}
	// Unread is a field that no answer depends on.
	Unread struct{}
)

// A Value is the field of a shape whose fields, or those of its elements, are declared by T.
type Value[T any] struct{ jsonl.Value }

func (Value[T]) declared() reflect.Type { return reflect.TypeFor[T]() }

// use is what is done with a value.
type use int

const (
	object use = iota // it has declared fields
	read
	kept
	free
	unread
)

var uses = map[reflect.Type]use{
	reflect.TypeFor[Read](): read, reflect.TypeFor[jsonl.Value](): read, reflect.TypeFor[jsonl.String](): read,
	reflect.TypeFor[Kept](): kept, reflect.TypeFor[Free](): free, reflect.TypeFor[Unread](): unread,
}

// A Tree is the declaration of a value.
type Tree struct {
	use   use
	typed bool             // it is declared by types
	below map[string]*Tree // by names of fields; <TYPE> for objects of that type, <*> for those of any
}

var trees sync.Map // by type

// Of returns the declaration of lines that are of type T: a struct with a field for each field of a line. The name
// is that of the Go field, or of its tag jsonl. The type of the Go field is one of this package, a value that a shape
// reads, a struct for an object, or a slice for a list. A tag `jsonl:"<NAME>"` declares the fields of objects of
// that type, which their field table, or else type or role names, and <*> those of all types; the field that names
// the type needs no declaration. A field called raw, and a bool, are the shape's own. Fields of embedded structs
// are the struct's; with an embedded [Free] an object may have others too.
//
// Of panics if a field is declared twice, or is of a type that it does not know.
func Of[T any]() *Tree { return OfType(reflect.TypeFor[T]()) }

// OfType is Of for a type, with no fields for nil.
func OfType(t reflect.Type) *Tree {
	if t == nil {
		return &Tree{}
	}
	if tree, ok := trees.Load(t); ok {
		return tree.(*Tree)
	}
	tree, _ := trees.LoadOrStore(t, build(t, t.String(), map[reflect.Type]*Tree{}))
	return tree.(*Tree)
}

// build returns the declaration of a type. Those in the making may hold themselves.
func build(t reflect.Type, at string, made map[reflect.Type]*Tree) *Tree {
	if v, ok := reflect.Zero(t).Interface().(interface{ declared() reflect.Type }); ok {
		t = v.declared()
	}
	use, leaf := uses[t]
	switch {
	case leaf:
		return &Tree{use: use}
	case made[t] != nil:
		return made[t]
	case t.Kind() == reflect.Slice:
		return build(t.Elem(), at, made)
	case t.Kind() != reflect.Struct:
		panic(fmt.Sprintf("%s: %s declares no field of a line", at, t))
	}
	tree := &Tree{below: map[string]*Tree{}}
	made[t] = tree
	tree.add(t, at, made)
	return tree
}

// add declares the fields of a struct.
func (tree *Tree) add(t reflect.Type, at string, made map[reflect.Type]*Tree) {
	for k := range t.NumField() {
		f := t.Field(k)
		name := cmp.Or(f.Tag.Get("jsonl"), f.Name)
		switch {
		case name == "raw" || f.Type.Kind() == reflect.Bool:
		case f.Anonymous && uses[f.Type] == free:
			tree.use = free
		case f.Anonymous:
			tree.add(f.Type, at, made)
		case tree.below[name] != nil:
			panic(fmt.Sprintf("%s.%s: %s is declared twice", at, f.Name, name))
		default:
			tree.typed = tree.typed || strings.HasPrefix(name, "<")
			tree.below[name] = build(f.Type, at+"."+f.Name, made)
		}
	}
}
