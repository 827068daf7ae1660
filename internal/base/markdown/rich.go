package markdown

import "bytes"

// appendRich appends a line, or a part of one, in which code spans and bold
// stay what they are.
func appendRich(dst, line []byte) []byte {
	s := spans{line: line}
	start := 0
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == '\\':
			i += 2
		case c == '`':
			ticks, end := s.code(i)
			if end > 0 {
				dst = appendWords(dst, line[start:i], plain)
				dst = AppendCode(dst, unpad(line[i+ticks:end]))
				start = end + ticks
				i = start
			} else {
				i += ticks
			}
		case c == '*' || c == '_':
			n := runLen(line[i:], c)
			if end := s.bold(i, n); end > 0 {
				dst = appendWords(dst, line[start:i], plain)
				dst = append(dst, "<b>"...)
				dst = appendRich(dst, line[i+2:end])
				dst = append(dst, "</b>"...)
				start = end + 2
				i = start
			} else {
				i += n
			}
		default:
			for i++; i < len(line) && class[line[i]] != active; i++ {
			}
		}
	}
	return appendWords(dst, line[min(start, len(line)):], plain)
}

// spans finds where spans of a line end. What was looked for in vain is not
// looked for again, so that a line costs no more than a few looks at it.
type spans struct {
	line  []byte
	ticks uint64 // bit n: no run of n backticks comes any more
	stars bool   // no ** comes any more
	lines bool   // no __ comes any more
}

// code is the length of the run of backticks at i, and where the run is that
// closes it: 0 if none does.
func (s *spans) code(i int) (ticks, end int) {
	ticks = runLen(s.line[i:], '`')
	if ticks > 63 || s.ticks&(1<<ticks) != 0 {
		return ticks, 0
	}
	for at := i + ticks; at < len(s.line); {
		k := bytes.IndexByte(s.line[at:], '`')
		if k < 0 {
			break
		}
		at += k
		n := runLen(s.line[at:], '`')
		if n == ticks {
			return ticks, at
		}
		at += n
	}
	s.ticks |= 1 << ticks
	return ticks, 0
}

// bold is where the text between the pair of signs at i ends: 0 if it does not.
// n is how many signs there are in a row.
func (s *spans) bold(i, n int) int {
	c, none := s.line[i], &s.stars
	if c == '_' {
		none = &s.lines
	}
	if n != 2 || *none || i+2 >= len(s.line) || isSpace(s.line[i+2]) || c == '_' && i > 0 && isWord(s.line[i-1]) {
		return 0
	}
	for at := i + 2; at < len(s.line); {
		switch d := s.line[at]; {
		case d == '`':
			ticks, end := s.code(at)
			at = max(at, end) + ticks
		case d == '\\':
			at += 2
		case d == c:
			n := runLen(s.line[at:], c)
			if n == 2 && !isSpace(s.line[at-1]) && (c == '*' || at+2 == len(s.line) || !isWord(s.line[at+2])) {
				if c == '_' && identifier(s.line[i+2:at]) {
					return 0
				}
				return at
			}
			at += n
		default:
			at++
		}
	}
	*none = true
	return 0
}

// identifier tells whether a text is a name of a program, as in __init__.
func identifier(text []byte) bool {
	for _, c := range text {
		if !isDigit(c) && c != '_' && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// unpad removes the spaces at both ends of a code span that separate
// backticks.
func unpad(code []byte) []byte {
	if len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' && len(trim(code)) > 0 {
		return code[1 : len(code)-1]
	}
	return code
}
