package render

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/base/table"
	"ctxtool/internal/check"
	"ctxtool/internal/diff"
	"ctxtool/internal/phrase"
	"ctxtool/internal/plan"
	"ctxtool/replay/hook"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
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
	s.Above = append(s.Above, sentences("patch", t)...)
	return []table.Sheet{s, {Table: sizeTable(t.Sizes)}}
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
	}, table.Fields[hook.Row]("before:tokens after:tokens read+before=was.read:tokens!1 read+after=is.read:tokens!1"),
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
	s.Above = append(append(s.Above, failures(r.Rows)...), sentences("bill", r.Bill)...)
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

// writeRewrite writes the plan line by line. A change of more than three lines is one line
// with their number.
func writeRewrite(w *bufio.Writer, p *plan.Plan) error {
	if err := fill(w, "rewriting", p, Screen{}); err != nil {
		return err
	}
	times := map[string]int{}
	for c, err := range p.Rewrite.Changes {
		if err != nil {
			return err
		}
		for _, n := range c.Notes {
			times[n]++
		}
	}
	for c, err := range p.Rewrite.Changes {
		if err != nil {
			return err
		}
		l := p.Line(c)
		for _, n := range c.Notes {
			more := ""
			if times[n] == 0 {
				continue
			} else if times[n] > 3 {
				more = fmt.Sprintf(" (and %d more like it)", times[n]-1)
				times[n] = 0
			}
			fmt.Fprintf(w, "  %6d  %-8s  %s%s\n", l.Line, l.Entry, sessionfmt.Clean(n), more)
		}
	}
	return fill(w, "rewritten", p, Screen{})
}

// versions returns the version of a session, and the one that it is migrated to.
func versions(r *plan.Rewrite) string {
	if r.From == r.To {
		return fmt.Sprint(r.To)
	}
	return fmt.Sprintf("%d to %d", r.From, r.To)
}

// placed returns a finding with its place.
func placed(f check.Finding) string {
	return phrase.If(f.Line > 0, "line %d: ", f.Line) + phrase.If(f.Entry != "", "entry %s: ", f.Entry) + f.Code +
		": " + f.Text
}

// writeLinesJSON writes the changes of lines, as the last field of a plan.
func writeLinesJSON(w *bufio.Writer, p *plan.Plan) error {
	w.WriteString(`,"changes":[`)
	sep := ""
	for c, err := range p.Rewrite.Changes {
		if err != nil {
			return err
		}
		if c.Same {
			continue
		}
		w.WriteString(sep)
		if err := writeValue(w, p.Line(c)); err != nil {
			return err
		}
		sep = ","
	}
	return w.WriteByte(']')
}

// writePlanDiff writes the changes of a plan as a unified diff without context, which patch
// applies: the plan has the new lines for each old one.
func writePlanDiff(w *bufio.Writer, p *plan.Plan) error {
	fmt.Fprintf(w, "--- %s\n+++ %s\n", sessionfmt.Clean(p.Session.File), sessionfmt.Clean(p.Session.File))
	old, fresh := 0, 0 // numbers of lines written so far
	mark, kept := "", ""
	for c, err := range p.Rewrite.Changes {
		if err != nil {
			return err
		}
		if !c.Ended && c.Record < 0 && string(c.Raw) == jsonl.BOM {
			mark = jsonl.BOM
			if c.Same { // the byte order mark begins the next line
				kept = mark
			}
			continue
		}
		took, lines := 1, c.New
		switch {
		case c.Same && len(mark) == len(kept):
			old, fresh, mark, kept = old+1, fresh+1, "", ""
			continue
		case c.Same:
			lines = [][]byte{c.Raw}
		case c.Record < 0 && c.Raw == nil:
			took = 0 // lines that are appended
		}
		fmt.Fprintf(w, "@@ -%s +%s @@\n", span(old, took), span(fresh, len(lines)))
		if took == 1 {
			fmt.Fprintf(w, "-%s%s\n", mark, c.Raw)
			if !c.Ended {
				w.WriteString("\\ No newline at end of file\n")
			}
		}
		for _, line := range lines {
			fmt.Fprintf(w, "+%s%s\n", kept, line)
			kept = ""
		}
		old, fresh, mark, kept = old+took, fresh+len(lines), "", ""
	}
	return nil
}

// span returns a range of n lines as a hunk names it, after that many lines.
func span(after, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", after)
	case 1:
		return fmt.Sprint(after + 1)
	}
	return fmt.Sprintf("%d,%d", after+1, n)
}

// Policies are the policies to list, schema ctxtool/policies/2.
type Policies struct {
	Schema   string            `json:"schema"`
	Policies []*compact.Policy `json:"policies"` // those of the configuration first
}

// writePolicies writes policies as text, each with its layers below it.
func writePolicies(w *bufio.Writer, list Policies, on Screen) error {
	for k, p := range list.Policies {
		if k > 0 {
			w.WriteByte('\n')
		}
		if err := fill(w, "policy", p, on); err != nil {
			return err
		}
	}
	return nil
}

// optionText returns options in a line: names as in a configuration, and values.
func optionText(o compact.Options) string {
	text, err := json.Marshal(o)
	if err != nil {
		return ""
	}
	return strings.NewReplacer("{", "", "}", "", `"`, "", ":", " ", ",", ", ", "minTokens", "min_tokens", "intraTurn",
		"intra_turn").Replace(string(text))
}
