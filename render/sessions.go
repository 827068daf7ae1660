package render

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctxtool/internal/base/table"
	"ctxtool/internal/phrase"
	"ctxtool/internal/reuse"
	"ctxtool/internal/state"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
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
	var broken []string
	var cost, copied float64
	some := false // of it is computed
	var unpriced int64
	agents := map[string]bool{}
	for _, r := range s.Rows {
		if r.Error != "" {
			broken = append(broken, r.File+": "+r.Error)
			continue
		}
		read, agents[r.Agent] = append(read, r), true
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
	t.Notes = append(t.Notes, phrase.If(s.Of > len(s.Rows), "%d of ", len(s.Rows))+
		phrase.Count(max(s.Of, len(s.Rows))-len(broken), "session")+", "+spent(cost, some, unpriced)+within(s.Only))
	if copied > 0 {
		note := fmt.Sprintf("* calls that another session also has, %s, are counted once", spent(copied, some, 0))
		t.Notes = append(t.Notes, note)
	}
	return appendBroken([]table.Sheet{t}, "read", broken)
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
		found := phrase.If(r.Findings > 0, " (%s)", phrase.Count(r.Findings, "finding"))
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

// Models are models of the table, schema ctxtool/models/1.
type Models struct {
	Schema string      `json:"schema"`
	Date   string      `json:"date"`   // on which the source of the built-in table was published
	Source string      `json:"source"` // the npm package that the built-in table was taken from
	Models []ModelLine `json:"models"` // in the order of the table
}

// A ModelLine is a model of the table, with the date of the built-in table.
type ModelLine struct {
	models.Model
	Date       string `json:"date"`       // of the built-in table
	Configured bool   `json:"configured"` // the configuration sets some of it, or all
}

// A modelRow is a model of the table, or a tier of its prices.
type modelRow struct {
	name  string
	model models.Model // nothing for a tier
	rates models.Rates
}

var modelColumns = []col[*modelRow]{
	{Name: "model", Unit: table.Path, Value: func(m *modelRow) any { return m.name }, Flex: true},
	{Name: "window", Unit: table.Tokens, Value: func(m *modelRow) any { return table.Unless0(m.model.ContextWindow) }},
	{Name: "output", Unit: table.Tokens, Value: func(m *modelRow) any { return table.Unless0(m.model.MaxTokens) },
		Yields: 3},
	{Name: "$ in", Unit: table.Number, Value: func(m *modelRow) any { return price(m.rates.Input) }},
	{Name: "$ out", Unit: table.Number, Value: func(m *modelRow) any { return price(m.rates.Output) }},
	{Name: "$ read", Unit: table.Number, Value: func(m *modelRow) any { return price(m.rates.CacheRead) }, Yields: 1},
	{Name: "$ write", Unit: table.Number, Value: func(m *modelRow) any { return price(m.rates.CacheWrite) }, Yields: 2},
	{Name: "cached", Unit: table.Number, Value: func(m *modelRow) any { return lifetime(m.model.PromptCache) },
		Yields: 4},
}

// writeModels writes a row for each model, and below it one for each tier of its prices.
func writeModels(w *bufio.Writer, list Models, on Screen) {
	var rows []modelRow
	configured := false
	for _, m := range list.Models {
		configured = configured || m.Configured
		name := m.Provider + "/" + m.ID + phrase.If(m.Configured, " *")
		rows = append(rows, modelRow{name, m.Model, m.Cost.Rates})
		for _, t := range m.Cost.Tiers {
			rows = append(rows, modelRow{fmt.Sprintf("· prompts above %d", t.InputTokensAbove),
				models.Model{}, t.Rates})
		}
	}
	WriteTable(w, table.Of(rows, modelColumns), on)
	fmt.Fprintf(w, "\nWindow and output in tokens, prices in dollars per million tokens.\n")
	fmt.Fprintf(w, "The table is of %s (%s).\n", list.Date, list.Source)
	if configured {
		fmt.Fprintln(w, "* set by the configuration")
	}
}

// price returns a price, or "" for none.
func price(dollars float64) string {
	return phrase.If(dollars != 0, "%s", strconv.FormatFloat(dollars, 'f', -1, 64))
}

// lifetime returns how long a cached prompt lives: by default, and at most.
func lifetime(c models.PromptCache) string {
	var all []string
	for _, seconds := range []int64{c.Short, c.Long} {
		if seconds != 0 {
			all = append(all, duration(seconds))
		}
	}
	return strings.Join(all, "/")
}

// Compactions are those of a path, each with what it dropped that mattered.
type Compactions struct {
	All    []reuse.Compaction
	Limit  int    // rows that text has for a compaction, 0 for all
	Folder string // of the session: paths in text are relative to it
}

// mostRequests is the number of requests listed for one thing.
const mostRequests = 2

func compactionSheets(c Compactions) (all []table.Sheet) {
	if len(c.All) == 0 {
		return []table.Sheet{{Above: []string{"no compactions on the path"}}}
	}
	for i := range c.All {
		one := &c.All[i]
		kind, lost := "compaction ", "not in the summary: "+lostKinds(one.Lost)
		if one.Reset {
			kind, lost = "reset ", "no summary"+phrase.If(len(one.Lost) > 0, "; dropped: %s", lostKinds(one.Lost))
		}
		s := table.Sheet{
			Title: fmt.Sprintf("%s%s, before request %d: %d to %d tokens", kind, entryID(one.Entry), one.Request,
				one.Before, one.After),
			Above: []string{
				fmt.Sprintf("%s dropped, %s used again", phrase.Count(one.Dropped, "message"),
					phrase.Count(len(one.Used), "thing")), lost,
			},
		}
		rows := c.rows(one)
		if more := len(rows) - c.Limit; c.Limit > 0 && more > 0 {
			rows = rows[:c.Limit]
			s.Notes = []string{fmt.Sprintf("and %d more: --limit 0 shows all", more)}
		}
		s.Table = table.Of(rows, droppedColumns)
		all = append(all, s)
	}
	return all
}

// lostKinds counts what the summary does not have, by kind.
func lostKinds(all []reuse.Lost) string {
	var counts []string
	for _, some := range grouped(all, func(l reuse.Lost) string { return l.Kind }) {
		counts = append(counts, phrase.Count(len(some), some[0].Kind))
	}
	return cmp.Or(strings.Join(counts, ", "), "nothing")
}

// A dropped is something that a compaction dropped.
type dropped struct {
	kind, what, entry string
	used              string // by which requests
}

var droppedColumns = []col[*dropped]{
	{Name: "kind", Value: func(d *dropped) any { return d.kind }},
	{Name: "what", Value: func(d *dropped) any { return d.what }, Flex: true},
	{Name: "entry", Unit: table.Entry, Value: func(d *dropped) any { return d.entry }, Style: always(faint)},
	{Name: "used by requests", Value: func(d *dropped) any { return d.used }},
}

// rows returns what a compaction dropped, the most important first: demands, failures, what
// was used again, then other paths and commands.
func (c Compactions) rows(one *reuse.Compaction) (rows []dropped) {
	short := func(what string) string {
		if c.Folder != "" {
			what = strings.ReplaceAll(what, c.Folder+"/", "")
			what = strings.TrimPrefix(what, strings.TrimPrefix(c.Folder, "/")+"/") // as paths are found in texts
		}
		return what
	}
	last := 0 // number of rows before those used again
	for k, l := range one.Lost {
		if l.Kind == "constraint" || l.Kind == "failure" {
			last = k + 1
		}
		if !l.Used {
			rows = append(rows, dropped{l.Kind, short(l.What), l.Entry, ""})
		}
	}
	var used []dropped
	for _, u := range one.Used {
		used = append(used, dropped{string(u.Kind), short(u.What), u.Entry, usedBy(u)})
	}
	return slices.Insert(rows, last, used...)
}

// usedBy returns the first requests whose answers used a thing, and the number of others.
func usedBy(u reuse.Reused) string {
	var all []string
	for _, by := range u.By[:min(mostRequests, len(u.By))] {
		all = append(all, strconv.Itoa(by.Request))
	}
	if more := len(u.By) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}
