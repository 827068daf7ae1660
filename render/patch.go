package render

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"ctxtool/internal/markdown"
	"ctxtool/internal/phrase"
	"ctxtool/internal/plan"
	"ctxtool/replay/cache"
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
	columns := []Column{{Name: "op", Right: true}, {Name: "operation"}, {Name: "verdict", style: rulingStyle}, {Name: "why", Flex: true}}
	WriteTable(w, columns, verdictCells(t.Verdicts), on)
	if t.Difference == nil {
		return nil
	}
	w.WriteByte('\n')
	columns = []Column{{Name: "tokens"}, {Name: "before", Right: true}, {Name: "after", Right: true}, {Name: "change", Right: true}}
	WriteTable(w, columns, sizeCells(t.Sizes), on)
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

// verdictCells returns a row per operation.
func verdictCells(all []hook.Verdict) (rows [][]string) {
	several := len(all) > 0 && all[len(all)-1].Result > 0
	for _, v := range all {
		number := fmt.Sprint(v.Op)
		if several {
			number = fmt.Sprintf("%d.%d", v.Result, v.Op)
		}
		rows = append(rows, []string{number, v.Name, string(v.Ruling), reasonOf(v)})
	}
	return rows
}

// reasonOf returns why a ruling was made, without the number and name of the operation.
func reasonOf(v hook.Verdict) string {
	if _, why, ok := strings.Cut(v.Text, "): "); ok {
		return sessionfmt.Clean(why)
	}
	return sessionfmt.Clean(v.Text)
}

// sizeCells returns a row per category, of each counter.
func sizeCells(sizes []hook.Size) (rows [][]string) {
	for _, s := range sizes {
		for _, c := range categories {
			name := c.name
			if len(sizes) > 1 {
				name += ", " + s.Counter
			}
			was, is := c.of(s.Before), c.of(s.After)
			rows = append(rows, []string{name, fmt.Sprint(was), fmt.Sprint(is), signed(is - was)})
		}
	}
	return rows
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

// usd returns an amount of dollars.
func usd(n float64) string { return money(n, 4, 0) }

// money returns an amount of dollars. If it lacks what has no known price, it is a lower bound, with
// a plus sign, or unknown if nothing has one.
func money(dollars float64, decimals int, unpriced int64) string {
	if !priced(dollars, unpriced) {
		return "unknown"
	}
	return fmt.Sprintf("$%.*f", decimals, dollars) + phrase.If(unpriced > 0, "+")
}

// priced reports whether anything of an amount has a known price.
func priced(dollars float64, unpriced int64) bool { return dollars > 0 || unpriced == 0 }

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
	w.WriteString("\n| op | operation | verdict | why |\n|---:|---|---|---|\n")
	writeCells(w, verdictCells(t.Verdicts))
	if t.Difference == nil {
		return nil
	}
	w.WriteString("\n| tokens | before | after | change |\n|---|---:|---:|---:|\n")
	writeCells(w, sizeCells(t.Sizes))
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

// writeCells writes rows of a Markdown table.
func writeCells(w *bufio.Writer, rows [][]string) {
	for _, row := range rows {
		w.WriteByte('|')
		for _, cell := range row {
			w.Write(append(markdown.AppendInline([]byte{' '}, []byte(cell)), " |"...))
		}
		w.WriteByte('\n')
	}
}

// runColumns are the columns of the answers of a hook. The time of a call is only shown as text,
// since it differs from run to run.
var runColumns = []Column{
	{Name: "request", Right: true}, {Name: "reason", Yields: 3}, {Name: "operations", Flex: true}, {Name: "before", Right: true}, {Name: "after", Right: true},
	{Name: "read before", Right: true, Yields: 1}, {Name: "read after", Right: true, Yields: 1}, {Name: "cost before", Right: true}, {Name: "cost after", Right: true},
}

// runCells returns a row per answer.
func runCells(r *hook.Run) (rows [][]string) {
	for _, row := range r.Rows {
		what := strings.Join(row.Ops, ", ")
		for _, v := range row.Verdicts {
			what += fmt.Sprintf("; %s: %s", v.Ruling, v.Text)
		}
		if row.Error != "" {
			what = "failed: " + row.Error
		}
		cells := []string{fmt.Sprint(row.Request), strings.ReplaceAll(string(row.Reason), "_", " "), sessionfmt.Clean(what), fmt.Sprint(row.Before), fmt.Sprint(row.After), "", "", "", ""}
		if row.Is != nil {
			cells[5], cells[6] = fmt.Sprint(row.Was.Read), fmt.Sprint(row.Is.Read)
			if r.Bill != nil && r.Bill.Priced {
				cells[7], cells[8] = usd(row.Was.Cost), usd(row.Is.Cost)
			}
		}
		rows = append(rows, cells)
	}
	return rows
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
		columns := append([]Column(nil), runColumns...)
		rows := runCells(r)
		if timed {
			columns = append(columns, Column{Name: "time", Right: true, Yields: 4})
			for k := range rows {
				rows[k] = append(rows[k], r.Rows[k].Took.Round(100*time.Microsecond).String())
			}
		}
		WriteTable(w, columns, rows, on)
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
	if len(r.Rows) == 0 {
		return
	}
	w.WriteString("\n| request | reason | operations | before | after | read before | read after | cost before | cost after |\n|---:|---|---|---:|---:|---:|---:|---:|---:|\n")
	writeCells(w, runCells(r))
}
