package markdown

import "bytes"

// appendRich appends a line, or a part of one, in which code spans and bold
// stay what they are.
func appendRich(dst, line []byte) []byte {
	start := 0
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == '\\':
			i += 2
		case c == '`':
			ticks, end := codeAt(line, i)
			if end == 0 {
				i += ticks
				continue
			}
			dst = appendWords(dst, line[start:i], plain)
			code := line[i+ticks : end]
			if n := len(code); n > 2 && code[0] == ' ' && code[n-1] == ' ' && len(trim(code)) > 0 {
				code = code[1 : n-1] // they separate backticks
			}
			dst = AppendCode(dst, code)
			i = end + ticks
			start = i
		case c == '*':
			end := boldAt(line, i)
			if end == 0 {
				i += runLen(line[i:], '*')
				continue
			}
			dst = appendWords(dst, line[start:i], plain)
			dst = append(dst, "<b>"...)
			dst = appendRich(dst, line[i+2:end])
			dst = append(dst, "</b>"...)
			i = end + 2
			start = i
		default:
			for i++; i < len(line) && class[line[i]] != active; i++ {
			}
		}
	}
	return appendWords(dst, line[min(start, len(line)):], plain)
}

// codeAt returns the length of the run of backticks at i, and where the next run of that length begins, 0 if
// there is none. It returns the length in both cases, so that a caller searches for each in vain only once.
func codeAt(line []byte, i int) (ticks, end int) {
	ticks = runLen(line[i:], '`')
	for at := i + ticks; at < len(line); {
		k := bytes.IndexByte(line[at:], '`')
		if k < 0 {
			break
		}
		at += k
		n := runLen(line[at:], '`')
		if n == ticks {
			return ticks, at
		}
		at += n
	}
	return ticks, 0
}

// boldAt returns where the text between the two stars at i and the next two ends: 0 if they are more or less,
// or stand before or after white space.
func boldAt(line []byte, i int) int {
	if runLen(line[i:], '*') != 2 || i+2 == len(line) || isSpace(line[i+2]) {
		return 0
	}
	for at := i + 2; at < len(line); {
		n := 1
		switch line[at] {
		case '`':
			ticks, end := codeAt(line, at)
			n = max(at, end) + ticks - at
		case '\\':
			n = 2
		case '*':
			if n = runLen(line[at:], '*'); n == 2 {
				if isSpace(line[at-1]) {
					return 0
				}
				return at
			}
		}
		at += n
	}
	return 0
}
