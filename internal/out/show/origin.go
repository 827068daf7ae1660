package show

import (
	"fmt"
	"iter"
	"strings"

	"ctxtool/internal/lens/origin"
	"ctxtool/internal/read/phrase"
	"ctxtool/stats/table"
)

// An originRow is a line of a file with the call that wrote it.
type originRow struct {
	*origin.Line
	call  int // from 1, 0 for none
	first bool
	sure  string
}

// originRows yields the lines. What several lines in a row have in common stands beside the first.
func originRows(f *origin.Report) iter.Seq[*originRow] {
	return func(yield func(*originRow) bool) {
		var last originRow
		for i := range f.Lines {
			l := &f.Lines[i]
			row := originRow{Line: l, sure: string(l.Certainty)}
			if l.Call != nil {
				row.call = *l.Call + 1
			}
			if l.Changed != "" {
				row.sure += " by " + l.Changed
			}
			row.first = i == 0 || row.call != last.call || row.sure != last.sure
			last = row
			if !yield(&row) {
				return
			}
		}
	}
}

// originSheets are tables of a report: the lines of a file beside the calls that wrote them, or sums of files, then
// the sessions and calls.
func originSheets(r *origin.Report) []table.Sheet {
	first := table.Sheet{Above: originHead(r), Table: fileTable(r)}
	if r.Of == "file" {
		first.Table = lineTable(r)
	}
	for _, n := range r.Notes {
		first.Notes = append(first.Notes, fmt.Sprintf("%s %s for %s", n.By, n.Verdict, phrase.Count(n.Lines, "line")))
	}
	if len(r.Unread) > 0 {
		first.Notes = append(first.Notes, phrase.Count(len(r.Unread), "session")+" could not be read")
	}
	if len(r.Calls) == 0 {
		return []table.Sheet{first}
	}
	return []table.Sheet{first, sessionSheet(r.Sessions), callSheet(r.Calls, r.Sessions)}
}

// originHead names what a report is of, and counts its lines.
func originHead(r *origin.Report) []string {
	count := countText(r.Counts)
	switch r.Of {
	case "file":
		return []string{r.Name + ": " + count}
	case "session":
		return []string{"session " + r.Name + ": " + count}
	}
	last := r.Commits[len(r.Commits)-1]
	return []string{fmt.Sprintf("%s %s (%s, %s)%s", last.ID[:10], last.Subject, last.Author, day(last.Time),
		phrase.If(len(r.Commits) > 1, ", with %d commits", len(r.Commits))), count}
}

func lineTable(r *origin.Report) table.Table {
	called := func(row *originRow, cell func(c *origin.Call) any) any {
		if !row.first || row.call == 0 {
			return nil
		}
		return cell(&r.Calls[row.call-1])
	}
	return table.Stream(originRows(r), []col[*originRow]{
		{Name: "call", Value: func(r *originRow) any {
			return called(r, func(*origin.Call) any { return fmt.Sprintf("[%d]", r.call) })
		}},
		{Name: "origin", Value: func(r *originRow) any { return table.If(r.first, r.sure) }, Style: wordStyle},
		{Name: "written", Yields: 1, Value: func(r *originRow) any {
			return called(r, func(c *origin.Call) any { return day(c.Time) })
		}},
		{Name: "line", Unit: table.Number, Value: func(r *originRow) any { return r.Number }},
		{Name: "text", Flex: true, Value: func(r *originRow) any { return strings.ReplaceAll(r.Text, "\t", "    ") }},
	})
}

