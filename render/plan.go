package render

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/phrase"
	"ctxtool/internal/plan"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/check"
	"ctxtool/sessionfmt/redact"
)

// writePlan writes a plan for people.
func writePlan(w *bufio.Writer, p *plan.Plan, on Screen) error {
	switch {
	case p.Reduction != nil:
		return writeReduction(w, p, on.Width)
	case p.Rewrite != nil:
		return writeRewrite(w, p)
	case p.Redaction != nil:
		return writeRedaction(w, p, on.Width)
	}
	fmt.Fprintf(w, "%s: %s\n", planned(p), appending(p))
	for _, l := range p.Lines {
		fmt.Fprintf(w, "  %s\n", strings.TrimRight(sessionfmt.Clean(l), " "))
	}
	if p.Before != nil && p.After != nil && *p.Before != *p.After {
		fmt.Fprintf(w, "  the context was: %s; it is then: %s\n", figures(*p.Before), figures(*p.After))
	}
	return nil
}

// planned is the session of a plan.
func planned(p *plan.Plan) string {
	if p.Session.File == "-" {
		return "standard input"
	}
	return sessionfmt.Clean(p.Session.File)
}

// appending is what is appended, in a few words.
func appending(p *plan.Plan) string {
	switch {
	case p.Skipped != "":
		return "nothing is done: " + p.Skipped
	case p.Entries == 0:
		return "nothing to append"
	case p.Written == "":
		return "would append " + phrase.Count(p.Entries, "entry")
	case p.Written == "-":
		return "with " + phrase.Count(p.Entries, "entry") + " appended it is on standard output"
	case p.Written == p.Session.File:
		return "appended " + phrase.Count(p.Entries, "entry")
	}
	return fmt.Sprintf("with %s appended it is in %s", phrase.Count(p.Entries, "entry"), sessionfmt.Clean(p.Written))
}

// writePlanJSON writes a plan as one line, with the entries byte for byte as they are
// appended, or with what becomes of each line.
func writePlanJSON(w *bufio.Writer, p *plan.Plan) error {
	if p.Append == nil && p.Rewrite == nil {
		return WriteJSON(w, p)
	}
	if err := writeOpen(w, p); err != nil {
		return err
	}
	if p.Append == nil {
		return writeLinesJSON(w, p)
	}
	_, err := fmt.Fprintf(w, ",\"append\":[%s]}\n", bytes.Join(p.Append, []byte{','}))
	return err
}

// Plans are those of several sessions, by one command.
type Plans struct {
	Command string
	All     []*plan.Plan
	Sum     bool // people see the sum of reductions
}

// writePlansJSON writes the plans of several sessions as one object, without what is
// appended or becomes of the lines.
func writePlansJSON(w *bufio.Writer, ps Plans) error {
	return WriteJSON(w, struct {
		Schema   string       `json:"schema"`
		Sessions []*plan.Plan `json:"sessions"`
	}{plan.Schema(ps.Command + ".sessions"), append([]*plan.Plan{}, ps.All...)})
}

func writePlansLines(w *bufio.Writer, ps Plans) error {
	for _, p := range ps.All {
		if err := writePlanJSON(w, p); err != nil {
			return err
		}
	}
	return nil
}

func writePlanEntries(w *bufio.Writer, p *plan.Plan) error {
	for _, line := range p.Append {
		w.Write(line)
		w.WriteByte('\n')
	}
	return nil
}

// writePlans writes a row a session.
func writePlans(w *bufio.Writer, ps Plans, on Screen) error {
	all := ps.All
	columns := []Column{{Name: "session", Flex: true}}
	var cells [][]string
	for _, p := range all {
		names, row := partRow(p)
		if len(columns) == 1 {
			for _, name := range names {
				columns = append(columns, Column{Name: name, Right: name != "version"})
			}
		}
		cells = append(cells, append([]string{sessionfmt.Clean(p.Session.File)}, row...))
	}
	for k, p := range all {
		for len(cells[k]) < len(columns) {
			cells[k] = append(cells[k], "")
		}
		cells[k] = append(cells[k], sessionfmt.Clean(outcome(p)))
	}
	if len(cells) > 0 {
		if err := WriteTable(w, append(columns, Column{Name: "what"}), cells, on.Width); err != nil {
			return err
		}
	}
	if ps.Sum {
		writeSum(w, all)
	}
	return nil
}

