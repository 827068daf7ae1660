package redact

import (
	"bytes"
	"strings"
)

// keyLine is how long a line of a key's data is at least, except for the last one.
const keyLine = 40

// keyLines adds the data of a private key by one of its end lines or by how it begins. Its lines
// may be indented, numbered, quoted or literals of source code. Heads before text[done] were
// searched already.
func (s *Scanner) keyLines(dst []hit, text []byte, f foundUse, done int) ([]hit, int) {
	start, end := 0, 0
	switch f.use.kind {
	case useKeyHead:
		head := s.r.heads[f.use.rule]
		start = f.at - strings.LastIndexByte(head, '?') - 1
		if start < done || !like(text[start:], head) || start > 0 && inBase64(text[start-1]) && !escapes(text, start) && !marked(text, start) {
			return dst, done
		}
		_, end = dataLines(text, start)
	default:
		after := f.at + f.use.size
		label := text[after:min(len(text), after+64)]
		at := bytes.Index(label, []byte("PRIVATE KEY"))
		n := bytes.Index(label, []byte("-----"))
		if at < 0 || n < at {
			return dst, done
		}
		if f.use.kind == useKeyBegin {
			start, end = dataLines(text, after+n+5)
		} else {
			start, end = linesBefore(text, f.at)
		}
	}
	if end-start < keyLine {
		return dst, max(done, end)
	}
	return append(dst, hit{rule: s.r.key, start: start, end: end, value: string(text[start:end])}), max(done, end)
}

// like reports whether a text begins with a head, in which ? is any character.
func like(text []byte, head string) bool {
	for i := range len(head) {
		if i == len(text) || head[i] != '?' && text[i] != head[i] {
			return false
		}
	}
	return true
}

func inBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }

// escapes reports whether text[at-1] is the letter of an escape such as \n.
func escapes(text []byte, at int) bool { return at > 1 && text[at-2] == '\\' }

// marked reports whether text[at-1] is a sign of a diff.
func marked(text []byte, at int) bool {
	return text[at-1] == '+' && (at == 1 || text[at-2] == '\n' || at > 2 && text[at-2] == 'n' && text[at-3] == '\\')
}

// longestHeader is how many bytes lie before the data of a key, such as its encryption.
const longestHeader = 256

// dataLines returns where lines of data begin and end, from text[at] on.
func dataLines(text []byte, at int) (start, end int) {
	start, end = at, at
	for gap, most := 0, longestHeader; at < len(text) && gap < most; {
		if !inBase64(text[at]) || at > 0 && text[at-1] == '\\' {
			if bytes.HasPrefix(text[at:], []byte("-----")) {
				break
			}
			at++
			gap++
			continue
		}
		next := at
		for next < len(text) && inBase64(text[next]) {
			next++
		}
		n := next - at
		switch {
		case n >= keyLine && end == start:
			start, end, gap, most = at, next, 0, longestJoint
		case n >= keyLine:
			end, gap = next, 0
		case end > start && (text[next-1] == '=' || n > 3 && closes(text, next)):
			return start, next
		case n >= minPart && end > start:
			return start, end
		default:
			gap += n
		}
		at = next
	}
	return start, end
}

// closes reports whether the end line of a key follows.
func closes(text []byte, at int) bool {
	return bytes.Contains(text[at:min(len(text), at+longestJoint)], []byte("-----END"))
}

// linesBefore returns where the lines of data before text[at] begin and end.
func linesBefore(text []byte, at int) (start, end int) {
	start, end = at, 0
	for i, gap := at, 0; i > 0 && gap < longestJoint; {
		if c := text[i-1]; !inBase64(c) || escapes(text, i) {
			if bytes.HasSuffix(text[:i], []byte("-----")) {
				break
			}
			i--
			gap++
			continue
		}
		last := i
		for i > 0 && inBase64(text[i-1]) && !escapes(text, i) {
			i--
		}
		switch n := last - i; {
		case n >= keyLine || end == 0 && (n > 3 || text[last-1] == '='):
			start, gap = i, 0
			if end == 0 {
				end = last
			}
		case n >= minPart:
			return start, max(start, end)
		default:
			gap += n
		}
	}
	return start, max(start, end)
}
