package render

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ctxtool/compact"
	"ctxtool/internal/base/table"
	"ctxtool/internal/phrase"
	"ctxtool/internal/plan"
	"ctxtool/sessionfmt"
)

// writeReduction writes a reduction as text: its size, its changes, what each layer decided
// and did, the summary, and the effect on the prompt cache.
func writeReduction(w *bufio.Writer, p *plan.Plan, on Screen) {
	r := p.Reduction
	fmt.Fprintf(w, "%s: %s: %s\n", planned(p), sessionfmt.Clean(appending(p)), lessTokens(r))
	fmt.Fprintf(w, "  context %s\n", p.Context)
	fmt.Fprintf(w, "  policy %s, stored as %s, counted by %s\n", sessionfmt.Clean(r.Policy), r.Form, r.Counter)
	fmt.Fprintf(w, "  window %d tokens (%s)\n", r.Window, phrase.WindowFrom(r.WindowFrom))
	changes, cannot := r.Changes[:min(plan.MostChanges, len(r.Changes))], r.Cannot[:min(plan.MostChanges, len(r.Cannot))]
	if shown := len(changes) + len(cannot); shown > 0 {
		w.WriteByte('\n')
		WriteTable(w, changesTable(changes, cannot), on)
		if more := len(r.Changes) + len(r.Cannot) - shown; more > 0 {
			fmt.Fprintf(w, "%d more with -f json\n", more)
		}
	}
	writeLayers(w, r)
	writeNewSummary(w, r, on)
	writeEffects(w, r)
	if r.Unknown != nil {
		fmt.Fprintf(w, "%s is not in the models table; to configure it:\n  %s\n", sessionfmt.Clean(r.Unknown.Name()), sessionfmt.Clean(r.Unknown.Setting()))
	}
}

// changesTable returns changes, and below them what cannot be stored.
func changesTable(changes, cannot []compact.Change) table.Table {
	stored := func(c *compact.Change) bool { return c.Action != "cannot" }
	rows := slices.Clone(changes)
	for _, c := range cannot {
		c.Action, c.Why = "cannot", c.Why+phrase.If(c.Could != "", "; --as %s could", c.Could)
		rows = append(rows, c)
	}
	return table.Of(rows, []col[*compact.Change]{
		{Name: "entry", Value: func(c *compact.Change) any { return c.Entry }, Style: always(faint)},
		{Name: "pass", Value: func(c *compact.Change) any { return c.Pass }},
		{Name: "action", Value: func(c *compact.Change) any { return string(c.Action) }, Style: wordStyle},
		{Name: "before", Unit: table.Tokens, Value: func(c *compact.Change) any { return table.If(stored(c), c.Was) }},
		{Name: "after", Unit: table.Tokens, Value: func(c *compact.Change) any { return table.If(stored(c), c.Now) }},
		{Name: "why", Value: func(c *compact.Change) any { return c.Why }, Flex: true},
	})
}

// lessTokens returns the size of the messages before and after a reduction.
func lessTokens(r *compact.Reduction) string {
	if r.After == r.Before {
		return phrase.Count(r.Before, "token")
	}
	return fmt.Sprintf("%d -> %d tokens", r.Before, r.After) +
		phrase.If(r.After < r.Before, " (%s less)", phrase.Percent(1-float64(r.After)/float64(r.Before)))
}

// aligned is a line of the list below the table, under a name or below the line before it.
func aligned(w *bufio.Writer, name, format string, args ...any) {
	fmt.Fprintf(w, "%-14s "+format+"\n", append([]any{name}, args...)...)
}

// writeLayers writes for each layer by which number it was decided, and what it does.
func writeLayers(w *bufio.Writer, r *compact.Reduction) {
	if len(r.Layers) > 0 {
		w.WriteByte('\n')
	}
	if g := r.Guard; g != nil {
		aligned(w, "guard", "%s at %d%% of the window", g.Verdict, g.Percent)
		for line := range strings.Lines(g.Status) {
			aligned(w, "", "%s", strings.TrimSuffix(line, "\n"))
		}
	}
	for _, l := range r.Layers {
		name := l.Pass
		if l.Trigger != "" {
			share := phrase.If(r.Window > 0, " (%s)", phrase.Percent(float64(l.Used)/float64(r.Window)))
			aligned(w, name, "%striggered: %d of %d tokens%s, threshold %.0f", phrase.If(!l.Fired, "not "), l.Used, r.Window, share, l.Limit)
			if l.By != r.Counter {
				aligned(w, "", "%s, by the usage of the last answer", l.By)
			}
			name = ""
		}
		switch {
		case !l.Fired:
		case l.Report.Skipped:
			aligned(w, name, "%s", l.Report.SkipReason)
		default:
			aligned(w, name, "%s, %d -> %d tokens", phrase.Count(len(l.Report.Touched), "change"), l.Report.TokensBefore, l.Report.TokensAfter)
		}
	}
	for _, what := range r.Waits {
		aligned(w, "", "waits for a summary: %s", what)
	}
}

