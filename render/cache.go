package render

import (
	"bufio"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/base/table"
	"ctxtool/internal/cache"
	"ctxtool/internal/phrase"
	"ctxtool/sessionfmt"
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
}, table.Fields[cache.Row](`entry model prompt shared_messages shared_tokens break_at cause=break.cause break_entry break_op
	reason=break.reason transformer=break.transformer`),
	table.Within(broken, nil, rebilledColumns("again", func(b *cache.Break) *cache.Rebilled { return &b.Rebilled })...),
	table.Fields[cache.Row]("expected_read expected_write read=recorded.read write=recorded.write write1h=recorded.write1h"),
	rebilledColumns("rebilled", func(r *cache.Row) *cache.Rebilled { return &r.Rebilled }),
	rebilledColumns("unserved", func(r *cache.Row) *cache.Rebilled { return &r.Unserved }),
	table.Fields[cache.Row]("outlived? endless? estimated? time pause=break.pause? lifetime=break.lifetime?"),
	table.Within(broken, nil, col[*cache.Break]{Name: "sections", Value: func(b *cache.Break) any { return strings.Join(b.Sections, "; ") }}),
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
		table.Fields[cache.Total]("file requests answered hidden prompt estimated expected_read expected_write"),
		table.Within(recorded, nil, table.Fields[cache.Usage]("read write write1h")...),
		table.Fields[cache.Total]("possible=hitRate.possible achieved=hitRate.achieved"),
		amounts("rebilled", func(t *cache.Total) cache.Rebilled { return t.Rebilled }),
		amounts("broken", func(t *cache.Total) cache.Rebilled { return t.Broken }),
		amounts("unserved", func(t *cache.Total) cache.Rebilled { return t.Unserved }),
		table.Fields[cache.Total]("error"),
	))
}

// mostLosses is the number of losses of a list that the text has.
const mostLosses = 10

// writeCache writes the verdict on a session, and a table of its requests.
func writeCache(w *bufio.Writer, c *cache.Report, on Screen) {
	writeVerdict(w, c.Total)
	decimals := writeWorst(w, c, on)
	if c.Total.Requests > 0 {
		w.WriteByte('\n')
		WriteTable(w, table.Stream(c.Rows, requestColumns(decimals)), on)
	}
	writeLosses(w, "by transformer:", c.Total.ByName, on)
	writeLosses(w, "by section of the prompt:", c.Total.BySection, on)
	writeLosses(w, "by reason:", c.Total.ByReason, on)
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
		{Name: "entry", Unit: table.Entry, Value: func(r *cache.Row) any { return r.Entry }, Yields: 2, Style: always(faint)},
		{Name: "model", Value: func(r *cache.Row) any { return fit(base(r.Model), 24) }, Yields: 3, Style: always(faint)},
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
			return phrase.If(r.Rebilled.Tokens > 0, "%d %s", r.Rebilled.Tokens, moneyOf(r.Rebilled, decimals))
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
		all = append(all, whyBroken(b)+phrase.If(b.Rebilled.Tokens > 0 && b.Rebilled != r.Rebilled, " (%d)", b.Rebilled.Tokens))
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
		return fmt.Sprintf("%s %s, the cache lives %s", b.Cause, duration(pause), duration(b.Lifetime))
	}
	if b.Transformer == b.Reason && b.Reason == string(cache.CauseCompaction) {
		return b.Reason + " " + entryID(b.Entry)
	}
	return string(b.Cause) + sectionsOf(b) + phrase.If(b.Entry != "", " %s", entryID(b.Entry)) + phrase.If(b.Op >= 0, " op %d", b.Op) +
		phrase.If(b.Transformer != "", " of %s", sessionfmt.Quote(b.Transformer)) + phrase.If(b.Reason != "", ": %s", sessionfmt.Quote(b.Reason))
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

