package render

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"ctxtool/internal/phrase"
	"ctxtool/replay/cache"
	"ctxtool/sessionfmt"
)

// Caches are the accounts of several sessions, and their sum.
type Caches struct {
	All []cache.Total
	Sum *cache.Total
}

func writeCacheLines(w *bufio.Writer, c *cache.Report) error {
	return totalled(w, c.Rows, c.Total)
}
func writeCachesLines(w *bufio.Writer, c Caches) error { return totalled(w, c.All, c.Sum) }

// totalled writes rows, an object a line, and the total as the last line.
func totalled[T any](w *bufio.Writer, rows []T, total *cache.Total) error {
	if err := writeLines(w, rows); err != nil {
		return err
	}
	return WriteJSON(w, map[string]any{"total": total})
}

// cacheColumns are the columns of a CSV file; tokens, and dollars.
var cacheColumns = []string{
	"request", "entry", "model", "prompt", "shared_messages", "shared_tokens", "break_at", "cause", "break_entry", "break_op", "reason", "transformer",
	"again_tokens", "again_cost", "expected_read", "expected_write", "read", "write", "write1h", "rebilled_tokens", "rebilled_cost",
	"unserved_tokens", "unserved_cost", "outlived", "endless", "estimated",
}

// writeCacheCSV writes the account of a session as a CSV file. What the file does not
// hold of the prompt is the row "hidden".
func writeCacheCSV(w *bufio.Writer, c *cache.Report) error {
	var rows [][]any
	if c.Total.Hidden > 0 {
		rows = append(rows, []any{"hidden", nil, nil, c.Total.Hidden})
	}
	for i := range c.Rows {
		rows = append(rows, cacheCells(&c.Rows[i]))
	}
	return writeCSV(w, cacheColumns, rows)
}

// cacheCells are a row's cells in a CSV file.
func cacheCells(r *cache.Row) []any {
	cells := make([]any, len(cacheColumns))
	copy(cells, []any{r.Request, r.Entry, r.Model, r.Prompt})
	if s := r.Shared; s != nil {
		copy(cells[4:], []any{s.Messages, s.Tokens})
	}
	if b := r.Break; b != nil {
		copy(cells[6:], []any{b.At, b.Cause, b.Entry, b.Op, b.Reason, b.Transformer})
		copy(cells[12:], again(b.Again))
	}
	if e := r.Expected; e != nil {
		copy(cells[14:], []any{e.Read, e.Write})
	}
	if u := r.Recorded; u != nil {
		copy(cells[16:], []any{u.CacheRead, u.CacheWrite, u.CacheWrite1h})
	}
	copy(cells[19:], again(r.Rebilled))
	copy(cells[21:], again(r.Unserved))
	if r.Outlived > 0 {
		cells[23] = r.Outlived
	}
	for k, is := range []bool{r.Endless, r.Estimated} {
		if is {
			cells[24+k] = is
		}
	}
	return cells
}

// again are the cells of what was billed again, none for nothing.
func again(a cache.Again) []any {
	if a.Tokens == 0 {
		return nil
	}
	return []any{a.Tokens, a.Cost}
}

// writeCachesCSV writes the accounts of several sessions as a CSV file.
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
			t.Rebilled.Tokens, t.Rebilled.Cost, t.Broken.Tokens, t.Broken.Cost, t.Unserved.Tokens, t.Unserved.Cost, t.Error,
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

// mostLosses is how many breaks the text names.
const mostLosses = 10

// writeCache writes the account of a session as a table, and the totals below it.
func writeCache(w *bufio.Writer, c *cache.Report, on Screen) error {
	columns := []Column{
		{Name: "#", Right: true}, {Name: "entry"}, {Name: "model"}, {Name: "prompt", Right: true}, {Name: "shared", Right: true},
		{Name: "could read", Right: true}, {Name: "write", Right: true}, {Name: "did read", Right: true}, {Name: "write", Right: true},
		{Name: "again", Right: true}, {Name: "broken by", Flex: true},
	}
	var cells [][]string
	if c.Total.Hidden > 0 {
		cells = append(cells, []string{"", "hidden", "", "~" + number(c.Total.Hidden), "", "", "", "", "", "", "prompt and tools that are not in this file"})
	}
	for i := range c.Rows {
		cells = append(cells, cacheLine(&c.Rows[i]))
	}
	if len(cells) > 0 {
		if err := WriteTable(w, columns, cells, on.Width); err != nil {
			return err
		}
		w.WriteByte('\n')
	}
	writeCacheSums(w, c.Total)
	writeLosses(w, "broken, the most expensive first:", c.Total.Breaks)
	writeLosses(w, "by transformer:", c.Total.ByName)
	writeLosses(w, "by reason:", c.Total.ByReason)
	return nil
}

// cacheLine are a row's cells for people. A prompt has a mark where nothing is recorded.
func cacheLine(r *cache.Row) []string {
	cells := []string{orDash(orNothing(r.Request)), sessionfmt.Quote(r.Entry), fit(base(r.Model), 24), number(r.Prompt)}
	if r.Estimated {
		cells[3] = "~" + cells[3]
	}
	if r.Expected != nil {
		cells = append(cells, fmt.Sprint(r.Shared.Messages), number(r.Expected.Read), number(r.Expected.Write))
	} else {
		cells = append(cells, "", "", "")
	}
	if u := r.Recorded; u != nil {
		cells = append(cells, number(u.CacheRead), number(u.CacheWrite))
	} else {
		cells = append(cells, "-", "-")
	}
	return append(cells, phrase.If(r.Rebilled.Tokens > 0, "%d $%.4f", r.Rebilled.Tokens, r.Rebilled.Cost), whyAgain(r))
}

