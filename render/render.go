// Package render writes contexts, lists of sessions and reports as text, Markdown, CSV and JSON, as the
// commands print them. It computes nothing: begin with package replay or stats, and pass what they return.
package render

import (
	"bufio"
	"io"

	"ctxtool/internal/out/show"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/stats"
)

// A Screen is where text is shown. The zero value is a file or a pipe: nothing is cut, rounded or coloured.
type Screen struct {
	Width  int // in columns; 0 without a terminal
	Colour bool
}

// A Value is something that can be written, with the names of its forms. The functions of this package make
// values, one for each type that has forms.
type Value struct {
	forms []string
	value show.Value
}

// Forms returns the names of the forms, the most readable first.
func (v Value) Forms() []string { return v.forms }

// Write writes the value in a form. A form that the value does not have is an error, before anything is written.
func (v Value) Write(w io.Writer, form string, on Screen) error {
	to := bufio.NewWriter(w)
	if err := v.value.Write(to, form, show.Screen(on)); err != nil {
		return err
	}
	return to.Flush()
}

func of[T any](forms show.Forms[T], v T) Value { return Value{forms.Names(), forms.Of(v)} }

// Context returns a replayed context, also in the forms of requests to providers (docs/commands/ctxtool_replay.md).
func Context(e *replay.Envelope) Value { return of(show.ContextForms, show.Report{Envelope: e}) }

// Sessions returns a list of sessions, a row each, with their sum.
func Sessions(all []*stats.Summary) Value {
	return of(show.SessionsForms, show.Sessions{Rows: all, Of: len(all)})
}

// Report returns a report with the tables of its lenses, which are those of the options that computed it. CSV has
// the table of the first one.
func Report(o *stats.Options, r *stats.Report) Value {
	s := show.Stats{Report: r, Sheets: o.Sheets(r), Gaps: len(r.Files) > 1}
	for _, lens := range o.Lenses {
		s.Lenses = append(s.Lenses, lens.Name)
	}
	return of(show.ReportForms, s)
}

// Count returns the numbers of tokens of texts.
func Count(t *tokens.Texts) Value { return of(show.CountForms, t) }