// partRow is the row of what only some plans say, and the names of its columns.
func partRow(p *plan.Plan) (names, cells []string) {
	switch {
	case p.Reduction != nil:
		r, less, cannot := p.Reduction, "", ""
		after, entries := r.After, p.Entries
		if p.Skipped != "" {
			after, entries = r.Before, 0
		}
		if after < r.Before {
			less = phrase.Percent(1 - float64(after)/float64(r.Before))
		}
		if len(r.Cannot) > 0 {
			cannot = fmt.Sprint(len(r.Cannot))
		}
		names = []string{"was", "now", "less", "entries", "cannot"}
		return names, []string{fmt.Sprint(r.Before), fmt.Sprint(after), less, fmt.Sprint(entries), cannot}
	case p.Rewrite != nil:
		r, version := p.Rewrite, ""
		if r.From > 0 {
			version = versions(r)
		}
		names = []string{"version", "changed", "added", "removed", "quarantine"}
		return names, []string{version, fmt.Sprint(r.Changed), fmt.Sprint(r.Added), fmt.Sprint(r.Removed), fmt.Sprint(r.Quarantined)}
	case p.Redaction != nil:
		values, places := redacted(p.Found)
		names = []string{"values", "places", "stripped", "images"}
		return names, []string{fmt.Sprint(values), fmt.Sprint(places), fmt.Sprint(p.Stripped), fmt.Sprint(p.Images)}
	}
	return nil, nil
}

// outcome is what came of a session in a few words.
func outcome(p *plan.Plan) string {
	text := "planned"
	switch {
	case p.Error != "" || p.Skipped != "":
		return p.Error + p.Skipped
	case p.Kept != "":
		text = "written, original kept"
	case p.Reduction != nil && len(p.Waits) > 0:
		text = "waits for " + strings.Join(p.Waits, ", ")
	case p.Reduction != nil && p.Written != "":
		text = "appended"
	case p.Reduction != nil:
		text = ""
	case p.Written != "":
		text = "written"
	case p.Rewrite != nil && p.Same:
		text = "nothing to do"
	}
	if left := leftOver(p); len(left) > 0 {
		text += fmt.Sprintf("; %s left", phrase.Count(len(left), "finding"))
	}
	return text
}

// leftOver are the findings that a plan leaves as they are.
func leftOver(p *plan.Plan) (left []check.Finding) {
	if p.Rewrite != nil {
		for _, f := range p.Left {
			if f.Severity > check.Info {
				left = append(left, f)
			}
		}
	}
	return left
}

// writeSum ends a table of reductions.
func writeSum(w *bufio.Writer, all []*plan.Plan) {
	was, now, entries, changed := 0, 0, 0, 0
	for _, p := range all {
		if p.Reduction == nil {
			continue
		}
		if was += p.Reduction.Before; p.Skipped != "" {
			now += p.Reduction.Before
		} else if now += p.Reduction.After; p.Entries > 0 {
			entries, changed = entries+p.Entries, changed+1
		}
	}
	if len(all) > 0 {
		w.WriteByte('\n')
	}
	fmt.Fprintf(w, "%s, %d of them changed: %d -> %d tokens, %s\n", phrase.Count(len(all), "session"), changed, was, now, phrase.Count(entries, "entry"))
}

// writeRedaction writes what each rule has found.
func writeRedaction(w *bufio.Writer, p *plan.Plan, width int) error {
	values, places := redacted(p.Found)
	text := cmp.Or(phrase.If(places > 0, "%s in %s", phrase.Count(values, "value"), phrase.Count(places, "place")), "nothing to redact")
	fmt.Fprintf(w, "%s: %s%s%s\n", sessionfmt.Clean(p.Session.File), text,
		phrase.If(p.Stripped > 0, "; %s stripped", phrase.Count(p.Stripped, "signature")), phrase.If(p.Images > 0, "; %s not looked into", phrase.Count(p.Images, "image")))
	var rows [][]string
	for _, f := range p.Found {
		rows = append(rows, []string{f.Rule, fmt.Sprint(f.Values), fmt.Sprint(f.Places), entriesOf(f)})
	}
	if len(rows) > 0 {
		columns := []Column{{Name: "rule"}, {Name: "values", Right: true}, {Name: "places", Right: true}, {Name: "entries", Flex: true}}
		if err := WriteTable(w, columns, rows, width); err != nil {
			return err
		}
	}
	if p.Written != "" && p.Written != "-" {
		fmt.Fprintf(w, "written to %s\n", sessionfmt.Clean(p.Written))
	}
	return nil
}