// summaryLines is the number of lines of a summary that text has.
const summaryLines = 12

// writeNewSummary writes the beginning of the summary that would be stored.
func writeNewSummary(w *bufio.Writer, r *compact.Reduction, on Screen) {
	if r.Summary == "" {
		return
	}
	lines := strings.Split(r.Summary, "\n")
	fmt.Fprintf(w, "\nsummary, %s, in %s's frame%s\n", phrase.Count(utf8.RuneCountInString(r.Summary), "character"), r.Frame,
		phrase.If(r.OwnFrame != "", "; --as transform stores %s's", r.OwnFrame))
	for _, line := range lines[:min(summaryLines, len(lines))] {
		put(w, strings.TrimRight("  "+sessionfmt.Clean(line), " "), on)
	}
	if n := len(lines) - summaryLines; n > 0 {
		fmt.Fprintf(w, "  … %s, with -f json\n", phrase.Count(n, "more line"))
	}
	w.WriteByte('\n')
}

// writeEffects writes the effect of a reduction on the prompt cache, the cost of undoing it,
// and a warning.
func writeEffects(w *bufio.Writer, r *compact.Reduction) {
	if c := r.Cache; c != nil {
		aligned(w, "prompt cache", "broken at message %d of %d: ~%d tokens stay cached", c.Message, c.Of, c.Kept)
		aligned(w, "", "~%d tokens rebilled%s%s", c.Written, cost(c.Cost), phrase.If(r.Prices != "", " (prices of %s)", r.Prices))
		writeUndo(w, r)
	}
	if r.Warning != "" {
		aligned(w, "warning", "%s", r.Warning)
	}
	if r.Notice != "" {
		fmt.Fprintf(w, "%s\n", r.Notice)
	}
}

func writeUndo(w *bufio.Writer, r *compact.Reduction) {
	u := r.Undo
	switch {
	case u == nil:
		aligned(w, "undo", "not possible: --no-mark")
		return
	case u.Later == 0:
		aligned(w, "undo", "%s until the next message; then it is not possible", phrase.Count(u.Entries, "entry"))
	default:
		aligned(w, "undo", "%s until the next message; then %d, as long as nothing edits", phrase.Count(u.Entries, "entry"), u.Later)
		aligned(w, "", "or summarizes these messages again")
	}
	aligned(w, "", "up to ~%d tokens rebilled%s", u.Rebilled, cost(u.Cost))
}

// cost returns a price of tokens, or "" if the table has none.
func cost(dollars *float64) string {
	switch {
	case dollars == nil:
		return ""
	case *dollars < 0.0001:
		return ", less than $0.0001"
	}
	return ", about " + phrase.Dollars(*dollars)
}

// writeSum ends the table of a batch.
func writeSum(w *bufio.Writer, all []*plan.Plan) {
	was, now, entries, changed, inUse, failed := 0, 0, 0, 0, 0, 0
	reduces := false
	for _, p := range all {
		if p.Reduction != nil {
			reduces = true
			was, now = was+p.Reduction.Before, now+tokensAfter(p)
		}
		if p.Changes() {
			entries, changed = entries+p.Entries, changed+1
		}
		if p.InUse {
			inUse++
		}
		if p.Error != "" {
			failed++
		}
	}
	if len(all) > 0 {
		w.WriteByte('\n')
	}
	fmt.Fprintf(w, "%s, %d of them changed", phrase.Count(len(all), "session"), changed)
	if reduces {
		fmt.Fprintf(w, ": %d -> %d tokens", was, now)
	}
	if reduces || entries > 0 {
		fmt.Fprintf(w, ", %s", phrase.Count(entries, "entry"))
	}
	if inUse > 0 {
		fmt.Fprintf(w, "; %d skipped: in use", inUse)
	}
	if failed > 0 {
		fmt.Fprintf(w, "; %d failed", failed)
	}
	w.WriteByte('\n')
}
