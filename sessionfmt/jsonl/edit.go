package jsonl

import (
	"bytes"
	"slices"
)

// A Field is a field of an object: its name and its raw value.
type Field struct {
	Name  string
	Value Value
}

// AppendEdited appends the object v with some fields set, or removed if the Field's Value is
// nil. It keeps everything else byte for byte. An existing field keeps its place, a new one
// goes to the end, as in JavaScript (docs/session-format.md 11.3). If a field occurs twice,
// both are set.
func (v Value) AppendEdited(dst []byte, fields ...Field) []byte {
	done := 0     // bytes of v copied to dst
	prev := 1     // end of the previous field, or of the brace
	empty := true // no field kept so far
	var found uint64
	for key, val := range v.Members {
		start := cap(v) - cap(val)
		end := start + len(val)
		k := slices.IndexFunc(fields, func(f Field) bool { return f.Name == string(key) })
		switch {
		case k < 0:
			empty = false
		case fields[k].Value != nil:
			dst = append(append(dst, v[done:start]...), fields[k].Value...)
			done, empty = end, false
		case empty: // remove the comma after it
			dst = append(dst, v[done:prev]...)
			if i := SkipSpace(v, end); v[i] == ',' {
				end = i + 1
			}
			done = end
		default: // remove the comma before it
			dst = append(dst, v[done:prev]...)
			done = end
		}
		if k >= 0 {
			found |= 1 << k
		}
		prev = end
	}
	dst = append(dst, v[done:prev]...)
	for k, f := range fields {
		if found>>k&1 == 0 && f.Value != nil {
			dst = f.append(dst, !empty)
			empty = false
		}
	}
	return append(dst, v[prev:]...)
}

// AppendObject appends an object of those fields that exist.
func AppendObject(dst []byte, fields ...Field) []byte {
	dst = append(dst, '{')
	for _, f := range fields {
		if f.Value.Exists() {
			dst = f.append(dst, dst[len(dst)-1] != '{')
		}
	}
	return append(dst, '}')
}

// With adds a field to an object that nothing else refers to, if the value exists.
func (v Value) With(name string, member Value) Value {
	if !member.Exists() {
		return v
	}
	return append(Field{name, member}.append(v[:len(v)-1], len(v) > len("{}")), '}')
}

// append appends the field, after a comma if others precede it.
func (f Field) append(dst []byte, comma bool) []byte {
	if comma {
		dst = append(dst, ',')
	}
	return append(append(AppendQuoted(dst, f.Name), ':'), f.Value...)
}

// AppendAdded is AppendEdited for fields that v does not have. It does not search v.
func (v Value) AppendAdded(dst []byte, fields ...Field) []byte {
	end := len(bytes.TrimRight(v[:len(v)-1], " \t\r"))
	dst = append(dst, v[:end]...)
	for k, f := range fields {
		dst = f.append(dst, k > 0 || end > 1)
	}
	return append(dst, v[end:]...)
}
