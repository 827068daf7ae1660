package jsonl

import "ctxtool/internal/base/scratch"

// A Cursor reads one value from front to back in a single pass, without copying. It skips what
// a loop does not read, and validates all that it passes: text that is not JSON ends where it
// goes wrong, and Since then returns nothing.
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
	compact minifier
	once    bool // the cursor does not read on after a loop that ended early
	broken  bool // the text is not JSON
}

// Reset moves the cursor to the beginning of v, and returns the cursor.
func (c *Cursor) Reset(v Value) *Cursor {
	c.b, c.i, c.broken = v, SkipSpace(v, 0), false
	return c
}

// end checks an offset returned by scanning. If the text is not JSON there, nothing more is read.
func (c *Cursor) end(at int) int {
	if at < 0 {
		at, c.broken = len(c.b), true
	}
	return at
}

// Once is Reset for a reader that stops after leaving a loop, so that the rest of the value need not be
// skipped.
func (c *Cursor) Once(v Value) *Cursor {
	c.once = true
	return c.Reset(v)
}

// Peek returns the first byte of the next value, 0 at the end.
func (c *Cursor) Peek() byte {
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

// Offset returns the cursor's position, in bytes from the start of the value.
func (c *Cursor) Offset() int { return c.i }

// Since returns the JSON from an offset to the cursor's position; nothing if the text is not JSON there.
func (c *Cursor) Since(offset int) Value {
	if c.broken {
		return nil
	}
	return Value(c.b[offset:c.i])
}

// Value reads the next value.
func (c *Cursor) Value() Value {
	start := c.i
	switch {
	case start >= len(c.b):
		c.broken = true
		return nil
	case c.b[start] == '"': // as most values are
		c.i, _, _ = scanString(c.b, start)
	default:
		c.i = c.scan.value(c.b, start)
	}
	if c.i < 0 {
		c.i = c.end(c.i)
		return nil
	}
	return Value(c.b[start:c.i])
}

// String reads the next value, and keeps what reading reveals about a string's length.
func (c *Cursor) String() (s String) {
	c.into(&s)
	return s
}

// into is String without copying the result, which takes as long as reading a short string.
func (c *Cursor) into(s *String) {
	if c.Peek() != '"' {
		s.Value, s.extra, s.wide = c.Value(), 0, false
		return
	}
	start := c.i
	end, extra, wide := scanString(c.b, start)
	if c.i = c.end(end); c.broken {
		*s = String{}
		return
	}
	s.Value, s.extra, s.wide = Value(c.b[start:end]), extra, wide
}

// Minify returns a value in the spelling of AppendMinified, valid until the next call.
func (c *Cursor) Minify(v Value) []byte {
	c.compact.out = scratch.Reset(c.compact.out)
	c.compact.run(v)
	return c.compact.out
}

// AppendStringified appends JSON.stringify(JSON.stringify(v)), and also returns it.
func (c *Cursor) AppendStringified(dst []byte, v Value) (out []byte, s String) {
	from := len(dst)
	dst = append(dst, '"')
	dst, s.extra, s.wide = appendEscaped(dst, c.Minify(v))
	dst = append(dst, '"')
	s.Value = dst[from:len(dst):len(dst)]
	return dst, s
}

// Members yields the keys of the next object, without quotes; the field's value is then next. Any other value
// is skipped.
func (c *Cursor) Members(yield func(key []byte) bool) {
	start := c.i
	for i, more := c.opens('{'); more; more = c.next(&i, '}') {
		key, ok := c.name(i)
		if at := c.i; !ok || !c.step(yield(key), at, start) {
			return
		}
	}
}

// opens moves to the first field or element of the next object or array, at i. It skips any other value, and an
// empty container.
func (c *Cursor) opens(with byte) (i int, ok bool) {
	if c.Peek() != with {
		c.Value()
		return 0, false
	}
	if i = SkipSpace(c.b, c.i+1); i < len(c.b) && c.b[i] == with+2 { // '{'+2 is '}', '['+2 is ']'
		c.i = i + 1
		return 0, false
	}
	return i, true
}

// name reads the name of the field at i, without quotes, and moves to its value.
func (c *Cursor) name(i int) (name []byte, ok bool) {
	end, extra, colon := c.key(i)
	if colon < 0 {
		c.i = c.end(colon)
		return nil, false
	}
	name = c.b[i+1 : end-1]
	if extra > 0 {
		name = []byte(Value(c.b[i:end]).Exact())
	}
	c.i = SkipSpace(c.b, colon)
	return name, true
}

// Fields reads several fields of the next object in one pass: it sets dst[k] to the field called names[k], if
// there is one. Any other value is skipped.
func (c *Cursor) Fields(dst []String, names ...string) {
	for key := range c.Members {
		c.Field(key, dst, names...)
	}
}

// Field is Fields for a field whose key was read and whose value is next.
func (c *Cursor) Field(key []byte, dst []String, names ...string) {
	for k, name := range names {
		if string(key) == name {
			c.into(&dst[k])
			return
		}
	}
}

// key reads the name of a field and the colon after it; end is negative if there is none.
func (c *Cursor) key(i int) (end, extra, colon int) {
	if i >= len(c.b) || c.b[i] != '"' {
		return 0, 0, fail(i, failKey)
	}
	if end, extra, _ = scanString(c.b, i); end < 0 {
		return end, 0, end
	}
	return end, extra, scanColon(c.b, end)
}

// next moves to the next field or element, at i, or after the end of the container.
func (c *Cursor) next(i *int, end byte) (more bool) {
	at := SkipSpace(c.b, c.i)
	switch {
	case c.broken:
	case at < len(c.b) && c.b[at] == ',':
		*i = SkipSpace(c.b, at+1)
		return true
	case at < len(c.b) && c.b[at] == end:
		c.i = at + 1
	default:
		c.i = c.end(fail(at, failComma))
	}
	return false
}

// Enter descends by name through nested objects of valid text, to the first field of each name, and reports
// whether all exist. The value of the last one is then next.
func (c *Cursor) Enter(names ...string) bool {
	for _, name := range names {
		if !c.enter(name) {
			return false
		}
	}
	return true
}

// enter is Enter for a single name.
func (c *Cursor) enter(name string) bool {
	if c.Peek() != '{' {
		return false
	}
	for i := SkipSpace(c.b, c.i+1); c.b[i] != '}'; {
		end, extra, _ := scanString(c.b, i)
		key := Value(c.b[i:end])
		c.i = SkipSpace(c.b, SkipSpace(c.b, end)+1)
		if string(key[1:len(key)-1]) == name || extra > 0 && key.Text() == name {
			return true
		}
		c.i = c.scan.value(c.b, c.i)
		if i = SkipSpace(c.b, c.i); c.b[i] == ',' {
			i = SkipSpace(c.b, i+1)
		}
	}
	return false
}

// Elements yields once for each element of the next array, which is then the next value. Any
// other value is skipped.
func (c *Cursor) Elements(yield func() bool) {
	start := c.i
	for i, more := c.opens('['); more; more = c.next(&i, ']') {
		if c.i = i; i >= len(c.b) {
			c.i = c.end(fail(i, failEnd))
			return
		}
		if !c.step(yield(), i, start) {
			return
		}
	}
}

// step moves to what follows a field or element: after its value, which the loop may not have
// read from offset at, or, if the loop ended early, after the container that begins at start.
func (c *Cursor) step(more bool, at, start int) bool {
	if !more {
		if !c.once {
			c.i = c.end(c.scan.value(c.b, start))
		}
	} else if c.i == at {
		c.Value()
	}
	return more
}

// fields names the fields of an object to read, and receives their raw values. If names are equal, the last
// field counts, as in JavaScript. At most one field, names[nested], is itself read as fields.
type fields struct {
	names  []string
	vals   []Value // nil if absent; parallel to names
	nested int     // index into names, or -1
	inner  *fields
	// parts reads the elements of an array, the field names[listed], as far as they are objects.
	listed int
	parts  *fields
	// known lists names of further fields; strange reports a field with any other name.
	known   []string
	strange bool
	// places finds names without comparing each of them; nil if there are few.
	places *places
}

// places maps the hash of a name to its index + 1; 0 if there is none, several if names collide.
type places [64]uint8

const several = 255

func placesOf(names []string) *places {
	var p places
	for k, name := range names {
		if at := &p[placeOf(name)]; *at == 0 {
			*at = uint8(k + 1)
		} else {
			*at = several
		}
	}
	return &p
}

func placeOf[S string | []byte](name S) int {
	n := len(name)
	if n == 0 {
		return 0
	}
	return (n*5 + int(name[0]) + int(name[n-1])*3) % len(places{})
}

func (f *fields) reset() {
	f.strange = false
	for i := range f.vals {
		f.vals[i] = nil
	}
	if f.inner != nil {
		f.inner.reset()
	}
}

// match returns the index of the field whose quoted name is key.
func (f *fields) match(key []byte, escaped bool) int {
	if escaped {
		name := Value(key).Text()
		for k, want := range f.names {
			if name == want {
				return k
			}
		}
		return -1
	}
	if f.places != nil {
		name := key[1 : len(key)-1]
		if at := f.places[placeOf(name)]; at != several {
			if at > 0 && f.names[at-1] == string(name) {
				return int(at) - 1
			}
			return -1
		}
	}
	return indexOf(f.names, key)
}

// indexOf returns the index of the name with that spelling, in quotes.
func indexOf(names []string, key []byte) int {
	for k, want := range names {
		if len(want) == len(key)-2 && want == string(key[1:len(key)-1]) {
			return k
		}
	}
	return -1
}

// object reads the object at b[i] into f and returns the offset after it (negative: see fail).
// It validates everything inside.
func (s *Scanner) object(b []byte, i int, f *fields) int {
	if i = SkipSpace(b, i+1); i >= len(b) {
		return fail(i, failEnd)
	}
	if b[i] == '}' {
		return i + 1
	}
	for {
		if b[i] != '"' {
			return fail(i, failKey)
		}
		end, extra, wide := scanString(b, i)
		if end < 0 {
			return end
		}
		s.wide = s.wide || wide
		key, k := i, f.match(b[i:end], extra > 0)
		if i = scanColon(b, end); i < 0 {
			return i
		}
		if i = SkipSpace(b, i); i >= len(b) {
			return fail(i, failEnd)
		}
		start := i
		if f.parts != nil && k == f.listed || k >= 0 && k == f.nested {
			s.parts = s.parts[:0]
		}
		if k >= 0 && k == f.nested && b[i] == '{' {
			f.inner.reset()
			i = s.object(b, i, f.inner)
		} else if f.parts != nil && k == f.listed && b[i] == '[' {
			i = s.list(b, i, f)
		} else {
			i = s.value(b, i)
		}
		if i < 0 {
			return i
		}
		switch {
		case k >= 0:
			f.vals[k] = Value(b[start:i])
			if k == f.nested && b[start] != '{' {
				f.inner.reset()
			}
		case f.known != nil && !f.strange:
			f.strange = indexOf(f.known, b[key:end]) < 0
		}
		if i = SkipSpace(b, i); i >= len(b) {
			return fail(i, failEnd)
		}
		if b[i] == '}' {
			return i + 1
		}
		if b[i] != ',' {
			return fail(i, failComma)
		}
		if i = SkipSpace(b, i+1); i >= len(b) {
			return fail(i, failEnd)
		}
	}
}

// list reads the array at b[i] into the parts of f, like object.
func (s *Scanner) list(b []byte, i int, f *fields) int {
	if i = SkipSpace(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		if i = SkipSpace(b, i); i >= len(b) {
			return fail(i, failEnd)
		}
		f.parts.reset()
		if b[i] == '{' {
			i = s.object(b, i, f.parts)
		} else {
			i = s.value(b, i)
		}
		if i < 0 {
			return i
		}
		for _, v := range f.parts.vals {
			from := cap(b) - cap(v)
			if v == nil {
				from = 0
			}
			s.parts = append(s.parts, extent{from, from + len(v)})
		}
		if i = SkipSpace(b, i); i >= len(b) {
			return fail(i, failEnd)
		}
		if b[i] == ']' {
			return i + 1
		}
		if b[i] != ',' {
			return fail(i, failComma)
		}
		i++
	}
}
