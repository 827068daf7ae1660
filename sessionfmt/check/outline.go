package check

import (
	"slices"
	"sync"

	"ctxtool/sessionfmt/jsonl"
)

// maxOutline is how long an outline may be, bytes: what calls have in common that a schema
// of types cannot tell apart, which is the tool's name, and the names and types of all
// arguments. Sessions have thousands of calls and a few outlines, so what was found out for
// one call holds for most. A call whose arguments say more is looked at by itself.
const maxOutline = 256

// maxOutlines is how many outlines of a session have numbers.
const maxOutlines = 1<<20 - 1

// outlines are those of a session, numbered from 1.
type outlines struct {
	mu     sync.Mutex
	tools  []string // by number less 1
	number map[string]uint64
}

// outline is the number of a call's outline, 0 where it has none.
func (n *notes) outline(name, args jsonl.Value) uint64 {
	n.buf = append(append(n.buf[:0], name...), '\n')
	if n.buf = appendOutline(n.buf, args); len(n.buf) > maxOutline {
		return 0
	}
	o := &n.facts.calls
	o.mu.Lock()
	defer o.mu.Unlock()
	if k, ok := o.number[string(n.buf)]; ok || len(o.tools) == maxOutlines {
		return k
	}
	o.tools = append(o.tools, name.Text())
	o.number[string(n.buf)] = uint64(len(o.tools))
	return uint64(len(o.tools))
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
