package render

import "cmp"

// A Style is how words of an answer for people stand out: in colours, or not at all.
type Style struct{ Colour bool }

// paint puts a text between the codes of a terminal that begin and end a colour.
func (s Style) paint(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// colours are those of lines, by the mark in front: gone, new, changed.
var colours = map[byte]string{'-': "31", '+': "32", '~': "33"}

// heading is of headings.
func (s Style) heading(text string) string { return s.paint("1", text) }

// mark is of the line that a mark stands in front of; what has none is faint.
func (s Style) mark(mark byte, text string) string { return s.paint(cmp.Or(colours[mark], "2"), text) }

// word is of the words that differ between two lines.
func (s Style) word(mark byte, text string) string { return s.paint("7;"+colours[mark], text) }
