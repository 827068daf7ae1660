package show

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/diff"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay/hook"
	"ctxtool/stats/table"
)

// writePatch writes the trial of results as text: what the agent would do with each operation,
// the cache and the bill, the sizes, and the difference of the context.
func writePatch(w *bufio.Writer, p *plan.Plan, on Screen) error {
	writeSheets(w, patchSheets(p), on)
	if d := p.Patch.Difference; d != nil && !d.Equal() {
		w.WriteByte('\n')
		return writeDiff(w, d, on)
	}
	return nil
}

// writePatchMarkdown writes a trial or a run for a review.
func writePatchMarkdown(w *bufio.Writer, p *plan.Plan) error {
	if p.Run != nil {
		writeSheetsMarkdown(w, runSheets(p, false))
		return nil
	}
	writeSheetsMarkdown(w, patchSheets(p))
	if d := p.Patch.Difference; d != nil && !d.Equal() {
		w.WriteByte('\n')
		return writeDiffMarkdown(w, d)
	}
	return nil
}

// patchSheets returns the verdicts on the operations of a trial, what it costs, and its sizes.
func patchSheets(p *plan.Plan) []table.Sheet {
	t := p.Patch
	s := table.Sheet{Title: planned(p) + ": " + patching(p), Table: verdictTable(t.Verdicts)}
	if p.Unstored != "" {
		s.Above = []string{"cannot be appended: " + p.Unstored}
	}
	if t.Difference == nil {
		return []table.Sheet{s}
	}
	s.Above = append(s.Above, sentences(func(p prose) { p.prefix(t.Prefix); p.bill(t.Bill) })...)
	return []table.Sheet{s, {Table: sizeTable(t.Sizes)}}
}

// prefix writes how much of the context a prompt cache still serves.
func (p prose) prefix(of *hook.Prefix) {
	if of.First == "" {
		p.line("cache: the whole prefix stays cached")
		return
	}
	first := of.First + " change"
	if of.First == "system" {
		first = "prompt changes"
	}
	p.line("cache: %v of %v and %v stay cached: the %v first", of.Messages, phrase.Count(of.Of, "message"),
		phrase.Count(of.Kept, "token"), first)
	p.line("cache: %v are billed again%v", phrase.Count(of.Rebilled, "token"),
		phrase.If(of.Priced, ": %s", phrase.Dollars(of.Cost)))
}

// bill writes a bill, if there is one.
func (p prose) bill(of *hook.Bill) {
	if of == nil {
		return
	}
	served := func(s cache.Served) string {
		return fmt.Sprintf("%d tokens read, %d written", s.Read, s.Write) +
			phrase.If(of.Priced, ", %s", phrase.Dollars(s.Cost))
	}
	p.line("bill: %v for the prompts of %v, ideally cached", billChange(*of), phrase.Count(of.Requests, "request"))
	p.line("bill as recorded: %v", served(of.Was))
	p.line("bill with it: %v", served(of.Is))
}

// patching returns what a trial is of, and what is appended, in a few words.
func patching(p *plan.Plan) string {
	t := p.Patch
	at := fmt.Sprintf("%s, before request %d", t.Reason, t.Request)
	switch {
	case t.Difference == nil:
		return at + ": refused"
	case t.Form == "" || p.Entries == 0:
		return at
	case t.Form == "transform" || t.Form == string(hook.Ephemeral):
		return at + ": " + appending(p)
	}
	return at + ": " + appending(p) + " as " + t.Form
}

func rulingStyle(cell string) style {
	switch hook.Ruling(strings.TrimSpace(cell)) {
	case hook.Apply:
		return good
	case hook.Warn:
		return warning
	}
	return failure
}

// verdictTable returns a row per operation.
func verdictTable(all []hook.Verdict) table.Table {
	several := len(all) > 0 && all[len(all)-1].Result > 0
	return table.Of(all, []col[*hook.Verdict]{
		{Name: "op", Unit: table.Number, Value: func(v *hook.Verdict) any {
			return phrase.If(several, "%d.", v.Result) + fmt.Sprint(v.Op)
		}},
		{Name: "operation", Value: func(v *hook.Verdict) any { return v.Name }},
		{Name: "verdict", Value: func(v *hook.Verdict) any { return string(v.Ruling) }, Style: rulingStyle},
		{Name: "why", Value: func(v *hook.Verdict) any { return reasonOf(v) }, Flex: true},
	})
}

// reasonOf returns why a ruling was made, without the number and name of the operation.
func reasonOf(v *hook.Verdict) string {
	if _, why, ok := strings.Cut(v.Text, "): "); ok {
		return why
	}
	return v.Text
}

// sizeTable returns a row per category, of each counter.
func sizeTable(sizes []hook.Size) table.Table {
	var rows []category
	for _, s := range sizes {
		for _, c := range categoriesOf(diff.Sizes{A: s.Before, B: s.After}, diff.Sizes{}) {
			c.name += phrase.If(len(sizes) > 1, ", %s", s.Counter)
			rows = append(rows, c)
		}
	}
	name := col[*category]{Name: "tokens", Value: func(c *category) any { return c.name }}
	return table.Of(rows, append([]col[*category]{name}, sidesColumns("before", "after", "change", tokensOf)...))
}

