package redact

import (
	"bytes"
)

// This file finds secrets in the arguments of calls.

// callAt adds the secret among the arguments of a call, whose name begins at text[at].
func (s *Scanner) callAt(dst []hit, text []byte, k int32, at int) []hit {
	f := &calls[k]
	i := at + len(f.Name)
	most := min(len(text), i+longestLink+longestName)
	defer func() { s.read += i - at }()
	literals := 0
	for n := 1; i < most && n <= f.Arg; n++ {
		for i < most && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t') {
			i++
		}
		i += literalPrefix(text[i:most])
		if i < most && (text[i] == '"' || text[i] == '\'') {
			end := bytes.IndexByte(text[i+1:most], text[i])
			if end < 0 {
				return dst
			}
			a := argument{i + 1, i + 1 + end}
			literals++
			if v := text[a.start:a.end]; n == f.Arg && (literals > 1 || f.Arg == 1 || len(v) >= 16) &&
				(isGiven(v, true) || f.Arg == 3 && isWords(v, 2)) && isOneWordOf(v) {
				return append(dst, hit{rule: s.r.command, start: a.start, end: a.end, value: string(v)})
			}
			i = a.end + 1
		}
		for depth := 0; i < most && (text[i] != ',' || depth > 0); i++ {
			switch text[i] {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
			if depth < 0 || text[i] == ';' || text[i] == '\n' && depth == 0 && byteAt(text, i+1) == '\n' {
				return dst
			}
		}
		i++
	}
	return dst
}

// literalPrefixes precede the literal of a value that is bytes.
var literalPrefixes = []string{"b", "[]byte(", "Buffer.from(", "bytes(", "r", "@", "N"}

// literalPrefix returns the length of one of literalPrefixes at the start of b, which a literal follows, 0 for none.
func literalPrefix(b []byte) int {
	for _, p := range literalPrefixes {
		if n := len(p); bytes.HasPrefix(b, []byte(p)) && isQuote(byteAt(b, n)) {
			return n
		}
	}
	return 0
}

// isOneWordOf reports whether a literal is one word, and neither an address nor a name in code.
func isOneWordOf(v []byte) bool {
	return !bytes.ContainsAny(v, " \t\n") && !isPath(v) && bytes.IndexByte(v, '@') != len(v)-1 && !bytes.HasSuffix(v,
		[]byte(".com"))
}
