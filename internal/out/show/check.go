package show

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/stats/table"
)

// writeCheck writes the findings of each file below its name. A kind that occurs more than
// three times in a file is one line with its number.
func writeCheck(w *bufio.Writer, r check.Reports, on Screen) {
	for _, f := range r.Files {
		if len(f.Findings) > 0 {
			writeFile(w, f, on)
		}
	}
	t := r.Totals
	fmt.Fprintf(w, "%s checked: ", phrase.Count(t.Files, "file"))
	var verdicts []string
	for _, v := range []struct {
		n    int
		what check.Verdict
	}{{t.Sound, check.Sound}, {t.Usable, check.Usable}, {t.Damaged, check.Damaged}, {t.Unread, "not a session"}} {
		if v.n > 0 {
			verdicts = append(verdicts, phrase.If(t.Files > 1, "%d ", v.n)+string(v.what))
		}
	}
	fmt.Fprintf(w, "%s; %s, %s, %s\n", cmp.Or(strings.Join(verdicts, ", "), "none"),
		phrase.Count(t.Errors, "error"), phrase.Count(t.Warnings, "warning"), phrase.Count(t.Infos, "info"))
}

var coverageColumns = slices.Concat(
	[]col[*check.Field]{{Name: "", Value: func(m *check.Field) any { return phrase.If(!m.Known, "new") }}},
	[]col[*check.Field]{
		{Name: "agent", Value: func(f *check.Field) any { return f.Agent }},
		{Name: "field", Unit: table.Path, Flex: true, Value: func(f *check.Field) any { return f.Path }},
		{Name: "count", Unit: table.Number, Value: func(f *check.Field) any { return f.Count }},
		{Name: "size", Unit: table.Size, Value: func(f *check.Field) any { return f.Bytes }},
	},
	[]col[*check.Field]{
		{Name: "first", Value: func(m *check.Field) any { return fmt.Sprintf("%s:%d", m.File, m.Line) },
			Flex: true, Yields: 1},
	},
)

// writeCoverage writes what nothing reads as a table, and how much of the files that is.
func writeCoverage(w *bufio.Writer, c check.Coverage, on Screen) {
	WriteTable(w, table.Of(c.Fields, coverageColumns), on)
	unread := int64(0)
	for _, m := range c.Fields {
		unread += m.Bytes
	}
	fmt.Fprintf(w, "%s, %s: nothing reads %s of them\n", phrase.Count(c.Files, "file"), megabytes(c.Bytes),
		megabytes(unread))
}

func writeFile(w *bufio.Writer, f *check.Report, on Screen) {
	fmt.Fprintf(w, "%s: %s", on.paint(heading, sessionfmt.Clean(f.File)),
		on.paint(wordStyle(string(f.Verdict)), string(f.Verdict)))
	if f.Opens != "" {
		fmt.Fprintf(w, "; pi %s", f.Opens)
	}
	w.WriteByte('\n')
	if f.Certainty != nil {
		fmt.Fprintf(w, "  %s\n", f.Reading)
	}
	times, codes, entries := map[string]int{}, 0, 8
	for _, found := range f.Findings {
		times[found.Code]++
		codes = max(codes, len(found.Code))
		entries = max(entries, len(entryID(found.Entry)))
	}
	file := f.File
	var fixes [][2]string // what fixes findings, and their codes
	for _, found := range f.Findings {
		n := times[found.Code]
		if n == 0 {
			continue
		}
		line := cmp.Or(phrase.If(found.Line > 0, "%d", found.Line), "-")
		text, code := found.Text, found.Code
		if n > 3 {
			times[found.Code] = 0
			text += fmt.Sprintf(" (and %d more like it)", n-1)
			code += fmt.Sprintf(", the %d others likewise", n-1)
		}
		if found.File != file {
			file = found.File
			fmt.Fprintf(w, "  in %s, which it continues:\n", sessionfmt.Clean(file))
		}
		entry, severity := fmt.Sprintf("%-*s", entries, entryID(found.Entry)), fmt.Sprintf("%-7s", found.Severity)
		head := fmt.Sprintf("  %6s  %s  %s  %-*s  ", line, on.paint(faint, entry),
			on.paint(wordStyle(found.Severity.String()), severity), codes, found.Code)
		writeFolded(w, head, text, on)
		if found.Hides != nil {
			writeFolded(w, strings.Repeat(" ", measure.String(head)), hides(*found.Hides), on)
		}
		if fix := [2]string{found.Fix, code}; !slices.Contains(fixes, fix) {
			fixes = append(fixes, fix)
		}
	}
	if f.Context != nil && f.Repaired != nil && *f.Context != *f.Repaired {
		before, after := context("context: ", *f.Context), "after ctxtool repair"
		if f.Foreign { // it is never repaired
			before, after = "context: "+figures(*f.Context), "without the damage"
		}
		fmt.Fprintf(w, "  %s; %s: %s\n", before, after, figures(*f.Repaired))
	}
	for _, all := range grouped(fixes, func(fix [2]string) string { return fix[0] }) {
		var codes []string
		for _, fix := range all {
			codes = append(codes, fix[1])
		}
		fmt.Fprintf(w, "  fix: %s (%s)\n", sessionfmt.Clean(all[0][0]), strings.Join(codes, ", "))
	}
	w.WriteByte('\n')
}

// hides returns what a finding hides from the context, or adds to it, in words.
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
		return phrase.Count(-n, thing) + " fewer"
	}
	return phrase.Count(n, thing) + " more"
}

// context describes the size of a context, or that there is none.
func context(before string, f check.Figures) string {
	if f == (check.Figures{}) {
		return "pi cannot build a context"
	}
	return before + figures(f)
}

func figures(f check.Figures) string {
	return phrase.Count(f.Messages, "message") + ", " + phrase.Count(f.Tokens, "token") + ", " +
		phrase.Count(f.Requests, "request")
}

// annotationLevels are the levels of GitHub's annotations by severity, of findings and of verdicts.
var annotationLevels = map[string]string{"error": "error", "warning": "warning", "info": "notice"}

func writeAnnotations(w *bufio.Writer, r check.Reports, _ Screen) {
	for _, f := range r.Files {
		for _, found := range f.Findings {
			annotate(w, annotationLevels[found.Severity.String()], found.File, found.Line, found.Code, message(found))
		}
	}
}

// message returns a finding as one sentence, with its entry, what it hides and what fixes it.
func message(f check.Finding) string {
	text := phrase.If(f.Entry != "", "entry %s: ", f.Entry) + f.Text
	if f.Hides != nil {
		text += "; " + hides(*f.Hides)
	}
	return text + phrase.If(f.Fix != "", "; fix: %s", f.Fix)
}
