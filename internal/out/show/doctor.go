package show

import (
	"bufio"
	"cmp"
	"ctxtool/internal/lens/doctor"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/stats/table"
	"fmt"
	"strings"
)

// writeDoctor writes what is wrong with a session: a head of two lines, and two for each thing that is.
func writeDoctor(w *bufio.Writer, r *doctor.Report, on Screen) {
	window := phrase.If(r.Window > 0, " of %d tokens (%s)", r.Window,
		phrase.Percent(float64(r.Context)/float64(max(1, r.Window))))
	fmt.Fprintf(w, "%s: %s, %s, %s%s%s%s\n", r.File, sessionfmt.Clean(cmp.Or(r.Model.Name(), "no model")),
		phrase.Count(r.Requests, "request"),
		phrase.If(r.Recorded < r.Cost, "~"), phrase.Dollars(r.Cost), lacking(r.NoSubAgents, r.Unread),
		phrase.If(r.Owner != "", ", a sub-agent of session %s", sessionfmt.Clean(r.Owner)))
	var fills []string
	for _, f := range r.Fills {
		fills = append(fills, f.String())
	}
	writeFolded(w, "", fmt.Sprintf("context %s%d%s: %s", phrase.If(r.Estimated, "~"), r.Context,
		cmp.Or(window, " tokens"), strings.Join(fills, ", ")), on)
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
	sheet := table.Sheet{Table: table.Of(s.Projects, []col[*doctor.Project]{
		{Name: "project", Unit: table.Path, Flex: true, Value: func(p *doctor.Project) any { return p.Project }},
		{Name: "sessions", Unit: table.Number, Value: func(p *doctor.Project) any { return p.Sessions }},
		{Name: "requests", Unit: table.Number, Yields: 5, Value: func(p *doctor.Project) any { return p.Requests }},
		{Name: "cost", Unit: table.Dollars, Value: func(p *doctor.Project) any { return p.Cost }},
		{Name: "lost", Unit: table.Dollars, Value: func(p *doctor.Project) any { return p.Lost }},
		{Name: "dead weight", Unit: table.Tokens, Value: func(p *doctor.Project) any { return p.Dead }},
		{Name: "unused", Unit: table.Tokens, Yields: 4, Value: func(p *doctor.Project) any { return p.Carried }},
		{Name: "damaged", Unit: table.Number, Yields: 3,
			Value: func(p *doctor.Project) any { return table.Unless0(p.Damaged) }},
		{Name: "dropped", Unit: table.Number, Yields: 3,
			Value: func(p *doctor.Project) any { return table.Unless0(p.Dropped) }},
		{Name: "worst", Unit: table.Ref, Yields: 1,
			Value: func(p *doctor.Project) any { return table.If(p.Session != "", p.Session) }},
		{Name: "what", Flex: true, Yields: 2, Value: func(p *doctor.Project) any {
			if p.Worst == nil {
				return nil
			}
			return p.Worst.Text
		}},
	})}
	for _, u := range s.Unread {
		sheet.Notes = append(sheet.Notes, fmt.Sprintf("%s: not read: %s", sessionfmt.Clean(u.File),
			sessionfmt.Clean(u.Error)))
	}
	return []table.Sheet{sheet}
}
