package render

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/markdown"
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
		cells = append(cells, []string{
			sessionfmt.Clean(r.Policy) + phrase.If(r.Policy == best, " *"), phrase.Short(r.Peak), phrase.Short(int64(r.Mean)), fmt.Sprint(r.Overflows), fmt.Sprint(r.Compactions),
			phrase.Short(r.Rebilled.Tokens), simulatedCost(r, decimals), phrase.Percent(r.HitRate), fmt.Sprint(r.Regrets),
		})
	}
	return cells
}

// costDecimals returns with how many decimals the costs of runs are shown, as in cache.
func costDecimals(runs []*simulate.Run) int {
	if slices.ContainsFunc(runs, func(r *simulate.Run) bool { return r.Cost.Total >= 1 }) {
		return 2
	}
	return 4
}

// simulatedCost returns the cost of a run, a dash if the table has no price for its models.
func simulatedCost(r *simulate.Run, decimals int) string {
	if r.Cost.Total == 0 && r.Unpriced > 0 {
		return "-"
	}
	return fmt.Sprintf("$%.*f", decimals, r.Cost.Total) + phrase.If(r.Unpriced > 0, "+")
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
	writeBest(w, r)
	if err := WriteTable(w, simulateColumns, simulateCells(r.Runs, r.Best), on); err != nil {
		return err
	}
	writeIdle(w, r, on)
	return nil
}

// writeBest writes how many requests there are, and which policy is best.
func writeBest(w *bufio.Writer, r *simulate.Report) {
	if len(r.Runs) == 0 {
		return
	}
	one := r.Runs[0]
	fmt.Fprintf(w, "%s%s%s; * is best for the least %s\n\n", phrase.Count(one.Requests, "request"), phrase.If(one.Sessions > 0, " of %s", phrase.Count(one.Sessions, "session")),
		phrase.If(one.Window > 0, ", window %s", phrase.Short(one.Window)), goalWords[r.Optimize])
}

// goalWords are the goals in words.
var goalWords = map[simulate.Goal]string{simulate.LeastCost: "cost", simulate.LeastPeak: "peak", simulate.LeastRegrets: "regrets"}

