// Package terminal has what a command needs at home in a terminal: text without what the
// terminal would obey, a pager, and a line that shows progress.
package terminal

import (
	"bytes"
	"ctxtool/internal/base/lazy"
	"ctxtool/internal/read/phrase"
	"io"
	"strings"
)

// A Cleaner writes lines to a terminal without what it would obey: sessions hold
// what other programs printed. Line ends and tabs stay.
type Cleaner struct {
	W      io.Writer
	Colour bool // colours stay too: the text is in some

	rest []byte // of a line that has not ended
}

// Write cleans the lines that have ended.
func (c *Cleaner) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	end := bytes.LastIndexByte(c.rest, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	_, err := io.WriteString(c.W, c.clean(string(c.rest[:end])))
	c.rest = append(c.rest[:0], c.rest[end:]...)
	return len(p), err
}

// Close writes the last line where no line end follows it. It does not close W.
func (c *Cleaner) Close() error {
	_, err := io.WriteString(c.W, c.clean(string(c.rest)))
	c.rest = nil
	return err
}

// colours are the codes that change how text looks, and nothing else.
var colours = lazy.Regexp("\x1b\\[[0-9;]*m")

func (c *Cleaner) clean(text string) string {
	if !c.Colour {
		return phrase.Clean(text)
	}
	var out strings.Builder
	at := 0
	for _, code := range colours().FindAllStringIndex(text, -1) {
		out.WriteString(phrase.Clean(text[at:code[0]]))
		out.WriteString(text[code[0]:code[1]])
		at = code[1]
	}
	out.WriteString(phrase.Clean(text[at:]))
	return out.String()
}
