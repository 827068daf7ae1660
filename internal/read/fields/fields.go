// Package fields finds fields of session lines that nothing reads. Which fields lines have is declared in Go structs,
// see [Of]; readers use the same structs as the shapes by which they read.
package fields

import (
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

// A Finder looks for fields that nothing reads in the lines of one agent.
type Finder struct {
	Known *Tree
	// Found is called with each value that nothing reads and its path: known if it is declared as [Unread], else
	// it is new. The path is valid until Found returns.
	Found func(path []byte, v jsonl.Value, known bool)
	path  []byte
	stack []field // of the objects around the value at hand
}

// Line looks at a line.
func (f *Finder) Line(v jsonl.Value) {
	f.path = f.path[:0]
	f.value(v, f.Known)
}

// value looks at a value whose declaration is t.
func (f *Finder) value(v jsonl.Value, t *Tree) {
	switch {
	case t.use == unread:
		f.Found(f.path, v, true)
	case t.use == free:
	case v.IsArray():
		for e := range v.Elements {
			f.value(e, t)
		}
	case v.IsObject():
		f.object(v, t)
	}
}

// A field is one of an object.
type field struct {
	key []byte
	val jsonl.Value
}

// object looks at an object: its fields are declared for its type, for all types, or, where the type is not
// declared or missing, for the object itself.
func (f *Finder) object(v jsonl.Value, t *Tree) {
	length, from := len(f.path), len(f.stack)
	defer func() { f.path, f.stack = f.path[:length], f.stack[:from] }()
	for key, val := range v.Members { // the type may come last
		f.stack = append(f.stack, field{key, val})
	}
	common, naming := t.below["<*>"], ""
	if t.typed {
		var name string
		if naming, name = typeOf(f.stack[from:]); naming != "" {
			name = "<" + name + ">"
			f.path = append(f.path, name...)
			if t = t.below[name]; t == nil || t.use == unread {
				f.Found(f.path, v, t != nil)
				return
			}
			if t.use == free {
				return
			}
		}
	}
	before := len(f.path)
	for i := from; i < len(f.stack); i++ { // which objects in it may move
		one := f.stack[i]
		of := t.below[string(one.key)]
		if of == nil && common != nil {
			of = common.below[string(one.key)]
		}
		if of == nil && string(one.key) == naming {
			continue
		}
		if before > 0 {
			f.path = append(f.path, '.')
		}
		f.path = append(f.path, one.key...)
		if of == nil {
			f.Found(f.path, one.val, false)
		} else {
			f.value(one.val, of)
		}
		f.path = f.path[:before]
	}
}

// naming are the fields that name the type of an object, the first that is a string.
var naming = [3]string{"table", "type", "role"}

// typeOf returns the type of an object with those fields, and the field that names it, both empty if none does.
// Of several fields with one name the last counts.
func typeOf(fields []field) (by, name string) {
	for _, by := range naming {
		for _, one := range slices.Backward(fields) {
			if string(one.key) != by {
				continue
			}
			if one.val.IsString() {
				if name := one.val.Text(); name != "" {
					return by, name
				}
				return "", ""
			}
			break
		}
	}
	return "", ""
}
