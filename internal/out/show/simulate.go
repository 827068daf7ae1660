package show

import (
	"bufio"
	"fmt"
	"slices"

	"ctxtool/internal/lens/simulate"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/stats/table"
)

// policyColumn returns the column of the names of policies, the best of several marked.
func policyColumn(r *simulate.Report) col[*simulate.Run] {
	return col[*simulate.Run]{Name: "policy", Flex: true, Value: func(one *simulate.Run) any {
		name := one.Policy
		if name == simulate.Recorded {
			name = "recorded, ideal cache"
		}
		if len(r.Runs) > 1 && one.Policy == r.Best {
			return table.Best(name)
		}
		return name
	}}
}

// asBilled is the name of the row of what was paid.
const asBilled = "as billed"

// policies returns the table of policies.
func policies(r *simulate.Report) table.Table {
	decimals := costDecimals(r.Runs)
	rows := slices.Clone(r.Runs)
	if len(rows) > 0 && rows[0].Billed != nil {
		b := rows[0].Billed
		rows = slices.Insert(rows, 0, &simulate.Run{Policy: asBilled, Cost: simulate.Cost{Total: b.Cost},
			HitRate: b.HitRate, Billed: b})
	}
	run := func(r *simulate.Run) *simulate.Run { // not of what was billed
		if r.Policy == asBilled {
			return nil
		}
		return r
	}
	return table.Stream(slices.Values(rows), slices.Concat([]col[*simulate.Run]{policyColumn(r)},
		table.Within(run, nil, []col[*simulate.Run]{
			{Name: "peak", Unit: table.Short, Value: func(r *simulate.Run) any { return r.Peak }},
			{Name: "mean", Unit: table.Short,
				Value: func(r *simulate.Run) any { return int64(r.Mean) }, Yields: 4},
			{Name: "overflows", Unit: table.Number,
				Value: func(r *simulate.Run) any { return r.Overflows }, Style: nonZero},
			{Name: "compactions", Unit: table.Number, Yields: 1,
				Value: func(r *simulate.Run) any { return r.Compactions }},
			{Name: "rebilled", Unit: table.Short, Yields: 3,
				Value: func(r *simulate.Run) any { return r.Rebilled.Tokens }},
		}...), []col[*simulate.Run]{
			{Name: "cost", Unit: table.Dollars, Value: func(r *simulate.Run) any {
				return table.Marked(r.Policy == asBilled && r.Billed.Recorded < r.Billed.Cost,
					simulatedCost(r, decimals))
			}},
		}, []col[*simulate.Run]{
			{Name: "hit rate", Unit: table.Share, Yields: 2, Value: func(r *simulate.Run) any { return r.HitRate }},
		},
		table.Within(run, nil, []col[*simulate.Run]{
			{Name: "regrets", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Regrets }},
		}...)))
}

// nonZero returns the style of a number that should be 0.
func nonZero(cell string) style {
	if cell == "0" {
		return faint
	}
	return warning
}

// costDecimals returns with how many decimals the costs of runs are shown.
func costDecimals(runs []*simulate.Run) int {
	most := 0.0
	for _, r := range runs {
		most = max(most, r.Cost.Total)
	}
	return decimalsOf(most)
}

// decimalsOf returns with how many decimals amounts are shown beside the largest of them.
func decimalsOf(most float64) int {
	if most >= 1 {
		return 2
	}
	return 4
}

// simulatedCost returns the cost of a run.
func simulatedCost(r *simulate.Run, decimals int) table.Money {
	return table.Money{Dollars: r.Cost.Total, Decimals: decimals, Unpriced: int64(r.Unpriced)}
}

