package redact

import (
	"bufio"
	"bytes"
	"errors"
	"slices"
	"strconv"

	"ctxtool/internal/base/lazy"
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
func sized(text []byte) bool { return bytes.HasPrefix(text, []byte{'['}) && sizes().Match(text) }

var sizes = lazy.Regexp(`^\[\d+ characters?\](?:-\d+)?$`)

// errStructure refuses to leave only the structure of a session whose format says nothing here.
var errStructure = errors.New("--structure-only reads sessions of pi, codex, claude, gsh and openclaw only: of " +
	"others the structure would not remain")

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

// A place says what stands at a member of pi's format, in entries, messages, blocks
// and patches (docs/session-format.md 3, 4, 6). What is inside of other
// members is anybody's.
type place uint16

const (
	isWord   place = 1 << iota // one of the format's own words; see words
	isID                       // what other entries name
	isKept                     // structure, and no text
	isNamed                    // structure where it is not at an entry itself
	isBox                      // what is inside is the format's too
	isSealed                   // opaque data, which cannot be redacted
	isSchema                   // the parameters of a tool
	isParts                    // texts by name
	isType                     // says what the object is
	isData                     // of an image
	isFree                     // sealed wherever it is

	isAny place = 0 // a text, or any other value
)
