package render

import (
	"bufio"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/phrase"
	"ctxtool/replay/cache"
	"ctxtool/sessionfmt"
)

// Caches are the cache reports of several sessions, and their sum.
type Caches struct {
	All []cache.Total
	Sum *cache.Total
}

func writeCacheLines(w *bufio.Writer, c *cache.Report) error {
	return writeWithTotal(w, c.Rows, c.Total)
}
func writeCachesLines(w *bufio.Writer, c Caches) error {
	return writeWithTotal(w, slices.Values(c.All), c.Sum)
}

// writeWithTotal writes rows, an object a line, and the total as the last line.
func writeWithTotal[T any](w *bufio.Writer, rows iter.Seq[T], total *cache.Total) error {
	for row := range rows {
		if err := WriteJSON(w, row); err != nil {
			return err
		}
	}
	return WriteJSON(w, map[string]any{"total": total})
}

// cacheColumns are the columns of a CSV file; tokens, and dollars.
var cacheColumns = []string{
	"request", "entry", "model", "prompt", "shared_messages", "shared_tokens", "break_at", "cause", "break_entry", "break_op", "reason", "transformer",
	"again_tokens", "again_cost", "expected_read", "expected_write", "read", "write", "write1h", "rebilled_tokens", "rebilled_cost",
	"unserved_tokens", "unserved_cost", "outlived", "endless", "estimated", "time", "pause", "lifetime", "sections",
}

// writeCacheCSV writes the report on a session as CSV. The row "hidden" is the part of the
// prompt that the file does not have.
func writeCacheCSV(w *bufio.Writer, c *cache.Report) error {
	return writeRowsCSV(w, cacheColumns, func(yield func([]any) bool) {
		if n := c.Total.Hidden; n > 0 && !yield([]any{"hidden", nil, nil, n}) {
			return
		}
		for row := range c.Rows {
			if !yield(cacheCells(row)) {
				return
			}
		}
	})
}

// cacheCells returns a row's cells in a CSV file.
func cacheCells(r *cache.Row) []any {
	cells := make([]any, len(cacheColumns))
	copy(cells, []any{r.Request, r.Entry, r.Model, r.Prompt})
	if s := r.Shared; s != nil {
		copy(cells[4:], []any{s.Messages, s.Tokens})
	}
	if b := r.Break; b != nil {
		copy(cells[6:], []any{b.At, b.Cause, b.Entry, b.Op, b.Reason, b.Transformer})
		copy(cells[12:], rebilledCells(b.Rebilled))
	}
	if e := r.Expected; e != nil {
		copy(cells[14:], []any{e.Read, e.Write})
	}
	if u := r.Recorded; u != nil {
		copy(cells[16:], []any{u.CacheRead, u.CacheWrite, u.CacheWrite1h})
	}
	copy(cells[19:], rebilledCells(r.Rebilled))
	copy(cells[21:], rebilledCells(r.Unserved))
	if r.Outlived > 0 {
		cells[23] = r.Outlived
	}
	for k, is := range []bool{r.Endless, r.Estimated} {
		if is {
			cells[24+k] = is
		}
	}
	cells[26] = r.Time
	if b := r.Break; b != nil && b.Cause == cache.CausePause {
		copy(cells[27:], []any{b.Pause, b.Lifetime})
	}
	if b := r.Break; b != nil {
		cells[29] = strings.Join(b.Sections, "; ")
	}
	return cells
}

// rebilledCells returns the cells of what was rebilled, none for nothing.
func rebilledCells(a cache.Rebilled) []any {
	if a.Tokens == 0 {
		return nil
	}
	return []any{a.Tokens, costCell(a)}
}

// costCell returns the cell of what was rebilled, none if no price is known.
func costCell(a cache.Rebilled) any {
	if !known(a) {
		return nil
	}
	return a.Cost
}

