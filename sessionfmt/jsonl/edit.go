package jsonl

import (
	"bytes"
	"slices"
)

// A Field is a member of an object: its name, and its raw value.
type Field struct {
	Name  string
	Value Value
}

// AppendEdited appends the object v with some members set, or taken away where
// the field's Value is nil. All else stays as it is spelled: other members, their
// order, the white space. A member that exists keeps its place, a new one goes
// to the end, as JavaScript does it (docs/session-format.md 11.3). Of a member that is
// there twice both are set.
func (v Value) AppendEdited(dst []byte, fields ...Field) []byte {
	done := 0     // bytes of v that are in dst
	prev := 1     // after the member before, or the brace
	empty := true // no member is kept so far
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
		case empty: // the comma after goes with it
			dst = append(dst, v[done:prev]...)
			if i := SkipSpace(v, end); v[i] == ',' {
				end = i + 1
			}
			done = end
		default: // the comma in front goes with it
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

// append appends the member, after a comma where there are others before it.
func (f Field) append(dst []byte, comma bool) []byte {
	if comma {
		dst = append(dst, ',')
	}
	return append(append(AppendQuoted(dst, f.Name), ':'), f.Value...)
}

// AppendAdded is AppendEdited for members of which none is there: v is not looked
// through.
func (v Value) AppendAdded(dst []byte, fields ...Field) []byte {
	end := len(bytes.TrimRight(v[:len(v)-1], " \t\r"))
	dst = append(dst, v[:end]...)
	for k, f := range fields {
		dst = f.append(dst, k > 0 || end > 1)
	}
	return append(dst, v[end:]...)
}
