package gate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/stats/table"
)

// A Budget is the limits of a figure.
type Budget struct {
	Figure    *Figure
	Max, Min  *float64 // in the figure's unit; nil for no limit
	Tolerance Amount   // how far the figure may exceed them
	Severity  severity
}

// A severity is the effect of a crossed limit: an Error fails the gate, a Warning is only
// reported.
type severity string

const (
	Error   severity = "error"
	Warning severity = "warning"
)

// UnmarshalText reads a severity.
func (s *severity) UnmarshalText(text []byte) error {
	*s = severity(text)
	if *s != Error && *s != Warning {
		return fmt.Errorf("severity %q: must be error or warning", sessionfmt.Quote(string(text)))
	}
	return nil
}

// An Amount is a number in a figure's unit, or a share of another number.
type Amount struct {
	N     float64
	Share bool // N is a share, 1 for all
}

// of returns the amount; base is what a share is of.
func (a Amount) of(base float64) float64 {
	if a.Share {
		return a.N * math.Abs(base)
	}
	return a.N
}

// UnmarshalText reads a number, or a share such as 5%.
func (a *Amount) UnmarshalText(text []byte) (err error) {
	t, share := strings.CutSuffix(string(text), "%")
	a.Share = share
	if a.N, err = phrase.ParseNumber(t); err != nil || a.N < 0 {
		return fmt.Errorf("%q: must be a number or a percentage such as 5%%", sessionfmt.Quote(string(text)))
	}
	if share {
		a.N /= 100
	}
	return nil
}

// A Drift is the allowed difference of a figure from a saved run.
type Drift struct {
	Amount
	Up, Down bool     // the directions that are limited
	Severity severity // Error if empty
}

// UnmarshalText reads an Amount. With + it limits growth, with - shrinking, and without a sign
// both.
func (d *Drift) UnmarshalText(text []byte) error {
	t, up := strings.CutPrefix(string(text), "+")
	t, down := strings.CutPrefix(t, "-")
	d.Up, d.Down = up || !down, down || !up
	if up && down || d.Amount.UnmarshalText([]byte(t)) != nil {
		return fmt.Errorf("drift %q: must be a number or a percentage such as 5%%, +5%% or -5%%",
			sessionfmt.Quote(string(text)))
	}
	return nil
}

// limit reads a limit of the figure: a number in its unit. A share may have a percent sign,
// dollars a dollar sign.
func (f *Figure) limit(text string) (*float64, error) {
	t, percent := strings.CutSuffix(text, "%")
	if f.Unit == table.Dollars {
		t = strings.TrimPrefix(t, "$")
	}
	n, err := phrase.ParseNumber(t)
	switch {
	case err != nil || percent && f.Unit != table.Share:
		return nil, fmt.Errorf("%s: limit %q: must be %s", f.Name, sessionfmt.Quote(text), limitForms[f.Unit])
	case f.Unit == table.Share && !percent && n > 1:
		return nil, fmt.Errorf("%s: limit %q: must be between 0 and 1, or a percentage such as %s%%", f.Name,
			sessionfmt.Quote(text), sessionfmt.Quote(text))
	case percent:
		n /= 100
	}
	return &n, nil
}

// limitForms describe the limits of each unit, for errors.
var limitForms = map[table.Unit]string{
	table.Number: "a number", table.Tokens: "tokens, such as 150000 or 150k",
	table.Bytes:   "bytes, such as 20000000 or 20M",
	table.Dollars: "dollars, such as 1.20", table.Share: "a share, such as 0.8 or 80%",
}

// BudgetHelp describes the form of a budget.
const BudgetHelp = "FIGURE<=LIMIT or FIGURE>=LIMIT, with ~TOLERANCE and :warning if needed"

// ParseBudget reads a budget, FIGURE<=LIMIT~TOLERANCE:SEVERITY. Tolerance and severity are
// optional.
func ParseBudget(text string) (b Budget, err error) {
	at := strings.IndexAny(text, "<>")
	if at < 0 || !strings.HasPrefix(text[at+1:], "=") {
		return b, sessionfmt.Errorf("%q is not a budget", sessionfmt.Quote(text)).Hinted("write " + BudgetHelp)
	}
	if b.Figure, err = FindFigure(strings.TrimSpace(text[:at])); err != nil {
		return b, err
	}
	rest, severity, has := strings.Cut(text[at+2:], ":")
	b.Severity = Error
	if has {
		if err := b.Severity.UnmarshalText([]byte(strings.TrimSpace(severity))); err != nil {
			return b, err
		}
	}
	rest, tolerance, has := strings.Cut(rest, "~")
	if has {
		if err := b.Tolerance.UnmarshalText([]byte(strings.TrimSpace(tolerance))); err != nil {
			return b, fmt.Errorf("tolerance %w", err)
		}
	}
	n, err := b.Figure.limit(strings.TrimSpace(rest))
	if text[at] == '<' {
		b.Max = n
	} else {
		b.Min = n
	}
	return b, err
}

// A gateFile is a file of budgets.
type gateFile struct {
	Unpriced word         `toml:"unpriced"`
	Broken   word         `toml:"broken"`
	Drift    word         `toml:"drift"`
	Budgets  []budgetFile `toml:"budget"`
}

