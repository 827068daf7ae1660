package show

import (
	"bufio"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/stats/table"
)

// Caches are the cache reports of several sessions, and their sum.
type Caches struct {
	All []cache.Total
	Sum *cache.Total
}

func writeCacheLines(w *bufio.Writer, c *cache.Report) error {
	return writeWithTotal(w, c.Rows, map[string]any{"total": c.Total})
}
func writeCachesLines(w *bufio.Writer, c Caches) error {
	return writeWithTotal(w, slices.Values(c.All), map[string]any{"total": c.Sum})
}

// writeWithTotal writes rows, an object a line, and the total as the last line.
func writeWithTotal[T any](w *bufio.Writer, rows iter.Seq[T], total any) error {
	for row := range rows {
		if err := WriteJSON(w, row); err != nil {
			return err
		}
	}
	return WriteJSON(w, total)
}

// cacheTable returns the requests of a session for programs; tokens, and dollars. The row "hidden"
// is the part of the prompt that the file does not have.
func cacheTable(c *cache.Report) table.Table {
	return table.Stream(func(yield func(*cache.Row) bool) {
		if n := c.Total.Hidden; n > 0 && !yield(&cache.Row{Record: -1, Prompt: n}) {
			return
		}
		c.Rows(yield)
	}, cacheColumns)
}

var cacheColumns = slices.Concat([]col[*cache.Row]{
	{Name: "request", Value: func(r *cache.Row) any {
		if r.Record < 0 {
			return "hidden"
		}
		return r.Request
	}},
	{Name: "entry", Value: func(r *cache.Row) any { return r.Entry }},
	{Name: "model", Value: func(r *cache.Row) any { return r.Model }},
	{Name: "prompt", Unit: table.Number, Value: func(r *cache.Row) any { return r.Prompt }},
}, table.Within(func(r *cache.Row) *cache.Shared { return r.Shared }, nil, []col[*cache.Shared]{
	{Name: "shared_messages", Unit: table.Number, Value: func(s *cache.Shared) any { return s.Messages }},
	{Name: "shared_tokens", Unit: table.Number, Value: func(s *cache.Shared) any { return s.Tokens }},
}...), table.Within(broken, nil, []col[*cache.Break]{
	{Name: "break_at", Unit: table.Number, Value: func(b *cache.Break) any { return b.At }},
	{Name: "cause", Value: func(b *cache.Break) any { return b.Cause }},
	{Name: "break_entry", Value: func(b *cache.Break) any { return b.Entry }},
	{Name: "break_op", Unit: table.Number, Value: func(b *cache.Break) any { return b.Op }},
	{Name: "reason", Value: func(b *cache.Break) any { return b.Reason }},
	{Name: "transformer", Value: func(b *cache.Break) any { return b.Transformer }},
}...),
	table.Within(broken, nil, rebilledColumns("again", func(b *cache.Break) *cache.Rebilled { return &b.Rebilled })...),
	table.Within(func(of *cache.Row) *cache.Expected { return of.Expected }, nil, []col[*cache.Expected]{
		{Name: "expected_read", Unit: table.Number, Value: func(x *cache.Expected) any { return x.Read }},
		{Name: "expected_write", Unit: table.Number, Value: func(x *cache.Expected) any { return x.Write }},
	}...), table.Within(func(r *cache.Row) *cache.Usage { return r.Recorded }, nil, []col[*cache.Usage]{
		{Name: "read", Unit: table.Number, Value: func(u *cache.Usage) any { return u.CacheRead }},
		{Name: "write", Unit: table.Number, Value: func(u *cache.Usage) any { return u.CacheWrite }},
		{Name: "write1h", Unit: table.Number, Value: func(u *cache.Usage) any { return u.CacheWrite1h }},
	}...),
	rebilledColumns("rebilled", func(r *cache.Row) *cache.Rebilled { return &r.Rebilled }),
	rebilledColumns("unserved", func(r *cache.Row) *cache.Rebilled { return &r.Unserved }),
	[]col[*cache.Row]{
		{Name: "outlived", Unit: table.Number, Value: func(r *cache.Row) any { return table.Unless0(r.Outlived) }},
		{Name: "endless", Value: func(r *cache.Row) any { return table.If(r.Endless, r.Endless) }},
		{Name: "estimated", Value: func(r *cache.Row) any { return table.If(r.Estimated, r.Estimated) }},
		{Name: "time", Value: func(r *cache.Row) any { return r.Time }},
	}, table.Within(broken, nil, []col[*cache.Break]{
		{Name: "pause", Unit: table.Number, Value: func(b *cache.Break) any { return table.Unless0(b.Pause) }},
		{Name: "lifetime", Unit: table.Number, Value: func(b *cache.Break) any { return table.Unless0(b.Lifetime) }},
	}...),
	table.Within(broken, nil,
		col[*cache.Break]{Name: "sections", Value: func(b *cache.Break) any { return strings.Join(b.Sections, "; ") }}),
)

