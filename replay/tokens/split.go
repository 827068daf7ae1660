package tokens

// rest returns the end of a piece at i that is not a word. After symbols it also accepts the byte tail, besides
// line ends.
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

// symbols returns where symbols that continue at i end, including the line ends after them.
func (c *classes) symbols(text []byte, i int, tail byte) int {
	i = c.run(text, i, symbol|mark)
	for i < len(text) && (text[i] == '\n' || text[i] == '\r' || text[i] == tail) {
		i++
	}
	return i
}

// blanks returns where white space that begins at i ends as a piece.
func (c *classes) blanks(text []byte, i int) int {
	begin, last, line := i, i, 0 // line is the offset after the last line end
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

// contraction returns the end of (?i:'s|'t|'re|'ve|'m|'ll|'d) at i; i if there is none. Ignoring case, ſ
// (U+017F) also matches s; the other letters have only two forms.
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

// Cut returns an offset at which a text may be cut so that its parts can be counted separately, 0 if there is
// none: after the last line end that is followed by an ASCII character other than white space and slash. No
// piece of any vocabulary crosses such a cut, and pieces after it do not depend on those before.
func Cut(text []byte) int {
	for i := len(text) - 1; i > 0; i-- {
		if b := text[i]; text[i-1] == '\n' && ' ' < b && b < 0x7f && b != '/' {
			return i
		}
	}
	return 0
}
