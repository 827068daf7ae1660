package render

// A Style is how words of an answer for people stand out: in colours, or not at all.
type Style struct{ Colour bool }

// paint puts a text between the codes of a terminal that begin and end a colour.
func (s Style) paint(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Gone is of what was there and is not any more.
func (s Style) Gone(text string) string { return s.paint("31", text) }

// Come is of what is there now.
func (s Style) Come(text string) string { return s.paint("32", text) }

// Changed is of what is there otherwise.
func (s Style) Changed(text string) string { return s.paint("33", text) }

// Faint is of what is only said beside.
func (s Style) Faint(text string) string { return s.paint("2", text) }

// Strong is of headings.
func (s Style) Strong(text string) string { return s.paint("1", text) }

// mark is of the line that a mark stands in front of.
func (s Style) mark(mark byte, text string) string {
	switch mark {
	case '-':
		return s.Gone(text)
	case '+':
		return s.Come(text)
	case '~':
		return s.Changed(text)
	}
	return s.Faint(text)
}

// Word is of the words that differ between two lines.
func (s Style) Word(mark byte, text string) string {
	if mark == '-' {
		return s.paint("7;31", text)
	}
	return s.paint("7;32", text)
}
