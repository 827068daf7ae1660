// Package fields finds fields of session lines that nothing reads, by tables of those that are known.
package fields

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A Tree is what is known of a value: nothing reads it, everything below is read or kept as it
// is, or what is known of its fields and, as <TYPE>, of the objects that it is. Lists have the
// fields of their elements.
type Tree struct {
	unread, whole bool
	typed         bool // it is known by types
	below         map[string]*Tree
}

// pi are the fields of pi's lines that are known (docs/formats.md, "Coverage").
//
//go:embed pi.txt
var pi string

var parsed sync.Map // trees, by their tables

// Of returns the fields that are known of an agent's lines, nil for pi.
func Of(d *dialect.Dialect) *Tree {
	table := pi
	if d != nil {
		table = d.Fields
	}
	if t, ok := parsed.Load(table); ok {
		return t.(*Tree)
	}
	t, _ := parsed.LoadOrStore(table, parse(table))
	return t.(*Tree)
}

// parse reads a table of fields: a path on each line, after - if nothing reads it, and before
// .* if all below it is read or kept.
func parse(table string) *Tree {
	root := &Tree{}
	for line := range strings.Lines(table) {
		path, unread := strings.CutPrefix(strings.TrimSpace(line), "- ")
		path, whole := strings.CutSuffix(path, ".*")
		m := root
		for path != "" {
			name, rest := step(path)
			if m.below == nil {
				m.below = map[string]*Tree{}
			}
			if m.below[name] == nil {
				m.below[name] = &Tree{}
			}
			m.typed = m.typed || name[0] == '<'
			m, path = m.below[name], rest
		}
		m.unread, m.whole = unread, whole
	}
	return root
}

// step splits a path after its first name or type.
func step(path string) (name, rest string) {
	if i := strings.IndexByte(path, '>'); path[0] == '<' && i > 0 {
		return path[:i+1], strings.TrimPrefix(path[i+1:], ".")
	}
	i := strings.IndexAny(path[1:], ".<") + 1
	if i == 0 {
		return path, ""
	}
	return path[:i], strings.TrimPrefix(path[i:], ".")
}

// A Finder looks at lines of one agent.
type Finder struct {
	Known *Tree
	// Found is called with each value that nothing reads and its path: known if that is in the table, else
	// it is new. The path is valid until Found returns.
	Found func(path []byte, v jsonl.Value, known bool)
	path  []byte
}

// Line looks at a line.
func (f *Finder) Line(v jsonl.Value) {
	f.path = f.path[:0]
	f.value(v, f.Known)
}

// value looks at a value, of which m is known.
func (f *Finder) value(v jsonl.Value, m *Tree) {
	switch {
	case m.unread:
		f.Found(f.path, v, true)
	case m.whole:
	case v.IsArray():
		for e := range v.Elements {
			f.value(e, m)
		}
	case v.IsObject():
		f.object(v, m)
	}
}

// object looks at an object by what is known of objects of its type, or else of all.
func (f *Finder) object(v jsonl.Value, m *Tree) {
	length := len(f.path)
	defer func() { f.path = f.path[:length] }()
	common := m.below["<*>"]
	if name := typeOf(v); m.typed && name != "" {
		name = "<" + name + ">"
		f.path = append(f.path, name...)
		if m = m.below[name]; m == nil || m.unread {
			f.Found(f.path, v, m != nil)
			return
		}
		if m.whole {
			return
		}
	}
	before := len(f.path)
	for key, val := range v.Members {
		of := m.below[string(key)]
		if of == nil && common != nil {
			of = common.below[string(key)]
		}
		if before > 0 {
			f.path = append(f.path, '.')
		}
		f.path = append(f.path, key...)
		if of == nil {
			f.Found(f.path, val, false)
		} else {
			f.value(val, of)
		}
		f.path = f.path[:before]
	}
}

// typeOf returns the name of what an object is, empty if it does not say.
func typeOf(v jsonl.Value) string {
	var f [3]jsonl.Value
	v.Fields(f[:], "table", "type", "role")
	i := slices.IndexFunc(f[:], jsonl.Value.IsString)
	if i < 0 {
		return ""
	}
	return f[i].Text()
}
