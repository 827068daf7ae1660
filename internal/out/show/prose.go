package show

import (
	"fmt"
	"io"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/stats/table"
)

// A prose writes a report that is sentences. Values come from sessions, so each is cleaned or escaped for the form that
// is written, unless it is a markup.
type prose struct {
	w     io.StringWriter
	on    Screen
	value func(v any) string
}

// A markup is text in the form of what is written.
type markup string

// proseOn writes text for a terminal or a file.
func proseOn(w io.StringWriter, on Screen) prose {
	return prose{w, on, func(v any) string { return sessionfmt.Clean(fmt.Sprint(v)) }}
}

// markdownProse writes Markdown.
func markdownProse(w io.StringWriter) prose {
	return prose{w, Screen{}, func(v any) string { return inline(fmt.Sprint(v)) }}
}

// sentences returns the lines of a report as they are before they are cleaned or escaped.
func sentences(write func(p prose)) []string {
	var text strings.Builder
	write(prose{&text, Screen{}, func(v any) string { return fmt.Sprint(v) }})
	return linesOf(text.String())
}

// line writes a line. Its values are strings in the end: verbs other than %v are of no use.
func (p prose) line(format string, values ...any) {
	for k := range values {
		values[k] = p.text(values[k])
	}
	p.w.WriteString(fmt.Sprintf(format, values...) + "\n")
}

// put writes values one after another as a line that is cut to the width of the screen.
func (p prose) put(values ...any) { p.line("%v", p.fitted(values...)) }

// fitted returns what put writes.
func (p prose) fitted(values ...any) markup {
	var all strings.Builder
	for _, v := range values {
		all.WriteString(p.text(v))
	}
	return markup(fit(strings.TrimRight(all.String(), " "), lineWidth(p.on.Width)))
}

// text returns a value as it is written.
func (p prose) text(v any) string {
	if m, ok := v.(markup); ok {
		return string(m)
	}
	return p.value(v)
}

// paint returns a value in a style.
func (p prose) paint(as style, v any) markup { return markup(p.on.paint(as, p.text(v))) }

// table writes a table.
func (p prose) table(t table.Table) {
	var text strings.Builder
	WriteTable(&text, t, p.on)
	p.w.WriteString(text.String())
}

// code returns a text as code of Markdown.
func (p prose) code(text string) markup { return markup(literal(text)) }

// linesOf returns the lines of a text.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