// whyAgain is why something was billed again, in words.
func whyAgain(r *cache.Row) string {
	var all []string
	if r.Unserved.Tokens > 0 {
		all = append(all, fmt.Sprintf("%s (%d)", cache.ReasonUnserved, r.Unserved.Tokens))
	}
	if r.Break != nil {
		all = append(all, whyBroken(r.Break))
	}
	if m := r.Missed; m != nil {
		all = append(all, "the provider says "+sessionfmt.Quote(m.Reason)+phrase.If(m.Tokens > 0, " (%d)", m.Tokens))
	}
	if r.Outlived > 0 {
		all = append(all, fmt.Sprintf("served after %s, beyond its lifetime", duration(r.Outlived)))
	}
	if r.Endless {
		all = append(all, "lifetime unknown, pauses not judged")
	}
	return strings.Join(all, "; ")
}

func whyBroken(b *cache.Break) string {
	return string(b.Cause) + phrase.If(b.Entry != "", " %s", sessionfmt.Quote(b.Entry)) + phrase.If(b.Op >= 0, " op %d", b.Op) +
		phrase.If(b.Transformer != "", " of %s", sessionfmt.Quote(b.Transformer)) + phrase.If(b.Reason != "", ": %s", sessionfmt.Quote(b.Reason)) +
		phrase.If(b.Again.Tokens > 0, " (%d)", b.Again.Tokens)
}

func writeCacheSums(w *bufio.Writer, t *cache.Total) {
	fmt.Fprintf(w, "%s, prompts of %s", phrase.Count(t.Requests, "request"), phrase.Count(int(t.Prompt), "token"))
	if t.Answered > 0 && t.Answered < t.Requests {
		fmt.Fprintf(w, " (and ~%d of %s without recorded usage)", t.Estimated, phrase.Count(t.Requests-t.Answered, "request"))
	}
	if t.Expected != nil {
		fmt.Fprintf(w, "; a cache could have read %d and written %d", t.Expected.Read, t.Expected.Write)
	}
	if t.Answered > 0 {
		fmt.Fprintf(w, ", did read %d and write %d", t.Recorded.CacheRead, t.Recorded.CacheWrite)
	}
	w.WriteByte('\n')
	if t.HitRate.Achieved != nil {
		fmt.Fprintf(w, "hit rate: %s achieved, %s possible\n", phrase.Percent(*t.HitRate.Achieved), phrase.Percent(t.HitRate.Possible))
	} else if t.Requests > 0 {
		fmt.Fprintf(w, "hit rate: %s possible; no usage is recorded, so these are expectations only, in counted tokens\n", phrase.Percent(t.HitRate.Possible))
	}
	if t.Requests > 0 {
		fmt.Fprintf(w, "billed again: %s: %s by what broke the cache, %s that it had and did not serve (prices of %s)\n", money(t.Rebilled), money(t.Broken), money(t.Unserved), t.Prices)
	}
	for _, l := range t.Outlived {
		fmt.Fprintf(w, "the cache of %s was read after %s, its lifetime is %s by the table: from then on pauses are judged by the longer\n", sessionfmt.Quote(l.Model), duration(l.Seen), duration(l.Table))
	}
}

// duration is a number of seconds in words: 5m, 1h5m, 14m12s.
func duration(seconds int64) string {
	text := (time.Duration(seconds) * time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

func money(a cache.Again) string { return fmt.Sprintf("%d tokens, $%.4f", a.Tokens, a.Cost) }

// writeLosses writes losses below a heading, the first of them.
func writeLosses(w *bufio.Writer, heading string, all []cache.Loss) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", heading)
	for i, l := range all {
		if i == mostLosses {
			fmt.Fprintf(w, "  and %d more\n", len(all)-i)
			return
		}
		name := sessionfmt.Quote(l.Name)
		if l.Request >= 0 {
			name = fmt.Sprintf("#%d %s %s", l.Request, l.Cause, sessionfmt.Quote(l.Entry))
		} else {
			name = fmt.Sprintf("%s (%d)", name, l.Times)
		}
		fmt.Fprintf(w, "  %8d  $%.4f  %s\n", l.Tokens, l.Cost, name)
	}
}

// writeCaches writes the accounts of several sessions, a row each, and their sum.
func writeCaches(w *bufio.Writer, c Caches, on Screen) error {
	columns := []Column{
		{Name: "session", Flex: true}, {Name: "requests", Right: true}, {Name: "prompts", Right: true}, {Name: "possible", Right: true},
		{Name: "achieved", Right: true}, {Name: "again", Right: true}, {Name: "by breaks", Right: true}, {Name: "not served", Right: true},
	}
	var cells [][]string
	for i := range c.All {
		t := &c.All[i]
		name := sessionfmt.Clean(t.File)
		if t.Error != "" {
			cells = append(cells, []string{name + ": " + sessionfmt.Clean(t.Error), "", "", "", "", "", "", ""})
			continue
		}
		achieved := "-"
		if t.HitRate.Achieved != nil {
			achieved = phrase.Percent(*t.HitRate.Achieved)
		}
		cells = append(cells, []string{
			name, fmt.Sprint(t.Requests), phrase.Short(t.Prompt), phrase.Percent(t.HitRate.Possible), achieved,
			fmt.Sprintf("$%.4f", t.Rebilled.Cost), fmt.Sprintf("$%.4f", t.Broken.Cost), fmt.Sprintf("$%.4f", t.Unserved.Cost),
		})
	}
	if len(cells) > 0 {
		if err := WriteTable(w, columns, cells, on.Width); err != nil {
			return err
		}
		w.WriteByte('\n')
	}
	writeCacheSums(w, c.Sum)
	return nil
}
