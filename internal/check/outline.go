package check

import (
	"bytes"
	"slices"
	"sync"

	"ctxtool/sessionfmt/jsonl"
)

// maxOutline is the maximum size of an outline, bytes. An outline is the name of a tool with
// the names and types of all arguments of a call: a schema of types gives the same result for
// all calls with one outline. A session has thousands of calls and a few outlines, so most
// calls need no check of their own. A call with a longer outline is checked by itself.
const maxOutline = 256

// maxOutlines is the number of outlines of a session that get a number.
const maxOutlines = 1<<20 - 1

// outlines holds the outlines of a session, numbered from 1.
type outlines struct {
	mu     sync.Mutex
	tools  []string // by number less 1
	number map[string]uint64
}

// outline returns the number of a call's outline, or 0.
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
				dst = dst[:from] // once for equal elements
			}
		}
		return append(dst, ']')
	case v.IsNumber() && !bytes.ContainsAny(v, ".eE"): // of another spelling the schema library decides
		return append(dst, 'i')
	case v.IsNumber():
		return append(dst, 'd')
	}
	return append(dst, v...) // true, false, null
}
