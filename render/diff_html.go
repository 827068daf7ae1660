package render

import (
	"bufio"
	"bytes"
	"ctxtool/internal/diff"
	"html"
	"io"
	"strings"
)

// diffWidth is how long a line of a comparison may be on a page, in columns.
const diffWidth = 2000

// coloured returns a writer of a page of its own: the text of the form, in its colours. Nothing is
// fetched and no script runs.
func coloured[T any](write func(w *bufio.Writer, v T, on Screen) error, title func(v T) string) writer {
	return plain("html", func(w *bufio.Writer, v T) error {
		var text bytes.Buffer
		to := bufio.NewWriter(&text)
		if err := write(to, v, Screen{Width: diffWidth, Colour: true}); err != nil {
			return err
		}
		to.Flush()
		escaped := func(v any) string { return html.EscapeString(cleaned(v)) }
		// a class for each colour that is used
		if err := execute(w, "coloured", title(v), Screen{}, escaped); err != nil {
			return err
		}
		writeColours(w, text.String())
		_, err := io.WriteString(w, "</pre>\n")
		return err
	})
}

func diffTitle(d *diff.Difference) string { return source(d.A.Source) + " and " + source(d.B.Source) }

func entriesTitle(e *diff.Entries) string { return source(e.A) + " and " + source(e.B) }

// writeColours writes text for a terminal as HTML: what is in a colour is an element with a class for
// each of its codes.
func writeColours(w io.StringWriter, text string) {
	for text != "" {
		plain, rest, _ := strings.Cut(text, "\x1b[")
		w.WriteString(html.EscapeString(plain))
		codes, rest, painted := strings.Cut(rest, "m")
		if !painted {
			return
		}
		var inner string
		inner, text, _ = strings.Cut(rest, "\x1b[0m")
		classes := "c" + strings.ReplaceAll(codes, ";", " c")
		w.WriteString(`<span class="` + classes + `">` + html.EscapeString(inner) + "</span>")
	}
}
