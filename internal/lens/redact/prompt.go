package redact

import (
	"bytes"
	"slices"
)

// This file reads what precedes a name or a value in a line: prompts, paths, and numbers of lists.

// prompts begin lines in which a person has typed a command.
var prompts = []string{"$ ", "# ", "% ", "> ", "❯ ", "PS "}

// isPrompt reports whether a line begins with a prompt, or has one after a user and a folder.
func isPrompt(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return slices.ContainsFunc(prompts, func(p string) bool { return bytes.HasPrefix(line, []byte(p)) }) ||
		bytes.Contains(line, []byte(":~$ ")) || bytes.Contains(line, []byte("]$ "))
}

// sources are the ends of names of files of source code.
var sources = wordSet(`csproj vbproj cs go ts tsx js jsx mjs py rb rs java kt swift c h cpp cc php ex exs lua
	dart vue css scss html md`)

// isSource reports whether a name is that of a file of source code: Password.cs.
func isSource(name []byte) bool {
	n := bytes.LastIndexByte(name, '.')
	return n > 0 && sources[string(name[n+1:])]
}

// printsFile reports whether a name ends the path of a file that a command prints: $ cat /run/secrets/db_password.
func printsFile(text []byte, n naming) bool {
	if c := byteAt(text, n.end); c != 0 && c != '\n' && c != '\r' {
		return false
	}
	start, _ := lineAround(text, n.start)
	line := text[start:n.start]
	return isPrompt(line) && bytes.Contains(line, []byte(" cat "))
}

// ordinal returns the length of what precedes a value in a list by number, as redis-cli and IPython print it, or by
// length, as Subversion stores it: 2) "X", (0) X, Out[3]: X, or V 14 and X in the next line.
func ordinal(b []byte) int {
	for _, head := range []string{"(", "Out["} {
		rest, ok := bytes.CutPrefix(b, []byte(head))
		if n := digits(rest); ok && n > 0 && n < 5 && n+2 < len(rest) && (rest[n] == ')' || rest[n] == ']' &&
			rest[n+1] == ':') {
			return len(head) + n + 2
		}
	}
	if n := digits(b); n > 0 && n < 4 && n+1 < len(b) && b[n] == ')' && b[n+1] == ' ' {
		return n + 2
	}
	if len(b) > 3 && (b[0] == 'V' || b[0] == 'v') && b[1] == ' ' {
		if n := digits(b[2:]); n > 0 && n+2 < len(b) && b[2+n] == '\n' {
			return n + 3
		}
	}
	return 0
}
