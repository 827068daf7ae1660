package render

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/base/markdown"
	"ctxtool/internal/base/table"
	"ctxtool/internal/cache"
	"ctxtool/internal/diff"
	"ctxtool/internal/phrase"
	"ctxtool/internal/plan"
	"ctxtool/replay/hook"
	"ctxtool/sessionfmt"
)

// writePatch writes the trial of results as text: what the agent would do with each operation,
// the sizes, the cache and the bill, and the difference of the context.
func writePatch(w *bufio.Writer, p *plan.Plan, on Screen) error {
	t := p.Patch
	fmt.Fprintf(w, "%s: %s\n", planned(p), patching(p))
	if p.Unstored != "" {
		fmt.Fprintf(w, "  cannot be appended: %s\n", sessionfmt.Clean(p.Unstored))
	}
	w.WriteByte('\n')
	WriteTable(w, verdictTable(t.Verdicts), on)
	if t.Difference == nil {
		return nil
	}
	w.WriteByte('\n')
	WriteTable(w, sizeTable(t.Sizes), on)
	w.WriteByte('\n')
	for _, line := range costLines(t) {
		aligned(w, line[0], "%s", line[1])
	}
	if t.Difference.Equal() {
		return nil
	}
	w.WriteByte('\n')
	return writeDiff(w, t.Difference, on)
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

// costLines returns what a patch does to the cached prefix and to the bill, each with a name.
func costLines(t *hook.Trial) (lines [][2]string) {
	p := t.Prefix
	if p.First == "" {
		lines = append(lines, [2]string{"cache", "the whole prefix stays cached"})
	} else {
		lines = append(lines,
			[2]string{"cache", fmt.Sprintf("%d of %s and %s stay cached: %s first", p.Messages, phrase.Count(p.Of, "message"), phrase.Count(p.Kept, "token"), changesFirst(p.First))},
			[2]string{"", fmt.Sprintf("%s are billed again%s", phrase.Count(p.Rebilled, "token"), phrase.If(p.Priced, ": %s", usd(p.Cost)))})
	}
	if b := t.Bill; b != nil {
		lines = append(lines, billLines(b)...)
	}
	return lines
}

// changesFirst says what changes first.
func changesFirst(what string) string {
	if what == "system" {
		return "the prompt changes"
	}
	return "the " + what + " change"
}

// billLines returns what prompts cost as recorded and with a patch.
func billLines(b *hook.Bill) [][2]string {
	change := "no prices known"
	if diff := b.Is.Cost - b.Was.Cost; b.Priced {
		switch {
		case usd(diff) == usd(0) || usd(-diff) == usd(0):
			change = "no change"
		case diff < 0:
			change = usd(-diff) + " less"
		default:
			change = usd(diff) + " more"
		}
	}
	return [][2]string{
		{"bill", fmt.Sprintf("%s for the prompts of %s, ideally cached", change, phrase.Count(b.Requests, "request"))},
		{"", "recorded: " + served(b.Was, b.Priced)},
		{"", "with it:  " + served(b.Is, b.Priced)},
	}
}

func served(s cache.Served, priced bool) string {
	return fmt.Sprintf("%d tokens read, %d written", s.Read, s.Write) + phrase.If(priced, ", %s", usd(s.Cost))
}

// writePatchMarkdown writes a trial or a run as a page for a review.
func writePatchMarkdown(w *bufio.Writer, p *plan.Plan) error {
	if p.Run != nil {
		writeRunMarkdown(w, p)
		return nil
	}
	t := p.Patch
	w.Write(append(markdown.AppendInline([]byte("# Patch of "), []byte(planned(p))), '\n'))
	fmt.Fprintf(w, "\n- **Boundary**: `%s` of request %d\n", t.Reason, t.Request)
	for _, line := range linesOf(t) {
		fmt.Fprintf(w, "- %s\n", line)
	}
	writeMarkdownTable(w, verdictTable(t.Verdicts))
	if t.Difference == nil {
		return nil
	}
	writeMarkdownTable(w, sizeTable(t.Sizes))
	if t.Difference.Equal() {
		return nil
	}
	w.WriteByte('\n')
	return writeDiffMarkdown(w, t.Difference)
}

// writePatchEnvelope writes the context with the results, as ctxtool replay does.
func writePatchEnvelope(w *bufio.Writer, p *plan.Plan) error {
	if p.Patch.Envelope == nil {
		return nil
	}
	return writeEnvelope(w, Report{Envelope: p.Patch.Envelope})
}

// linesOf returns the cost lines of a trial that is not refused.
func linesOf(t *hook.Trial) (all []string) {
	if t.Difference == nil {
		return nil
	}
	name := ""
	for _, line := range costLines(t) {
		if line[0] != "" {
			name = line[0]
		}
		all = append(all, fmt.Sprintf("**%s**: %s", strings.ToUpper(name[:1])+name[1:], line[1]))
	}
	return all
}

// runTable returns a row per answer of a hook. The time of a call is only shown as text, since it
// differs from run to run.
func runTable(r *hook.Run) table.Table {
	served := func(row *hook.Row) *hook.Row {
		if row.Is == nil {
			return nil
		}
		return row
	}
	priced := r.Bill != nil && r.Bill.Priced
	return table.Of(r.Rows, slices.Concat([]col[*hook.Row]{
		{Name: "request", Unit: table.Number, Value: func(r *hook.Row) any { return r.Request }},
		{Name: "reason", Value: func(r *hook.Row) any { return strings.ReplaceAll(string(r.Reason), "_", " ") }, Yields: 3},
		{Name: "operations", Value: func(r *hook.Row) any { return operations(r) }, Flex: true},
		{Name: "before", Unit: table.Tokens, Value: func(r *hook.Row) any { return r.Before }},
		{Name: "after", Unit: table.Tokens, Value: func(r *hook.Row) any { return r.After }},
	}, table.Within(served, nil, []col[*hook.Row]{
		{Name: "read before", Unit: table.Tokens, Value: func(r *hook.Row) any { return r.Was.Read }, Yields: 1},
		{Name: "read after", Unit: table.Tokens, Value: func(r *hook.Row) any { return r.Is.Read }, Yields: 1},
		{Name: "cost before", Unit: table.Dollars, Value: func(r *hook.Row) any { return table.If(priced, usd(r.Was.Cost)) }},
		{Name: "cost after", Unit: table.Dollars, Value: func(r *hook.Row) any { return table.If(priced, usd(r.Is.Cost)) }},
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

// writeRun writes what a hook did in a session as text.
func writeRun(w *bufio.Writer, p *plan.Plan, on Screen) {
	r := p.Run
	fmt.Fprintf(w, "%s: %s\n", planned(p), runWords(r))
	timed := r.Took > 0
	if timed {
		fmt.Fprintf(w, "  %s a call\n", (r.Took / time.Duration(r.Calls)).Round(10*time.Microsecond))
	}
	if p.Written != "" && p.Written != "-" {
		fmt.Fprintf(w, "  wrote the session with its patches to %s\n", sessionfmt.Clean(p.Written))
	}
	if len(r.Rows) > 0 {
		w.WriteByte('\n')
		rows := runTable(r)
		if !timed {
			rows = rows.Without("time")
		}
		WriteTable(w, rows, on)
	}
	if r.Bill != nil {
		w.WriteByte('\n')
		for _, line := range billLines(r.Bill) {
			aligned(w, line[0], "%s", line[1])
		}
	}
}

func runWords(r *hook.Run) string {
	return fmt.Sprintf("%s for %s: %d patched, %d failed", phrase.Count(r.Calls, "call"), phrase.Count(r.Requests, "request"), r.Patched, r.Failed) +
		phrase.If(r.Skipped > 0, "; %s skipped, since three in a row took too long", phrase.Count(r.Skipped, "call"))
}

func writeRunMarkdown(w *bufio.Writer, p *plan.Plan) {
	r := p.Run
	w.Write(append(markdown.AppendInline([]byte("# Hook on "), []byte(planned(p))), "\n\n"...))
	w.Write(append(code([]byte("- **Command**: "), r.Command), '\n'))
	fmt.Fprintf(w, "- **Calls**: %s\n", runWords(r))
	if r.Bill != nil {
		for k, line := range billLines(r.Bill) {
			fmt.Fprintf(w, "- %s%s\n", phrase.If(k == 0, "**Bill**: "), line[1])
		}
	}
	writeMarkdownTable(w, runTable(r).Without("time"))
}
