package render

import (
	"bufio"
	"fmt"

	"ctxtool/internal/plan"
	"ctxtool/sessionfmt"
)

// writeReduction writes what leaves a context for people: what changes, a sum for each
// layer, the whole, and what that does to the cache.
func writeReduction(w *bufio.Writer, p *plan.Plan, width int) error {
	r := p.Reduction
	fmt.Fprintf(w, "%s: %s", planned(p), appending(p))
	fmt.Fprintf(w, " (%s, window of %d tokens (%s), %s, as %s)\n", sessionfmt.Clean(r.Policy), r.Window, windowFrom(r), r.Counter, r.As)
	var cells [][]string
	for _, c := range r.Changes[:min(plan.MostChanges, len(r.Changes))] {
		cells = append(cells, []string{c.Entry, c.Pass, string(c.Action), fmt.Sprint(c.Was), fmt.Sprint(c.Now), c.Why})
	}
	for _, c := range r.Cannot[:min(plan.MostChanges, len(r.Cannot))] {
		why := c.Why
		if c.Could != "" {
			why += fmt.Sprintf("; --as %s could", c.Could)
		}
		cells = append(cells, []string{c.Entry, c.Pass, "cannot", "", "", why})
	}
	if len(cells) > 0 {
		w.WriteByte('\n')
		columns := []Column{{Name: "entry"}, {Name: "pass"}, {Name: "action"}, {Name: "was", Right: true}, {Name: "now", Right: true}, {Name: "why", Flex: true}}
		if err := WriteTable(w, columns, cells, width); err != nil {
			return err
		}
		if more := len(r.Changes) + len(r.Cannot) - len(cells); more > 0 {
			fmt.Fprintf(w, "and %d more, which json has\n", more)
		}
	}
	writeLayers(w, r)
	writeCacheEffect(w, r)
	if r.Notice != "" {
		fmt.Fprintf(w, "%s\n", r.Notice)
	}
	return nil
}

// windowFrom is who knows the window, in words.
func windowFrom(r *plan.Reduction) string {
	switch r.WindowFrom {
	case "given", "baseline":
		return r.WindowFrom
	case "policy":
		return "the policy's own"
	}
	return "models table, " + r.WindowFrom
}

// writeLayers writes a line for each layer, and the sum.
func writeLayers(w *bufio.Writer, r *plan.Reduction) {
	w.WriteByte('\n')
	for _, l := range r.Layers {
		fmt.Fprintf(w, "%-14s ", l.Pass)
		switch {
		case !l.Fired:
			fmt.Fprintf(w, "not yet: %d tokens (%s), runs %s (%.0f)\n", l.Used, l.By, l.Trigger, l.Limit)
		case l.Report.Skipped:
			fmt.Fprintf(w, "%s\n", l.Report.SkipReason)
		default:
			fmt.Fprintf(w, "%s, %d -> %d tokens", count(len(l.Report.Touched), "change"), l.Report.TokensBefore, l.Report.TokensAfter)
			if l.Trigger != "" {
				fmt.Fprintf(w, "; ran at %d (%s), %s (%.0f)", l.Used, l.By, l.Trigger, l.Limit)
			}
			w.WriteByte('\n')
		}
	}
	for _, what := range r.Waits {
		fmt.Fprintf(w, "  waits for a summary: %s\n", what)
	}
	saved := ""
	if r.Before > 0 && r.After < r.Before {
		saved = fmt.Sprintf(" (%s less)", percent(1-float64(r.After)/float64(r.Before)))
	}
	fmt.Fprintf(w, "%-14s %d -> %d tokens%s\n", "messages", r.Before, r.After, saved)
}

func writeCacheEffect(w *bufio.Writer, r *plan.Reduction) {
	c := r.Cache
	if c == nil {
		return
	}
	fmt.Fprintf(w, "%-14s broken at message %d of %d: ~%d tokens stay cached, ~%d are written once more", "prompt cache", c.Message, c.Of, c.Kept, c.Written)
	switch {
	case c.Cost == nil:
	case *c.Cost < 0.0001:
		fmt.Fprintf(w, ", less than $0.0001 (prices of %s)", r.Prices)
	default:
		fmt.Fprintf(w, ", about $%.4f (prices of %s)", *c.Cost, r.Prices)
	}
	w.WriteByte('\n')
}
