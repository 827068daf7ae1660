package jsonl

import "bytes"

// A Skipper finds the end of a value that arrives in parts. It looks at strings and brackets only.
type Skipper struct {
	depth int
	in    bool // inside a string
}

// Skip returns how much of a part belongs to the value, and whether the value ends there or is broken.
// Otherwise the next part must continue after n, which may be before the end of this part.
func (s *Skipper) Skip(part []byte) (n int, done bool) {
	for i := 0; i < len(part); {
		if s.in {
			end, _, _ := scanString(part, i-1)
			if end < 0 {
				bad := failed(end)
				if bad.Reason == BrokenOff {
					return bad.Offset, false
				}
				return bad.Offset + 1, true
			}
			s.in = false
			i = end
			if s.depth == 0 {
				return i, true
			}
			continue
		}
		switch part[i] {
		case '"':
			s.in = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth--; s.depth <= 0 {
				return i + 1, true
			}
		}
		i++
	}
	return len(part), false
}

// AppendOneLine appends a value without newlines and the white space around them.
func (v Value) AppendOneLine(dst []byte) []byte {
	for line := range bytes.Lines(v) {
		dst = append(dst, Trim(line)...)
	}
	return dst
}
