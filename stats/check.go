package stats

import "errors"

// checkLens counts what ctxtool check finds; it requires Options.Check.
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

// check counts the findings in the named file.
func (l *lensRun) check(name string) (err error) {
	if !l.checked {
		return nil
	}
	if l.Check == nil {
		return errors.New("Options.Check is not set")
	}
	l.Report.Check, err = l.Check(name)
	return err
}

func addCheck(sum, one *Report) {
	if sum.Check == nil {
		sum.Check = &CheckPart{}
	}
	p, o := sum.Check, one.Check
	addUp(p, o)
	if o.Worst != nil && (p.Worst == nil || p.Worst.Severity == "warning" && o.Worst.Severity == "error") {
		w := *o.Worst
		w.File = one.File
		p.Worst = &w
	}
}

func checkSheets(r *Report) []Sheet {
	s := Sheet{Columns: columns("errors:number", "warnings:number", "infos:number", "worst*")}
	p := r.Check
	if p == nil {
		return []Sheet{s}
	}
	var worst any
	if p.Worst != nil {
		worst = p.Worst.Code + ": " + p.Worst.Text
	}
	s.row(p.Errors, p.Warnings, p.Infos, worst)
	return []Sheet{s}
}
