package stats

import (
	"ctxtool/internal/base/table"
	"ctxtool/internal/lens/check"
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
	l.Report.Check, l.Report.Damage = p, found
	if l.each != nil {
		l.each.Findings = found.Findings
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