// writeVerdict writes what was read from the cache, and what was lost.
func writeVerdict(w *bufio.Writer, t *cache.Total) {
	of := phrase.If(t.Of != "", " of the %s", t.Of)
	switch {
	case t.Requests == 0:
		w.WriteString("no requests\n")
		return
	case t.HitRate.Achieved == nil:
		fmt.Fprintf(w, "hit rate%s: %s possible; no use of a cache is recorded, so this is an expectation\n", of, phrase.Percent(t.HitRate.Possible))
	default:
		fmt.Fprintf(w, "hit rate%s: %s, %d of %s; %s was possible\n", of, phrase.Percent(*t.HitRate.Achieved), t.Recorded.CacheRead, phrase.Count(int(t.Prompt), "prompt token"), phrase.Percent(t.HitRate.Possible))
	}
	fmt.Fprintf(w, "lost: %s", rebilled(t.Rebilled))
	if t.Rebilled.Tokens > 0 && moneyOf(t.Rebilled, 4).Known() {
		breaks := "breaks"
		if n := len(t.Breaks); n > 0 { // of several sessions they are not counted
			breaks = phrase.Count(n, "break")
		}
		fmt.Fprintf(w, "; %s %s, %s %s", breaks, moneyOf(t.Broken, 4), cache.ReasonUnserved, moneyOf(t.Unserved, 4))
	}
	w.WriteByte('\n')
	if n := t.Requests - t.Answered; t.Answered > 0 && n > 0 {
		fmt.Fprintf(w, "not counted: %s without recorded usage, ~%s\n", phrase.Count(n, "request"), phrase.Count(int(t.Estimated), "token"))
	}
	if t.Hidden > 0 {
		fmt.Fprintf(w, "not in the file: prompt and tools of each request, ~%s\n", phrase.Count(int(t.Hidden), "token"))
	}
	for _, l := range t.Outlived {
		fmt.Fprintf(w, "the cache of %s was read after %s, its lifetime in the table is %s: later pauses are judged by that\n", sessionfmt.Quote(l.Model), duration(l.Seen), duration(l.Table))
	}
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

// writeWorst writes which request lost most and why, and the models whose pauses cannot be
// judged. It returns the decimals that the costs of all requests take.
func writeWorst(w *bufio.Writer, c *cache.Report, on Screen) (decimals int) {
	worst, endless := c.Worst, c.Endless()
	decimals = 4
	if worst != nil {
		if worst.Rebilled.Cost >= 0.1 {
			decimals = 3
		}
		fmt.Fprintf(w, "worst: request %s at %s, entry %s: %s\n", orDash(orNothing(worst.Request)), minute(worst.Time), entryID(worst.Entry), rebilled(worst.Rebilled))
		put(w, "       "+whyRebilled(worst), on)
	}
	if len(endless) > 0 {
		for i, model := range endless {
			endless[i] = cmp.Or(base(model), "a model that is not recorded")
		}
		fmt.Fprintf(w, "lifetime of the cache unknown, pauses not judged: %s\n", strings.Join(slices.Compact(endless), ", "))
	}
	return decimals
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

// writeLosses writes the first losses below a heading.
func writeLosses(w *bufio.Writer, heading string, all []cache.Loss, on Screen) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", heading)
	for i, l := range all {
		if i == mostLosses {
			fmt.Fprintf(w, "  and %d more\n", len(all)-i)
			return
		}
		put(w, fmt.Sprintf("  %8d  %s  %s (%d)", l.Tokens, moneyOf(l.Rebilled, 4), sessionfmt.Quote(l.Name), l.Times), on)
	}
}

// writeCaches writes the reports on several sessions, a row each, and their sum.
func writeCaches(w *bufio.Writer, c Caches, on Screen) {
	writeVerdict(w, c.Sum)
	var broken []string
	var read []*cache.Total
	for i := range c.All {
		t := &c.All[i]
		if t.Error != "" {
			broken = append(broken, sessionfmt.Clean(t.File)+": "+sessionfmt.Clean(t.Error))
		} else {
			read = append(read, t)
		}
	}
	if len(read) > 0 {
		w.WriteByte('\n')
	}
	WriteTable(w, table.Stream(slices.Values(read), []col[*cache.Total]{
		{Name: "session", Unit: table.Path, Value: func(t *cache.Total) any { return t.File }, Flex: true},
		{Name: "requests", Unit: table.Number, Value: func(t *cache.Total) any { return t.Requests }},
		{Name: "prompts", Unit: table.Short, Value: func(t *cache.Total) any { return t.Prompt }, Yields: 1},
		{Name: "possible", Unit: table.Share, Value: func(t *cache.Total) any { return t.HitRate.Possible }},
		{Name: "achieved", Unit: table.Share, Value: func(t *cache.Total) any {
			if t.HitRate.Achieved == nil {
				return "-"
			}
			return t.HitRate.Achieved
		}},
		{Name: "rebilled", Unit: table.Dollars, Value: func(t *cache.Total) any { return moneyOf(t.Rebilled, 4) }},
		{Name: "by breaks", Unit: table.Dollars, Value: func(t *cache.Total) any { return moneyOf(t.Broken, 4) }, Yields: 2},
		{Name: "not served", Unit: table.Dollars, Yields: 3, Value: func(t *cache.Total) any {
			return moneyOf(t.Unserved, 4)
		}},
	}), on)
	writeBroken(w, "read", broken)
}
