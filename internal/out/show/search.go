package show

import (
	"bufio"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"ctxtool/internal/base/markdown"
	"ctxtool/internal/lens/search"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
)

// Found is what a search found, and how much of it is printed.
type Found struct {
	*search.Results
	Source string // the one that was asked for, empty for all
	Limit  int    // sessions, and events; 0 for all
	Phrase bool   // the query has several words, each of which was searched for
}

// hitsEach is how many hits of a session text and Markdown have, as gsh.
const hitsEach = 3

// events returns the events that are printed.
func (f *Found) events() []search.Hit {
	if f.Limit > 0 && len(f.Events) > f.Limit {
		return f.Events[:f.Limit]
	}
	return f.Events
}

// writeFoundLines writes a line for each hit, session by session.
func writeFoundLines(w *bufio.Writer, f Found) error {
	for s, err := range f.Read(f.Limit, 0) {
		if err != nil {
			return err
		}
		if err := writeLines(w, s.Hits); err != nil {
			return err
		}
	}
	return writeLines(w, f.events())
}

// writeFound writes sessions with their best hits and the command that shows the first one,
// then commands and events.
func writeFound(w *bufio.Writer, f Found, on Screen) error {
	shown := 0
	for s, err := range f.Read(f.Limit, hitsEach) {
		if err != nil {
			return err
		}
		if len(s.Hits) == 0 {
			continue
		}
		if shown++; shown > 1 {
			w.WriteByte('\n')
		}
		writeFoundSession(w, s, on)
	}
	events := f.events()
	if shown > 0 && len(events) > 0 {
		w.WriteByte('\n')
	}
	for i := range events {
		writeFoundEvent(w, &events[i], on)
	}
	if shown+len(events) > 0 {
		w.WriteByte('\n')
		put(w, on.paint(faint, f.sum(shown, len(events))), on)
	}
	return nil
}

// sum describes the results in one line.
func (f *Found) sum(sessions, events int) string {
	var parts []string
	if f.Found > 0 {
		of := phrase.If(sessions < len(f.Sessions), "%d of ", sessions)
		parts = append(parts, fmt.Sprintf("%s in %s%s", phrase.Count(f.Found, "hit"), of,
			phrase.Count(len(f.Sessions), "session")))
	}
	if f.Happened > 0 {
		parts = append(parts, phrase.If(events < f.Happened, "%d of ", events)+phrase.Count(f.Happened, "event"))
	}
	if f.Copies > 0 {
		parts = append(parts, phrase.Count(f.Copies, "copy")+" not listed")
	}
	if f.Phrase {
		parts = append(parts, "searched as words; -F TEXT finds a phrase")
	}
	return strings.Join(parts, "; ")
}

// writeFoundSession writes a session: when it ended, its title and folder, then its hits.
func writeFoundSession(w *bufio.Writer, s *search.Session, on Screen) {
	when := dayAndMinute(s.Time)
	title := cmp.Or(sessionfmt.Clean(strings.TrimSpace(s.Title())), "(untitled)")
	folder := phrase.If(s.CWD != "", "  %s", base(s.CWD))
	room := lineWidth(on.Width) - measure.String(when) - measure.String(folder) - 2
	fmt.Fprintf(w, "%s  %s%s\n", on.paint(faint, when), on.paint(heading, fit(title, max(room, minFlex))),
		on.paint(faint, folder))
	for i := range s.Hits {
		writeHit(w, &s.Hits[i], on)
	}
	more := phrase.If(s.More > 0, "%d more; ", s.More)
	show := fmt.Sprintf("  %sctxtool show %s %s", more, shellWord(s.File.Ref), shellWord(entryID(s.Hits[0].ID)))
	fmt.Fprintln(w, on.paint(faint, show)) // to paste, so it is not cut
}

