// Package render writes values as text, CSV, JSON, Markdown and HTML. It computes none of
// them: begin with package replay or stats, and hand what they return to the Write
// function of its name. Page writes a session as Markdown, HTML as a page for a browser.
package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A Report is a replayed envelope, ready to be printed.
type Report struct {
	Envelope   *replay.Envelope
	Ephemeral  bool // the envelope has the logged request-only messages
	Provenance bool // say where every piece comes from
}

// A Format is a form in which an envelope can be printed.
type Format struct {
	Name  string
	About string // one line for help
	// Need is what the form says of a path besides its leaf's messages.
	Need  sessionfmt.Need
	write func(w *bufio.Writer, r Report) error
}

// Formats are the forms of an envelope, the default first.
var Formats = []*Format{
	&summaryFormat,
	&fullFormat,
	&jsonFormat,
	&contextFormat,
	&llmFormat,
}

// FindFormat is the form of that name.
func FindFormat(name string) (*Format, error) {
	var names []string
	for _, f := range Formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("unknown format %q: one of %s", sessionfmt.Quote(name), strings.Join(names, ", "))
}

// Write prints the report.
func (f *Format) Write(w io.Writer, r Report) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := f.write(b, r); err != nil {
		return err
	}
	return b.Flush()
}
