package replay

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"ctxtool/sessionfmt"
)

// A Query is what a trace looks for: a text, what a pattern matches, or else what an
// entry gave.
type Query struct {
	Text   string         // a fixed text
	Regexp *regexp.Regexp // in place of Text
	Entry  int            // the record to follow, where there is neither
}

// follows says that an entry is followed, whatever it says.
func (q *Query) follows() bool { return q.Text == "" && q.Regexp == nil }

// A finder looks for what a query asks for. It is not safe for concurrent use.
type finder struct {
	q    *Query
	need []byte // no line lacks it in which there is a match, unless it has escaped letters
	buf  []byte
}

func newFinder(q *Query) *finder {
	f := &finder{q: q}
	text := q.Text
	if q.Regexp != nil {
		text, _ = q.Regexp.LiteralPrefix()
	}
	other := func(r rune) bool { return r < ' ' || r >= utf8.RuneSelf || strings.ContainsRune(`"\/`, r) }
	for _, run := range strings.FieldsFunc(text, other) {
		if len(run) > len(f.need) {
			f.need = []byte(run)
		}
	}
	return f
}

// may says that a line of JSON can hold a match: that none is in it shows without
// reading it. A letter may be spelled as an escape, and what is needed is ASCII.
func (f *finder) may(line value) bool {
	return len(f.need) == 0 || bytes.Contains(line, f.need) || bytes.Contains(line, escapedLetter)
}

var escapedLetter = []byte(`\u00`)

// text finds the first match in a text.
func (f *finder) text(b []byte) (around string, ok bool) {
	from, to := -1, -1
	switch {
	case f.q.Regexp != nil:
		if at := f.q.Regexp.FindIndex(b); at != nil {
			from, to = at[0], at[1]
		}
	case f.q.Text != "":
		if from = bytes.Index(b, []byte(f.q.Text)); from >= 0 {
			to = from + len(f.q.Text)
		}
	}
	if from < 0 {
		return "", false
	}
	return wordsAround(b, from, to), true
}

// string finds the first match in a JSON string.
func (f *finder) string(v value) (around string, ok bool) {
	if bytes.IndexByte(v, '\\') < 0 {
		return f.text(v[1 : len(v)-1])
	}
	f.buf = v.AppendText(f.buf[:0])
	return f.text(f.buf)
}

// strings finds the first match in the strings of a value.
func (f *finder) strings(v value) (around string, ok bool) {
	for s := range v.Strings {
		if around, ok = f.string(s); ok {
			return around, true
		}
	}
	return "", false
}

// words finds the first match in all that a value says: in its strings, else in names,
// numbers and truth values.
func (f *finder) words(v value) (around string, ok bool) {
	if around, ok = f.strings(v); ok {
		return around, true
	}
	for s := range v.Words {
		if s.IsString() {
			around, ok = f.string(s)
		} else {
			around, ok = f.text(s)
		}
		if ok {
			return around, true
		}
	}
	return "", false
}

// message finds the first match in what a model reads of a provider message: texts,
// thinking, names, ids and arguments of calls. Images and signatures are no texts.
func (f *finder) message(m value) (around string, ok bool) {
	msg := m.Message()
	for i := range msg.Blocks {
		b := &msg.Blocks[i]
		said := [...]value{b.Says.Value}
		all := said[:]
		switch b.Kind {
		case sessionfmt.OtherBlock, sessionfmt.ImageBlock:
			continue
		case sessionfmt.CallBlock:
			all = []value{b.Name, b.ID, b.Args}
		}
		for _, v := range all {
			if around, ok = f.words(v); ok {
				return around, true
			}
		}
	}
	for _, v := range []value{msg.CallID, msg.Tool} {
		if v.IsString() {
			if around, ok = f.string(v); ok {
				return around, true
			}
		}
	}
	return "", false
}

// How much of a text is shown around a match, in bytes.
const (
	wordsBefore = 40
	wordsBehind = 80
)

// wordsAround are the words around b[from:to], on one line, with nothing that a
// terminal would obey.
func wordsAround(b []byte, from, to int) string {
	start, end := max(0, from-wordsBefore), min(len(b), min(to, from+wordsBehind)+wordsBehind)
	for start > 0 && !utf8.RuneStart(b[start]) {
		start--
	}
	for end < len(b) && !utf8.RuneStart(b[end]) {
		end--
	}
	words := strings.Join(strings.Fields(string(b[start:end])), " ")
	if start > 0 {
		words = "…" + words
	}
	if end < len(b) {
		words += "…"
	}
	return sessionfmt.Clean(words)
}
