package render

import (
	"bufio"
	"fmt"
	"net/url"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/check"
)

// A CheckForm is a form in which findings are printed.
type CheckForm struct {
	Name  string
	Write func(w *bufio.Writer, r check.Reports) error
}

// CheckForms are the forms of findings, the default first.
var CheckForms = []CheckForm{
	{"text", writeCheckText},
	{"json", func(w *bufio.Writer, r check.Reports) error { return WriteJSON(w, r) }},
	{"jsonl", func(w *bufio.Writer, r check.Reports) error {
		for _, f := range r.Files {
			if err := WriteJSON(w, f); err != nil {
				return err
			}
		}
		return nil
	}},
	{"sarif", writeSARIF},
	{"github", writeAnnotations},
}

// writeCheckText writes the findings of each file below its name, a kind that
// occurs more than three times in a file once with its number.
func writeCheckText(w *bufio.Writer, r check.Reports) error {
	for _, f := range r.Files {
		if len(f.Findings) > 0 {
			writeFile(w, f)
		}
	}
	t := r.Totals
	fmt.Fprintf(w, "%s checked: %s, %s, %s; %d sound", count(t.Files, "file"), count(t.Errors, "error"), count(t.Warnings, "warning"), count(t.Infos, "info"), t.Sound)
	if t.Unread > 0 {
		fmt.Fprintf(w, "; %d cannot be read as a session", t.Unread)
	}
	return w.WriteByte('\n')
}

func writeFile(w *bufio.Writer, f *check.Report) {
	fmt.Fprintf(w, "%s", sessionfmt.Clean(f.File))
	if f.Opens != "" {
		fmt.Fprintf(w, ": pi %s", f.Opens)
	}
	w.WriteByte('\n')
	times, codes := map[string]int{}, 0
	for _, found := range f.Findings {
		times[found.Code]++
		codes = max(codes, len(found.Code))
	}
	for _, found := range f.Findings {
		n := times[found.Code]
		if n == 0 {
			continue
		}
		line := "-"
		if found.Line > 0 {
			line = fmt.Sprint(found.Line)
		}
		text := found.Text
		if n > 3 {
			times[found.Code] = 0
			text += fmt.Sprintf(" (and %d more like it)", n-1)
		}
		fmt.Fprintf(w, "  %6s  %-8s  %-7s  %-*s  %s\n", line, found.Entry, found.Severity, codes, found.Code, sessionfmt.Clean(text))
		if found.Hides != nil {
			fmt.Fprintf(w, "  %6s  %-8s  %-7s  %-*s  %s\n", "", "", "", codes, "", hides(*found.Hides))
		}
	}
	if f.Context != nil && f.Mended != nil && *f.Context != *f.Mended {
		fmt.Fprintf(w, "  %s; after ctxtool repair: %s\n", context("the context here: ", *f.Context), figures(*f.Mended))
	}
	w.WriteByte('\n')
}

// hides says what a finding keeps out of the context, or puts into it.
func hides(f check.Figures) string {
	if f.Messages >= 0 && f.Tokens >= 0 {
		return "hides " + figures(f)
	}
	return "without it the context has " + change(f.Messages, "message") + ", " + change(f.Tokens, "token")
}

func change(n int, thing string) string {
	switch {
	case n == 0:
		return "as many " + thing + "s"
	case n < 0:
		return count(-n, thing) + " less"
	}
	return count(n, thing) + " more"
}

// context is the size of a context in words behind others, or that there is none.
func context(before string, f check.Figures) string {
	if f == (check.Figures{}) {
		return "pi has no context of it"
	}
	return before + figures(f)
}

// figures is the size of a context in words.
func figures(f check.Figures) string {
	return count(f.Messages, "message") + ", " + count(f.Tokens, "token") + ", " + count(f.Requests, "request")
}

// writeAnnotations writes findings as annotations of GitHub Actions.
func writeAnnotations(w *bufio.Writer, r check.Reports) error {
	level := map[check.Severity]string{check.Error: "error", check.Warning: "warning", check.Info: "notice"}
	for _, f := range r.Files {
		for _, found := range f.Findings {
			annotate(w, level[found.Severity], found.File, found.Line, found.Code, message(found))
		}
	}
	return nil
}

// message is a finding as one sentence, with its entry and what it hides.
func message(f check.Finding) string {
	text := f.Text
	if f.Entry != "" {
		text = "entry " + f.Entry + ": " + text
	}
	if f.Hides != nil {
		text += "; " + hides(*f.Hides)
	}
	return text
}

// fileURI is a file's name as a relative reference.
func fileURI(name string) string { return (&url.URL{Path: name}).EscapedPath() }
