package render

import (
	"bufio"
	"fmt"
	"slices"

	"ctxtool/internal/phrase"
	"ctxtool/internal/simulate"
	"ctxtool/sessionfmt"
)

// simulateColumns are the columns of the table of policies.
var simulateColumns = []Column{
	{Name: "policy", Flex: true}, {Name: "peak", Right: true}, {Name: "mean", Right: true, Yields: 4}, {Name: "overflows", Right: true, style: nonZero}, {Name: "compactions", Right: true, Yields: 1},
	{Name: "rebilled", Right: true, Yields: 3}, {Name: "cost", Right: true}, {Name: "hit rate", Right: true, Yields: 2}, {Name: "regrets", Right: true},
}

// nonZero is the style of a number that should be 0.
func nonZero(cell string) style {
	if cell == "0" {
		return faint
	}
	return warning
}

// simulateCells returns a row of the table for each policy.
func simulateCells(runs []*simulate.Run, best string) (cells [][]string) {
	decimals := costDecimals(runs)
	for _, r := range runs {
		if b := r.Billed; b != nil {
			cells = append(cells, []string{"as billed", "", "", "", "", "", phrase.If(b.Recorded < b.Cost, "~") + money(b.Cost, decimals, 0), phrase.Percent(b.HitRate), ""})
		}
		cells = append(cells, []string{
			policyName(r) + phrase.If(r.Policy == best, " *"), phrase.Short(r.Peak), phrase.Short(int64(r.Mean)), fmt.Sprint(r.Overflows), fmt.Sprint(r.Compactions),
			phrase.Short(r.Rebilled.Tokens), simulatedCost(r, decimals), phrase.Percent(r.HitRate), fmt.Sprint(r.Regrets),
		})
	}
	return cells
}

// policyName names the policy of a run.
func policyName(r *simulate.Run) string {
	if r.Policy == simulate.Recorded {
		return "recorded, ideal cache"
	}
	return sessionfmt.Clean(r.Policy)
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
func simulatedCost(r *simulate.Run, decimals int) string {
	return money(r.Cost.Total, decimals, int64(r.Unpriced))
}

// writeSimulation writes the table of policies, with the best one and what to know of the others.
func writeSimulation(w *bufio.Writer, r *simulate.Report, on Screen) error {
	if d := decisions(r); len(d) > 0 {
		for _, one := range d {
			if err := writeDecision(w, one, on); err != nil {
				return err
			}
		}
		return nil
	}
	return writeContest(w, r, on)
}

// writeContest writes the table of policies, the best of them, and what the figures rest on.
func writeContest(w *bufio.Writer, r *simulate.Report, on Screen) error {
	if len(r.Runs) > 0 {
		fmt.Fprintf(w, "%s\n\n", contestTitle(r))
	}
	if err := WriteTable(w, simulateColumns, simulateCells(r.Runs, phrase.If(len(r.Runs) > 1, "%s", r.Best)), on); err != nil {
		return err
	}
	for i, sentence := range r.Why {
		fmt.Fprintf(w, "%s%s\n", phrase.If(i == 0, "\n"), sessionfmt.Clean(sentence))
	}
	for i, note := range simulateNotes(r) {
		w.WriteString(phrase.If(i == 0, "\n"))
		put(w, note, on)
	}
	return nil
}

// contestTitle returns what policies were tried on.
func contestTitle(r *simulate.Report) string {
	one := r.Runs[0]
	return phrase.Count(one.Requests, "request") + " of " + phrase.If(one.Sessions == 0, "the path") + phrase.If(one.Sessions > 0, "the paths of %s", phrase.Count(one.Sessions, "session")) +
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

// decisions returns the decisions that the runs have.
func decisions(r *simulate.Report) (all []*simulate.Decision) {
	for _, one := range r.Runs {
		if one.Decision != nil {
			all = append(all, one.Decision)
		}
	}
	return all
}

// widestWhat is the width of the longest description of a message, in columns.
const widestWhat = 60

// writeDecision writes why a policy kept or changed each message before a request.
func writeDecision(w *bufio.Writer, d *simulate.Decision, on Screen) error {
	fmt.Fprintf(w, "%s before request %d, window %d, counted by %s\n", sessionfmt.Clean(d.Policy), d.Request, d.Window, d.Counter)
	for _, l := range d.Layers {
		state := "always runs"
		if l.Trigger != "" {
			state = fmt.Sprintf("%d%s, %s", l.Used, phrase.If(l.Limit > 0, " of %.0f", l.Limit), l.Trigger)
		}
		did := "not triggered"
		if l.Fired {
			did = phrase.Count(l.Changes, "change")
		}
		fmt.Fprintf(w, "  %s: %s; %s\n", l.Pass, state, did)
	}
	columns := []Column{
		{Name: "entry", style: always(faint)}, {Name: "what", Flex: true}, {Name: "tokens", Right: true}, {Name: "running", Right: true}, {Name: "action"}, {Name: "now", Right: true, Yields: 1}, {Name: "why"},
	}
	var cells [][]string
	for _, it := range d.Items {
		now := ""
		if it.Action != "keep" {
			now = fmt.Sprint(it.Now)
		}
		cells = append(cells, []string{entryID(it.Entry), fit(sessionfmt.Clean(it.What), widestWhat), fmt.Sprint(it.Tokens), fmt.Sprint(it.Running), it.Action, now, it.Why})
	}
	w.WriteByte('\n')
	return WriteTable(w, columns, cells, on)
}

// writeSimulationLines writes the requests, an object a line, and the report as the last line.
func writeSimulationLines(w *bufio.Writer, r *simulate.Report) error {
	for _, one := range r.Runs {
		if err := writeLines(w, one.Rows); err != nil {
			return err
		}
	}
	return WriteJSON(w, map[string]any{"total": r})
}

// simulationCSV are the columns of a CSV file of policies; tokens, and dollars.
var simulationCSV = []string{
	"file", "policy", "requests", "window", "peak", "mean", "overflows", "compactions", "acts", "prompt", "read", "write", "hit_rate", "rebilled_tokens", "rebilled_cost", "output",
	"cost_input", "cost_read", "cost_write", "cost_output", "cost_summaries", "cost", "regrets", "regrets_call", "regrets_path", "regrets_line", "regrets_identifier", "error",
}

func simulationRows(r *simulate.Report) (rows [][]any) {
	for _, one := range r.Runs {
		row := []any{
			sessionfmt.Clean(r.File), sessionfmt.Clean(one.Policy), one.Requests, one.Window, one.Peak, one.Mean, one.Overflows, one.Compactions, one.Acts, one.Prompt, one.Read, one.Write, one.HitRate,
			one.Rebilled.Tokens, costCell(one.Rebilled), one.Output, one.Cost.Input, one.Cost.CacheRead, one.Cost.CacheWrite, one.Cost.Output, one.Cost.Summaries, one.Cost.Total,
			one.Regrets, one.ByKind.Call, one.ByKind.Path, one.ByKind.Line, one.ByKind.Identifier, nil,
		}
		if !priced(one.Cost.Total, int64(one.Unpriced)) {
			clear(row[slices.Index(simulationCSV, "cost_input") : slices.Index(simulationCSV, "cost")+1])
		}
		rows = append(rows, row)
	}
	if r.Error != "" {
		row := make([]any, len(simulationCSV))
		row[0], row[len(row)-1] = sessionfmt.Clean(r.File), r.Error
		rows = append(rows, row)
	}
	return rows
}

func writeSimulationCSV(w *bufio.Writer, r *simulate.Report) error {
	return writeCSV(w, simulationCSV, simulationRows(r))
}
