package search

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf8"
)

// A gate decides by the raw bytes of JSON whether texts in them can match, without parsing. It
// looks for the longest part of a term that has one spelling, and for escapes that spell
// characters of it. The zero value lets everything pass.
type gate struct {
	runs    []term
	escaped [utf8.RuneSelf]bool // characters of the runs
	wide    bool                // they have characters beyond ASCII
	slash   bool                // they have a slash
	longest int                 // bytes
}

// newGate returns a gate for texts with one of the terms.
func newGate(terms []term) (g gate) {
	for i := range terms {
		run := terms[i].run()
		if run == "" {
			return gate{}
		}
		t := newTerm(run, terms[i].fold)
		g.runs = append(g.runs, t)
		g.longest = max(g.longest, len(run))
		for _, r := range run {
			switch {
			case r >= utf8.RuneSelf:
				g.wide = true
				continue
			case terms[i].fold:
				g.escaped[upper(byte(r))] = true
			}
			g.escaped[r] = true
			g.slash = g.slash || r == '/'
		}
	}
	return g
}

// run returns the longest part of a term whose characters are spelled as themselves, except by
// an escape of each or of its slashes.
func (t *term) run() string {
	text, from, best := string(t.text), 0, ""
	for i, r := range text {
		if r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError || t.fold && hasCase(r) {
			from = i + utf8.RuneLen(r)
		} else if end := i + utf8.RuneLen(r); end-from > len(best) {
			best = text[from:end]
		}
	}
	return best
}

// may reports whether texts in raw JSON can match.
func (g *gate) may(raw []byte) bool {
	if len(g.runs) == 0 {
		return true
	}
	for i := range g.runs {
		for range g.runs[i].in(raw) {
			return true
		}
	}
	return g.spelled(raw)
}

// spelled reports whether a character of the runs may be spelled as an escape.
func (g *gate) spelled(raw []byte) bool {
	if g.slash && bytes.Contains(raw, []byte(`\/`)) {
		return true
	}
	for i := 0; ; i++ {
		if i = escape.next(raw, i); i+escapeSize > len(raw) {
			return false
		}
		if raw[i+2] != '0' || raw[i+3] != '0' {
			if g.wide {
				return true
			}
			continue
		}
		code := hex(raw[i+4])<<4 | hex(raw[i+5])
		if code < utf8.RuneSelf && g.escaped[code] || code >= utf8.RuneSelf && g.wide {
			return true
		}
	}
}

// A pair is two bytes to look for. The bits of mask are ignored, so with the one that tells
// upper from lower case, other bytes may be found too. With any, the second may be any byte.
type pair struct {
	a, b, mask byte
	any        bool
}

// escape is the beginning of an escape with a code.
var escape = pair{a: '\\', b: 'u'}

// next returns the index of the next pair, or the length of the text. It compares 16 bytes at a
// time with the first byte, and those after them with the second: one byte alone is often too
// frequent to be looked for.
func (p pair) next(text []byte, i int) int {
	const ones, highs, step = 0x0101010101010101, 0x8080808080808080, 16
	ma, mb := ones*uint64(p.mask), ones*uint64(p.mask)
	if p.any {
		mb = ones * 0xff
	}
	a, b := ones*uint64(p.a)|ma, ones*uint64(p.b)|mb
	for ; i+step+1 <= len(text); i += step {
		t := text[i : i+step+1 : i+step+1]
		x := ((binary.LittleEndian.Uint64(t) | ma) ^ a) | ((binary.LittleEndian.Uint64(t[1:]) | mb) ^ b) // a byte is 0 where the pair is
		y := ((binary.LittleEndian.Uint64(t[8:]) | ma) ^ a) | ((binary.LittleEndian.Uint64(t[9:]) | mb) ^ b)
		if ((x-ones)&^x|(y-ones)&^y)&highs == 0 {
			continue
		}
		for k := i; k < i+step; k++ { // after a byte of 0, one of 1 looks like 0 too
			if p.at(text, k) {
				return k
			}
		}
	}
	for ; i < len(text); i++ {
		if p.at(text, i) {
			return i
		}
	}
	return len(text)
}

// at reports whether the pair is at an index of a text.
func (p pair) at(text []byte, i int) bool {
	return text[i]|p.mask == p.a|p.mask && (p.any || i+1 < len(text) && text[i+1]|p.mask == p.b|p.mask)
}

func hex(c byte) int {
	switch {
	case c-'0' <= 9:
		return int(c - '0')
	case c|0x20-'a' <= 5:
		return int(c|0x20-'a') + 10
	}
	return 0
}

// windowSize is how many bytes of a file are looked at together. They fit the cache of a CPU.
const windowSize = 128 << 10

// A raw is the raw content of a file, as far as it was looked at.
type raw struct {
	lines int64
	size  int64 // bytes
	may   bool  // a text in it can match
}

// look looks at a file until something in it can match. buf is used for that.
func (g *gate) look(r io.Reader, buf []byte) (f raw, err error) {
	if len(g.runs) == 0 {
		return raw{may: true}, nil
	}
	kept := 0
	for {
		n, err := r.Read(buf[kept:])
		f.lines += int64(bytes.Count(buf[kept:kept+n], []byte{'\n'}))
		f.size += int64(n)
		if f.may = g.may(buf[:kept+n]); f.may || err == io.EOF {
			return f, nil
		} else if err != nil {
			return f, err
		}
		end := kept + n
		kept = min(end, max(g.longest, escapeSize)-1)
		copy(buf, buf[end-kept:end])
	}
}

// escapeSize is the length of an escape with a code, bytes.
const escapeSize = 6
