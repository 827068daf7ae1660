package redact

import (
	"bufio"
	"bytes"
	"errors"
	"slices"
	"strconv"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// size returns the replacement of a text if only the structure is kept.
func size(text []byte, escaped bool) string {
	n := runes(text, escaped)
	if n == 1 {
		return "[1 character]"
	}
	return "[" + strconv.Itoa(n) + " characters]"
}

// sized reports whether a text is such a replacement already, possibly with a number to
// distinguish keys.
func sized(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte("["))
	n := digits(rest)
	if !ok || n == 0 {
		return false
	}
	if rest, ok = bytes.CutPrefix(rest[n:], []byte(" character")); !ok {
		return false
	}
	rest = bytes.TrimPrefix(rest, []byte("s"))
	if rest, ok = bytes.CutPrefix(rest, []byte("]")); !ok {
		return false
	}
	rest, more := bytes.CutPrefix(rest, []byte("-"))
	return len(rest) == digits(rest) && more == (len(rest) > 0)
}

// errStructure refuses to leave only the structure of a session whose format says nothing here.
var errStructure = errors.New("--structure-only reads sessions of pi, codex, claude, gsh and openclaw only: of others the structure would not remain")

// mostHead is how far into a file its first line is looked at, bytes.
const mostHead = 1 << 20

// structured reports whether places knows the members of a session, by its first line.
func structured(head *bufio.Reader) bool {
	text, _ := head.Peek(mostHead)
	line, _, _ := bytes.Cut(bytes.TrimLeft(text, jsonl.BOM+" \t\r\n"), []byte{'\n'})
	v, err := jsonl.ParseValue(line)
	if err != nil {
		return !bytes.Equal(bytes.TrimSpace(line), []byte{'{'}) // else a document
	}
	d := sessionfmt.Sniff(v)
	return d == nil || slices.Contains([]string{"codex", "claude", "gsh", "openclaw"}, d.Name)
}
