package render

import (
	"bufio"
	"cmp"
	"fmt"
	"strings"

	"ctxtool/internal/phrase"
	"ctxtool/internal/search"
	"ctxtool/sessionfmt"
)

// writeTask writes what is known about a task: files, then sessions with what was tried.
func writeTask(w *bufio.Writer, t *search.Task, on Screen) {
	put(w, on.paint(faint, fmt.Sprintf("%s; %s; ~%d tokens", phrase.Count(len(t.Files), "file"), phrase.Count(len(t.Sessions), "session"), t.Tokens)+
		phrase.If(t.Left > 0, "; no room for %s", phrase.Count(t.Left, "item"))), on)
	if len(t.Files) > 0 {
		w.WriteByte('\n')
	}
	for _, f := range t.Files {
		why := strings.Join(f.Terms, ", ")
		if f.Why == "direct_mention" {
			why = "named"
		}
		put(w, fmt.Sprintf("%7s  %s  %s", "~"+number(int64(f.Tokens)), on.paint(heading, sessionfmt.Clean(f.Path)), on.paint(faint, sessionfmt.Clean(why))), on)
	}
	for _, s := range t.Sessions {
		w.WriteByte('\n')
		put(w, fmt.Sprintf("%7s  %s  %s", "~"+number(int64(s.Tokens)), on.paint(faint, dayAndMinute(s.Time)), on.paint(heading, cmp.Or(sessionfmt.Clean(s.Title), "(untitled)"))), on)
		if s.Goal != nil && s.Goal.Text != s.Title {
			put(w, fmt.Sprintf("         asked: %s", sessionfmt.Clean(s.Goal.Text)), on)
		}
		for _, e := range s.Edits {
			put(w, fmt.Sprintf("         edited %s %s: %s", sessionfmt.Clean(e.Path), times(e.Times), sessionfmt.Clean(e.Asked)), on)
		}
		for _, c := range s.Tried {
			put(w, fmt.Sprintf("         %s %s: %s", on.paint(failure, "failed"), sessionfmt.Clean(c.Command), sessionfmt.Clean(c.Error)), on)
		}
		show := fmt.Sprintf("         ctxtool show %s %s", shellWord(s.Ref), shellWord(cmp.Or(entryID(s.Begins()), "leaf")))
		fmt.Fprintln(w, on.paint(faint, show))
	}
}

// writeTaskMarkdown writes the same for a prompt.
func writeTaskMarkdown(w *bufio.Writer, t *search.Task, _ Screen) {
	fmt.Fprintf(w, "# Known about: %s\n", inline(t.Task))
	if len(t.Files) > 0 {
		w.WriteString("\n## Files\n\n")
	}
	for _, f := range t.Files {
		fmt.Fprintf(w, "- %s (%s: %s; ~%d tokens)\n", literal(f.Path), f.Why, inline(strings.Join(f.Terms, ", ")), f.Tokens)
	}
	if len(t.Sessions) > 0 {
		w.WriteString("\n## Earlier sessions\n")
	}
	for _, s := range t.Sessions {
		fmt.Fprintf(w, "\n### %s (%s)\n\n", inline(cmp.Or(s.Title, "(untitled)")), inline(dayAndMinute(s.Time)))
		if s.Goal != nil && s.Goal.Text != s.Title {
			fmt.Fprintf(w, "- asked: %s\n", inline(s.Goal.Text))
		}
		for _, e := range s.Edits {
			fmt.Fprintf(w, "- edited %s %s, asked: %s\n", literal(e.Path), times(e.Times), inline(e.Asked))
		}
		for _, c := range s.Tried {
			fmt.Fprintf(w, "- failed: %s: %s\n", literal(c.Command), inline(c.Error))
		}
	}
}
