package gate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// A Budget is what a figure has to keep to.
type Budget struct {
	Figure    *Figure
	Max, Min  *float64 // in the figure's unit; either or both
	Tolerance Amount   // how far beyond them it may be
	Severity  severity
}

// A severity is what a crossed limit does: an Error fails the gate, a Warning is
// said.
type severity string

const (
	Error   severity = "error"
	Warning severity = "warning"
)

// UnmarshalText reads a severity.
func (s *severity) UnmarshalText(text []byte) error {
	*s = severity(text)
	if *s != Error && *s != Warning {
		return fmt.Errorf("severity %q: error or warning", sessionfmt.Quote(string(text)))
	}
	return nil
}

// An Amount is a number in a figure's unit, or a share of another number.
type Amount struct {
	N     float64
	Share bool // N is a part of 1
}

// of is the amount, where it is about base.
func (a Amount) of(base float64) float64 {
	if a.Share {
		return a.N * math.Abs(base)
	}
	return a.N
}

// UnmarshalText reads 5% as a share, and a number as it stands.
func (a *Amount) UnmarshalText(text []byte) (err error) {
	t, share := strings.CutSuffix(string(text), "%")
	a.Share = share
	if a.N, err = ParseNumber(t); err != nil || a.N < 0 {
		return fmt.Errorf("%q: want a number, or a percentage as 5%%", sessionfmt.Quote(string(text)))
	}
	if share {
		a.N /= 100
	}
	return nil
}

// A Drift is how far a figure may be from that of a saved run.
type Drift struct {
	Amount
	Up, Down bool     // which way it is held to that
	Severity severity // an Error when empty
}

// UnmarshalText reads an Amount: with + it is how much the figure may grow, with -
// how much it may shrink, and without both.
func (d *Drift) UnmarshalText(text []byte) error {
	t, up := strings.CutPrefix(string(text), "+")
	t, down := strings.CutPrefix(t, "-")
	d.Up, d.Down = up || !down, down || !up
	if up && down || d.Amount.UnmarshalText([]byte(t)) != nil {
		return fmt.Errorf("drift %q: want a number or a percentage, as 5%%, +5%% or -5%%", sessionfmt.Quote(string(text)))
	}
	return nil
}

// scales are the letters after a number that make it larger.
var scales = map[byte]float64{'k': 1e3, 'm': 1e6, 'g': 1e9}

// ParseNumber reads a number such as 150000, 150_000, 150k, 1.5M or 1e6.
func ParseNumber(text string) (float64, error) {
	times := 1.0
	if end := len(text) - 1; end > 0 && scales[text[end]|' '] > 0 {
		text, times = text[:end], scales[text[end]|' ']
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if n *= times; err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, errors.New("no number")
	}
	return n, nil
}

// limit reads a limit of the figure: a number in its unit, with a percent sign for a
// share, or a dollar sign for dollars.
func (f *Figure) limit(text string) (*float64, error) {
	t, percent := strings.CutSuffix(text, "%")
	if f.Unit == stats.Dollars {
		t = strings.TrimPrefix(t, "$")
	}
	n, err := ParseNumber(t)
	switch {
	case err != nil || percent && f.Unit != stats.Share:
		return nil, fmt.Errorf("%s: limit %q: want %s", f.Name, sessionfmt.Quote(text), wanted[f.Unit])
	case f.Unit == stats.Share && !percent && n > 1:
		return nil, fmt.Errorf("%s: limit %q: it is a share, from 0 to 1 or as %s%%", f.Name, sessionfmt.Quote(text), sessionfmt.Quote(text))
	case percent:
		n /= 100
	}
	return &n, nil
}

// wanted is what a limit looks like.
var wanted = map[stats.Unit]string{
	stats.Number: "a number", stats.Tokens: "tokens, as 150000 or 150k", stats.Bytes: "bytes, as 20000000 or 20M",
	stats.Dollars: "dollars, as 1.20", stats.Share: "a share, as 0.8 or 80%",
}

// BudgetHelp says how a budget is written.
const BudgetHelp = "FIGURE<=LIMIT or FIGURE>=LIMIT, then ~TOLERANCE and :warning as wanted"

// ParseBudget reads a budget, FIGURE<=LIMIT~TOLERANCE:SEVERITY, of which the last two
// may be left out.
func ParseBudget(text string) (b Budget, err error) {
	at := strings.IndexAny(text, "<>")
	if at < 0 || !strings.HasPrefix(text[at+1:], "=") {
		return b, &sessionfmt.Error{Err: fmt.Errorf("%q is no budget", sessionfmt.Quote(text)), Hint: "want " + BudgetHelp}
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

// A word is a number or a string, as it is written.
type word string

// UnmarshalText takes what is not a number and no text as a blank, which nothing is.
func (w *word) UnmarshalText(text []byte) error {
	*w = cmp.Or(word(text), " ")
	return nil
}

const (
	gateKeys   = "keys are unpriced, broken, drift and tables [[budget]]"
	budgetKeys = "keys of a budget are figure, max, min, tolerance, severity, drift"
)

// Load adds the budgets of a TOML file to the gate's. What it says of unpriced calls,
// broken sessions and drift gives way to what is set already.
func (g *Gate) Load(name string, data []byte) error {
	at := func(line int, err error) error {
		var own *sessionfmt.Error
		hint := ""
		if errors.As(err, &own) {
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

// tomlError is what is wrong with a file, and in which line.
func tomlError(err error) (line int, better error) {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		first := &unknown.Errors[0]
		line, _ = first.Position()
		key := first.Key()
		hint := gateKeys
		if len(key) > 1 {
			hint = budgetKeys
		}
		return line, &sessionfmt.Error{Err: fmt.Errorf("unknown key %q", sessionfmt.Quote(key[len(key)-1])), Hint: hint}
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ = wrong.Position()
	}
	return line, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
}

// budgetLines are the lines in which the tables of budgets begin.
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

// settings takes what a file says of all budgets.
func (g *Gate) settings(file *gateFile) error {
	if file.Unpriced != "" && file.Unpriced != "fail" && file.Unpriced != "ignore" {
		return fmt.Errorf("unpriced %q: fail or ignore", sessionfmt.Quote(string(file.Unpriced)))
	}
	if file.Broken != "" && file.Broken != "fail" && file.Broken != "warn" {
		return fmt.Errorf("broken %q: fail or warn", sessionfmt.Quote(string(file.Broken)))
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

// budget takes a budget, and the drift that its figure may have.
func (g *Gate) budget(from *budgetFile) (err error) {
	if from.Figure == "" {
		return &sessionfmt.Error{Err: errors.New("a budget without a figure"), Hint: budgetKeys}
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
