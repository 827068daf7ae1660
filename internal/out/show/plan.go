package show

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/lens/redact"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/stats/table"
)

func writePlan(w *bufio.Writer, p *plan.Plan, on Screen) (err error) {
	switch {
	case p.Reduction != nil:
		proseOn(w, on).reduction(p)
	case p.Rewrite != nil:
		err = writeRewrite(w, p)
	case p.Redaction != nil:
		proseOn(w, on).redaction(p)
	case p.Patch != nil:
		err = writePatch(w, p, on)
	case p.Run != nil:
		writeSheets(w, runSheets(p, true), on)
	default:
		proseOn(w, on).plan(p)
	}
	if p.Next != "" {
		fmt.Fprintf(w, "\n%s\n", p.Next)
	}
	return err
}

// plan writes what is appended, and how it changes the context.
func (p prose) plan(of *plan.Plan) {
	p.line("%v: %v", planned(of), appending(of))
	for _, line := range of.Lines {
		p.line("  %v", strings.TrimRight(line, " "))
	}
	if differ(of.Before, of.After) {
		p.sizes(of)
	}
}

// sizes writes the sizes of the context before and after a plan.
func (p prose) sizes(of *plan.Plan) {
	before := "pi cannot build one"
	if *of.Before != (check.Figures{}) || of.Session.Leaf == "" {
		before = figures(*of.Before)
	}
	p.line("  context before: %v", before)
	p.line("  context after:  %v", figures(*of.After))
}

// differ reports whether two figures are known and differ.
func differ(a, b *check.Figures) bool { return a != nil && b != nil && *a != *b }

// planned returns the name of a plan's session.
func planned(p *plan.Plan) string {
	if p.Session.File == "-" {
		return "standard input"
	}
	return sessionfmt.Clean(p.Session.File)
}

// appending returns what is appended, in a few words.
func appending(p *plan.Plan) string {
	switch {
	case p.Skipped != "":
		return "skipped: " + p.Skipped
	case p.Entries == 0:
		return "nothing to append"
	case p.Written == "":
		return "would append " + phrase.Count(p.Entries, "entry")
	case p.Written == "-":
		return "wrote the session with " + phrase.Count(p.Entries, "entry") + " appended to standard output"
	case p.Written == p.Session.File:
		return "appended " + phrase.Count(p.Entries, "entry")
	}
	return fmt.Sprintf("wrote the session with %s appended to %s", phrase.Count(p.Entries, "entry"),
		sessionfmt.Clean(p.Written))
}

// writePlanJSON writes a plan as one line, with the entries byte for byte as they are
// appended, or with the change of each line; that of a patch with the difference of the context.
func writePlanJSON(w *bufio.Writer, p *plan.Plan) error {
	if err := writeOpen(w, p); err != nil {
		return err
	}
	if p.Patch != nil && p.Patch.Difference != nil {
		w.WriteString(`,"diff":`)
		if err := writeDiffJSON(w, p.Patch.Difference); err != nil {
			return err
		}
	}
	if p.Append != nil {
		fmt.Fprintf(w, `,"append":[%s]`, bytes.Join(p.Append, []byte{','}))
	} else if p.Rewrite != nil {
		if err := writeLinesJSON(w, p); err != nil {
			return err
		}
	}
	_, err := w.WriteString("}\n")
	return err
}

// Plans are those of several sessions, by one command.
type Plans struct {
	Command string
	All     []*plan.Plan
	Next    string // as a plan has it
}

// writePlansJSON writes the plans of several sessions as one object, without the lines that
// are appended or changed.
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

func writePlanEntries(w *bufio.Writer, p *plan.Plan, _ Screen) {
	for _, line := range p.Append {
		w.Write(line)
		w.WriteByte('\n')
	}
}

// writePlans writes a row a session.
func writePlans(w *bufio.Writer, ps Plans, on Screen) error {
	rest := []col[*plan.Plan]{{Name: "what", Value: func(p *plan.Plan) any { return outcome(p) }, Flex: true}}
	columns := []col[*plan.Plan]{{Name: "session", Unit: table.Path,
		Value: func(p *plan.Plan) any { return p.Session.File }, Flex: true}}
	columns = slices.Concat(columns, partColumns(ps.All), rest)
	WriteTable(w, table.Stream(slices.Values(ps.All), columns), on)
	writeSum(w, ps.All)
	if ps.Next != "" {
		fmt.Fprintf(w, "\n%s\n", ps.Next)
	}
	return nil
}

// partColumns returns the columns that depend on the kind of plans.
func partColumns(all []*plan.Plan) []col[*plan.Plan] {
	for _, p := range all {
		switch {
		case p.Reduction != nil:
			return table.Within(func(p *plan.Plan) *plan.Plan { return ofKind(p, p.Reduction != nil) }, nil,
				reductionColumns...)
		case p.Rewrite != nil:
			return table.Within(func(p *plan.Plan) *plan.Rewrite { return p.Rewrite }, nil, rewriteColumns...)
		case p.Redaction != nil:
			return table.Within(func(p *plan.Plan) *plan.Plan { return ofKind(p, p.Redaction != nil) }, nil,
				redactionColumns...)
		}
	}
	return nil
}

func ofKind(p *plan.Plan, is bool) *plan.Plan {
	if !is {
		return nil
	}
	return p
}

