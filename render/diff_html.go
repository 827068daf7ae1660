package render

import (
	"bufio"
	"bytes"
	"html"
	"io"
	"strings"

	"ctxtool/internal/diff"
	"ctxtool/sessionfmt"
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
		io.WriteString(w, diffHead+html.EscapeString(sessionfmt.Clean(title(v)))+"</title>\n"+diffStyle+"<pre>")
		writeColours(w, text.String())
		_, err := io.WriteString(w, "</pre>\n")
		return err
	})
}

func diffTitle(d *diff.Difference) string { return source(d.A.Source) + " and " + source(d.B.Source) }

func entriesTitle(e *diff.Entries) string { return source(e.A) + " and " + source(e.B) }

func writeEntriesPage(w *bufio.Writer, e *diff.Entries, on Screen) error {
	writeEntries(w, e, on)
	return nil
}

const diffHead = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>`

// diffStyle has a class for each colour of a terminal that is used.
const diffStyle = `<style>
body { margin: 1.5rem; }
pre { font: 14px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.c1 { font-weight: bold; }
.c2 { opacity: .7; }
.c7 { outline: 1px solid; }
.c31 { color: light-dark(#a40e26, #ff9a92); }
.c32 { color: light-dark(#116329, #7ee787); }
.c33 { color: light-dark(#7d4e00, #e3b341); }
.c34 { color: light-dark(#0550ae, #79c0ff); }
.c35 { color: light-dark(#8250df, #d2a8ff); }
.c36 { color: light-dark(#0b6b75, #76e3ea); }
</style>
`

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
