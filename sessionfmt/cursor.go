package sessionfmt

// A Cursor reads one value from front to back in a single pass, without copying
// and without going back: the deepest way of reading a line. It expects text
// that a Scanner has accepted. What a loop does not read is skipped.
//
//	for key := range c.Members {
//		switch string(key) {
//		case "role":
//			role = c.Value()
//		case "content":
//			for range c.Elements {
//				blocks = append(blocks, c.Value())
//			}
//		}
//	}
type Cursor struct {
	b       []byte
	i       int
	scan    Scanner
	compact compactor
}

// Reset puts the cursor in front of v, and returns it.
func (c *Cursor) Reset(v Value) *Cursor {
	c.b, c.i = v, skipSpace(v, 0)
	return c
}

// Peek is the first byte of the value that comes next, 0 behind the last.
func (c *Cursor) Peek() byte {
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

// Offset is where the cursor stands, in bytes from the start of what it reads.
func (c *Cursor) Offset() int { return c.i }

// since is the JSON from an offset to where the cursor stands.
func (c *Cursor) since(offset int) Value { return Value(c.b[offset:c.i]) }

// Value reads the value that comes next.
func (c *Cursor) Value() Value {
	start := c.i
	if start >= len(c.b) {
		return nil
	}
	c.i = c.scan.value(c.b, start)
	return Value(c.b[start:c.i])
}

// String reads the value that comes next, and keeps of a string what reading it has
// shown.
func (c *Cursor) String() String {
	start := c.i
	if c.Peek() != '"' {
		return String{Value: c.Value()}
	}
	end, extra, wide := scanString(c.b, start)
	c.i = end
	return String{Value(c.b[start:end]), extra, wide}
}

// Compact is a value as AppendCompact spells it. It is valid until the next Compact.
func (c *Cursor) Compact(v Value) []byte {
	c.compact.out = c.compact.out[:0]
	c.compact.run(v)
	return c.compact.out
}

// Members goes through the object that comes next, giving each key without its
// quotes; the member's value then comes next. Any other value is skipped.
func (c *Cursor) Members(yield func(key []byte) bool) {
	start := c.i
	if c.Peek() != '{' {
		c.Value()
		return
	}
	i := skipSpace(c.b, c.i+1)
	for c.b[i] != '}' {
		end, extra, _ := scanString(c.b, i)
		key := c.b[i+1 : end-1]
		if extra > 0 {
			key = Value(c.b[i:end]).AppendText(nil)
		}
		c.i = skipSpace(c.b, skipSpace(c.b, end)+1)
		if at := c.i; !c.step(yield(key), at, start) {
			return
		}
		if i = skipSpace(c.b, c.i); c.b[i] == ',' {
			i = skipSpace(c.b, i+1)
		}
	}
	c.i = i + 1
}

// enter goes to the value of the first member of that name in the object that
// comes next, and says whether there is one.
func (c *Cursor) enter(name string) bool {
	if c.Peek() != '{' {
		return false
	}
	for i := skipSpace(c.b, c.i+1); c.b[i] != '}'; {
		end, extra, _ := scanString(c.b, i)
		key := Value(c.b[i:end])
		c.i = skipSpace(c.b, skipSpace(c.b, end)+1)
		if string(key[1:len(key)-1]) == name || extra > 0 && key.Text() == name {
			return true
		}
		c.i = c.scan.value(c.b, c.i)
		if i = skipSpace(c.b, c.i); c.b[i] == ',' {
			i = skipSpace(c.b, i+1)
		}
	}
	return false
}

// Elements goes through the array that comes next; each time an element comes
// next. Any other value is skipped.
func (c *Cursor) Elements(yield func() bool) {
	start := c.i
	if c.Peek() != '[' {
		c.Value()
		return
	}
	i := skipSpace(c.b, c.i+1)
	for c.b[i] != ']' {
		c.i = i
		if !c.step(yield(), i, start) {
			return
		}
		if i = skipSpace(c.b, c.i); c.b[i] == ',' {
			i = skipSpace(c.b, i+1)
		}
	}
	c.i = i + 1
}

// step readies the cursor for what follows a member or element: behind its
// value, which the loop may have left unread at offset at, or, when the loop was
// left, behind the whole container that starts at start.
func (c *Cursor) step(more bool, at, start int) bool {
	if !more {
		c.i = c.scan.value(c.b, start)
	} else if c.i == at {
		c.Value()
	}
	return more
}
