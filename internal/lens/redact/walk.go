package redact

import (
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
	aBytes   // the elements of an array of numbers that may be bytes
)

// searched reports whether a token is searched with the line: no image, and nothing that is stripped.
func (t *token) searched() bool { return t.kind != anImage && t.kind != aSealed && t.kind != aBlob }

// A frame is an object or array that the walker is in.
type frame struct {
	end    byte // the bracket that closes it
	object bool
	known  bool // its members are the format's
	parts  bool // its keys are names of texts
	top    bool // the entry itself
	at     place
	number int
	data   int // the token of an image's data, -1 for none
	image  bool
	sealed bool
	from   int // where the first element is
	bytes  int // how many elements may be bytes, below 0 if another one is there
	tokens int // how many there were before
}

// A walker takes lines apart into tokens. It keeps its memory from line to line.
type walker struct {
	tokens  []token
	stack   []frame
	objects int
	numbers bool // are wanted
	schemas bool
}

// walk takes a line apart, and reports whether it is JSON.
func (w *walker) walk(b []byte) bool {
	w.tokens, w.stack, w.objects = w.tokens[:0], w.stack[:0], 0
	for i := jsonl.SkipSpace(b, 0); i >= 0; {
		within := false
		if i, within = w.value(b, i); within || i < 0 {
			continue
		}
		for i = jsonl.SkipSpace(b, i); len(w.stack) > 0; i = jsonl.SkipSpace(b, i+1) { // after a value
			if i == len(b) || b[i] != ',' && b[i] != w.stack[len(w.stack)-1].end {
				return false
			}
			if b[i] == ',' {
				break
			}
			w.leave(i)
		}
		if len(w.stack) == 0 {
			return i == len(b)
		}
		i = jsonl.SkipSpace(b, i+1)
		if w.stack[len(w.stack)-1].object {
			i = w.key(b, i)
		}
	}
	return false
}

// value reads the value at b[i], and returns the offset after it; or it enters the
// value, and returns the offset of the first one in it. What is not JSON has the offset -1.
func (w *walker) value(b []byte, i int) (next int, within bool) {
	if i == len(b) {
		return -1, false
	}
	at, known, top := place(0), true, true
	var f *frame
	if len(w.stack) > 0 {
		f = &w.stack[len(w.stack)-1]
		at, known, top = f.at, f.known, false
	}
	if f != nil && !f.object && b[i]-'0' >= 10 {
		f.bytes = -len(b)
	}
	sealed := at&isSealed != 0 && (known || at&isFree != 0)
	switch c := b[i]; {
	case c == '"':
		end, escaped := jsonl.ScanString(b, i)
		if end < 0 {
			return -1, false
		}
		t := token{start: i + 1, end: end - 1, kind: aString, at: at, escaped: escaped}
		w.text(b, f, t, known, sealed)
		return end, false
	case sealed && c != 'n':
		return w.all(b, i, aBlob), false
	case at&isSchema != 0 && known && w.schemas:
		return w.all(b, i, aSchema), false
	case c == '{', c == '[':
		in := frame{end: ']', at: at, known: known}
		if c == '{' {
			in = frame{end: '}', object: true, known: top ||
				known && at&isBox != 0, parts: known && at&isParts != 0, top: top}
		}
		return w.enter(b, i, in)
	}
	end := jsonl.ScanScalar(b, i)
	if f != nil && !f.object {
		if f.bytes++; end-i > 3 {
			f.bytes = -len(b)
		}
	}
	if w.numbers && end > 0 && (b[i] == '-' || b[i]-'0' < 10) {
		w.tokens = append(w.tokens, token{start: i, end: end, kind: aNumber})
	}
	return end, false
}

// all records the value at b[i] as one token.
func (w *walker) all(b []byte, i int, kind tokenKind) (next int) {
	n, ok := jsonl.ValueLen(b[i:])
	if !ok {
		return -1
	}
	w.tokens = append(w.tokens, token{start: i, end: i + n, kind: kind})
	return i + n
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
	if t.at&isWord != 0 {
		_, t.known = words.get(word)
	}
	if f != nil && f.object && f.at&isType != 0 {
		switch string(word) {
		case "image", "base64":
			f.image = true
		case "redacted_thinking":
			f.sealed = true
		}
	}
	if data := word[encoded(word):]; len(data) >= smallImage && t.kind == aString && isPicture(data) && isBase64(data) {
		t.kind = anImage // also where no type says so
	}
	if f != nil && f.object && f.at&isData != 0 {
		f.data = len(w.tokens)
	}
	w.tokens = append(w.tokens, t)
}

// enter goes into an object or array; see value.
func (w *walker) enter(b []byte, i int, f frame) (next int, within bool) {
	f.data, f.number, f.from, f.tokens = -1, w.objects, i+1, len(w.tokens)
	w.objects++
	w.stack = append(w.stack, f)
	if i = jsonl.SkipSpace(b, i+1); i < len(b) && b[i] == f.end {
		w.leave(i)
		return i + 1, false
	}
	if f.object {
		i = w.key(b, i)
	}
	return i, true
}

// key reads the key at b[i], and returns the offset of its value, -1 where there is none.
func (w *walker) key(b []byte, i int) int {
	f := &w.stack[len(w.stack)-1]
	if i == len(b) || b[i] != '"' {
		return -1
	}
	end, escaped := jsonl.ScanString(b, i)
	if end < 0 {
		return -1
	}
	name := b[i+1 : end-1]
	if escaped {
		name = []byte(jsonl.Value(b[i:end]).Text())
	}
	at, known := places.get(name)
	f.at = at
	t := token{start: i + 1, end: end - 1, kind: aKey, object: f.number, escaped: escaped, known: known &&
		f.known && !escaped}
	if !f.known && !f.parts {
		t.kind = aFreeKey
	}
	w.tokens = append(w.tokens, t)
	if i = jsonl.SkipSpace(b, end); i == len(b) || b[i] != ':' {
		return -1
	}
	return jsonl.SkipSpace(b, i+1)
}

// leave ends an object or array at an offset: whether data is an image's is known now.
func (w *walker) leave(at int) {
	f := &w.stack[len(w.stack)-1]
	if !f.object && f.bytes >= leastBytes {
		w.tokens = append(w.tokens[:f.tokens], token{start: f.from, end: at, kind: aBytes})
	}
	if f.data >= 0 && f.image {
		w.tokens[f.data].kind = anImage
	} else if f.data >= 0 && f.sealed {
		w.tokens[f.data].kind = aSealed
	}
	w.stack = w.stack[:len(w.stack)-1]
}