// shellWord returns a word as a shell reads it. It expands ~/, which begins names in the user's
// folder, only outside quotes.
func shellWord(word string) string {
	word = sessionfmt.Clean(word)
	if below, ok := strings.CutPrefix(word, "~/"); ok && below != "" {
		return "~/" + shellWord(below)
	}
	if strings.ContainsAny(word, " '\"$&|;<>()*?[]#~`\\!") || word == "" {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// writeHit writes a hit in a line: id, what its text is, and the words around the match.
func writeHit(w *bufio.Writer, h *search.Hit, on Screen) {
	what := string(h.Where) + phrase.If(h.Tool != "", " %s", h.Tool)
	head := fmt.Sprintf("  %-8s  %-13s  ", orDash(entryID(h.ID)), fit(sessionfmt.Clean(what), 13))
	tail := phrase.If(h.Copies > 0, "  +%d", h.Copies)
	room := max(lineWidth(on.Width)-measure.String(head)-measure.String(tail), 2*minFlex)
	before, match, after := around(h, room)
	w.WriteString(on.paint(kindStyle(h.Kind), head))
	w.WriteString(before + on.paint(warning, match) + after + on.paint(faint, tail) + "\n")
}

// around returns the words around a match, cut to a width, with the match in them.
func around(h *search.Hit, width int) (before, match, after string) {
	words := func(s string) string {
		out := strings.Join(strings.Fields(s), " ")
		if out != "" && strings.TrimLeft(s, " ") != s {
			out = " " + out
		}
		if strings.TrimRight(s, " ") != s {
			out += " "
		}
		return sessionfmt.Clean(out)
	}
	before, match, after = words(h.Text[:h.From]), words(h.Text[h.From:h.To]), words(h.Text[h.To:])
	before = strings.TrimLeft(before, " ")
	if h.CutBefore {
		before = "…" + strings.TrimLeft(strings.TrimPrefix(before, "..."), " ")
	}
	if h.CutAfter {
		after = strings.TrimRight(strings.TrimSuffix(after, "..."), " ") + "…"
	}
	match = fit(match, width)
	left := max(0, width-measure.String(match))
	if need := measure.String(before); need+measure.String(after) > left && need > left/3 {
		keep := max(left/3, left-measure.String(after))
		for measure.String(before) > max(0, keep-1) {
			_, n := utf8.DecodeRuneInString(before)
			before = before[n:]
		}
		before = "…" + before
	}
	return before, match, fit(after, left-measure.String(before))
}

// writeFoundEvent writes a command or an event of a log in a line; of a command the words around
// the match, the folder, and how it failed.
func writeFoundEvent(w *bufio.Writer, h *search.Hit, on Screen) {
	if h.Event.Event == "command" {
		folder, failed := phrase.If(h.CWD != "", "  %s", base(h.CWD)),
			phrase.If(h.Event.Failed, "  %s", exited(h.Event))
		head := dayAndMinute(h.Time) + "  $ "
		before, match, after := around(h, max(lineWidth(on.Width)-measure.String(head+folder+failed), 2*minFlex))
		w.WriteString(on.paint(faint, head) + before + on.paint(warning, match) + after + on.paint(faint, folder) +
			on.paint(failure, failed) + "\n")
		return
	}
	spaced := func(s string) string { return sessionfmt.Clean(strings.ReplaceAll(s, "\t", " ")) }
	put(w, on.paint(faint, dayAndMinute(h.Time))+"  "+spaced(eventLine(h.Event)), on)
	if out := cmp.Or(h.Event.Stderr, h.Event.Stdout); h.Event.Event == "bash_exec" && out != "" {
		put(w, "                  "+spaced(out), on)
	}
}

// dayAndMinute returns a time to the minute, in 16 columns.
func dayAndMinute(stamp string) string {
	if len(stamp) < 16 {
		return fmt.Sprintf("%-16s", sessionfmt.Clean(stamp))
	}
	return sessionfmt.Clean(stamp[:10] + " " + stamp[11:16])
}

// eventLine returns an event in words, as gsh prints it.
func eventLine(e *search.Event) string {
	switch e.Event {
	case "command":
		return fmt.Sprintf("$ %s (in %s) → %s", e.Line(), e.CWD, exited(e))
	case "cd":
		return fmt.Sprintf("cd %s → %s", e.CWD, e.To)
	case "bash_exec":
		state := "OK"
		if e.Exit == nil || *e.Exit != 0 {
			state = exited(e)
		}
		return fmt.Sprintf("bash: `%s` -> %s", e.Command, state) + durationOf(e)
	case "tool_call":
		return fmt.Sprintf("tool_call: %s %s", e.Tool, e.Input)
	case "tool_result":
		return fmt.Sprintf("tool_result: %s [%s] %s", e.Tool,
			map[bool]string{false: "OK", true: "FAIL"}[e.Failed], e.Output)
	}
	return e.Event + ": " + e.Text
}

func durationOf(e *search.Event) string {
	if e.Duration == nil {
		return ""
	}
	return fmt.Sprintf(" (%dms)", *e.Duration)
}

// exited returns in words how a command ended.
func exited(e *search.Event) string {
	switch {
	case e.Exit != nil:
		return "exit " + strconv.Itoa(*e.Exit)
	case e.Failed:
		return "failed"
	}
	return "exit ?"
}

// legible returns a text without control characters, except for tabs, which are part of what an
// agent asks for.
func legible(s string) string {
	parts := strings.Split(s, "\t")
	for i, part := range parts {
		parts[i] = sessionfmt.Clean(part)
	}
	return strings.Join(parts, "\t")
}

// literal returns what somebody typed or a program printed, as a code span on one line.
func literal(text string) string { return string(markdown.AppendCode(nil, []byte(text))) }

// writeFoundMarkdown writes the answers of gsh's tool search_context (docs/policies.md), with texts
// of sessions as inert Markdown.
func writeFoundMarkdown(w *bufio.Writer, f Found) error {
	if f.Source == search.InSessions || f.Source == "" && (len(f.Sessions) > 0 || len(f.Events) == 0) {
		if err := writeFoundSessions(w, f); err != nil {
			return err
		}
	}
	var shell, logs []search.Hit
	for _, h := range f.events() {
		if h.Source == search.InHistory {
			shell = append(shell, h)
		} else {
			logs = append(logs, h)
		}
	}
	p := markdownProse(w)
	switch {
	case len(shell) > 0:
		p.line("# Shell History (%v results)\n", len(shell))
		for _, h := range shell {
			p.line("%v (%v)", p.code(eventLine(h.Event)), h.Clock("2006-01-02 15:04"))
		}
	case f.Source == search.InHistory:
		p.line("No matching shell history found.")
	}
	switch {
	case len(logs) > 0:
		p.logs(logs)
	case f.Source == search.InLogs:
		p.line("No matching log events found.")
	}
	return nil
}

// logs writes events of logs.
func (p prose) logs(all []search.Hit) {
	p.line("# Log Search (%v results)\n", len(all))
	for _, h := range all {
		p.line("[%v] %v", h.Clock("2006-01-02 15:04:05"), p.code(eventLine(h.Event)))
		if h.Event.Event != "bash_exec" {
			continue
		}
		p.line("  output: %v", p.code(h.Event.Stdout))
		if h.Event.Stderr != "" {
			p.line("  stderr: %v", p.code(h.Event.Stderr))
		}
		p.line("")
	}
}

// writeFoundSessions writes sessions as gsh does, or without a query a list of them.
func writeFoundSessions(w *bufio.Writer, f Found) error {
	var found []*search.Session
	for s, err := range f.Read(f.Limit, hitsEach) {
		if err != nil {
			return err
		}
		if len(s.Hits) > 0 { // else redaction has removed what matched
			found = append(found, new(*s))
		}
	}
	p := markdownProse(w)
	switch {
	case f.Query != "" && len(found) > 0:
		p.line("# Session Search: \"%v\" (%v results)\n", f.Query, len(found))
	case f.Query != "":
		p.line("No sessions matching \"%v\" found.", f.Query)
	case len(found) > 0:
		p.line("# Recent Sessions (%v total)\n", len(f.Sessions))
	default:
		p.line("No saved sessions found.")
	}
	for _, s := range found {
		title := []rune(cmp.Or(strings.TrimSpace(s.Title()), "(untitled)"))
		named := string(title[:min(len(title), titleLength)])
		if f.Query == "" {
			p.line("- %v (%v) | %v msgs | %v", named, dayAndMinute(s.Time), s.Messages, s.CWD)
			continue
		}
		p.line("## %v (%v)", named, dayAndMinute(s.Time))
		p.line("Session: %v | %v messages | cwd: %v", s.ID[:min(8, len(s.ID))], s.Messages, s.CWD)
		for _, h := range s.Hits {
			if h.Where != search.Name {
				p.line("  > %v", h.Text)
			}
		}
		p.line("")
	}
	return nil
}

// titleLength is how much of a title gsh prints, characters.
const titleLength = 80

// Ambient are the last commands of a shell, the oldest first.
type Ambient struct {
	N        int // that were asked for
	Commands []search.Event
}

// writeAmbient writes gsh's summary for the first message of a conversation; nothing if none
// was asked for.
func writeAmbient(w *bufio.Writer, a Ambient, _ Screen) {
	if a.N == 0 {
		return
	}
	w.WriteString("# Recent Shell Activity\n\n")
	for i := range a.Commands {
		fmt.Fprintln(w, legible(eventLine(&a.Commands[i])))
	}
	if len(a.Commands) == 0 {
		w.WriteString("(No recent shell activity)\n")
	}
	w.WriteString("\nUse the `search_context` tool for more shell history, past sessions, or logs.\n")
}
