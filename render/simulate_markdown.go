package render

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/base/markdown"
	"ctxtool/internal/base/table"
	"ctxtool/internal/phrase"
	"ctxtool/internal/simulate"
	"ctxtool/sessionfmt"
)

// writeSimulationMarkdown writes the table for a review, why the best policy is the best, what
// the regrets are of, and a chart.
func writeSimulationMarkdown(w *bufio.Writer, r *simulate.Report, _ Screen) {
	if len(r.Runs) == 0 {
		return
	}
	fmt.Fprintf(w, "%s.\n", contestTitle(r))
	writeMarkdownTable(w, policies(r))
	for i, sentence := range slices.Concat(r.Why, simulateNotes(r)) {
		fmt.Fprintf(w, "%s- %s\n", phrase.If(i == 0, "\n"), inline(sentence))
	}
	w.WriteString("\nWhat the regrets are: a call that was made again, a path, a line, or an identifier.\n")
	kinds := table.Fields[simulate.Run]("call=regretsByKind.call path=regretsByKind.path line=regretsByKind.line identifier=regretsByKind.identifier")
	writeMarkdownTable(w, table.Stream(slices.Values(r.Runs), slices.Concat([]col[*simulate.Run]{policyColumn(r)}, kinds)))
	writeBars(w, r)
}

// inline returns a text of a session as inline Markdown that does nothing.
func inline(text string) string {
	return string(markdown.AppendInline(nil, []byte(text)))
}

// padded returns the name of a policy with the width of the widest of runs.
func padded(policy string, runs []*simulate.Run) string {
	width := 0
	for _, r := range runs {
		width = max(width, measure.String(sessionfmt.Clean(r.Policy)))
	}
	policy = sessionfmt.Clean(policy)
	return policy + strings.Repeat(" ", width-measure.String(policy))
}

// barWidth is the width of the longest bar of a chart, in characters.
const barWidth = 40

// writeBars writes a chart of costs and regrets.
func writeBars(w *bufio.Writer, r *simulate.Report) {
	cost, regrets := 0.0, 0
	for _, one := range r.Runs {
		cost, regrets = max(cost, one.Cost.Total), max(regrets, one.Regrets)
	}
	bar := func(share float64) string { return strings.Repeat("█", int(share*barWidth+0.5)) }
	var b strings.Builder
	for _, one := range r.Runs {
		label := padded(one.Policy, r.Runs)
		fmt.Fprintf(&b, "%s  cost     %s %s\n", label, bar(one.Cost.Total/max(cost, 1e-9)), simulatedCost(one, costDecimals(r.Runs)))
		fmt.Fprintf(&b, "%*s  regrets  %s %d\n", measure.String(label), "", bar(float64(one.Regrets)/float64(max(regrets, 1))), one.Regrets)
	}
	w.WriteByte('\n')
	w.Write(markdown.AppendFence(nil, "text", []byte(b.String())))
}

// writeSimulationsMarkdown writes the sum of several sessions for a review, the spread of each
// policy, and the sessions in which policies differ most.
func writeSimulationsMarkdown(w *bufio.Writer, s *simulate.Store, on Screen) {
	writeSimulationMarkdown(w, s.Total, on)
	if s.Acted > 1 {
		rows := spreads(s.Total.Runs)
		fmt.Fprintf(w, "\n%s:\n", spreadTitle(s))
		writeMarkdownTable(w, table.Of(rows, spreadColumns).Without("spread"))
		var chart strings.Builder
		for _, row := range rows {
			fmt.Fprintf(&chart, "%-8s  %s  %s\n", row.figure, padded(row.policy, s.Total.Runs), row.box())
		}
		w.WriteByte('\n')
		w.Write(markdown.AppendFence(nil, "text", []byte(chart.String())))
	}
	if len(s.Differing) > 0 {
		w.WriteString("\nWhere policies differ most:\n")
		writeMarkdownTable(w, table.Of(s.Differing, differingColumns))
	}
}
