package redact

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// printed adds the line after the command, if it is one word.
func (c *commandLine) printed(dst []hit) []hit {
	stop := bytes.IndexByte(c.text[c.end:min(len(c.text), c.end+longestFed)], '\n')
	if stop < 0 {
		return dst
	}
	from := c.end + stop + 1
	to := from
	for to < len(c.text) && to-from < longestValue && c.text[to] > ' ' {
		to++
	}
	line := c.text[to:min(len(c.text), to+1)]
	for to > from+1 && strings.IndexByte("\"',", c.text[to-1]) >= 0 {
		to--
	}
	for from < to && isQuote(c.text[from]) {
		from++
	}
	v := c.text[from:to]
	ends := len(line) == 0 || line[0] == '\n' || line[0] == '\r'
	if n := bytes.IndexByte(v, ':'); n > 0 && isIdent(v[:n]) && madeOf(v[n+1:min(len(v), n+judged)]).random() {
		from, v = from+n+1, v[n+1:] // a user before it
	}
	if len(v) == 64 && isAllHex(v) && c.has([]string{"run", "create", "ps"}) { // the id of a container
		return dst
	}
	if to-from < 8 || !ends || !utf8.Valid(v) || isPath(v) ||
		bytes.IndexByte(v, ':') > 0 && !human(v) {
		return dst
	}
	if m := madeOf(v[:min(len(v), judged)]); (m.random() || human(v)) && !isPlain(v) && !isFile(v) && !isPod(v) &&
		isOneWord(v) {
		dst = append(dst, hit{rule: c.s.r.command, start: from, end: to, value: string(v)})
	}
	return dst
}

// isPath reports whether a text is a path or an address.
func isPath(v []byte) bool {
	return v[0] == '/' || v[0] == '.' || bytes.Contains(v, []byte("://")) || bytes.Count(v, []byte("/")) > 2
}

// isPod reports whether a text is words and short codes with dashes between them, as names of resources are.
func isPod(v []byte) bool {
	return bytes.IndexByte(v, '-') > 0 && !hasUpper(v) && len(v) < 64 && !isAllHex(v)
}

func hasUpper(v []byte) bool { return slices.ContainsFunc(v, func(c byte) bool { return c-'A' < 26 }) }

// isSecretFile reports whether an argument is a file, or a variable, whose name is that of a secret: master.key.
func (c *commandLine) isSecretFile(v []byte) bool {
	name := v[bytes.LastIndexByte(v, '/')+1:]
	if len(name) == 0 || v[0] == '-' || len(name) > longestName || !isIdent(name) {
		return false
	}
	return c.s.namer.judge(bytes.TrimSuffix(name, []byte(".txt"))) >= strongName
}
