package render

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/phrase"
	"ctxtool/internal/state"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// Sessions are the rows of a list of sessions.
type Sessions struct {
	Rows []*stats.Summary
	Of   int        // sessions that the list would have without a limit
	Only stats.Only // the selection
}

// atAgent is the place of the column that only a list of several agents has.
const atAgent = 1

// writeSessions writes rows as a table, and their total.
func writeSessions(w *bufio.Writer, s Sessions, on Screen) {
	columns := []Column{
		{Name: "time", style: always(faint)}, {Name: "project", Yields: 1}, {Name: "title", Flex: true}, {Name: "model", Yields: 2, style: always(faint)},
		{Name: "entries", Right: true, Yields: 3}, {Name: "context use", Right: true, style: overStyle}, {Name: "cost", Right: true},
		{Name: "size", Right: true, Yields: 4}, {Name: "id", style: always(faint)},
	}
	agents := map[string]bool{"": true} // of what could not be read
	for _, r := range s.Rows {
		agents[r.Agent] = true
	}
	several := len(agents) > 2
	if several {
		columns = slices.Insert(columns, atAgent, Column{Name: "agent"})
	}
	var cells [][]string
	var broken []string
	var cost, copied float64
	some := false // of it is computed
	var unpriced int64
	for _, r := range s.Rows {
		if r.Error != "" {
			broken = append(broken, sessionfmt.Clean(r.File)+": "+sessionfmt.Clean(r.Error))
			continue
		}
		row := sessionCells(r)
		if several {
			row = slices.Insert(row, atAgent, r.Agent)
		}
		cells = append(cells, row)
		cost, copied, some = cost+r.Cost-r.Copied, copied+r.Copied, some || r.Recorded < r.Cost
		unpriced += r.Unpriced
	}
	if len(cells) > 0 {
		WriteTable(w, columns, cells, on)
		w.WriteByte('\n')
	}
	if s.Of > len(s.Rows) {
		fmt.Fprintf(w, "%d of ", len(s.Rows))
	}
	fmt.Fprintf(w, "%s, %s%s\n", phrase.Count(max(s.Of, len(s.Rows))-len(broken), "session"), spent(cost, some, unpriced), within(s.Only))
	if copied > 0 {
		fmt.Fprintf(w, "* calls that another session also has, %s, are counted once\n", spent(copied, some, 0))
	}
	writeBroken(w, "read", broken)
}

// writeBroken writes which sessions cannot be done something with, such as read, and why.
func writeBroken(w *bufio.Writer, done string, sessions []string) {
	if len(sessions) > 0 {
		fmt.Fprintf(w, "\n%d cannot be %s:\n", len(sessions), done)
	}
	for _, s := range sessions {
		fmt.Fprintf(w, "  %s\n", s)
	}
}

func sessionCells(r *stats.Summary) []string {
	title := strings.TrimSpace(sessionfmt.Clean(cmp.Or(r.Name, r.First)) + phrase.If(r.Findings > 0, " (%s)", phrase.Count(r.Findings, "finding")))
	when := ""
	if len(r.Time) >= 16 {
		when = r.Time[:10] + " " + r.Time[11:16]
	}
	return []string{
		sessionfmt.Clean(when), base(r.Project), title, fit(base(r.Model), 24), fmt.Sprint(r.Entries), contextUse(r),
		spent(r.Cost, r.Recorded < r.Cost, r.Unpriced) + phrase.If(r.Copied > 0, "*"), megabytes(r.Size), sessionfmt.Quote(r.ID[:min(len(r.ID), 13)]),
	}
}

// spent is a cost, marked where some of it is computed. Some of the calls may have no known price.
func spent(cost float64, computed bool, unpriced int64) string {
	return phrase.If(computed, "~") + money(cost, 2, unpriced)
}

// writeStatus writes a status in one line: what is known of it.
func writeStatus(w *bufio.Writer, s *state.Status, _ Screen) {
	var parts []string
	add := func(known bool, part string) {
		if known {
			parts = append(parts, sessionfmt.Clean(part))
		}
	}
	add(s.Model != "", base(s.Model))
	if s.Window > 0 {
		add(s.Context > 0, phrase.If(s.Estimated, "~")+fmt.Sprintf("%.0f%% of %s", 100*float64(s.Context)/float64(s.Window), phrase.Short(s.Window)))
	} else {
		add(s.Context > 0, phrase.If(s.Estimated, "~")+phrase.Short(s.Context)+" tokens")
	}
	if s.Cost != nil {
		add(true, spent(*s.Cost, s.Recorded != nil && *s.Recorded < *s.Cost, 0))
	}
	if s.Warm != nil {
		add(*s.Warm > 0, fmt.Sprintf("cache warm for %dm%02ds", *s.Warm/60, *s.Warm%60))
		add(*s.Warm == 0, "cache cold")
	}
	add(s.Finding != "", s.Finding)
	add(s.Unrecorded, "no usage recorded")
	fmt.Fprintln(w, cmp.Or(strings.Join(parts, " · "), "no answer yet"))
}

// contextUse returns the share of the window in use, marked if it exceeds the window, and the
// tokens.
func contextUse(r *stats.Summary) string {
	share := ""
	if r.Window > 0 {
		share = fmt.Sprintf("%.0f%%", 100*float64(r.Context)/float64(r.Window))
		if int64(r.Context) > r.Window {
			share += "!"
		}
	}
	return share + fmt.Sprintf(" %7s", phrase.If(r.Estimated, "~")+phrase.Short(int64(r.Context)))
}

// overStyle returns the style of a context use: over the window is a failure.
func overStyle(use string) style {
	if strings.Contains(use, "!") {
		return failure
	}
	return ""
}

// within returns the period of the costs in words, or "" for all time.
func within(only stats.Only) string {
	at := func(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04") }
	switch {
	case only.Since == 0 && only.Until == 0:
		return ""
	case only.Until == 0:
		return " since " + at(only.Since) + " UTC"
	case only.Since == 0:
		return " until " + at(only.Until) + " UTC"
	}
	return " from " + at(only.Since) + " to " + at(only.Until) + " UTC"
}