func broken(r *cache.Row) *cache.Break { return r.Break }

// rebilledColumns returns the columns of what was rebilled, without cells for nothing.
func rebilledColumns[T any](name string, of func(T) *cache.Rebilled) []col[T] {
	return []col[T]{
		{Name: name + "_tokens", Value: func(row T) any { return table.Unless0(of(row).Tokens) }},
		{Name: name + "_cost", Value: func(row T) any { return table.If(of(row).Tokens > 0, moneyOf(*of(row), 4)) }},
	}
}

// cachesTable returns the sums of several sessions for programs.
func cachesTable(c Caches) table.Table {
	amounts := func(name string, of func(*cache.Total) cache.Rebilled) []col[*cache.Total] {
		return []col[*cache.Total]{
			{Name: name + "_tokens", Value: func(t *cache.Total) any { return of(t).Tokens }},
			{Name: name + "_cost", Value: func(t *cache.Total) any { return moneyOf(of(t), 4) }},
		}
	}
	recorded := func(t *cache.Total) *cache.Usage {
		if t.Answered == 0 {
			return nil
		}
		return &t.Recorded
	}
	return table.Of(c.All, slices.Concat(
		[]col[*cache.Total]{
			{Name: "file", Value: func(t *cache.Total) any { return t.File }},
			{Name: "requests", Unit: table.Number, Value: func(t *cache.Total) any { return t.Requests }},
			{Name: "answered", Unit: table.Number, Value: func(t *cache.Total) any { return t.Answered }},
			{Name: "hidden", Unit: table.Number, Value: func(t *cache.Total) any { return t.Hidden }},
			{Name: "prompt", Unit: table.Number, Value: func(t *cache.Total) any { return t.Prompt }},
			{Name: "estimated", Unit: table.Number, Value: func(t *cache.Total) any { return t.Estimated }},
		}, table.Within(func(of *cache.Total) *cache.Expected { return of.Expected }, nil, []col[*cache.Expected]{
			{Name: "expected_read", Unit: table.Number, Value: func(x *cache.Expected) any { return x.Read }},
			{Name: "expected_write", Unit: table.Number, Value: func(x *cache.Expected) any { return x.Write }},
		}...),
		table.Within(recorded, nil, []col[*cache.Usage]{
			{Name: "read", Unit: table.Number, Value: func(u *cache.Usage) any { return u.CacheRead }},
			{Name: "write", Unit: table.Number, Value: func(u *cache.Usage) any { return u.CacheWrite }},
			{Name: "write1h", Unit: table.Number, Value: func(u *cache.Usage) any { return u.CacheWrite1h }},
		}...),
		[]col[*cache.Total]{
			{Name: "possible", Value: func(t *cache.Total) any { return t.HitRate.Possible }},
			{Name: "achieved", Value: func(t *cache.Total) any { return t.HitRate.Achieved }},
		},
		amounts("rebilled", func(t *cache.Total) cache.Rebilled { return t.Rebilled }),
		amounts("broken", func(t *cache.Total) cache.Rebilled { return t.Broken }),
		amounts("unserved", func(t *cache.Total) cache.Rebilled { return t.Unserved }),
		[]col[*cache.Total]{
			{Name: "error", Value: func(t *cache.Total) any { return t.Error }},
		},
	))
}

// mostLosses is the number of losses of a list that the text has.
const mostLosses = 10

