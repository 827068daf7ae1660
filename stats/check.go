package stats

import (
	"ctxtool/internal/lens/check"
	"ctxtool/sessionfmt"
	"ctxtool/stats/table"
)

// checkLens counts what ctxtool check finds.
var checkLens = Lens{
	Name:   "check",
	About:  "damage: what ctxtool check finds",
	read:   func(l *lensRun) { l.checked = true },
	add:    addCheck,
	sheets: checkSheets,
}

// A CheckPart is the number of findings by severity, and the first of the worst errors or
// warnings.
type CheckPart struct {
	Errors   int         `json:"errors"` // that `ctxtool check` finds, as the next two
	Warnings int         `json:"warnings"`
	Infos    int         `json:"infos"`
	Worst    *CheckWorst `json:"worst,omitempty"` // the first of the worst, but for infos
}

// A CheckWorst is a finding.
type CheckWorst struct {
	File     string `json:"file,omitempty"` // of several
	Severity string `json:"severity"`       // `error` or `warning`
	Code     string `json:"code"`           // of the [check](checks/README.md)
	Line     int    `json:"line,omitempty"` // from 1
	Entry    string `json:"entry,omitempty"`
	Text     string `json:"text"` // one sentence
}

// A Finding is damage at one place of a file.
type Finding struct {
	Code, Severity string // of the check; error, warning or info
	Line           int    // from 1; 0 for the whole file
	Entry          string // its id; empty if no entry has the damage
	Text, Fix      string // one sentence; the command that fixes it
}

// damage returns the options with which to open a session for the lens check, and a function that then reports its
// damage.
func (l *lensRun) damage(name string) (sessionfmt.Options, func(s *sessionfmt.Session)) {
	if l.Check != nil {
		return l.Check(name, l.Open)
	}
	open, found := check.Opening(name, check.Options{Models: l.Options.Replay.Models, Now: l.Now, Open: l.Open})
	return open, func(s *sessionfmt.Session) { l.check(found(s)) }
}

// check counts findings.
func (l *lensRun) check(found *check.Report) {
	p := &CheckPart{}
	for _, f := range found.Findings {
		switch f.Severity {
		case check.Error:
			p.Errors++
		case check.Warning:
			p.Warnings++
		default:
			p.Infos++
			continue
		}
		if w := p.Worst; w == nil || w.Severity == check.Warning.String() && f.Severity == check.Error {
			p.Worst = &CheckWorst{Severity: f.Severity.String(), Code: f.Code, Line: f.Line, Entry: f.Entry,
				Text: f.Text}
		}
	}
	l.Report.Check = p
	if l.each == nil {
		return
	}
	for _, f := range found.Findings {
		l.each.Findings = append(l.each.Findings,
			Finding{f.Code, f.Severity.String(), f.Line, f.Entry, f.Text, f.Fix})
	}
}

func addCheck(sum, one *Report) {
	p, o := partOf(&sum.Check, &CheckPart{}), one.Check
	addUp(p, o)
	if o.Worst != nil && (p.Worst == nil || p.Worst.Severity == "warning" && o.Worst.Severity == "error") {
		w := *o.Worst
		w.File = one.File
		p.Worst = &w
	}
}

func checkSheets(r *Report) []table.Sheet {
	var parts []CheckPart
	if r.Check != nil {
		parts = []CheckPart{*r.Check}
	}
	worst := col[*CheckPart]{Name: "worst", Flex: true, Value: func(p *CheckPart) any {
		if p.Worst == nil {
			return nil
		}
		return p.Worst.Code + ": " + p.Worst.Text
	}}
	return []table.Sheet{{Table: table.Of(parts, []col[*CheckPart]{
		{Name: "errors", Unit: table.Number, Value: func(c *CheckPart) any { return c.Errors }},
		{Name: "warnings", Unit: table.Number, Value: func(c *CheckPart) any { return c.Warnings }},
		{Name: "infos", Unit: table.Number, Value: func(c *CheckPart) any { return c.Infos }},
		worst,
	})}}
}
