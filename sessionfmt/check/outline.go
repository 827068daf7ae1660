package check

import (
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

// An outline is what calls have in common that a schema of types cannot tell apart:
// the tool's name, and the names and types of all arguments. Sessions have thousands
// of calls and a few outlines, so what was found out for one call holds for most.
type outline struct {
	tool string
	text string
}

// maxOutline is how long the text of an outline may be, bytes. A call whose
// arguments say more is looked at by itself.
const maxOutline = 256

// outlines are those of a session, numbered from 1. It is not safe for concurrent
// use.
type outlines struct {
	list   []outline
	number map[string]uint64
	buf    []byte
}

// of is the number of a call's outline, 0 where it has none.
func (o *outlines) of(name, args jsonl.Value) uint64 {
	o.buf = append(append(o.buf[:0], name...), '\n')
	if o.buf = appendOutline(o.buf, args); len(o.buf) > maxOutline {
		return 0
	}
	if n, ok := o.number[string(o.buf)]; ok {
		return n
	}
	if o.number == nil {
		o.number = map[string]uint64{}
	}
	o.list = append(o.list, outline{name.Text(), string(o.buf)})
	n := uint64(len(o.list))
	o.number[string(o.buf)] = n
	return n
}

// appendOutline appends the names and types of a value, a letter for each type.
func appendOutline(dst []byte, v jsonl.Value) []byte {
	switch {
	case len(dst) > maxOutline || !v.Exists():
		return dst
	case v.IsString():
		return append(dst, 's')
	case v.IsObject():
		dst = append(dst, '{')
		for key, el := range v.Members {
			dst = append(append(dst, key...), ':')
			dst = append(appendOutline(dst, el), ',')
		}
		return append(dst, '}')
	case v.IsArray():
		dst = append(dst, '[')
		for el := range v.Elements {
			from := len(dst)
			dst = appendOutline(dst, el)
			if last := dst[from:]; from >= len(last) && slices.Equal(dst[from-len(last):from], last) {
				dst = dst[:from] // of equal elements one is enough
			}
		}
		return append(dst, ']')
	case v.IsNumber() && isOf(v, "integer"):
		return append(dst, 'i')
	case v.IsNumber():
		return append(dst, 'd')
	}
	return append(dst, v...) // true, false, null
}
