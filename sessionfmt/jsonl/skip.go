package jsonl

import "bytes"

// A Skipper passes over a value that is read in parts, to find where it ends. It looks at
// strings and brackets only.
type Skipper struct {
	depth int
	in    bool // a string
}

// Skip returns how much of a part belongs to the value, and reports whether the value ends there,
// or breaks. If not, the next part follows what it returned, which may be less than the part.
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

// AppendOneLine appends a value without its newlines, and without the white space around them.
func (v Value) AppendOneLine(dst []byte) []byte {
	for line := range bytes.Lines(v) {
		dst = append(dst, Trim(line)...)
	}
	return dst
}