type budgetFile struct {
	Figure    word `toml:"figure"`
	Max       word `toml:"max"`
	Min       word `toml:"min"`
	Tolerance word `toml:"tolerance"`
	Severity  word `toml:"severity"`
	Drift     word `toml:"drift"`
}

// A word is a number or a string, with its spelling.
type word string

// UnmarshalText reads an empty string as a blank, which no setting accepts.
func (w *word) UnmarshalText(text []byte) error {
	*w = cmp.Or(word(text), " ")
	return nil
}

const (
	gateKeys   = "keys are unpriced, broken, drift and tables [[budget]]"
	budgetKeys = "keys of a budget are figure, max, min, tolerance, severity, drift"
)

// Load adds the budgets of a TOML file to the gate. Its settings of unpriced calls, broken
// sessions and drift do not override those of the gate.
func (g *Gate) Load(name string, data []byte) error {
	at := func(line int, err error) error {
		hint := ""
		if own, ok := errors.AsType[*sessionfmt.Error](err); ok {
			err, hint = own.Err, own.Hint
		}
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: name, Line: line}, Err: err, Hint: hint}
	}
	var file gateFile
	d := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return at(tomlError(err))
	}
	if err := g.settings(&file); err != nil {
		return at(0, err)
	}
	lines := budgetLines(data)
	for i, b := range file.Budgets {
		if err := g.budget(&b); err != nil {
			line := 0
			if len(lines) == len(file.Budgets) {
				line = lines[i]
			}
			return at(line, err)
		}
	}
	return nil
}

// tomlError returns the line of an error in a file, and the error.
func tomlError(err error) (line int, better error) {
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(unknown.Errors) > 0 {
		first := &unknown.Errors[0]
		line, _ = first.Position()
		key := first.Key()
		hint := gateKeys
		if len(key) > 1 {
			hint = budgetKeys
		}
		return line, sessionfmt.Errorf("unknown key %q", sessionfmt.Quote(key[len(key)-1])).Hinted(hint)
	}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ = wrong.Position()
	}
	return line, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
}

// budgetLines returns the lines at which the tables of budgets begin.
func budgetLines(data []byte) (lines []int) {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if bytes.HasPrefix(bytes.ReplaceAll(line, []byte(" "), nil), []byte("[[budget]]")) {
			lines = append(lines, n)
		}
	}
	return lines
}

// settings reads the settings of a file for all budgets.
func (g *Gate) settings(file *gateFile) error {
	if file.Unpriced != "" && file.Unpriced != "fail" && file.Unpriced != "ignore" {
		return fmt.Errorf("unpriced %q: must be fail or ignore", sessionfmt.Quote(string(file.Unpriced)))
	}
	if file.Broken != "" && file.Broken != "fail" && file.Broken != "warn" {
		return fmt.Errorf("broken %q: must be fail or warn", sessionfmt.Quote(string(file.Broken)))
	}
	g.IgnoreUnpriced = g.IgnoreUnpriced || file.Unpriced == "ignore"
	g.WarnBroken = g.WarnBroken || file.Broken == "warn"
	if file.Drift != "" {
		drift := &Drift{}
		if err := drift.UnmarshalText([]byte(file.Drift)); err != nil {
			return err
		}
		if g.Drift == nil {
			g.Drift = drift
		}
	}
	return nil
}

// budget reads a budget, and the drift of its figure.
func (g *Gate) budget(from *budgetFile) (err error) {
	if from.Figure == "" {
		return sessionfmt.Errorf("a budget without a figure").Hinted(budgetKeys)
	}
	b := Budget{Severity: Error}
	if b.Figure, err = FindFigure(string(from.Figure)); err != nil {
		return err
	}
	if from.Max == "" && from.Min == "" && from.Drift == "" {
		return fmt.Errorf("%s: a budget without max, min or drift", b.Figure.Name)
	}
	for _, limit := range []struct {
		text word
		to   **float64
	}{{from.Max, &b.Max}, {from.Min, &b.Min}} {
		if limit.text != "" {
			if *limit.to, err = b.Figure.limit(string(limit.text)); err != nil {
				return err
			}
		}
	}
	if b.Max != nil && b.Min != nil && *b.Min > *b.Max {
		return fmt.Errorf("%s: min is more than max", b.Figure.Name)
	}
	if from.Tolerance != "" {
		if err := b.Tolerance.UnmarshalText([]byte(from.Tolerance)); err != nil {
			return fmt.Errorf("%s: tolerance %w", b.Figure.Name, err)
		}
	}
	if from.Severity != "" {
		if err := b.Severity.UnmarshalText([]byte(from.Severity)); err != nil {
			return fmt.Errorf("%s: %w", b.Figure.Name, err)
		}
	}
	if from.Drift != "" {
		drift := &Drift{Severity: b.Severity}
		if err := drift.UnmarshalText([]byte(from.Drift)); err != nil {
			return fmt.Errorf("%s: %w", b.Figure.Name, err)
		}
		if g.Drifts == nil {
			g.Drifts = map[*Figure]*Drift{}
		}
		g.Drifts[b.Figure] = drift
	}
	if b.Max != nil || b.Min != nil {
		g.Budgets = append(g.Budgets, b)
	}
	return nil
}
