package check

import (
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

// A shape is a fast form of the schemas that most tools have: types, fields, and which of
// them are required. A value that fits it needs no check by the schema library.
type shape struct {
	types    []string          // empty for any type
	members  map[string]*shape // the fields of an object
	required []string
	closed   bool   // no other fields than those
	items    *shape // of an array
	values   []jsonl.Value
}

// remarks are the fields of a schema without an effect on validation.
var remarks = []string{"description", "title", "default", "examples", "$schema", "$id", "$comment"}

// shapeOf returns the shape that a schema describes, nil if a shape cannot express it.
func shapeOf(schema jsonl.Value) *shape {
	if !schema.IsObject() {
		return nil
	}
	s := &shape{}
	for key, v := range schema.Members {
		ok := true
		switch name := string(key); {
		case name == "type":
			ok = s.takeTypes(v)
		case name == "properties":
			s.members = map[string]*shape{}
			for member, sub := range v.Members {
				p := shapeOf(sub)
				s.members[string(member)] = p
				ok = ok && p != nil
			}
		case name == "required":
			for el := range v.Elements {
				s.required = append(s.required, el.Text())
			}
		case name == "additionalProperties":
			s.closed = string(v) == "false"
			ok = s.closed || string(v) == "true"
		case name == "items":
			s.items = shapeOf(v)
			ok = s.items != nil
		case name == "enum":
			s.values = slices.Collect(v.Elements)
		default:
			ok = slices.Contains(remarks, name)
		}
		if !ok {
			return nil
		}
	}
	return s
}

func (s *shape) takeTypes(v jsonl.Value) bool {
	if v.IsString() {
		s.types = []string{v.Text()}
		return true
	}
	for el := range v.Elements {
		s.types = append(s.types, el.Text())
	}
	return len(s.types) > 0
}

// picky reports whether the shape depends on more than the names and types in a value.
func (s *shape) picky() bool {
	if s == nil {
		return false
	}
	for _, sub := range s.members {
		if sub.picky() {
			return true
		}
	}
	return s.values != nil || s.items.picky()
}

// fits reports whether a value has the shape for certain.
func (s *shape) fits(v jsonl.Value) bool {
	if !v.Exists() || len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool { return isOf(v, t) }) {
		return false
	}
	if s.values != nil && !slices.ContainsFunc(s.values, func(el jsonl.Value) bool { return string(el) == string(v) }) {
		return false
	}
	if v.IsArray() && s.items != nil {
		for el := range v.Elements {
			if !s.items.fits(el) {
				return false
			}
		}
	}
	if !v.IsObject() {
		return true
	}
	for _, name := range s.required {
		if !v.Get(name).Exists() {
			return false
		}
	}
	if s.members == nil && !s.closed {
		return true
	}
	for key, el := range v.Members {
		if sub := s.members[string(key)]; sub == nil && s.closed || sub != nil && !sub.fits(el) {
			return false
		}
	}
	return true
}

// isOf reports whether a value is of a type of JSON Schema. For an integer written with a
// fraction or an exponent it returns false; the schema library decides.
func isOf(v jsonl.Value, typ string) bool {
	switch typ {
	case "string":
		return v.IsString()
	case "object":
		return v.IsObject()
	case "array":
		return v.IsArray()
	case "number":
		return v.IsNumber()
	case "integer":
		return v.IsNumber() && !slices.ContainsFunc(v, func(c byte) bool { return c == '.' || c == 'e' || c == 'E' })
	case "boolean":
		return string(v) == "true" || string(v) == "false"
	case "null":
		return string(v) == "null"
	}
	return false
}
