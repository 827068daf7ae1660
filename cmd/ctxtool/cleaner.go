package main

import (
	"bytes"
	"io"

	"ctxtool/sessionfmt"
)

// A cleaner writes lines to a terminal without what it would obey: sessions hold
// what other programs printed. Line ends and tabs stay.
type cleaner struct {
	w    io.Writer
	rest []byte // of a line that has not ended
}

// Write cleans the lines that have ended.
func (c *cleaner) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	end := bytes.LastIndexByte(c.rest, '\n') + 1
	if err := c.put(c.rest[:end]); err != nil {
		return 0, err
	}
	c.rest = append(c.rest[:0], c.rest[end:]...)
	return len(p), nil
}

// flush writes the last line where no line end follows it.
func (c *cleaner) flush() error {
	rest := c.rest
	c.rest = nil
	return c.put(rest)
}

func (c *cleaner) put(lines []byte) error {
	for len(lines) > 0 {
		i := bytes.IndexAny(lines, "\n\t")
		if i < 0 {
			i = len(lines)
		}
		if _, err := io.WriteString(c.w, sessionfmt.Clean(string(lines[:i]))); err != nil {
			return err
		}
		if i < len(lines) {
			if _, err := c.w.Write(lines[i : i+1]); err != nil {
				return err
			}
			i++
		}
		lines = lines[i:]
	}
	return nil
}
