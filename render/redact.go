package render

import (
	"bufio"
	"fmt"
	"strings"

	"ctxtool/internal/redact"
	"ctxtool/sessionfmt"
)

// RedactedSchema is that of a Redacted.
const RedactedSchema = "ctxtool/redact/1"

// A Redacted is what redacting a session takes out of it, or took. None of that is
// in here.
type Redacted struct {
	Schema   string         `json:"schema"`
	File     string         `json:"file"`
	Found    []redact.Found `json:"found"`
	Stripped int            `json:"stripped"` // signatures and encrypted texts
	Images   int            `json:"images"`   // that nobody looked into
	Written  string         `json:"written,omitempty"`
	Error    string         `json:"error,omitempty"`
}

// NewRedacted is what a run has redacted.
func NewRedacted(file string, t *redact.Tally) *Redacted {
	r := &Redacted{Schema: RedactedSchema, File: file, Found: t.Found(), Stripped: t.Sealed, Images: t.Images}
	if r.Found == nil {
		r.Found = []redact.Found{}
	}
	return r
}

// WriteRedactedJSON writes one session's as an object.
func WriteRedactedJSON(w *bufio.Writer, r *Redacted) error { return WriteJSON(w, r) }

// WriteRedactedFilesJSON writes those of several sessions as one object.
func WriteRedactedFilesJSON(w *bufio.Writer, all []*Redacted) error {
	return WriteJSON(w, struct {
		Schema string      `json:"schema"`
		Files  []*Redacted `json:"files"`
	}{RedactedSchema, all})
}

// WriteRedacted writes one session's for people: what each rule has found.
func WriteRedacted(w *bufio.Writer, r *Redacted, width int) error {
	fmt.Fprintf(w, "%s: %s\n", sessionfmt.Clean(r.File), r.outcome())
	var rows [][]string
	for _, f := range r.Found {
		rows = append(rows, []string{f.Rule, fmt.Sprint(f.Values), fmt.Sprint(f.Places), entriesOf(f)})
	}
	if len(rows) > 0 {
		columns := []Column{{Name: "rule"}, {Name: "values", Right: true}, {Name: "places", Right: true}, {Name: "entries", Flex: true}}
		if err := WriteTable(w, columns, rows, width); err != nil {
			return err
		}
	}
	if r.Written != "" && r.Written != "-" {
		fmt.Fprintf(w, "written to %s\n", sessionfmt.Clean(r.Written))
	}
	return nil
}

// shownEntries is how many entries a row of the table names.
const shownEntries = 8

func entriesOf(f redact.Found) string {
	text := strings.Join(f.Entries[:min(shownEntries, len(f.Entries))], " ")
	if more := len(f.Entries) - shownEntries; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return sessionfmt.Clean(text)
}

// outcome is what is found, in a line.
func (r *Redacted) outcome() string {
	values, places := 0, 0
	for _, f := range r.Found {
		values, places = values+f.Values, places+f.Places
	}
	text := "nothing to redact"
	if places > 0 {
		text = fmt.Sprintf("%s in %s", count(values, "value"), count(places, "place"))
	}
	if r.Stripped > 0 {
		text += fmt.Sprintf("; %s stripped", count(r.Stripped, "signature"))
	}
	if r.Images > 0 {
		text += fmt.Sprintf("; %s not looked into", count(r.Images, "image"))
	}
	return text
}

// WriteRedactedFiles writes those of several sessions as a table.
func WriteRedactedFiles(w *bufio.Writer, all []*Redacted, width int) error {
	columns := []Column{
		{Name: "file", Flex: true}, {Name: "values", Right: true}, {Name: "places", Right: true}, {Name: "stripped", Right: true}, {Name: "images", Right: true}, {Name: "what"},
	}
	var rows [][]string
	for _, r := range all {
		values, places := 0, 0
		for _, f := range r.Found {
			values, places = values+f.Values, places+f.Places
		}
		what := "planned"
		switch {
		case r.Error != "":
			what = r.Error
		case r.Written != "":
			what = "written"
		}
		rows = append(rows, []string{
			sessionfmt.Clean(r.File), fmt.Sprint(values), fmt.Sprint(places), fmt.Sprint(r.Stripped), fmt.Sprint(r.Images), sessionfmt.Clean(what),
		})
	}
	return WriteTable(w, columns, rows, width)
}
