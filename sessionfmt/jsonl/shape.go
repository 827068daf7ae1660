package jsonl

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// A Shape reads objects into a struct, each in one pass. A field of the struct is the member of its name, or
// of that in its tag member: a [String], a [Value], or a struct for a member that is an object itself, whose
// first field, named raw, is all of it. A bool, not the first field, becomes true if the object has a member
// besides these and those that its tag known names. Fields of members that an object does not have stay as they are.
type Shape[T any] struct{ of shape }

// A shape is an object's. Where fields are is counted from the outermost struct.
type shape struct {
	members []shaped
	raw     uintptr // of a member
	known   []string
	unread  uintptr // of the field for other members, 0 for none
}

type shaped struct {
	name string
	at   uintptr
	text bool   // a String, else a Value
	of   *shape // of an object
}

// ShapeOf returns the shape of a struct. It panics if a field is of another type.
func ShapeOf[T any]() Shape[T] { return Shape[T]{shapeOf(reflect.TypeFor[T](), 0)} }

func shapeOf(t reflect.Type, at uintptr) (s shape) {
	for k := range t.NumField() {
		f := t.Field(k)
		m := shaped{name: cmp.Or(f.Tag.Get("member"), f.Name), at: at + f.Offset}
		if f.Type.Kind() == reflect.Bool {
			s.known, s.unread = strings.Fields(f.Tag.Get("known")), m.at
			continue
		}
		switch f.Type {
		case reflect.TypeFor[String]():
			m.text = true
		case reflect.TypeFor[Value]():
		default:
			inner := shapeOf(f.Type, m.at)
			m.of = &inner
		}
		if m.name == "raw" {
			s.raw = m.at
		} else {
			s.members = append(s.members, m)
		}
	}
	return s
}

// Read reads the next object. Any other value is skipped.
func (s *Shape[T]) Read(c *Cursor, to *T) { s.of.read(c, unsafe.Pointer(to)) }

// Member reads the value of a member of that name, which is next, if the struct has it.
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

// read reads a member. Of equal names the last one counts, with all that is in it.
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
