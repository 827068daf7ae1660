package render

import (
	"bufio"
	"ctxtool/compact"
	"ctxtool/internal/base/table"
	"ctxtool/internal/phrase"
	"ctxtool/internal/plan"
	"fmt"
	"slices"
)

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
func writeSum(w *bufio.Writer, all []*plan.Plan) error {
	var sum struct {
		Sessions, Was, Now, Entries, Changed, InUse, Failed int
		Reduces                                             bool
	}
	sum.Sessions = len(all)
	for _, p := range all {
		if p.Reduction != nil {
			sum.Reduces = true
			sum.Was, sum.Now = sum.Was+p.Reduction.Before, sum.Now+tokensAfter(p)
		}
		if p.Changes() {
			sum.Entries, sum.Changed = sum.Entries+p.Entries, sum.Changed+1
		}
		if p.InUse {
			sum.InUse++
		}
		if p.Error != "" {
			sum.Failed++
		}
	}
	return fill(w, "sum", sum, Screen{})
}