var reductionColumns = []col[*plan.Plan]{
	{Name: "before", Unit: table.Tokens, Value: func(p *plan.Plan) any { return p.Reduction.Before }},
	{Name: "after", Unit: table.Tokens, Value: func(p *plan.Plan) any { return tokensAfter(p) }},
	{Name: "less", Unit: table.Share, Value: func(p *plan.Plan) any {
		before, after := p.Reduction.Before, tokensAfter(p)
		return table.If(after < before, 1-float64(after)/float64(before))
	}},
	{Name: "entries", Unit: table.Number, Value: func(p *plan.Plan) any {
		if p.Skipped != "" {
			return 0
		}
		return p.Entries
	}},
	{Name: "cannot", Unit: table.Number,
		Value: func(p *plan.Plan) any { return table.Unless0(len(p.Reduction.Cannot)) }},
}

// tokensAfter returns the size of a session after a plan that may be skipped.
func tokensAfter(p *plan.Plan) int {
	if p.Skipped != "" {
		return p.Reduction.Before
	}
	return p.Reduction.After
}

var rewriteColumns = append([]col[*plan.Rewrite]{
	{Name: "version", Value: func(r *plan.Rewrite) any { return phrase.If(r.From > 0, "%s", versions(r)) }},
}, []col[*plan.Rewrite]{
	{Name: "changed", Unit: table.Number, Value: func(r *plan.Rewrite) any { return r.Changed }},
	{Name: "added", Unit: table.Number, Value: func(r *plan.Rewrite) any { return table.Unless0(r.Added) }},
	{Name: "removed", Unit: table.Number, Value: func(r *plan.Rewrite) any { return table.Unless0(r.Removed) }},
	{Name: "quarantine", Unit: table.Number,
		Value: func(r *plan.Rewrite) any { return table.Unless0(r.Quarantined) }},
}...)

var redactionColumns = []col[*plan.Plan]{
	{Name: "values", Unit: table.Number, Value: func(p *plan.Plan) any { return redacted(p.Found).Values }},
	{Name: "places", Unit: table.Number, Value: func(p *plan.Plan) any { return redacted(p.Found).Places }},
	{Name: "stripped", Unit: table.Number, Value: func(p *plan.Plan) any { return p.Stripped }},
	{Name: "images", Unit: table.Number, Value: func(p *plan.Plan) any { return p.Images }},
}

// outcome returns the result of a session in a few words.
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

// leftOver returns the findings that a plan does not repair.
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

// under returns the beginning of a line of a list: a name, or nothing below it.
func under(name string) string { return fmt.Sprintf("%-14s ", name) }

// redaction writes what was found, and what was not searched.
func (p prose) redaction(of *plan.Plan) {
	sum, what := redacted(of.Found), "nothing to redact"
	if sum.Values > 0 || sum.Places > 0 {
		what = phrase.Count(sum.Values, "value") + " in " + phrase.Count(sum.Places, "place")
	}
	p.line("%v: %v", of.Session.File, what+
		phrase.If(of.Stripped > 0, "; %s stripped", phrase.Count(of.Stripped, "signature"))+
		phrase.If(of.Images > 0, "; %s not searched", phrase.Count(of.Images, "image"))+
		phrase.If(of.Bared > 0, ", metadata of %d removed", of.Bared)+
		phrase.If(of.Unread > 0, ", %d cannot be read and may have metadata", of.Unread)+
		phrase.If(of.Dropped > 0, "; %s replaced", phrase.Count(of.Dropped, "image")))
	if of.Named > 0 {
		p.line("names of home directories: %v outside of paths; --names replaces them too",
			phrase.Count(of.Named, "more place"))
	}
	p.table(foundTable(of.Found, of.Report))
	if of.Report {
		p.line("not searched:")
	}
	var names []string
	for _, not := range redact.NotSearched {
		names = append(names, not.Name)
		if of.Report {
			p.line("  %v: %v", not.Name, not.About)
		}
	}
	if !of.Report {
		p.line("not searched: %v (--report explains)", strings.Join(names, ", "))
	}
	if of.Written != "" && of.Written != "-" {
		p.line("written to %v", of.Written)
	}
}

// foundTable returns what each rule has found, with all entries for a report in full.
func foundTable(found []redact.Found, all bool) table.Table {
	return table.Of(found, append([]col[*redact.Found]{
		{Name: "rule", Value: func(f *redact.Found) any { return f.Rule }},
		{Name: "values", Unit: table.Number, Value: func(f *redact.Found) any { return f.Values }},
		{Name: "places", Unit: table.Number, Value: func(f *redact.Found) any { return f.Places }},
	}, col[*redact.Found]{
		Name: "entries", Value: func(f *redact.Found) any { return entriesOf(*f, all) }, Flex: true,
	}))
}

// redacted returns the sums of what the rules found.
func redacted(found []redact.Found) (sum redact.Found) {
	for _, f := range found {
		sum.Values, sum.Places = sum.Values+f.Values, sum.Places+f.Places
	}
	return sum
}

// shownEntries is the number of entries that a row of the table names.
const shownEntries = 8

func entriesOf(f redact.Found, all bool) string {
	shown := f.Entries
	if !all {
		shown = shown[:min(shownEntries, len(shown))]
	}
	more := len(f.Entries) - len(shown)
	return strings.Join(shown, " ") + phrase.If(more > 0, " and %d more", more)
}