// cacheSheets returns the verdict on a session with a table of its requests, and the losses.
func cacheSheets(c *cache.Report) []table.Sheet {
	above, decimals := worstLoss(c)
	all := []table.Sheet{{
		Above: slices.Concat(verdictOn(c.Total), above, cacheRules(c.Total.Rules)),
		Table: table.Stream(c.Rows, requestColumns(decimals)),
	}}
	for _, list := range []struct {
		title  string
		losses []cache.Loss
	}{
		{"by transformer", c.Total.ByName}, {"by section of the prompt", c.Total.BySection},
		{"by reason", c.Total.ByReason},
	} {
		if len(list.losses) > 0 {
			all = append(all, table.Sheet{Title: list.title, Few: mostLosses,
				Table: table.Of(list.losses, lossColumns)})
		}
	}
	return all
}

// cacheRules describes by which rule changes of settings were judged, for models whose settings changed.
func cacheRules(rules []cache.Rule) (lines []string) {
	for _, r := range rules {
		if !r.Changed {
			continue
		}
		where := map[string][]string{}
		for _, of := range []struct{ setting, where string }{
			{"prompts", r.System}, {"tools", r.Tools}, {"levels", r.Level},
		} {
			where[of.where] = append(where[of.where], of.setting)
		}
		var parts []string
		for _, of := range []struct{ where, does string }{
			{"front", "end the prefix"}, {"place", "stand in place"}, {"added", "stand in place until one is removed"},
		} {
			if settings := where[of.where]; settings != nil {
				parts = append(parts, fmt.Sprintf("new %s %s", phrase.And(settings), of.does))
			}
		}
		lines = append(lines, fmt.Sprintf("rule: %s: %s", r.Model, strings.Join(parts, "; ")))
	}
	return lines
}

var lossColumns = []col[*cache.Loss]{
	{Name: "rebilled", Unit: table.Tokens, Value: func(l *cache.Loss) any { return l.Tokens }},
	{
		Name: "cost", Unit: table.Dollars, Value: func(l *cache.Loss) any { return moneyOf(l.Rebilled, 4) },
	},
	{Name: "times", Unit: table.Number, Value: func(l *cache.Loss) any { return l.Times }},
	{Name: "by", Flex: true, Value: func(l *cache.Loss) any { return l.Name }},
}

// brokenStyle returns the style of the cause of rebilled tokens; what could not be judged is
// faint.
func brokenStyle(why string) style {
	if strings.HasPrefix(why, cache.ReasonUnserved) || strings.HasSuffix(why, ")") {
		return warning
	}
	return faint
}

// requestColumns returns the columns of requests in text. A prompt without recorded usage has a mark.
func requestColumns(decimals int) []col[*cache.Row] {
	expected := func(r *cache.Row) *cache.Expected { return r.Expected }
	recorded := func(r *cache.Row) *cache.Usage { return r.Recorded }
	return slices.Concat([]col[*cache.Row]{
		{Name: "#", Unit: table.Number, Value: func(r *cache.Row) any { return orDash(orNothing(r.Request)) }},
		{Name: "time", Value: func(r *cache.Row) any { return minute(r.Time) }},
		{Name: "entry", Unit: table.Entry, Value: func(r *cache.Row) any { return r.Entry }, Yields: 2,
			Style: always(faint)},
		{Name: "model", Value: func(r *cache.Row) any { return fit(base(r.Model), 24) }, Yields: 3,
			Style: always(faint)},
		{Name: "prompt", Unit: table.Tokens, Yields: 1, Value: func(r *cache.Row) any {
			return table.Marked(r.Estimated, r.Prompt)
		}},
	}, table.Within(expected, "", col[*cache.Expected]{
		Name: "expected", Unit: table.Tokens, Value: func(e *cache.Expected) any { return e.Read },
	}), table.Within(recorded, "-", []col[*cache.Usage]{
		{Name: "actual", Unit: table.Tokens, Value: func(u *cache.Usage) any { return u.CacheRead }},
		{Name: "written", Unit: table.Tokens, Value: func(u *cache.Usage) any { return u.CacheWrite }, Yields: 4},
	}...), []col[*cache.Row]{
		{Name: "rebilled", Unit: table.Tokens, Style: always(warning), Value: func(r *cache.Row) any {
			return table.Unless0(r.Rebilled.Tokens)
		}},
		{Name: "cost", Unit: table.Dollars, Style: always(warning), Value: func(r *cache.Row) any {
			return table.If(r.Rebilled.Tokens > 0, moneyOf(r.Rebilled, decimals))
		}},
		{Name: "cause", Value: func(r *cache.Row) any { return whyRebilled(r) }, Flex: true, Style: brokenStyle},
	})
}

