package show

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"ctxtool/internal/lens/diff"
	"ctxtool/sessionfmt"
)

// diffWidth is how long a line of a comparison may be on a page, in columns.
const diffWidth = 2000

// colouredPage begins a page with a title. It has a class for each colour that is used.
const colouredPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title>
<style>
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
<pre>`

// coloured returns the form html: a page with the text of a form, in its colours. Nothing is
// fetched and no script runs.
func coloured[T any](write func(w *bufio.Writer, v T, on Screen) error, title func(v T) string) form[T] {
	return plain("html", func(w *bufio.Writer, v T) error {
		var text bytes.Buffer
		to := bufio.NewWriter(&text)
		if err := write(to, v, Screen{Width: diffWidth, Colour: true}); err != nil {
			return err
		}
		to.Flush()
		fmt.Fprintf(w, colouredPage, html.EscapeString(sessionfmt.Clean(title(v))))
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
