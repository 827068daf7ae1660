package render

import (
	"bufio"
	"fmt"
	"strings"

	"ctxtool/internal/redact"
	"ctxtool/sessionfmt"
)

// WriteRedacted writes one session's for people: what each rule has found.
func WriteRedacted(w *bufio.Writer, r *redact.Report, width int) error {
	fmt.Fprintf(w, "%s: %s\n", sessionfmt.Clean(r.File), redacted(r))
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

// redacted is what is found, in a line.
func redacted(r *redact.Report) string {
	values, places := r.Total()
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
func WriteRedactedFiles(w *bufio.Writer, all []*redact.Report, width int) error {
	columns := []Column{
		{Name: "file", Flex: true}, {Name: "values", Right: true}, {Name: "places", Right: true}, {Name: "stripped", Right: true}, {Name: "images", Right: true}, {Name: "what"},
	}
	var rows [][]string
	for _, r := range all {
		values, places := r.Total()
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