// redacted are the sums of what rules have found.
func redacted(found []redact.Found) (values, places int) {
	for _, f := range found {
		values, places = values+f.Values, places+f.Places
	}
	return values, places
}

// shownEntries is how many entries a row of the table names.
const shownEntries = 8

func entriesOf(f redact.Found) string {
	more := len(f.Entries) - shownEntries
	return sessionfmt.Clean(strings.Join(f.Entries[:min(shownEntries, len(f.Entries))], " ") + phrase.If(more > 0, " and %d more", more))
}

// writeReduction writes what leaves a context for people: what changes, a sum for each
// layer, the whole, and what that does to the cache.
func writeReduction(w *bufio.Writer, p *plan.Plan, width int) error {
	r := p.Reduction
	fmt.Fprintf(w, "%s: %s", planned(p), appending(p))
	fmt.Fprintf(w, " (%s, window of %d tokens (%s), %s, as %s)\n", sessionfmt.Clean(r.Policy), r.Window, windowFrom(r), r.Counter, r.Form)
	var cells [][]string
	for _, c := range r.Changes[:min(plan.MostChanges, len(r.Changes))] {
		cells = append(cells, []string{c.Entry, c.Pass, string(c.Action), fmt.Sprint(c.Was), fmt.Sprint(c.Now), c.Why})
	}
	for _, c := range r.Cannot[:min(plan.MostChanges, len(r.Cannot))] {
		cells = append(cells, []string{c.Entry, c.Pass, "cannot", "", "", c.Why + phrase.If(c.Could != "", "; --as %s could", c.Could)})
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
	if r.Unknown != nil {
		fmt.Fprintf(w, "%s is not in the models table; to configure it:\n  %s\n", sessionfmt.Clean(r.Unknown.Name()), sessionfmt.Clean(r.Unknown.Setting()))
	}
	if r.Notice != "" {
		fmt.Fprintf(w, "%s\n", r.Notice)
	}
	return nil
}

// windowFrom is who knows the window, in words.
func windowFrom(r *compact.Reduction) string {
	switch r.WindowFrom {
	case "given", "baseline":
		return r.WindowFrom
	case "policy":
		return "the policy's own"
	}
	return "models table, " + r.WindowFrom
}

// writeLayers writes a line for each layer, and the sum.
func writeLayers(w *bufio.Writer, r *compact.Reduction) {
	w.WriteByte('\n')
	for _, l := range r.Layers {
		fmt.Fprintf(w, "%-14s ", l.Pass)
		switch {
		case !l.Fired:
			fmt.Fprintf(w, "not yet: %d tokens (%s), runs %s (%.0f)\n", l.Used, l.By, l.Trigger, l.Limit)
		case l.Report.Skipped:
			fmt.Fprintf(w, "%s\n", l.Report.SkipReason)
		default:
			fmt.Fprintf(w, "%s, %d -> %d tokens", phrase.Count(len(l.Report.Touched), "change"), l.Report.TokensBefore, l.Report.TokensAfter)
			if l.Trigger != "" {
				fmt.Fprintf(w, "; ran at %d (%s), %s (%.0f)", l.Used, l.By, l.Trigger, l.Limit)
			}
			w.WriteByte('\n')
		}
	}
	for _, what := range r.Waits {
		fmt.Fprintf(w, "  waits for a summary: %s\n", what)
	}
	saved := phrase.If(r.Before > 0 && r.After < r.Before, " (%s less)", phrase.Percent(1-float64(r.After)/float64(r.Before)))
	fmt.Fprintf(w, "%-14s %d -> %d tokens%s\n", "messages", r.Before, r.After, saved)
}

func writeCacheEffect(w *bufio.Writer, r *compact.Reduction) {
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