// minute returns a timestamp's day and minute, in the time zone of the file.
func minute(stamp string) string { return clock(stamp)[:len("01-02 15:04")] }

// whyRebilled returns why tokens were rebilled, in words.
func whyRebilled(r *cache.Row) string {
	var all []string
	if r.Unserved.Tokens > 0 {
		all = append(all, cache.ReasonUnserved+phrase.If(r.Unserved != r.Rebilled, " (%d)", r.Unserved.Tokens))
	}
	if m := r.Missed; m != nil {
		all = append(all, "the provider says "+sessionfmt.Quote(m.Reason)+phrase.If(m.Tokens > 0, " (%d)", m.Tokens))
	}
	if b := r.Break; b != nil {
		all = append(all, whyBroken(b)+phrase.If(b.Rebilled.Tokens > 0 && b.Rebilled != r.Rebilled, " (%d)",
			b.Rebilled.Tokens))
	}
	if r.Outlived > 0 {
		all = append(all, fmt.Sprintf("read after %s, beyond its lifetime", duration(r.Outlived)))
	}
	return strings.Join(all, "; ")
}

func whyBroken(b *cache.Break) string {
	if b.Cause == cache.CausePause {
		pause := b.Pause
		if m := (pause + 30) / 60 * 60; m > b.Lifetime { // to the minute
			pause = m
		}
		return fmt.Sprintf("%s %s, lifetime %s", b.Cause, duration(pause), duration(b.Lifetime))
	}
	if b.Cause == cache.CauseIdle {
		return "idle compaction " + entryID(b.Entry)
	}
	if b.Transformer == b.Reason && b.Reason == string(cache.CauseCompaction) {
		return b.Reason + " " + entryID(b.Entry)
	}
	return string(b.Cause) + sectionsOf(b) + phrase.If(b.Entry != "", " %s", entryID(b.Entry)) +
		phrase.If(b.Op >= 0, " op %d", b.Op) +
		phrase.If(b.Transformer != "", " of %s", sessionfmt.Quote(b.Transformer)) +
		phrase.If(b.Reason != "", ": %s", sessionfmt.Quote(b.Reason))
}

// sectionsOf returns the section at which a break is, and the number of others that differ.
func sectionsOf(b *cache.Break) string {
	if len(b.Sections) == 0 {
		return ""
	}
	name := b.Section()
	if b.Cause == cache.CauseTools {
		name = strings.TrimPrefix(name, "tool ")
	}
	return " (" + sessionfmt.Quote(name) + phrase.If(len(b.Sections) > 1, " and %d more", len(b.Sections)-1) + ")"
}

// verdictOn returns the sums of a cache report in sentences.
func verdictOn(t *cache.Total) (lines []string) {
	if t.Requests == 0 {
		return []string{"no requests"}
	}
	say := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	possible := phrase.Percent(t.HitRate.Possible)
	rate := possible + " possible; no use of a cache is recorded, so this is an expectation"
	if t.HitRate.Achieved != nil {
		rate = fmt.Sprintf("%s, %d of %s; %s was possible", phrase.Percent(*t.HitRate.Achieved), t.Recorded.CacheRead,
			phrase.Count(int(t.Prompt), "prompt token"), possible)
	}
	say("hit rate%s: %s", phrase.If(t.Of != "", " of the %s", t.Of), rate)
	causes := ""
	if t.Rebilled.Tokens > 0 && moneyOf(t.Rebilled, 0).Known() {
		breaks := "breaks"
		if len(t.Breaks) > 0 {
			breaks = phrase.Count(len(t.Breaks), "break")
		}
		causes = fmt.Sprintf("; %s %s, not served %s", breaks, moneyOf(t.Broken, 4), moneyOf(t.Unserved, 4))
	}
	say("lost: %s%s", rebilled(t.Rebilled), causes)
	if t.Answered != 0 && t.Answered != t.Requests {
		say("not counted: %s without recorded usage, ~%s", phrase.Count(t.Requests-t.Answered, "request"),
			phrase.Count(int(t.Estimated), "token"))
	}
	if t.Hidden != 0 {
		say("not in the file: prompt and tools of each request, ~%s", phrase.Count(int(t.Hidden), "token"))
	}
	for _, l := range t.Outlived {
		say("the cache of %s was read after %s, its lifetime in the table is %s: later pauses are judged by that",
			sessionfmt.Quote(l.Model), duration(l.Seen), duration(l.Table))
	}
	return lines
}

