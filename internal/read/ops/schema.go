package ops

import (
	"fmt"
	"strings"
)

// A schema is a part of a JSON Schema (https://json-schema.org/draft/2020-12).
type schema = map[string]any

// ResultSchema returns the JSON Schema of what a hook returns: an object with a patch, or a
// list of operations.
func ResultSchema() any {
	all := make([]schema, len(All))
	for i := range All {
		all[i] = All[i].schema()
	}
	text := schema{"type": "string"}
	patch := schema{"type": "array", "items": schema{"oneOf": all}}
	return schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "what a context hook returns",
		"oneOf": []any{
			patch,
			schema{"type": "null"},
			schema{
				"type": "object",
				"properties": schema{
					"patch": patch, "transformerName": text,
					"display": schema{
						"type": "object", "required": []string{"title"},
						"properties": schema{"title": text, "summary": text, "markdown": text, "rendererId": text,
							"rendererProps": schema{}},
					},
				},
			},
		},
	}
}

// schema returns the schema of an operation.
func (o *Op) schema() schema {
	properties := schema{"op": schema{"const": o.Name}, "scope": schema{"const": o.Scope()}}
	required := []string{"op", "scope"}
	if o.Cached {
		properties["invalidateCacheReason"] = schema{"type": "string", "pattern": `\S`}
		required = append(required, "invalidateCacheReason")
	}
	return object(o.Fields, properties, required, o.About)
}

func object(fields []Field, properties schema, required []string, about string) schema {
	for _, f := range fields {
		properties[f.Name] = f.schema()
		if f.Required {
			required = append(required, f.Name)
		}
	}
	s := schema{"type": "object", "properties": properties, "required": required}
	if about != "" {
		s["description"] = about
	}
	return s
}

func (f *Field) schema() schema {
	s := schema{}
	switch f.Type {
	case Text:
		s["type"] = "string"
	case Number:
		s["type"] = "number"
	case Names:
		s["type"], s["items"] = "array", schema{"type": "string"}
	case Messages:
		s["type"], s["items"] = "array", schema{"type": "object"}
	case List:
		s["type"], s["items"] = "array", object(f.Of, schema{}, []string{}, "")
	}
	if single, ok := s["type"].(string); ok && !f.Required {
		s["type"] = []string{single, "null"}
	}
	if f.About != "" {
		s["description"] = f.About
	}
	return s
}

// Signature returns the names of the operation's fields, as documents list them.
func (o *Op) Signature() string {
	var names []string
	for _, f := range o.Fields {
		name := f.Name
		switch f.Type {
		case Names, Messages, List:
			name += "[]"
		}
		if len(f.Of) > 0 {
			var of []string
			for _, g := range f.Of {
				of = append(of, g.Name)
			}
			name += " (" + strings.Join(of, ", ") + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// Help returns the operations as help lists them: each with its fields and what it does.
func Help() string {
	var out strings.Builder
	for _, o := range All {
		fmt.Fprintf(&out, "  %s  %s\n", o.Name, o.Signature())
		fmt.Fprintf(&out, "      %s\n", o.About)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