// writeIdle writes why policies changed nothing, and what the figures rest on.
func writeIdle(w *bufio.Writer, r *simulate.Report, on Screen) {
	var notes []string
	for _, one := range r.Runs {
		if one.Idle != "" {
			notes = append(notes, fmt.Sprintf("%s changed nothing: %s", sessionfmt.Clean(one.Policy), one.Idle))
		}
		if one.Failed > 0 && one.Idle == "" {
			notes = append(notes, fmt.Sprintf("%s: %s failed, the first: %s", sessionfmt.Clean(one.Policy), phrase.Count(one.Failed, "call"), one.Failure))
		}
	}
	if len(r.Runs) > 0 && r.Runs[0].Estimated {
		notes = append(notes, "no usage is recorded: all tokens are counted")
	}
	if len(r.Runs) > 0 && r.Runs[0].Unpriced > 0 {
		notes = append(notes, fmt.Sprintf("%s of models without a price", phrase.Count(r.Runs[0].Unpriced, "request")))
	}
	if len(notes) > 0 {
		w.WriteByte('\n')
	}
	for _, n := range notes {
		put(w, n, on)
	}
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

// writeDecision writes why a policy kept or changed each message before a request.
func writeDecision(w *bufio.Writer, d *simulate.Decision, on Screen) error {
	fmt.Fprintf(w, "%s before request %d, window %d, counted by %s\n", sessionfmt.Clean(d.Policy), d.Request, d.Window, d.Counter)
	for _, l := range d.Layers {
		state := "always runs"
		if l.Trigger != "" {
			state = fmt.Sprintf("%s: %d of %.0f tokens%s", l.Trigger, l.Used, l.Limit, phrase.If(!l.Fired, ", not triggered"))
		}
		fmt.Fprintf(w, "  %-14s  %s%s\n", l.Pass, state, phrase.If(l.Fired, "; %s", phrase.Count(l.Changes, "change")))
	}
	columns := []Column{
		{Name: "entry", style: always(faint)}, {Name: "what", Flex: true}, {Name: "tokens", Right: true}, {Name: "running total", Right: true}, {Name: "action"}, {Name: "now", Right: true, Yields: 2}, {Name: "why", Yields: 1},
	}
	var cells [][]string
	for _, it := range d.Items {
		now := ""
		if it.Action != "keep" {
			now = fmt.Sprint(it.Now)
		}
		cells = append(cells, []string{entryID(it.Entry), sessionfmt.Clean(it.What), fmt.Sprint(it.Tokens), fmt.Sprint(it.Running), it.Action, now, it.Why})
	}
	w.WriteByte('\n')
	return WriteTable(w, columns, cells, on)
}

// writeSimulationMarkdown writes the table for a review, what the regrets are of, and a chart.
func writeSimulationMarkdown(w *bufio.Writer, r *simulate.Report) error {
	inline := func(text string) string { return string(markdown.AppendInline(nil, []byte(text))) }
	cells := simulateCells(r.Runs, "")
	kinds := make([][]string, len(r.Runs))
	for i, row := range cells {
		for k := range row {
			row[k] = inline(row[k])
		}
		if r.Runs[i].Policy == r.Best {
			row[0] = "**" + row[0] + "**"
		}
		n := r.Runs[i].ByKind
		kinds[i] = []string{row[0], fmt.Sprint(n.Call), fmt.Sprint(n.Path), fmt.Sprint(n.Line), fmt.Sprint(n.Identifier)}
	}
	fmt.Fprintf(w, "Bold: best for the least %s.\n", goalWords[r.Optimize])
	writeMarkdownTable(w, simulateColumns, cells)
	w.WriteString("\nWhat the regrets are: a call that was made again, a path, a line, or an identifier.\n")
	writeMarkdownTable(w, []Column{{Name: "policy"}, {Name: "call", Right: true}, {Name: "path", Right: true}, {Name: "line", Right: true}, {Name: "identifier", Right: true}}, kinds)
	writeBars(w, r)
	return nil
}

// barWidth is the width of the longest bar of a chart, in characters.
const barWidth = 40

// writeBars writes a chart of costs and regrets.
func writeBars(w *bufio.Writer, r *simulate.Report) {
	name, cost, regrets := 0, 0.0, 0
	for _, one := range r.Runs {
		name, cost, regrets = max(name, measure.String(sessionfmt.Clean(one.Policy))), max(cost, one.Cost.Total), max(regrets, one.Regrets)
	}
	bar := func(share float64) string { return strings.Repeat("█", int(share*barWidth+0.5)) }
	var b strings.Builder
	for _, one := range r.Runs {
		label := sessionfmt.Clean(one.Policy)
		label += strings.Repeat(" ", name-measure.String(label))
		fmt.Fprintf(&b, "%s  cost     %s %s\n", label, bar(one.Cost.Total/max(cost, 1e-9)), simulatedCost(one, costDecimals(r.Runs)))
		fmt.Fprintf(&b, "%*s  regrets  %s %d\n", name, "", bar(float64(one.Regrets)/float64(max(regrets, 1))), one.Regrets)
	}
	w.WriteByte('\n')
	w.Write(markdown.AppendFence(nil, "text", []byte(b.String())))
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
		rows = append(rows, []any{
			sessionfmt.Clean(r.File), sessionfmt.Clean(one.Policy), one.Requests, one.Window, one.Peak, one.Mean, one.Overflows, one.Compactions, one.Acts, one.Prompt, one.Read, one.Write, one.HitRate,
			one.Rebilled.Tokens, one.Rebilled.Cost, one.Output, one.Cost.Input, one.Cost.CacheRead, one.Cost.CacheWrite, one.Cost.Output, one.Cost.Summaries, one.Cost.Total,
			one.Regrets, one.ByKind.Call, one.ByKind.Path, one.ByKind.Line, one.ByKind.Identifier, nil,
		})
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

func writeSimulationsCSV(w *bufio.Writer, s *simulate.Store) (err error) {
	var rows [][]any
	for _, r := range s.Sessions {
		rows = append(rows, simulationRows(r)...)
	}
	return writeCSV(w, simulationCSV, rows)
}

func writeSimulationsLines(w *bufio.Writer, s *simulate.Store) error {
	if err := writeLines(w, s.Sessions); err != nil {
		return err
	}
	return WriteJSON(w, map[string]any{"total": s.Total})
}

// mostDiffering is the number of sessions of a list that the text has.
const mostDiffering = 10

// writeSimulations writes the sum of several sessions, and those in which policies differ most.
func writeSimulations(w *bufio.Writer, s *simulate.Store, on Screen) error {
	writeBest(w, s.Total)
	if err := WriteTable(w, simulateColumns, simulateCells(s.Total.Runs, s.Total.Best), on); err != nil {
		return err
	}
	writeIdle(w, s.Total, on)
	columns := []Column{{Name: "session", Flex: true}, {Name: "requests", Right: true, Yields: 1}, {Name: "cheapest"}, {Name: "cost", Right: true}, {Name: "most expensive"}, {Name: "cost", Right: true}}
	var cells [][]string
	for _, d := range simulate.Differing(s.Sessions, mostDiffering) {
		decimals := costDecimals([]*simulate.Run{d.Low, d.High})
		cells = append(cells, []string{
			sessionfmt.Clean(d.File), fmt.Sprint(d.Low.Requests), sessionfmt.Clean(d.Low.Policy), simulatedCost(d.Low, decimals), sessionfmt.Clean(d.High.Policy), simulatedCost(d.High, decimals),
		})
	}
	if len(cells) > 0 {
		w.WriteString("\nwhere policies differ most:\n")
		if err := WriteTable(w, columns, cells, on); err != nil {
			return err
		}
	}
	var broken []string
	for _, r := range s.Sessions {
		if r.Error != "" {
			broken = append(broken, sessionfmt.Clean(r.File)+": "+sessionfmt.Clean(r.Error))
		}
	}
	writeBroken(w, broken)
	return nil
}

// writeSimulationsMarkdown writes the totals of several sessions.
func writeSimulationsMarkdown(w *bufio.Writer, s *simulate.Store) error {
	fmt.Fprintf(w, "%s.\n\n", phrase.Count(len(s.Sessions), "session"))
	return writeSimulationMarkdown(w, s.Total)
}