// writeCachesCSV writes the reports on several sessions as CSV.
func writeCachesCSV(w *bufio.Writer, c Caches) error {
	columns := []string{
		"file", "requests", "answered", "hidden", "prompt", "estimated", "expected_read", "expected_write", "read", "write", "write1h",
		"possible", "achieved", "rebilled_tokens", "rebilled_cost", "broken_tokens", "broken_cost", "unserved_tokens", "unserved_cost", "error",
	}
	rows := make([][]any, len(c.All))
	for i := range c.All {
		t := &c.All[i]
		cells := []any{
			sessionfmt.Clean(t.File), t.Requests, t.Answered, t.Hidden, t.Prompt, t.Estimated, nil, nil, nil, nil, nil, t.HitRate.Possible, t.HitRate.Achieved,
			t.Rebilled.Tokens, costCell(t.Rebilled), t.Broken.Tokens, costCell(t.Broken), t.Unserved.Tokens, costCell(t.Unserved), t.Error,
		}
		if e := t.Expected; e != nil {
			copy(cells[6:], []any{e.Read, e.Write})
		}
		if u := t.Recorded; t.Answered > 0 {
			copy(cells[8:], []any{u.CacheRead, u.CacheWrite, u.CacheWrite1h})
		}
		rows[i] = cells
	}
	return writeCSV(w, columns, rows)
}

// mostLosses is the number of losses of a list that the text has.
const mostLosses = 10

// writeCache writes the verdict on a session, and a table of its requests.
func writeCache(w *bufio.Writer, c *cache.Report, on Screen) {
	writeVerdict(w, c.Total)
	decimals := writeWorst(w, c, on)
	columns := []Column{
		{Name: "#", Right: true}, {Name: "time"}, {Name: "entry", Yields: 2, style: always(faint)}, {Name: "model", Yields: 3, style: always(faint)},
		{Name: "prompt", Right: true, Yields: 1}, {Name: "expected", Right: true}, {Name: "actual", Right: true}, {Name: "written", Right: true, Yields: 4},
		{Name: "rebilled", Right: true, style: always(warning)}, {Name: "cause", Flex: true, style: brokenStyle},
	}
	if c.Total.Requests > 0 {
		w.WriteByte('\n')
		writeTable(w, columns, func(yield func([]string) bool) {
			for r := range c.Rows {
				lost := phrase.If(r.Rebilled.Tokens > 0, "%d %s", r.Rebilled.Tokens, moneyOf(r.Rebilled, decimals))
				if !yield(append(cacheLine(r), lost, whyRebilled(r))) {
					return
				}
			}
		}, on)
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

// cacheLine returns a row's first cells in text. A prompt without recorded usage has a mark.
func cacheLine(r *cache.Row) []string {
	cells := []string{orDash(orNothing(r.Request)), minute(r.Time), entryID(r.Entry), fit(base(r.Model), 24), phrase.If(r.Estimated, "~") + number(r.Prompt), "", "-", "-"}
	if r.Expected != nil {
		cells[5] = number(r.Expected.Read)
	}
	if u := r.Recorded; u != nil {
		cells[6], cells[7] = number(u.CacheRead), number(u.CacheWrite)
	}
	return cells
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
	if t.Rebilled.Tokens > 0 && known(t.Rebilled) {
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
	return phrase.Count(int(a.Tokens), "token") + ", " + phrase.If(!known(a), "cost ") + moneyOf(a, 4)
}

// known reports whether there is a price for any of what was rebilled.
func known(a cache.Rebilled) bool { return priced(a.Cost, a.Unpriced) }

// moneyOf returns the price of what was rebilled.
func moneyOf(a cache.Rebilled, decimals int) string {
	return money(a.Cost, decimals, a.Unpriced)
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
	columns := []Column{
		{Name: "session", Flex: true}, {Name: "requests", Right: true}, {Name: "prompts", Right: true, Yields: 1}, {Name: "possible", Right: true},
		{Name: "achieved", Right: true}, {Name: "rebilled", Right: true}, {Name: "by breaks", Right: true, Yields: 2}, {Name: "not served", Right: true, Yields: 3},
	}
	var cells [][]string
	var broken []string
	for i := range c.All {
		t := &c.All[i]
		name := sessionfmt.Clean(t.File)
		if t.Error != "" {
			broken = append(broken, name+": "+sessionfmt.Clean(t.Error))
			continue
		}
		achieved := "-"
		if t.HitRate.Achieved != nil {
			achieved = phrase.Percent(*t.HitRate.Achieved)
		}
		cells = append(cells, []string{
			name, fmt.Sprint(t.Requests), phrase.Short(t.Prompt), phrase.Percent(t.HitRate.Possible), achieved,
			moneyOf(t.Rebilled, 4), moneyOf(t.Broken, 4), moneyOf(t.Unserved, 4),
		})
	}
	if len(cells) > 0 {
		w.WriteByte('\n')
		WriteTable(w, columns, cells, on)
	}
	writeBroken(w, "read", broken)
}
