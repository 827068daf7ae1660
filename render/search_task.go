package render

import (
	"bufio"
	"cmp"
	"ctxtool/internal/phrase"
	"ctxtool/internal/search"
	"strings"
)

// searchFunctions are those of templates of what was searched.
var searchFunctions = map[string]any{
	"no_room": func(items int) string {
		return phrase.If(items > 0, "; no room for %s",
			phrase.Count(items, "item"))
	},
	"other_goal": func(s search.TaskSession) bool { return s.Goal != nil && s.Goal.Text != s.Title },
	"shell":      shellWord,
	"begins":     func(s search.TaskSession) string { return cmp.Or(entryID(s.Begins()), "leaf") },
	"why": func(f search.TaskFile) string {
		if f.Why == "direct_mention" {
			return "named"
		}
		return strings.Join(f.Terms, ", ")
	},
	"title": func(s search.Session) string {
		title := []rune(cmp.Or(strings.TrimSpace(s.Title()), "(untitled)"))
		return string(title[:min(len(title), titleLength)])
	},
	"short_id": func(id string) string { return id[:min(8, len(id))] },
	"event":    eventLine,
	"clock":    func(h search.Hit, layout string) string { return h.Clock(layout) },
}

// writeTask writes what is known about a task: files, then sessions with what was tried.
func writeTask(w *bufio.Writer, t *search.Task, on Screen) error { return fill(w, "task", t, on) }

// writeTaskMarkdown writes the same for a prompt.
func writeTaskMarkdown(w *bufio.Writer, t *search.Task) error { return fillMarkdown(w, "task.md", t) }