// simulationSheets returns the decisions of the policies, or without any which policy is the best.
func simulationSheets(r *simulate.Report) (all []table.Sheet) {
	for _, one := range r.Runs {
		if d := one.Decision; d != nil {
			all = append(all, decisionSheet(d))
		}
	}
	if all != nil || len(r.Runs) == 0 {
		return all
	}
	all = []table.Sheet{{
		Title: contestTitle(r), Above: r.Why, Table: policies(r), Notes: simulateNotes(r),
	}}
	if slices.ContainsFunc(r.Runs, func(one *simulate.Run) bool { return one.Regrets > 0 }) {
		kinds := slices.Concat([]col[*simulate.Run]{policyColumn(r)}, regretColumns(""))
		all = append(all, table.Sheet{
			Title: "What the regrets are: a call that was made again, a path, a line, or an identifier",
			Table: table.Stream(slices.Values(r.Runs), kinds),
		})
	}
	return all
}

// regretColumns returns the regrets by kind, with a prefix before the names.
func regretColumns(prefix string) []col[*simulate.Run] {
	return []col[*simulate.Run]{
		{Name: prefix + "call", Unit: table.Number, Value: func(r *simulate.Run) any { return r.ByKind.Call }},
		{Name: prefix + "path", Unit: table.Number, Value: func(r *simulate.Run) any { return r.ByKind.Path }},
		{Name: prefix + "line", Unit: table.Number, Value: func(r *simulate.Run) any { return r.ByKind.Line }},
		{Name: prefix + "identifier", Unit: table.Number,
			Value: func(r *simulate.Run) any { return r.ByKind.Identifier }},
	}
}

// contestTitle returns what policies were tried on.
func contestTitle(r *simulate.Report) string {
	one := r.Runs[0]
	return phrase.Count(one.Requests, "request") + " of " + phrase.If(one.Sessions == 0, "the path") +
		phrase.If(one.Sessions > 0, "the paths of %s", phrase.Count(one.Sessions, "session")) +
		phrase.If(one.Window > 0, ", window %s (%s)", phrase.Short(one.Window), phrase.WindowFrom(one.WindowFrom))
}

// simulateNotes returns why policies changed nothing, and what the figures rest on.
func simulateNotes(r *simulate.Report) (notes []string) {
	for _, one := range r.Runs {
		if one.Idle != "" {
			notes = append(notes, fmt.Sprintf("%s changed nothing: %s", sessionfmt.Clean(one.Policy), one.Idle))
		}
		if one.Failed > 0 && one.Idle == "" {
			notes = append(notes, sessionfmt.Clean(one.Policy)+": "+one.Failures())
		}
	}
	if len(r.Runs) > 0 && r.Runs[0].Estimated {
		notes = append(notes, "no use of a cache is recorded: tokens are those of the usage, or counted")
	}
	if len(r.Runs) > 0 && r.Runs[0].Unpriced > 0 {
		notes = append(notes, fmt.Sprintf("%s of models without a price", phrase.Count(r.Runs[0].Unpriced, "request")))
	}
	return notes
}

// widestWhat is the width of the longest description of a message, in columns.
const widestWhat = 60

// decisionSheet returns why a policy kept or changed each message before a request.
func decisionSheet(d *simulate.Decision) table.Sheet {
	s := table.Sheet{
		Title: fmt.Sprintf("%s before request %d, window %d, counted by %s", d.Policy, d.Request, d.Window, d.Counter),
		Table: table.Of(d.Items, decidedColumns),
	}
	for _, l := range d.Layers {
		state := "always runs"
		if l.Trigger != "" {
			state = fmt.Sprintf("%d%s, %s", l.Used, phrase.If(l.Limit > 0, " of %.0f", l.Limit), l.Trigger)
		}
		did := "not triggered"
		if l.Fired {
			did = phrase.Count(l.Changes, "change")
		}
		s.Above = append(s.Above, fmt.Sprintf("%s: %s; %s", l.Pass, state, did))
	}
	return s
}