// billChange returns how a bill changes.
func billChange(b hook.Bill) string {
	switch change := b.Is.Cost - b.Was.Cost; {
	case !b.Priced:
		return "no prices known"
	case phrase.Dollars(max(change, -change)) == phrase.Dollars(0):
		return "no change"
	case change < 0:
		return phrase.Dollars(-change) + " less"
	default:
		return phrase.Dollars(change) + " more"
	}
}

// writePatchEnvelope writes the context with the results, as ctxtool replay does.
func writePatchEnvelope(w *bufio.Writer, p *plan.Plan) error {
	if p.Patch.Envelope == nil {
		return nil
	}
	return writeEnvelope(w, Report{Envelope: p.Patch.Envelope})
}

// failures returns why calls failed, once each: a row of the table may have no room for it.
func failures(rows []hook.Row) (lines []string) {
	times := map[string]int{}
	for _, r := range rows {
		times[r.Error]++
	}
	for _, r := range rows {
		if n := times[r.Error]; r.Error != "" && n > 0 {
			lines = append(lines, "failed"+phrase.If(n > 1, " %s", phrase.Count(n, "time"))+": "+r.Error)
			times[r.Error] = 0
		}
	}
	return lines
}

// runTable returns a row per answer of a hook, of failures in a row that are alike the first. The time of a call is
// only shown as text, since it differs from run to run.
func runTable(r *hook.Run) table.Table {
	served := func(row *hook.Row) *hook.Row {
		if row.Is == nil {
			return nil
		}
		return row
	}
	priced := r.Bill != nil && r.Bill.Priced
	rows := slices.CompactFunc(slices.Clone(r.Rows), func(a, b hook.Row) bool {
		return a.Error != "" &&
			a.Error == b.Error
	})
	return table.Of(rows, slices.Concat([]col[*hook.Row]{
		{Name: "request", Unit: table.Number, Value: func(r *hook.Row) any { return r.Request }},
		{Name: "reason", Value: func(r *hook.Row) any { return strings.ReplaceAll(string(r.Reason), "_", " ") },
			Yields: 3},
		{Name: "operations", Value: func(r *hook.Row) any { return operations(r) }, Flex: true},
	}, []col[*hook.Row]{
		{Name: "before", Unit: table.Tokens, Value: func(r *hook.Row) any { return r.Before }},
		{Name: "after", Unit: table.Tokens, Value: func(r *hook.Row) any { return r.After }},
		{Name: "read before", Unit: table.Tokens, Yields: 1, Value: func(r *hook.Row) any {
			if r.Was == nil {
				return nil
			}
			return r.Was.Read
		}},
		{Name: "read after", Unit: table.Tokens, Yields: 1, Value: func(r *hook.Row) any {
			if r.Is == nil {
				return nil
			}
			return r.Is.Read
		}},
	},
		table.Within(served, nil, []col[*hook.Row]{
			{Name: "cost before", Unit: table.Dollars,
				Value: func(r *hook.Row) any { return table.If(priced, phrase.Dollars(r.Was.Cost)) }},
			{Name: "cost after", Unit: table.Dollars,
				Value: func(r *hook.Row) any { return table.If(priced, phrase.Dollars(r.Is.Cost)) }},
		}...), []col[*hook.Row]{
			{Name: "time", Unit: table.Number, Value: func(r *hook.Row) any {
				return r.Took.Round(100 * time.Microsecond).String()
			}, Yields: 4},
		}))
}

// operations returns what an answer asks for, and the verdicts on it.
func operations(r *hook.Row) string {
	if r.Error != "" {
		return "failed: " + r.Error
	}
	what := strings.Join(r.Ops, ", ")
	for _, v := range r.Verdicts {
		what += fmt.Sprintf("; %s: %s", v.Ruling, v.Text)
	}
	return what
}

// runSheets returns what a hook did in a session; the times of its calls, which differ from run to
// run, only if they are timed.
func runSheets(p *plan.Plan, timed bool) []table.Sheet {
	r := p.Run
	s := table.Sheet{Title: planned(p) + ": " + runWords(r), Above: []string{"command: " + r.Command},
		Table: runTable(r)}
	if timed = timed && r.Took > 0; timed {
		each := (r.Took / time.Duration(r.Calls)).Round(10 * time.Microsecond)
		s.Above = append(s.Above, fmt.Sprintf("time: %s a call", each))
	} else {
		s.Table = s.Without("time")
	}
	s.Above = append(append(s.Above, failures(r.Rows)...), sentences(func(p prose) { p.bill(r.Bill) })...)
	if p.Written != "" && p.Written != "-" {
		s.Notes = []string{"wrote the session with its patches to " + p.Written}
	}
	return []table.Sheet{s}
}

func runWords(r *hook.Run) string {
	return fmt.Sprintf("%s for %s: %d patched, %d failed", phrase.Count(r.Calls, "call"),
		phrase.Count(r.Requests, "request"), r.Patched, r.Failed) +
		phrase.If(r.Skipped > 0, "; %s skipped, since three in a row took too long", phrase.Count(r.Skipped, "call"))
}