// rebilled returns what was rebilled, and its price.
func rebilled(a cache.Rebilled) string {
	cost := moneyOf(a, 4)
	return phrase.Count(int(a.Tokens), "token") + ", " + phrase.If(!cost.Known(), "cost ") + cost.String()
}

// moneyOf returns the price of what was rebilled.
func moneyOf(a cache.Rebilled, decimals int) table.Money {
	return table.Money{Dollars: a.Cost, Decimals: decimals, Unpriced: a.Unpriced}
}

// worstLoss returns which request lost most and why, and the models whose pauses cannot be judged,
// and the decimals that the costs of all requests take.
func worstLoss(c *cache.Report) (lines []string, decimals int) {
	worst, endless := c.Worst, c.Endless()
	decimals = 4
	if worst != nil {
		if worst.Rebilled.Cost >= 0.1 {
			decimals = 3
		}
		lines = append(lines, fmt.Sprintf("worst: request %s at %s, entry %s: %s", orDash(orNothing(worst.Request)),
			minute(worst.Time), entryID(worst.Entry), rebilled(worst.Rebilled)), "       "+whyRebilled(worst))
	}
	if len(endless) > 0 {
		for i, model := range endless {
			endless[i] = cmp.Or(base(model), "a model that is not recorded")
		}
		lines = append(lines, "lifetime of the cache unknown, pauses not judged: "+
			strings.Join(slices.Compact(endless), ", "))
	}
	return lines, decimals
}

// duration returns a number of seconds as text: 5m, 1h5m, 14m12s.
func duration(seconds int64) string {
	text := (time.Duration(seconds) * time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// cachesSheets returns the reports on several sessions, a row each, and above them their sum.
func cachesSheets(c Caches) []table.Sheet {
	var broken []string
	var read []*cache.Total
	for i := range c.All {
		if t := &c.All[i]; t.Error != "" {
			broken = append(broken, t.File+": "+t.Error)
		} else {
			read = append(read, t)
		}
	}
	t := table.Stream(slices.Values(read), []col[*cache.Total]{
		{Name: "session", Unit: table.Path, Flex: true, Value: func(t *cache.Total) any { return t.File }},
		{Name: "requests", Unit: table.Number, Value: func(t *cache.Total) any { return t.Requests }},
		{Name: "prompts", Unit: table.Short, Yields: 1, Value: func(t *cache.Total) any { return t.Prompt }},
		{Name: "possible", Unit: table.Share, Value: func(t *cache.Total) any { return t.HitRate.Possible }},
		{Name: "achieved", Unit: table.Share, Value: func(t *cache.Total) any {
			if t.HitRate.Achieved == nil {
				return "-"
			}
			return t.HitRate.Achieved
		}},
		{Name: "rebilled", Unit: table.Dollars, Value: func(t *cache.Total) any { return moneyOf(t.Rebilled, 4) }},
		{Name: "by breaks", Unit: table.Dollars, Value: func(t *cache.Total) any { return moneyOf(t.Broken, 4) },
			Yields: 2},
		{Name: "not served", Unit: table.Dollars, Yields: 3, Value: func(t *cache.Total) any {
			return moneyOf(t.Unserved, 4)
		}},
	})
	return appendBroken([]table.Sheet{{Above: verdictOn(c.Sum), Table: t}}, "read", broken)
}