var decidedColumns = slices.Concat([]col[*simulate.Decided]{
	{Name: "entry", Unit: table.Entry, Value: func(d *simulate.Decided) any { return d.Entry }, Style: always(faint)},
	{Name: "what", Flex: true,
		Value: func(d *simulate.Decided) any { return fit(sessionfmt.Clean(d.What), widestWhat) }},
}, []col[*simulate.Decided]{
	{Name: "tokens", Unit: table.Tokens, Value: func(d *simulate.Decided) any { return d.Tokens }},
	{Name: "running", Unit: table.Tokens, Value: func(d *simulate.Decided) any { return d.Running }},
	{Name: "action", Value: func(d *simulate.Decided) any { return d.Action }},
}, []col[*simulate.Decided]{
	{Name: "now", Unit: table.Tokens, Yields: 1, Value: func(d *simulate.Decided) any {
		return table.If(d.Action != "keep", d.Now)
	}},
	{Name: "why", Value: func(d *simulate.Decided) any { return d.Why }},
})

// writeSimulationLines writes the requests, an object a line, and the report as the last line.
func writeSimulationLines(w *bufio.Writer, r *simulate.Report) error {
	for _, one := range r.Runs {
		if err := writeLines(w, one.Rows); err != nil {
			return err
		}
	}
	return WriteJSON(w, map[string]any{"total": r})
}

// A simulated is the run of a policy on a session, or the reason why there is none.
type simulated struct {
	*simulate.Report
	*simulate.Run // nil with an error
}

// simulatedTable returns the runs of sessions for programs; tokens, and dollars.
func simulatedTable(all ...*simulate.Report) table.Table {
	var rows []simulated
	for _, r := range all {
		for _, one := range r.Runs {
			rows = append(rows, simulated{r, one})
		}
		if r.Error != "" {
			rows = append(rows, simulated{r, nil})
		}
	}
	return table.Of(rows, slices.Concat(
		[]col[*simulated]{{Name: "file", Value: func(s *simulated) any { return s.File }}},
		table.Within(func(s *simulated) *simulate.Run { return s.Run }, nil, runColumns...),
		[]col[*simulated]{{Name: "error", Value: func(s *simulated) any { return table.If(s.Run == nil, s.Error) }}},
	))
}

var runColumns = slices.Concat(
	[]col[*simulate.Run]{
		{Name: "policy", Value: func(r *simulate.Run) any { return r.Policy }},
		{Name: "requests", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Requests }},
		{Name: "window", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Window }},
		{Name: "peak", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Peak }},
		{Name: "mean", Value: func(r *simulate.Run) any { return r.Mean }},
		{Name: "overflows", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Overflows }},
		{Name: "compactions", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Compactions }},
		{Name: "acts", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Acts }},
		{Name: "prompt", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Prompt }},
		{Name: "read", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Read }},
		{Name: "write", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Write }},
		{Name: "hit_rate", Value: func(r *simulate.Run) any { return r.HitRate }},
		{Name: "rebilled_tokens", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Rebilled.Tokens }},
	},
	[]col[*simulate.Run]{{Name: "rebilled_cost", Value: func(r *simulate.Run) any { return moneyOf(r.Rebilled, 4) }}},
	[]col[*simulate.Run]{
		{Name: "output", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Output }},
	},
	table.Within(pricedCost, nil, []col[*simulate.Cost]{
		{Name: "cost_input", Value: func(c *simulate.Cost) any { return c.Input }},
		{Name: "cost_read", Value: func(c *simulate.Cost) any { return c.CacheRead }},
		{Name: "cost_write", Value: func(c *simulate.Cost) any { return c.CacheWrite }},
		{Name: "cost_output", Value: func(c *simulate.Cost) any { return c.Output }},
		{Name: "cost_summaries", Value: func(c *simulate.Cost) any { return c.Summaries }},
		{Name: "cost", Value: func(c *simulate.Cost) any { return c.Total }},
	}...),
	[]col[*simulate.Run]{
		{Name: "regrets", Unit: table.Number, Value: func(r *simulate.Run) any { return r.Regrets }},
	}, regretColumns("regrets_"),
)

// pricedCost returns the cost of a run, nil if none of it has a known price.
func pricedCost(r *simulate.Run) *simulate.Cost {
	if !simulatedCost(r, 0).Known() {
		return nil
	}
	return &r.Cost
}
