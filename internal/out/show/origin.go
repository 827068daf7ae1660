package show

import (
	"fmt"
	"iter"
	"slices"
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
func originRows(f *origin.File) iter.Seq[*originRow] {
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

// originSheets returns the lines of a file beside the calls that wrote them, then these calls and their sessions.
func originSheets(f *origin.File) []table.Sheet {
	called := func(row *originRow, cell func(c *origin.Call) any) any {
		if !row.first || row.call == 0 {
			return nil
		}
		return cell(&f.Calls[row.call-1])
	}
	lines := table.Stream(originRows(f), []col[*originRow]{
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
	head := f.File + ": " + countText(f.Counts)
	sheets := []table.Sheet{{Table: lines, Above: []string{head}, Notes: notedBy(f)}}
	if len(f.Calls) > 0 {
		sheets = append(sheets, callSheet(f.Calls, f.Sessions), sessionSheet(f.Sessions))
	}
	return sheets
}

// countText says how many lines there are of each certainty.
func countText(n origin.Counts) string {
	return fmt.Sprintf("%s, %d exact, %d edited, %d likely, %d unknown", phrase.Count(n.Known()+n.Unknown, "line"),
		n.Exact, n.Edited, n.Likely, n.Unknown)
}

// day is a time to the minute.
func day(time string) string {
	return strings.Replace(time[:min(len(time), len("2006-01-02T15:04"))], "T", " ", 1)
}

// notedBy returns what other programs noted about lines, and where they name another session.
func notedBy(f *origin.File) (notes []string) {
	count := map[[2]string]int{}
	for _, l := range f.Lines {
		for _, n := range l.Notes {
			count[[2]string{n.By, n.Verdict}]++
		}
	}
	for k, n := range count {
		notes = append(notes, fmt.Sprintf("%s %s for %s", k[0], k[1], phrase.Count(n, "line")))
	}
	slices.Sort(notes)
	return notes
}

// known is the number of lines in a table.
func known(c origin.Counts) any { return c.Known() }

func callSheet(calls []origin.Call, sessions []origin.Session) table.Sheet {
	index := 0
	rows := func(yield func(*originCall) bool) {
		for index = range calls {
			c := &calls[index]
			if !yield(&originCall{c, &sessions[c.Session], index + 1}) {
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
		{Name: "prompt", Flex: true, Value: func(c *originCall) any { return c.Prompt }},
	})}
}

// An originCall is a call of a table.
type originCall struct {
	*origin.Call
	session *origin.Session
	number  int
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

// changeSheets sum up a commit by file and session.
func changeSheets(c *origin.Change) []table.Sheet {
	n, last := c.Counts, c.Commits[len(c.Commits)-1]
	head := []string{fmt.Sprintf("%s %s (%s, %s)%s", last.ID[:10], last.Subject, last.Author, day(last.Time),
		phrase.If(len(c.Commits) > 1, ", with %d commits", len(c.Commits))), countText(n)}
	count := func(name string, of func(n *origin.Counts) int) col[*origin.FileSum] {
		return col[*origin.FileSum]{Name: name, Unit: table.Number, Value: func(f *origin.FileSum) any {
			return table.Unless0(of(&f.Counts))
		}}
	}
	var notes []string
	for _, n := range c.Notes {
		notes = append(notes, fmt.Sprintf("%s %s for %s", n.By, n.Verdict, phrase.Count(n.Lines, "line")))
	}
	files := table.Sheet{Above: head, Notes: notes, Table: table.Of(c.Files, []col[*origin.FileSum]{
		{Name: "file", Unit: table.Path, Value: func(f *origin.FileSum) any { return f.File }, Flex: true},
		count("exact", func(n *origin.Counts) int { return n.Exact }),
		count("edited", func(n *origin.Counts) int { return n.Edited }),
		count("likely", func(n *origin.Counts) int { return n.Likely }),
		count("unknown", func(n *origin.Counts) int { return n.Unknown }),
	})}
	if len(c.Calls) == 0 {
		return []table.Sheet{files}
	}
	return []table.Sheet{files, sessionSheet(c.Sessions), callSheet(c.Calls, c.Sessions)}
}

// remainsSheets list what still stands of what a session wrote.
func remainsSheets(r *origin.Remains) []table.Sheet {
	count := func(name string, of func(l *origin.Left) int) col[*origin.FileLeft] {
		return col[*origin.FileLeft]{Name: name, Unit: table.Number, Value: func(f *origin.FileLeft) any {
			return table.Unless0(of(&f.Left))
		}}
	}
	return []table.Sheet{{
		Above: []string{fmt.Sprintf("session %s wrote %s: %d still stand, %d were edited, %d are gone", r.Session,
			phrase.Count(r.Wrote, "line"), r.Stands, r.Edited, r.Gone)},
		Table: table.Of(r.Files, []col[*origin.FileLeft]{
			{Name: "file", Unit: table.Path, Value: func(f *origin.FileLeft) any { return f.File }, Flex: true},
			count("wrote", func(l *origin.Left) int { return l.Wrote }),
			count("stands", func(l *origin.Left) int { return l.Stands }),
			count("edited", func(l *origin.Left) int { return l.Edited }),
			count("gone", func(l *origin.Left) int { return l.Gone }),
		}),
	}}
}