func fileTable(r *origin.Report) table.Table {
	count := func(name string, of func(n *origin.Counts) int) col[*origin.File] {
		return col[*origin.File]{Name: name, Unit: table.Number, Value: func(f *origin.File) any {
			return table.Unless0(of(&f.Counts))
		}}
	}
	cols := []col[*origin.File]{
		{Name: "file", Unit: table.Path, Value: func(f *origin.File) any { return f.File }, Flex: true},
		count("exact", func(n *origin.Counts) int { return n.Exact }),
		count("edited", func(n *origin.Counts) int { return n.Edited }),
		count("likely", func(n *origin.Counts) int { return n.Likely }),
		count("unknown", func(n *origin.Counts) int { return n.Unknown }),
	}
	if r.Of == "session" {
		cols[len(cols)-1] = count("gone", func(n *origin.Counts) int { return n.Gone })
	}
	return table.Of(r.Files, cols)
}

// countText lists the numbers of lines of each certainty.
func countText(n origin.Counts) string {
	text := fmt.Sprintf("%s, %d exact, %d edited, %d likely", phrase.Count(n.Known()+n.Unknown+n.Gone, "line"), n.Exact,
		n.Edited, n.Likely)
	return text + phrase.If(n.Unknown > 0 || n.Gone == 0, ", %d unknown", n.Unknown) +
		phrase.If(n.Gone > 0, ", %d gone", n.Gone)
}

// day returns a time to the minute.
func day(time string) string {
	return strings.Replace(time[:min(len(time), len("2006-01-02T15:04"))], "T", " ", 1)
}

// known is the number of lines in a table.
func known(c origin.Counts) any { return c.Known() }

func callSheet(calls []origin.Call, sessions []origin.Session) table.Sheet {
	index := 0
	rows := func(yield func(*originCall) bool) {
		for index = range calls {
			c := &calls[index]
			again := index > 0 && calls[index-1].Prompt == c.Prompt && calls[index-1].Session == c.Session
			if !yield(&originCall{c, &sessions[c.Session], index + 1, again}) {
				return
			}
		}
	}
	return table.Sheet{Title: "Calls", Table: table.Stream(iter.Seq[*originCall](rows), []col[*originCall]{
		{Name: "call", Value: func(c *originCall) any { return fmt.Sprintf("[%d]", c.number) }},
		{Name: "session", Unit: table.Ref, Value: func(c *originCall) any { return c.session.Ref }},
		{Name: "request", Value: func(c *originCall) any {
			return table.If(c.Request >= 0, fmt.Sprintf("#%d", c.Request))
		}},
		{Name: "written", Yields: 1, Value: func(c *originCall) any { return day(c.Time) }},
		{Name: "tool", Yields: 2, Value: func(c *originCall) any { return c.Tool }},
		{Name: "lines", Unit: table.Number, Value: func(c *originCall) any { return known(c.Counts) }},
		{Name: "cost", Unit: table.Dollars, Value: func(c *originCall) any {
			if c.Cost == nil {
				return nil
			}
			return table.Money{Dollars: *c.Cost, Decimals: 3}
		}},
		{Name: "prompt", Flex: true, Value: func(c *originCall) any { return table.If(!c.again, c.Prompt) }},
	})}
}

// An originCall is a call of a table.
type originCall struct {
	*origin.Call
	session *origin.Session
	number  int
	again   bool // the prompt is that of the call before
}

func sessionSheet(sessions []origin.Session) table.Sheet {
	return table.Sheet{Title: "Sessions", Table: table.Of(sessions, []col[*origin.Session]{
		{Name: "session", Unit: table.Ref, Value: func(s *origin.Session) any { return s.Ref }},
		{Name: "agent", Yields: 1, Value: func(s *origin.Session) any { return s.Agent }},
		{Name: "calls", Unit: table.Number, Value: func(s *origin.Session) any { return s.Calls }},
		{Name: "lines", Unit: table.Number, Value: func(s *origin.Session) any { return known(s.Counts) }},
		{Name: "cost", Unit: table.Dollars, Value: func(s *origin.Session) any {
			return table.Money{Dollars: s.Cost, Decimals: 3}
		}},
		{Name: "title", Flex: true, Value: func(s *origin.Session) any { return s.Title }},
	})}
}
