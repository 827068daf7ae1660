package stats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"ctxtool/sessionfmt"
)

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

// UnmarshalText takes what is no number and no text as a blank, which nothing is.
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
