package tokens

// rest is the end of the piece at i that is not a word. Beyond the line ends that may
// follow symbols, the byte tail may.
func (c *classes) rest(text []byte, i int, tail byte) int {
	k, n := c.at(text, i)
	switch {
	case k == number:
		return c.numbers(text, i)
	case k&blanks == 0:
		return c.symbols(text, i+n, tail)
	case text[i] == ' ' && i+1 < len(text):
		if k, n := c.at(text, i+1); k == symbol || k == mark {
			return c.symbols(text, i+1+n, tail)
		}
	}
	return c.blanks(text, i)
}

func (c *classes) numbers(text []byte, i int) int {
	for range 3 {
		if i == len(text) {
			break
		}
		k, n := c.at(text, i)
		if k != number {
			break
		}
		i += n
	}
	return i
}

// symbols is where symbols end that continue at i, and the line ends after them.
func (c *classes) symbols(text []byte, i int, tail byte) int {
	i = c.run(text, i, symbol|mark)
	for i < len(text) && (text[i] == '\n' || text[i] == '\r' || text[i] == tail) {
		i++
	}
	return i
}

// blanks is where white space that begins at i ends as a piece.
func (c *classes) blanks(text []byte, i int) int {
	begin, last, line := i, i, 0 // line is after the last line end
	for i < len(text) {
		k, n := c.at(text, i)
		if k&blanks == 0 {
			break
		}
		last = i
		i += n
		if k == newline {
			line = i
		}
	}
	switch {
	case line > 0:
		return line
	case i < len(text) && last > begin:
		return last
	}
	return i
}

// contraction is the end of (?i:'s|'t|'re|'ve|'m|'ll|'d) at i, and i where there is
// none. Without regard to case, ſ (U+017F) is an s too; the other letters have no
// more than two forms.
func contraction(text []byte, i int) int {
	rest := text[i:]
	if len(rest) < 2 || rest[0] != '\'' {
		return i
	}
	switch rest[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if len(rest) > 2 && rest[2]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if len(rest) > 2 && rest[2]|0x20 == 'l' {
			return i + 3
		}
	}
	if len(rest) > 2 && rest[1] == 0xc5 && rest[2] == 0xbf {
		return i + 3
	}
	return i
}

// Cut is a place at which a text may be cut and its parts counted one after the
// other, 0 if it has none: after the last line end that an ASCII character follows
// which is no white space and no slash. No piece of any vocabulary continues there, and
// where a piece ends has no say in the next.
func Cut(text []byte) int {
	for i := len(text) - 1; i > 0; i-- {
		if b := text[i]; text[i-1] == '\n' && ' ' < b && b < 0x7f && b != '/' {
			return i
		}
	}
	return 0
}
