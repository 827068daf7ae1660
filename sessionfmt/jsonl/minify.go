package jsonl

import (
	"bytes"
	"ctxtool/internal/base/scratch"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// AppendMinified appends JSON.stringify(JSON.parse(v)): no white space, numbers and escapes in
// JavaScript's spelling, the last of equal keys at the position of the first, integer-like keys
// first in ascending order.
func (v Value) AppendMinified(dst []byte) []byte {
	c := minifier{out: dst}
	c.run(v)
	return c.out
}

// MinifiedPieces yields the result of AppendMinified in pieces, to avoid copying a large value. Each is valid
// until the next one, in the memory of c.
func (v Value) MinifiedPieces(c *Cursor, yield func(piece []byte)) { v.minifiedPieces(c, yield, 0) }

const (
	largeValue  = 1 << 20 // size in bytes from which a value is split
	deepestPart = 16      // depth down to which values are split, since large values are near the root
)

func (v Value) minifiedPieces(c *Cursor, yield func(piece []byte), depth int) {
	switch {
	case len(v) < largeValue || depth == deepestPart || v.IsNumber():
		yield(c.Minify(v))
	case v[0] == '"':
		v.minifiedStringPieces(&c.compact.out, yield)
	default:
		open := v[:1]
		for e := range v.Elements {
			yield(open)
			e.minifiedPieces(c, yield, depth+1)
			open = Value(",")
		}
		for name, val := range v.Ordered {
			yield(append(AppendQuoted(bytes.Clone(open), name), ':'))
			val.minifiedPieces(c, yield, depth+1)
			open = Value(",")
		}
		if open[0] == v[0] {
			yield(open)
		}
		yield(v[len(v)-1:])
	}
}

// minifiedStringPieces is appendMinifiedString in pieces. It never splits an escape.
func (v Value) minifiedStringPieces(buf *[]byte, yield func(piece []byte)) {
	if _, extra, _ := scanString(v, 0); extra == 0 {
		yield(v)
		return
	}
	yield(v[:1])
	for b := v[1 : len(v)-1]; len(b) > 0; {
		n := min(len(b), largeValue)
		for n < len(b) && !v.parts(len(v)-1-len(b)+n) {
			n++
		}
		piece := make(Value, 0, n+2)
		piece = append(append(append(piece, '"'), b[:n]...), '"')
		out := piece.appendMinifiedString(scratch.Reset(*buf))
		*buf = out
		yield(out[1 : len(out)-1])
		b = b[n:]
	}
	yield(v[:1])
}

// AppendShort appends the value. In strings of more than most bytes it replaces the middle with a line that has
// the number of omitted bytes.
func (v Value) AppendShort(dst []byte, most int) []byte {
	if len(v) <= most {
		return append(dst, v...)
	}
	done := 0
	for s := range v.Strings {
		if len(s) <= most {
			continue
		}
		start := cap(v) - cap(s)
		head, tail := most/2, len(s)-most/2
		for !s.parts(head) {
			head++
		}
		for tail < len(s)-1 && !s.parts(tail) {
			tail++
		}
		dst = append(dst, v[done:start+head]...)
		dst = fmt.Appendf(dst, `\n… %d bytes left out …\n`, tail-head)
		done = start + tail
	}
	return append(dst, v[done:]...)
}

// parts reports whether a string can be split at a byte: not inside a character, an escape, or a surrogate pair
// of escapes.
func (v Value) parts(at int) bool {
	for j := at - 1; j >= max(1, at-6); j-- {
		if v[j] == '\\' && v.escapes(j) {
			n := int(escapeLen[v[j+1]])
			high := n == 6 && v[j+2]|0x20 == 'd' && strings.IndexByte("89abAB", v[j+3]) >= 0
			return j+n < at || j+n == at && !(high && v[at] == '\\')
		}
	}
	return utf8.RuneStart(v[at])
}

// escapes reports whether the backslash at j begins an escape, rather than being escaped itself.
func (v Value) escapes(j int) bool {
	n := 0
	for n < j && v[j-1-n] == '\\' {
		n++
	}
	return n%2 == 0
}

// Ordered yields an object's fields in JavaScript's order; see AppendMinified. Names are
// unescaped; see Exact.
func (v Value) Ordered(yield func(name string, val Value) bool) {
	if !v.IsObject() {
		return
	}
	var ms []member
	var text []byte
	for key, val := range v.Members {
		from := len(text)
		text = AppendQuoted(text, string(key))
		ms = append(ms, member{key: span{from, len(text)}, val: val})
	}
	ms, _ = jsOrder(text, ms)
	for _, m := range ms {
		if !yield(Value(text[m.key.from:m.key.to]).Exact(), m.val) {
			return
		}
	}
}

// A minifier writes minified JSON in one pass, without recursion: open containers are on its own stacks.
type minifier struct {
	out     []byte
	open    []container
	members []member // fields of all open objects, the innermost last
}

type container struct {
	object bool
	start  int // offset in out of its first field or element
	first  int // index in members of its first field
}

// span is a range of text, [from, to).
type span struct{ from, to int }

type member struct {
	key  span  // range of the name, quoted
	all  span  // key, colon and value; for the minifier
	val  Value // value; for Ordered
	rank int64 // number of an integer-like name; others sort after it
}

func (c *minifier) run(v Value) {
	for i := 0; i < len(v); {
		switch ch := v[i]; ch {
		case ' ', '\t', '\r', '\n', ':':
			i++
		case '{', '[':
			c.out = append(c.out, ch)
			c.open = append(c.open, container{ch == '{', len(c.out), len(c.members)})
			if i = SkipSpace(v, i+1); ch == '{' && v[i] == '"' {
				i = c.key(v, i)
			}
		case ',':
			c.endMember()
			c.out = append(c.out, ',')
			i = SkipSpace(v, i+1)
			if c.open[len(c.open)-1].object {
				i = c.key(v, i)
			}
		case '}', ']':
			c.close(ch)
			i++
		case '"':
			i = c.string(v, i)
		default:
			end := ScanScalar(v, i)
			if scalar := v[i:end]; scalar.IsNumber() {
				c.out = scalar.appendMinifiedNumber(c.out)
			} else {
				c.out = append(c.out, scalar...)
			}
			i = end
		}
	}
}

// string writes the string at v[i], and returns its end.
func (c *minifier) string(v Value, i int) int {
	end, _, _ := scanString(v, i)
	c.out = v[i:end].appendMinifiedString(c.out)
	return end
}

// key writes the key at v[i] and the colon.
func (c *minifier) key(v Value, i int) int {
	from := len(c.out)
	end := c.string(v, i)
	c.members = append(c.members, member{key: span{from, len(c.out)}, all: span{from: from}})
	c.out = append(c.out, ':')
	return end
}

// endMember records where the innermost object's last field ends.
func (c *minifier) endMember() {
	if o := c.open[len(c.open)-1]; o.object && len(c.members) > o.first {
		c.members[len(c.members)-1].all.to = len(c.out)
	}
}

// close ends the innermost container, and sorts an object's fields in JavaScript's order if
// necessary.
func (c *minifier) close(ch byte) {
	c.endMember()
	o := c.open[len(c.open)-1]
	c.open = c.open[:len(c.open)-1]
	if o.object {
		if ms, moved := jsOrder(c.out, c.members[o.first:]); moved {
			old := bytes.Clone(c.out[o.start:])
			c.out = c.out[:o.start]
			for k, m := range ms {
				if k > 0 {
					c.out = append(c.out, ',')
				}
				c.out = append(c.out, old[m.all.from-o.start:m.all.to-o.start]...)
			}
		}
		c.members = c.members[:o.first]
	}
	c.out = append(c.out, ch)
}

// jsOrder sorts fields in JavaScript's order, with names as ranges of text: the last of equal
// names at the position of the first, integer-like names first in ascending order. It reports
// whether anything moved.
func jsOrder(text []byte, ms []member) ([]member, bool) {
	name := func(m member) []byte { return text[m.key.from:m.key.to] }
	moved, out := len(ms) > 16, ms // some name may occur twice
	for i := 1; i < len(ms) && !moved; i++ {
		for j := range i {
			moved = moved || bytes.Equal(name(ms[i]), name(ms[j]))
		}
	}
	if moved {
		moved = false
		at := make(map[string]int, len(ms))
		out = make([]member, 0, len(ms))
		for _, m := range ms {
			if k, ok := at[string(name(m))]; ok {
				out[k], moved = m, true
				continue
			}
			at[string(name(m))] = len(out)
			out = append(out, m)
		}
	}
	ranked := false
	for i := range out {
		n := name(out[i])
		out[i].rank = 1 << 40
		if k, ok := IndexName(string(n[1 : len(n)-1])); ok {
			out[i].rank = int64(k)
			ranked = true
		}
	}
	byRank := func(a, b member) int { return int(a.rank - b.rank) }
	if ranked && !slices.IsSortedFunc(out, byRank) {
		slices.SortStableFunc(out, byRank)
		moved = true
	}
	return out, moved
}
