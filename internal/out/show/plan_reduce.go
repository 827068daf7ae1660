package show

import (
	"bufio"
	"fmt"
	"slices"
	"unicode/utf8"

	"ctxtool/compact"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/read/phrase"
	"ctxtool/stats/table"
)

// summaryLines is the number of lines of a summary that text has.
const summaryLines = 12

// changesTable returns the first changes, and below them the first that cannot be stored.
func changesTable(r *compact.Reduction) table.Table {
	stored := func(c *compact.Change) bool { return c.Action != "cannot" }
	rows := slices.Clone(r.Changes[:min(plan.MostChanges, len(r.Changes))])
	for _, c := range r.Cannot[:min(plan.MostChanges, len(r.Cannot))] {
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
	var was, now, entries, changed, inUse, failed int
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
	proseOn(w, Screen{}).line("%v", phrase.Count(len(all), "session")+fmt.Sprintf(", %d of them changed", changed)+
		phrase.If(reduces, ": %d -> %d tokens", was, now)+
		phrase.If(reduces || entries > 0, ", %s", phrase.Count(entries, "entry"))+
		phrase.If(inUse > 0, "; %d skipped: in use", inUse)+phrase.If(failed > 0, "; %d failed", failed))
}

// reduction writes what a policy does to a context.
func (p prose) reduction(of *plan.Plan) {
	r := of.Reduction
	p.line("%v: %v: %v", planned(of), appending(of), lessTokens(r))
	p.line("  context %v", of.Context)
	p.line("  policy %v, stored as %v, counted by %v", r.Policy, r.Form, r.Counter)
	p.line("  window %v tokens (%v)", r.Window, phrase.WindowFrom(r.WindowFrom))
	if len(r.Changes)+len(r.Cannot) > 0 {
		p.line("")
		p.table(changesTable(r))
	}
	if more := max(0, len(r.Changes)-plan.MostChanges) + max(0, len(r.Cannot)-plan.MostChanges); more > 0 {
		p.line("%v more with -f json", more)
	}
	if len(r.Layers) > 0 {
		p.line("")
	}
	if g := r.Guard; g != nil {
		p.line("%v%v at %v%% of the window", under("guard"), g.Verdict, g.Percent)
		for _, line := range linesOf(g.Status) {
			p.line("%v%v", under(""), line)
		}
	}
	for k := range r.Layers {
		p.layer(&r.Layers[k], of)
	}
	for _, wait := range r.Waits {
		p.line("%vwaits for a summary: %v", under(""), wait)
	}
	p.summary(r)
	p.cacheEffect(r)
	if r.Warning != "" {
		p.line("%v%v", under("warning"), r.Warning)
	}
	if r.Notice != "" {
		p.line("%v", r.Notice)
	}
	if r.Unknown != nil {
		p.line("%v is not in the models table; to configure it:", r.Unknown.Name())
		p.line("  %v", r.Unknown.Setting())
	}
}

// layer writes what decided whether a layer ran, and what it did.
func (p prose) layer(l *compact.LayerPlan, of *plan.Plan) {
	r, name := of.Reduction, under(l.Pass)
	if l.Trigger != "" {
		p.line("%v%vtriggered: %v of %v tokens%v, threshold %v", name, phrase.If(!l.Fired, "not "), l.Used, r.Window,
			phrase.If(r.Window > 0, " (%s)", phrase.Percent(float64(l.Used)/float64(r.Window))),
			fmt.Sprintf("%.0f", l.Limit))
		name = under("") // what it was decided by has the name
		if l.By != r.Counter {
			p.line("%v%v%v", name, l.By,
				phrase.If(of.Context.Tokens != of.Context.Estimated, ", by the usage of the last answer"))
		}
	}
	switch {
	case !l.Fired:
	case l.Report.Skipped:
		p.line("%v%v", name, l.Report.SkipReason)
	default:
		p.line("%v%v, %v -> %v tokens", name, phrase.Count(len(l.Report.Touched), "change"), l.Report.TokensBefore,
			l.Report.TokensAfter)
	}
}

// summary writes the beginning of the summary that a compaction stores.
func (p prose) summary(r *compact.Reduction) {
	if r.Summary == "" {
		return
	}
	p.line("")
	p.line("summary, %v, in %v's frame%v", phrase.Count(utf8.RuneCountInString(r.Summary), "character"), r.Frame,
		phrase.If(r.OwnFrame != "", "; --as transform stores %s's", r.OwnFrame))
	lines := linesOf(r.Summary)
	for _, line := range lines[:min(summaryLines, len(lines))] {
		p.put("  ", line)
	}
	if more := len(lines) - summaryLines; more > 0 {
		p.line("  … %v, with -f json", phrase.Count(more, "more line"))
	}
	p.line("")
}

// cacheEffect writes what a reduction does to the prompt cache, and what undoing it takes.
func (p prose) cacheEffect(r *compact.Reduction) {
	c := r.Cache
	if c == nil {
		return
	}
	p.line("%vbroken at message %v of %v: ~%v tokens stay cached", under("prompt cache"), c.Message, c.Of, c.Kept)
	p.line("%v~%v tokens rebilled%v%v", under(""), c.Written, cost(c.Cost),
		phrase.If(r.Prices != "", " (prices of %s)", r.Prices))
	u := r.Undo
	switch {
	case u == nil:
		p.line("%vnot possible: --no-mark", under("undo"))
		return
	case u.Later > 0:
		p.line("%v%v until the next message; then %v, as long as nothing edits", under("undo"),
			phrase.Count(u.Entries, "entry"), u.Later)
		p.line("%vor summarizes these messages again", under(""))
	default:
		p.line("%v%v until the next message; then it is not possible", under("undo"), phrase.Count(u.Entries, "entry"))
	}
	p.line("%vup to ~%v tokens rebilled%v", under(""), u.Rebilled, cost(u.Cost))
}
