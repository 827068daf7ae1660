package render

import (
	"bufio"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/base/table"
	"ctxtool/internal/check"
	"ctxtool/internal/doctor"
	"ctxtool/internal/keep"
	"ctxtool/internal/phrase"
	"ctxtool/sessionfmt"
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
	table.Fields[check.Field]("agent field=path:path* count size=bytes:size"),
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
		if f.Certainty != nil { // another agent's is never repaired
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

// context returns the size of a context in words, or that there is none.
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

func writeAnnotations(w *bufio.Writer, r check.Reports, _ Screen) {
	level := map[check.Severity]string{check.Error: "error", check.Warning: "warning", check.Info: "notice"}
	for _, f := range r.Files {
		for _, found := range f.Findings {
			annotate(w, level[found.Severity], found.File, found.Line, found.Code, message(found))
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

// sarifProperties are what SARIF has no field for.
type sarifProperties struct {
	Entry string         `json:"entry,omitempty"`
	Hides *check.Figures `json:"hides,omitempty"`
	Fix   string         `json:"fix,omitempty"`
}

var sarifLevels = map[check.Severity]string{check.Error: "error", check.Warning: "warning", check.Info: "note"}

// writeSARIF writes findings as a SARIF log (OASIS, version 2.1.0), the rules of which are the checks.
func writeSARIF(w *bufio.Writer, r check.Reports) error {
	type object = map[string]any
	rules, results, index := []object{}, []object{}, map[string]int{}
	for k, c := range check.All() {
		index[c.Code] = k
		rules = append(rules, object{
			"id": c.Code, "shortDescription": object{"text": c.Title}, "fullDescription": object{"text": c.About()},
			"help":                 object{"text": c.Help(), "markdown": c.Page()},
			"defaultConfiguration": object{"level": sarifLevels[c.Severity]},
		})
	}
	for _, f := range r.Files {
		for _, found := range f.Findings {
			place := object{"artifactLocation": object{"uri": (&url.URL{Path: found.File}).EscapedPath()}}
			if found.Line > 0 {
				place["region"] = object{"startLine": found.Line}
			}
			result := object{
				"ruleId": found.Code, "ruleIndex": index[found.Code], "level": sarifLevels[found.Severity],
				"message": object{"text": message(found)}, "locations": []object{{"physicalLocation": place}},
			}
			if p := (sarifProperties{found.Entry, found.Hides, found.Fix}); p != (sarifProperties{}) {
				result["properties"] = p
			}
			results = append(results, result)
		}
	}
	run := object{
		"tool":       object{"driver": object{"name": "ctxtool", "rules": rules}},
		"columnKind": "utf16CodeUnits", "results": results,
	}
	schema := "https://json.schemastore.org/sarif-2.1.0.json"
	return WriteJSON(w, object{"$schema": schema, "version": "2.1.0", "runs": []object{run}})
}

// writeDoctor writes what is wrong with a session: a head of two lines, and two for each thing that is.
func writeDoctor(w *bufio.Writer, r *doctor.Report, on Screen) {
	window := phrase.If(r.Window > 0, " of %d tokens (%s)", r.Window,
		phrase.Percent(float64(r.Context)/float64(max(1, r.Window))))
	fmt.Fprintf(w, "%s: %s, %s, %s%s\n", r.File, sessionfmt.Clean(r.Model.Provider+"/"+r.Model.ID),
		phrase.Count(r.Requests, "request"),
		phrase.If(r.Recorded < r.Cost, "~"), phrase.Dollars(r.Cost))
	var fills []string
	for _, f := range r.Fills {
		name := f.Category
		if name == "rest" {
			name = "not in the file"
		}
		fills = append(fills, name+" "+phrase.Short(int64(f.Tokens)))
	}
	writeFolded(w, "", fmt.Sprintf("context %d%s: %s", r.Context, cmp.Or(window, " tokens"), strings.Join(fills, ", ")),
		on)
	if r.Stopped != "" {
		writeFolded(w, "", "the replay stops at "+r.Stopped, on)
	}
	if len(r.Lines) == 0 {
		fmt.Fprintln(w, "\nnothing found that is worth a change")
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		fmt.Fprintln(w)
		writeFolded(w, fmt.Sprintf("%2d  ", i+1), l.Text, on)
		worth := l.Worth()
		if on.Width > 0 && worth != "" && 4+len(l.Command+worth) > on.Width { // a command is never cut
			worth = "\n    " + strings.TrimPrefix(worth, ": ")
		}
		fmt.Fprintf(w, "    %s%s\n", l.Command, worth)
	}
}

// writeFolded writes a sentence, on a terminal in lines of its width, with a head before the first.
func writeFolded(w *bufio.Writer, head, text string, on Screen) {
	indent := max(2, measure.String(head))
	column := measure.String(head)
	w.WriteString(head)
	for i, word := range strings.Split(sessionfmt.Clean(text), " ") {
		switch {
		case i == 0:
		case on.Width > 0 && column+1+len(word) > on.Width:
			column = indent
			fmt.Fprintf(w, "\n%*s", column, "")
		default:
			w.WriteByte(' ')
			column++
		}
		w.WriteString(word)
		column += len(word)
	}
	w.WriteByte('\n')
}

// doctorSheets returns the projects of a store, the worst first.
func doctorSheets(s *doctor.Store) []table.Sheet {
	sheet := table.Sheet{Table: table.Of(s.Projects, table.Fields[doctor.Project](`project:path* sessions
		requests!5 cost:dollars
		lost:dollars dead+weight=dead:tokens unused=carried:tokens!4 damaged?!3 dropped?!3 $ what=worst.text*!2`,
		col[*doctor.Project]{Name: "worst", Unit: table.Ref, Yields: 1,
			Value: func(p *doctor.Project) any { return table.If(p.Session != "", p.Session) }}))}
	for _, u := range s.Unread {
		sheet.Notes = append(sheet.Notes, fmt.Sprintf("%s: not read: %s", sessionfmt.Clean(u.File),
			sessionfmt.Clean(u.Error)))
	}
	return []table.Sheet{sheet}
}

var keptColumns = []col[*keep.Row]{
	{Name: "deleted", Value: func(r *keep.Row) any { return r.Deletes[:min(len(time.DateOnly), len(r.Deletes))] }},
	{Name: "state", Value: func(r *keep.Row) any { return r.State }},
	{Name: "size", Unit: table.Size, Value: func(r *keep.Row) any { return table.Unless0(r.Size) }},
	{Name: "file", Unit: table.Path, Value: func(r *keep.Row) any { return r.File }, Flex: true},
}

// soon is how long before a session is deleted it is listed although it is kept.
const soon = 7 * 24 * time.Hour

// keptSheets returns what was kept in a sentence. Without writing it is a table of what would be kept or is
// deleted soon, what is deleted first at its top.
func keptSheets(r keep.Report) []table.Sheet {
	var listed []keep.Row
	var broken []string
	var size, packed int64
	states, due, safe := map[string]int{}, 0, 0
	for _, f := range r.Files {
		if f.Error != "" {
			broken = append(broken, f.File+": "+f.Error)
			continue
		}
		states[f.State]++
		deletes, err := time.Parse(time.RFC3339, f.Deletes)
		isDue := err == nil && deletes.Before(r.Now.Add(soon))
		if isDue {
			if due++; f.State == keep.Unchanged {
				safe++
			}
		}
		if f.State != keep.Unchanged {
			size, packed = size+f.Size, packed+f.Packed
		}
		if r.Dry && (isDue || f.State != keep.Unchanged) {
			listed = append(listed, f)
		}
	}
	slices.SortStableFunc(listed, func(a, b keep.Row) int {
		return cmp.Compare(cmp.Or(a.Deletes, "~"), cmp.Or(b.Deletes, "~"))
	})
	sheet := table.Sheet{Table: table.Of(listed, keptColumns)}
	if len(listed) > 0 {
		sheet.Notes = []string{""}
	}
	var parts []string
	for _, state := range []string{keep.New, keep.Grown, keep.Rewritten, keep.Unchanged} {
		if states[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", states[state], state))
		}
	}
	what := phrase.Count(len(r.Files)-len(broken), "file") +
		phrase.If(len(parts) > 0, ": %s", strings.Join(parts, ", "))
	switch {
	case r.Dry:
		what += fmt.Sprintf("; nothing is written to %s", r.Archive)
	case packed > 0:
		what += fmt.Sprintf("; copied %s as %s to %s", megabytes(size), megabytes(packed), r.Archive)
	}
	sheet.Notes = append(sheet.Notes, what)
	if r.Dry && due > 0 {
		const next = "agents delete %s within 7 days, when they start next; the archive has %d of them"
		sheet.Notes = append(sheet.Notes, fmt.Sprintf(next, phrase.Count(due, "file"), safe))
	}
	for _, f := range r.Files {
		if f.Older != "" {
			lost := fmt.Sprintf("%s has lost something: its older state is %s", f.File, f.Older)
			sheet.Notes = append(sheet.Notes, lost)
		}
	}
	return appendBroken([]table.Sheet{sheet}, "copied", broken)
}
