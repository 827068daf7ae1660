package show

import (
	"bufio"
	"cmp"
	"fmt"
	"strings"

	"ctxtool/internal/lens/search"
	"ctxtool/internal/read/phrase"
)

// writeTask writes what is known about a task: files, then sessions with what was tried.
func writeTask(w *bufio.Writer, t *search.Task, on Screen) {
	p := proseOn(w, on)
	p.put(p.paint(faint, fmt.Sprintf("%s; %s; ~%d tokens%s", phrase.Count(len(t.Files), "file"),
		phrase.Count(len(t.Sessions), "session"), t.Tokens,
		phrase.If(t.Left > 0, "; no room for %s", phrase.Count(t.Left, "item")))))
	if len(t.Files) > 0 {
		p.line("")
	}
	about := func(tokens int) string { return fmt.Sprintf("%7s  ", fmt.Sprintf("~%d", tokens)) }
	for _, f := range t.Files {
		why := strings.Join(f.Terms, ", ")
		if f.Why == "direct_mention" {
			why = "named"
		}
		p.put(about(f.Tokens), p.paint(heading, f.Path), "  ", p.paint(faint, why))
	}
	const below = "         "
	for k := range t.Sessions {
		s := &t.Sessions[k]
		p.line("")
		p.put(about(s.Tokens), p.paint(faint, dayAndMinute(s.Time)), "  ",
			p.paint(heading, cmp.Or(s.Title, "(untitled)")))
		if goal := otherGoal(s); goal != "" {
			p.put(below, "asked: ", goal)
		}
		for _, e := range s.Edits {
			p.put(below, "edited ", e.Path, " ", times(e.Times), ": ", e.Asked)
		}
		for _, tried := range s.Tried {
			p.put(below, p.paint(failure, "failed"), " ", tried.Command, ": ", tried.Error)
		}
		p.line("%v", p.paint(faint, below+"ctxtool show "+shellWord(s.Ref)+" "+
			shellWord(cmp.Or(entryID(s.Begins()), "leaf"))))
	}
}

// otherGoal returns the goal of a session that its title does not tell.
func otherGoal(s *search.TaskSession) string {
	if s.Goal == nil || s.Goal.Text == s.Title {
		return ""
	}
	return s.Goal.Text
}

// writeTaskMarkdown writes the same for a prompt.
func writeTaskMarkdown(w *bufio.Writer, t *search.Task, _ Screen) {
	p := markdownProse(w)
	p.line("# Known about: %v", t.Task)
	if len(t.Files) > 0 {
		p.line("\n## Files\n")
	}
	for _, f := range t.Files {
		p.line("- %v (%v: %v; ~%v tokens)", p.code(f.Path), f.Why, strings.Join(f.Terms, ", "), f.Tokens)
	}
	if len(t.Sessions) > 0 {
		p.line("\n## Earlier sessions")
	}
	for k := range t.Sessions {
		s := &t.Sessions[k]
		p.line("\n### %v (%v)\n", cmp.Or(s.Title, "(untitled)"), dayAndMinute(s.Time))
		if goal := otherGoal(s); goal != "" {
			p.line("- asked: %v", goal)
		}
		for _, e := range s.Edits {
			p.line("- edited %v %v, asked: %v", p.code(e.Path), times(e.Times), e.Asked)
		}
		for _, tried := range s.Tried {
			p.line("- failed: %v: %v", p.code(tried.Command), tried.Error)
		}
	}
}
