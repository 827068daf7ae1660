package body

import (
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

// notStrict are the keywords that no strict schema has.
var notStrict = []string{"$ref", "$defs", "definitions", "allOf", "oneOf", "patternProperties", "dependentSchemas",
	"dependencies", "unevaluatedProperties", "propertyNames", "contains", "prefixItems", "not", "if", "then", "else"}

// strictSchema returns a schema of an object as providers with strict tools take it: every property is
// required, an optional one may be null, and there are no others. can is false where it uses what strict
// schemas do not have, or a keyword that the provider refuses; refused may be nil.
func strictSchema(v jsonl.Value, refused func(keyword string, v jsonl.Value) bool) (out []byte, can bool) {
	s := strictness{refused: refused}
	if out, can = s.node(v); !can || !v.Get("type").Is("object") {
		return nil, false
	}
	return out, true
}

type strictness struct {
	refused func(keyword string, v jsonl.Value) bool
}

func (s *strictness) node(v jsonl.Value) (out []byte, can bool) {
	if !v.IsObject() {
		return nil, false
	}
	typed, isObject := false, v.Get("type").Is("object")
	var fields []jsonl.Field
	for name, val := range v.Ordered {
		if slices.Contains(notStrict, name) || s.refused != nil && s.refused(name, val) {
			return nil, false
		}
		can := true
		switch name {
		case "type", "enum":
			typed = true
		case "anyOf":
			typed = true
			val, can = s.union(val)
		case "items":
			val, can = s.node(val)
		case "properties":
			val, can = s.properties(val, v.Get("required"))
			can = can && isObject
		case "additionalProperties":
			can = !isObject || string(val) == "false"
		}
		if !can {
			return nil, false
		}
		fields = append(fields, jsonl.Field{Name: name, Value: val})
	}
	if !typed {
		return nil, false
	}
	if isObject {
		names, can := required(v)
		if !can {
			return nil, false
		}
		fields = set(fields, "required", names)
		fields = set(fields, "additionalProperties", jsonl.Value("false"))
	}
	return jsonl.AppendObject(nil, minified(fields)...), true
}

// required returns the names of all properties. can is false if a required one is not among them.
func required(v jsonl.Value) (names jsonl.Value, can bool) {
	var all []string
	for name := range v.Get("properties").Ordered {
		all = append(all, name)
	}
	given := v.Get("required")
	if given.Exists() && !given.IsArray() {
		return nil, false
	}
	for name := range given.Elements {
		if !name.IsString() || !slices.Contains(all, name.Text()) {
			return nil, false
		}
	}
	names = jsonl.Value("[")
	for k, name := range all {
		if k > 0 {
			names = append(names, ',')
		}
		names = jsonl.AppendQuoted(names, name)
	}
	return append(names, ']'), true
}

// union makes the variants strict. Objects and arrays are refused.
func (s *strictness) union(v jsonl.Value) (out jsonl.Value, can bool) {
	if !v.IsArray() {
		return nil, false
	}
	out = jsonl.Value("[")
	for variant := range v.Elements {
		if structured(variant) {
			return nil, false
		}
		strict, can := s.node(variant)
		if !can {
			return nil, false
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, strict...)
	}
	return append(out, ']'), len(out) > 1
}

// structured reports whether a schema is of an object or an array.
func structured(v jsonl.Value) bool {
	return v.Get("properties").Exists() || v.Get("items").Exists() || ofType(v, "object") || ofType(v, "array")
}

// ofType reports whether the type of a schema is, or may be, one.
func ofType(v jsonl.Value, name string) bool {
	of := v.Get("type")
	for each := range of.Elements {
		if each.Is(name) {
			return true
		}
	}
	return of.Is(name)
}

// properties makes properties strict. Those that are not required may be null.
func (s *strictness) properties(v, required jsonl.Value) (out jsonl.Value, can bool) {
	if !v.IsObject() {
		return nil, false
	}
	var fields []jsonl.Field
	for name, val := range v.Ordered {
		strict, can := s.node(val)
		if !can {
			return nil, false
		}
		given := false
		for each := range required.Elements {
			given = given || each.Is(name)
		}
		if !given && !allowsNull(strict) {
			strict = append(append([]byte(`{"anyOf":[`), strict...), `,{"type":"null"}]}`...)
		}
		fields = append(fields, jsonl.Field{Name: name, Value: strict})
	}
	return jsonl.AppendObject(nil, fields...), true
}

// allowsNull reports whether a value of a schema may be null.
func allowsNull(v jsonl.Value) bool {
	if ofType(v, "null") || string(v.Get("const")) == "null" {
		return true
	}
	for each := range v.Get("enum").Elements {
		if string(each) == "null" {
			return true
		}
	}
	for variant := range v.Get("anyOf").Elements {
		if allowsNull(variant) {
			return true
		}
	}
	return false
}

// set sets a field in its place, or at the end.
func set(fields []jsonl.Field, name string, v jsonl.Value) []jsonl.Field {
	if k := slices.IndexFunc(fields, func(f jsonl.Field) bool { return f.Name == name }); k >= 0 {
		fields[k].Value = v
		return fields
	}
	return append(fields, jsonl.Field{Name: name, Value: v})
}

// minified returns the fields without white space.
func minified(fields []jsonl.Field) []jsonl.Field {
	for k, f := range fields {
		fields[k].Value = f.Value.AppendMinified(nil)
	}
	return fields
}

// schemaIn are the keywords whose value is a schema, or a list of schemas; schemasByName those whose value
// has schemas by name.
var (
	schemaIn = []string{"additionalProperties", "unevaluatedProperties", "propertyNames", "items", "prefixItems",
		"additionalItems", "unevaluatedItems", "contains", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
		"contentSchema"}
	schemasByName = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas",
		"dependencies"}
)

// constAsEnum returns a schema whose constant strings and numbers are enums of one value, since Gemini
// ignores const. named is set for an object that has schemas by name.
func constAsEnum(v jsonl.Value, named bool) jsonl.Value {
	if v.IsArray() {
		out := jsonl.Value("[")
		for each := range v.Elements {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, constAsEnum(each, false)...)
		}
		return append(out, ']')
	}
	if !v.IsObject() {
		return v
	}
	var fields []jsonl.Field
	var only jsonl.Value
	for name, val := range v.Ordered {
		switch {
		case named || slices.Contains(schemaIn, name):
			val = constAsEnum(val, false)
		case slices.Contains(schemasByName, name):
			val = constAsEnum(val, true)
		case name == "const" && (val.IsString() || val.IsNumber()) && !v.Get("enum").Exists():
			only = val
			continue
		}
		fields = append(fields, jsonl.Field{Name: name, Value: val})
	}
	if only.Exists() {
		one := append(append(jsonl.Value("["), only...), ']')
		fields = append(fields, jsonl.Field{Name: "enum", Value: one})
	}
	return jsonl.AppendObject(nil, minified(fields)...)
}
