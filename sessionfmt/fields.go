package sessionfmt

// fields names the members of an object that a reader wants, and receives their
// raw values. A member that occurs twice counts as it does in JavaScript: the
// last one wins. At most one member, names[nested], is itself read as fields.
type fields struct {
	names  []string
	vals   []Value // nil where absent; parallel to names
	nested int     // index into names, or -1
	inner  *fields
}

func (f *fields) reset() {
	for i := range f.vals {
		f.vals[i] = nil
	}
	if f.inner != nil {
		f.inner.reset()
	}
}

// match returns the index of the wanted member whose quoted name is key.
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
	for k, want := range f.names {
		if len(want) == len(key)-2 && want == string(key[1:len(key)-1]) {
			return k
		}
	}
	return -1
}

// object reads the object at b[i] into f and returns the offset behind it
// (negative: see fail). Everything inside is validated, wanted or not.
func (s *Scanner) object(b []byte, i int, f *fields) int {
	if i = skipSpace(b, i+1); i >= len(b) {
		return fail(i, failEnd)
	}
	if b[i] == '}' {
		return i + 1
	}
	for {
		if b[i] != '"' {
			return fail(i, failKey)
		}
		end, extra, _ := scanString(b, i)
		if end < 0 {
			return end
		}
		k := f.match(b[i:end], extra > 0)
		if i = scanColon(b, end); i < 0 {
			return i
		}
		if i = skipSpace(b, i); i >= len(b) {
			return fail(i, failEnd)
		}
		start := i
		if k >= 0 && k == f.nested && b[i] == '{' {
			f.inner.reset()
			i = s.object(b, i, f.inner)
		} else {
			i = s.value(b, i)
		}
		if i < 0 {
			return i
		}
		if k >= 0 {
			f.vals[k] = Value(b[start:i])
			if k == f.nested && b[start] != '{' {
				f.inner.reset()
			}
		}
		if i = skipSpace(b, i); i >= len(b) {
			return fail(i, failEnd)
		}
		if b[i] == '}' {
			return i + 1
		}
		if b[i] != ',' {
			return fail(i, failComma)
		}
		if i = skipSpace(b, i+1); i >= len(b) {
			return fail(i, failEnd)
		}
	}
}
