package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"ctxtool/internal/test/must"
)

// TestCountWindows counts files that are longer than a window as the text that they
// are, and their lines.
func TestCountWindows(t *testing.T) {
	const window = 8 << 10 // so that texts need not be long to have several
	o := &countOptions{counter: "all", by: "file", window: window}
	o.format, o.forms = "text", []string{"text"}
	must.Do(o.check())
	texts := map[string]string{
		"lines":      strings.Repeat("{\"text\":\"Ein Satz, it's über \\u00e4 lines.\"}\r\n", 300),
		"indented":   strings.Repeat("\n\n  x := 1 // no line begins at its beginning\n\t/", 250),
		"one line":   strings.Repeat("word and 中文, ", 900),
		"no words":   strings.Repeat("\n", window+100),
		"no text":    strings.Repeat("a\xf0\x9f\n\xff\xe4\xb8", 1900),
		"one letter": strings.Repeat("a", window+1),
		"a window":   strings.Repeat("abc\n", window/4),
	}
	for name, text := range texts {
		rows := must.Get(o.whole(iotest.HalfReader(strings.NewReader(text))))
		want := o.of([]byte(text))
		if got := rows[0]; len(rows) != 1 || got.Bytes != int64(len(text)) || !slices.Equal(got.Tokens, want) {
			t.Errorf("%s: %d bytes, %v tokens, of the whole text %v", name, got.Bytes, got.Tokens, want)
		}
		rows = must.Get(o.lines(iotest.HalfReader(strings.NewReader(text))))
		i := 0
		for line := range bytes.Lines([]byte(text)) {
			want := o.of(bytes.TrimRight(line, "\r\n"))
			if i == len(rows) || rows[i].Line != i+1 || rows[i].Bytes != int64(len(line)) || !slices.Equal(rows[i].Tokens, want) {
				t.Fatalf("%s: line %d is not %v", name, i+1, want)
			}
			i++
		}
		if i != len(rows) {
			t.Errorf("%s: %d rows of %d lines", name, len(rows), i)
		}
	}
}
