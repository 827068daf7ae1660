package show

import (
	"bufio"
	"ctxtool/compact"
	"ctxtool/internal/lens/check"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"encoding/json"
	"fmt"
	"strings"
)

// writeRewrite writes the plan line by line. A change of more than three lines is one line
// with their number.
func writeRewrite(w *bufio.Writer, p *plan.Plan) error {
	text, what := proseOn(w, Screen{}), "nothing to do"
	if !p.Same {
		what = fmt.Sprintf("%s changed, %d added, %d removed, %d in quarantine", phrase.Count(p.Changed, "line"),
			p.Added, p.Removed, p.Quarantined)
	}
	r := p.Rewrite
	text.line("%v: %v%v", p.Session.File, phrase.If(r.From != r.To, "version %s, ", versions(r)), what)
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
	text.rewritten(p)
	return nil
}

// rewritten writes what a rewrite leaves, and where its files are.
func (p prose) rewritten(of *plan.Plan) {
	for _, note := range of.Rewrite.Notes {
		p.line("  %v", note)
	}
	if differ(of.Before, of.After) {
		p.sizes(of)
	} else if of.Before != nil && of.After != nil {
		p.line("  context: %v, as before", figures(*of.Before))
	}
	for _, f := range leftOver(of) {
		p.line("  not changed: %v", placed(f))
	}
	if of.Written != "" && of.Written != "-" {
		p.line("  written to %v", of.Written)
	}
	if of.Kept != "" {
		p.line("  original kept as %v", of.Kept)
	}
	if of.Quarantine != "" {
		p.line("  quarantine %v", of.Quarantine)
	}
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
func writePolicies(w *bufio.Writer, list Policies, on Screen) {
	for k, p := range list.Policies {
		if k > 0 {
			w.WriteByte('\n')
		}
		proseOn(w, on).policy(p)
	}
}

func (p prose) policy(of *compact.Policy) {
	p.line("%v: %v", of.Name, of.About)
	p.line("  window %v, counted by %v", of.Window, of.Counter.Name)
	if of.Note != "" {
		p.line("  %v", of.Note)
	}
	p.layers("  ", of.Layers)
	for _, preset := range of.Presets {
		p.line("  preset %v, %v", preset.Name, preset.About)
		p.layers("    ", preset.Layers)
	}
}

func (p prose) layers(before string, all []compact.Layer) {
	for _, l := range all {
		when := ""
		if l.When != nil {
			when = "  " + fmt.Sprint(l.When)
		}
		p.line("%v%v %v%v", before, fmt.Sprintf("%-14s", l.Pass.Name), optionText(l.Options), when)
	}
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
