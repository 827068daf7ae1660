package tokens

import (
	"ctxtool/sessionfmt/jsonl"
	"fmt"
	"strings"
	"unicode"
)

// SWE counts like SWE-CLI: by GPT-4's vocabulary, calls as Python prints them, no thinking (docs/policies.md
// 3.1).
var SWE = Counter{
	Name:       "swe-cl100k",
	About:      "as SWE-CLI: by cl100k, calls as Python prints them, no thinking",
	Measure:    Tokens,
	Text:       func(text []byte) int { return CL100K.Count(text) },
	Call:       func(name string, args []byte) []byte { return []byte(name + PythonText(args)) },
	NoThinking: true,
}

// PythonText returns a JSON value as Python prints it.
func PythonText(v jsonl.Value) string {
	var b strings.Builder
	for v = v.AppendMinified(nil); len(v) > 0; {
		n := 1
		switch v[0] {
		case ',':
			b.WriteString(", ")
		case ':':
			b.WriteString(": ")
		case 't':
			b.WriteString("True")
			n = len("true")
		case 'f':
			b.WriteString("False")
			n = len("false")
		case 'n':
			b.WriteString("None")
			n = len("null")
		case '"':
			n, _ = jsonl.ValueLen(v)
			printPython(&b, v[:n].Text())
		default:
			b.WriteByte(v[0])
		}
		v = v[n:]
	}
	return b.String()
}

// pythonEscapes are the characters that Python prints by a letter.
var pythonEscapes = map[rune]string{'\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// printPython prints a string: in double quotes only if that avoids escaping single ones.
func printPython(b *strings.Builder, s string) {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteRune(quote)
	for _, r := range s {
		switch escape := pythonEscapes[r]; {
		case escape != "":
			b.WriteString(escape)
		case r == quote:
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
}
