package redact

import (
	"bytes"

	"ctxtool/sessionfmt/jsonl"
)

// A token is a string or a number of a line.
type token struct {
	start, end int // of a string, what is between its quotes
	at         place
	kind       tokenKind
	object     int  // the number of the object that a key is of
	known      bool // the format knows the name, or the word
	escaped    bool // a backslash is in it
}

type tokenKind uint8

const (
	aString tokenKind = iota
	aKey
	aNumber
	anImage  // its data
	aSealed  // what is stripped: a string
	aBlob    // what is stripped: any other value, all of it
	aSchema  // what structure alone leaves of a tool's parameters
	aFreeKey // a key that the format says nothing about
)

// A frame is an object or array that the walker is in.
type frame struct {
	object bool
	known  bool // its members are the format's
	parts  bool // its keys are names of texts
	top    bool // the entry itself
	at     place
	number int
	data   int // the token of an image's data, -1 for none
	image  bool
	sealed bool
}

// A walker takes lines apart into tokens. It keeps its memory from line to line.
type walker struct {
	tokens  []token
	stack   []frame
	objects int
	numbers bool // are wanted
	schemas bool
}

// walk takes apart a line that is JSON.
func (w *walker) walk(b []byte) {
	w.tokens, w.stack, w.objects = w.tokens[:0], w.stack[:0], 0
	i := space(b, 0)
	for {
		within := false
		if i, within = w.value(b, i); within {
			continue
		}
		for len(w.stack) > 0 { // behind a value
			if i = space(b, i); b[i] == ',' {
				break
			}
			w.leave()
			i++
		}
		if len(w.stack) == 0 {
			return
		}
		if i = space(b, i+1); w.stack[len(w.stack)-1].object {
			i = w.key(b, i)
		}
	}
}

// value reads the value at b[i], and returns the offset behind it; or it enters the
// value, and returns the offset of the first one in it.
func (w *walker) value(b []byte, i int) (next int, within bool) {
	at, known, top := place(0), true, true
	var f *frame
	if len(w.stack) > 0 {
		f = &w.stack[len(w.stack)-1]
		at, known, top = f.at, f.known, false
	}
	sealed := at&isSealed != 0 && (known || at&isFree != 0)
	switch c := b[i]; {
	case c == '"':
		end, escaped := stringEnd(b, i)
		t := token{start: i + 1, end: end - 1, kind: aString, at: at, escaped: escaped}
		w.text(b, f, t, known, sealed)
		return end, false
	case sealed && c != 'n':
		n, _ := jsonl.ValueLen(b[i:])
		w.tokens = append(w.tokens, token{start: i, end: i + n, kind: aBlob})
		return i + n, false
	case at&isSchema != 0 && known && w.schemas:
		n, _ := jsonl.ValueLen(b[i:])
		w.tokens = append(w.tokens, token{start: i, end: i + n, kind: aSchema})
		return i + n, false
	case c == '{', c == '[':
		in := frame{at: at, known: known}
		if c == '{' {
			in = frame{object: true, known: top || known && at&isBox != 0, parts: known && at&isParts != 0, top: top}
		}
		return w.enter(b, i, in)
	}
	end := i
	for end < len(b) && b[end] != ',' && b[end] != ']' && b[end] != '}' && b[end] > ' ' {
		end++
	}
	if w.numbers && (b[i] == '-' || b[i]-'0' < 10) {
		w.tokens = append(w.tokens, token{start: i, end: end, kind: aNumber})
	}
	return end, false
}

// text records a string.
func (w *walker) text(b []byte, f *frame, t token, known, sealed bool) {
	word := b[t.start:t.end]
	if sealed {
		t.kind = aSealed
	}
	if f != nil && f.top && t.at&isNamed != 0 {
		t.at = 0 // the name of a session is a text
	}
	if !known {
		t.at &^= isID | isWord | isKept | isNamed
	}
	t.known = t.at&isWord != 0 && words[string(word)]
	if f != nil && f.object && f.at&isType != 0 {
		switch string(word) {
		case "image", "base64":
			f.image = true
		case "redacted_thinking":
			f.sealed = true
		}
	}
	if f != nil && f.object && f.at&isData != 0 {
		f.data = len(w.tokens)
	}
	w.tokens = append(w.tokens, t)
}

// enter goes into an object or array; see value.
func (w *walker) enter(b []byte, i int, f frame) (next int, within bool) {
	f.data, f.number = -1, w.objects
	w.objects++
	w.stack = append(w.stack, f)
	i = space(b, i+1)
	if b[i] == '}' || b[i] == ']' {
		w.leave()
		return i + 1, false
	}
	if f.object {
		i = w.key(b, i)
	}
	return i, true
}

// key reads the key at b[i], and returns the offset of its value.
func (w *walker) key(b []byte, i int) int {
	f := &w.stack[len(w.stack)-1]
	end, escaped := stringEnd(b, i)
	name := b[i+1 : end-1]
	if escaped {
		name = []byte(jsonl.Value(b[i:end]).Text())
	}
	at, known := places[string(name)]
	f.at = at
	t := token{start: i + 1, end: end - 1, kind: aKey, object: f.number, escaped: escaped, known: known && f.known && !escaped}
	if !f.known && !f.parts {
		t.kind = aFreeKey
	}
	w.tokens = append(w.tokens, t)
	return space(b, space(b, end)+1)
}

// leave ends an object or array: whether data is an image's is known now.
func (w *walker) leave() {
	f := &w.stack[len(w.stack)-1]
	if f.data >= 0 && f.image {
		w.tokens[f.data].kind = anImage
	} else if f.data >= 0 && f.sealed {
		w.tokens[f.data].kind = aSealed
	}
	w.stack = w.stack[:len(w.stack)-1]
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// stringEnd is the offset behind the string at b[i], and whether it has escapes.
func stringEnd(b []byte, i int) (end int, escaped bool) {
	first := i + 1
	for i = first; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		n := 0
		for b[i-1-n] == '\\' {
			n++
		}
		if n%2 == 0 {
			return i + 1, bytes.IndexByte(b[first:i], '\\') >= 0
		}
	}
}
