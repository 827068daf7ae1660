package show

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/lens/state"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
	"ctxtool/stats/table"
)

// Sessions are the rows of a list of sessions.
type Sessions struct {
	Rows []*stats.Summary
	Of   int        // sessions that the list would have without a limit
	Only stats.Only // the selection
}

// sessionSheets returns a table of sessions, with their total.
func sessionSheets(s Sessions) []table.Sheet {
	var read []*stats.Summary
	var broken, stores []string
	var cost, copied float64
	some := false // of it is computed
	var unpriced int64
	agents, without, unread := map[string]bool{}, false, 0
	for _, r := range s.Rows {
		if r.Store != nil {
			stores = append(stores, "  "+r.Store.Agent+
				phrase.If(r.Store.Sessions > 0, ", %s", phrase.Count(r.Store.Sessions, "session"))+
				fmt.Sprintf(": %s (%s)", sessionfmt.Clean(r.File), r.Store.Hint))
			continue
		}
		if r.Error != "" {
			broken = append(broken, r.File+": "+r.Error)
			continue
		}
		read, agents[r.Agent] = append(read, r), true
		without, unread = without || r.NoSubAgents, unread+r.Unread
		cost, copied, some = cost+r.Cost-r.Copied, copied+r.Copied, some || r.Recorded < r.Cost
		unpriced += r.Unpriced
	}
	t := table.Sheet{Table: table.Stream(slices.Values(read), sessionColumns)}
	if len(agents) < 2 {
		t.Table = t.Without("agent")
	}
	if len(read) > 0 {
		t.Notes = []string{""}
	}
	t.Notes = append(t.Notes, phrase.If(s.Of > len(s.Rows)-len(stores), "%d of ", len(s.Rows)-len(stores))+
		phrase.Count(max(s.Of, len(s.Rows)-len(stores))-len(broken), "session")+", "+
		spent(cost, some, unpriced)+lacking(without, unread)+within(s.Only))
	if copied > 0 {
		note := fmt.Sprintf("* calls that another session also has, %s, are counted once", spent(copied, some, 0))
		t.Notes = append(t.Notes, note)
	}
	all := appendBroken([]table.Sheet{t}, "read", broken)
	if len(stores) > 0 {
		all = append(all, table.Sheet{Above: append([]string{"not read:"}, stores...)})
	}
	return all
}

// lacking says which sub-agents are not in a cost, after it.
func lacking(without bool, unread int) string {
	return phrase.If(without, " without sub-agents") +
		phrase.If(unread > 0, " without %s that cannot be read", phrase.Count(unread, "sub-agent"))
}

// appendBroken appends which sessions cannot be done something with, such as read, and why.
func appendBroken(all []table.Sheet, done string, sessions []string) []table.Sheet {
	if len(sessions) == 0 {
		return all
	}
	lines := []string{fmt.Sprintf("%d cannot be %s:", len(sessions), done)}
	for _, s := range sessions {
		lines = append(lines, "  "+s)
	}
	return append(all, table.Sheet{Above: lines})
}

var sessionColumns = []col[*stats.Summary]{
	{Name: "time", Style: always(faint), Value: func(r *stats.Summary) any {
		return phrase.If(len(r.Time) >= 16, "%s", dayAndMinute(r.Time))
	}},
	{Name: "agent", Value: func(r *stats.Summary) any { return r.Agent }},
	{Name: "project", Value: func(r *stats.Summary) any { return base(r.CWD) }, Yields: 1},
	{Name: "title", Flex: true, Value: func(r *stats.Summary) any {
		found := phrase.If(r.Found != "", " (%ss)", r.Found)
		found += phrase.If(r.Owner != "", " (sub-agent of %s)", r.Owner[:min(len(r.Owner), shortID)])
		found += phrase.If(r.Continued != "", " (goes on in %s)", r.Continued[:min(len(r.Continued), 8)])
		return strings.TrimSpace(sessionfmt.Clean(cmp.Or(r.Name, r.First) + found))
	}},
	{Name: "model", Value: func(r *stats.Summary) any { return fit(base(r.Model), 24) }, Yields: 2,
		Style: always(faint)},
	{Name: "entries", Unit: table.Number, Value: func(r *stats.Summary) any { return r.Entries }, Yields: 3},
	{Name: "context use", Unit: table.Share, Value: func(r *stats.Summary) any { return contextUse(r) },
		Style: overStyle},
	{Name: "cost", Unit: table.Dollars, Value: func(r *stats.Summary) any {
		return spent(r.Cost, r.Recorded < r.Cost, r.Unpriced) + phrase.If(r.Copied > 0, "*")
	}},
	{Name: "size", Unit: table.Size, Value: func(r *stats.Summary) any { return r.Size }, Yields: 4},
	{Name: "id", Unit: table.Ref,
		Value: func(r *stats.Summary) any { return cmp.Or(r.Ref, r.ID[:min(len(r.ID), shortID)]) },
		Style: always(faint)},
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
		add(s.Context > 0, phrase.If(s.Estimated, "~")+
			fmt.Sprintf("%.0f%% of %s", 100*float64(s.Context)/float64(s.Window), phrase.Short(s.Window)))
	} else {
		add(s.Context > 0, phrase.If(s.Estimated, "~")+phrase.Short(s.Context)+" tokens")
	}
	if s.Cost != nil {
		add(true, spent(*s.Cost, s.Recorded != nil && *s.Recorded < *s.Cost, 0)+lacking(s.NoSubAgents, s.Unread))
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
