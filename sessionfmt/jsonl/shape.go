package jsonl

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"
)

// A Shape reads objects into a struct, each in one pass. A field of the struct is the object's field of its name, or
// of that in its tag jsonl: a [String], a [Value], a struct that embeds only a Value, or a struct for a field that is
// an object itself, whose field raw is all of it. Fields of embedded structs, and of those whose
// tag is <TYPE>, are the struct's. A slice, and a type without size, names a field that the shape does not read. A bool, not the first field, becomes true if
// the object has a field that the struct does not name. Fields that an object does not have stay as they are.
type Shape[T any] struct{ of shape }

// A shape describes an object. Offsets of fields are relative to the outermost struct.
type shape struct {
	members []shaped
	raw     uintptr  // fields by name
	known   []string // fields that are not read
	unread  uintptr  // offset of the bool for other fields; 0 for none
}

type shaped struct {
	name string
	at   uintptr
	text bool   // a String, else a Value
	of   *shape // an object
}

// ShapeOf returns the shape of a struct. It panics if a field has an unsupported type or tag.
func ShapeOf[T any]() Shape[T] {
	var s shape
	s.add(reflect.TypeFor[T](), 0)
	return Shape[T]{s}
}

// add adds the fields of a struct at an offset.
func (s *shape) add(t reflect.Type, at uintptr) {
	for k := range t.NumField() {
		f := t.Field(k)
		m := shaped{name: cmp.Or(f.Tag.Get("jsonl"), f.Name), at: at + f.Offset}
		if _, named := f.Tag.Lookup("jsonl"); f.Tag != "" && !named {
			panic(t.String() + "." + f.Name + ": a shape knows the tag jsonl only, not " + string(f.Tag))
		}
		switch value := reflect.TypeFor[Value](); {
		case f.Type.Kind() == reflect.Bool:
			s.unread = m.at
			continue
		case f.Anonymous, m.name[0] == '<':
			s.add(f.Type, m.at)
			continue
		case m.name == "raw":
			s.raw = m.at
			continue
		case f.Type.Size() == 0, f.Type.Kind() == reflect.Slice && f.Type != value:
			s.known = append(s.known, m.name)
			continue
		case f.Type == reflect.TypeFor[String]():
			m.text = true
		case f.Type == value, f.Type.NumField() == 1 && f.Type.Field(0).Anonymous && f.Type.Field(0).Type == value:
		default:
			if _, has := f.Type.FieldByName("raw"); !has {
				panic(t.String() + "." + f.Name + ": a struct for an object has no field raw")
			}
			m.of = &shape{}
			m.of.add(f.Type, m.at)
		}
		s.members = append(s.members, m)
	}
}

// Read reads the next object. Any other value is skipped.
func (s *Shape[T]) Read(c *Cursor, to *T) { s.of.read(c, unsafe.Pointer(to)) }

// Member reads the value of the field with that name, which is next, if the struct has it.
func (s *Shape[T]) Member(c *Cursor, name []byte, to *T) {
	if m := s.of.find(name); m != nil {
		m.read(c, unsafe.Pointer(to))
	}
}

func (s *shape) read(c *Cursor, to unsafe.Pointer) {
	for i, more := c.opens('{'); more; more = c.next(&i, '}') {
		name, ok := c.name(i)
		if !ok {
			return
		}
		if m := s.find(name); m != nil {
			m.read(c, to)
			continue
		}
		if s.unread != 0 && !slices.Contains(s.known, string(name)) {
			*(*bool)(unsafe.Add(to, s.unread)) = true
		}
		c.Value()
	}
}

func (s *shape) find(name []byte) *shaped {
	for k := range s.members {
		if m := &s.members[k]; len(name) == len(m.name) && string(name) == m.name {
			return m
		}
	}
	return nil
}

// read reads a field. If names are equal, the last one counts, with everything in it.
func (m *shaped) read(c *Cursor, to unsafe.Pointer) {
	switch {
	case m.of != nil:
		raw := (*Value)(unsafe.Add(to, m.of.raw))
		if raw.Exists() {
			m.of.clear(to)
		}
		start := c.i
		m.of.read(c, to)
		*raw = c.Since(start)
	case m.text:
		c.into((*String)(unsafe.Add(to, m.at)))
	default:
		*(*Value)(unsafe.Add(to, m.at)) = c.Value()
	}
}

func (s *shape) clear(to unsafe.Pointer) {
	for k := range s.members {
		switch m := &s.members[k]; {
		case m.of != nil:
			m.of.clear(to)
		case m.text:
			*(*String)(unsafe.Add(to, m.at)) = String{}
		default:
			*(*Value)(unsafe.Add(to, m.at)) = nil
		}
	}
	*(*Value)(unsafe.Add(to, s.raw)) = nil
	if s.unread != 0 {
		*(*bool)(unsafe.Add(to, s.unread)) = false
	}
}
