package stats

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"ctxtool/sessionfmt"
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

// scales are the letters behind a number that make it larger.
var scales = []struct {
	letter string
	times  float64
}{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}}

// ParseNumber reads a number such as 150000, 150_000, 150k, 1.5M or 1e6.
func ParseNumber(text string) (float64, error) {
	times := 1.0
	for _, s := range scales {
		if n := len(text) - len(s.letter); n > 0 && strings.EqualFold(text[n:], s.letter) {
			text, times = text[:n], s.times
			break
		}
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
	if f.Unit == Dollars {
		t = strings.TrimPrefix(t, "$")
	}
	n, err := ParseNumber(t)
	switch {
	case err != nil || percent && f.Unit != Share:
		return nil, fmt.Errorf("%s: limit %q: want %s", f.Name, sessionfmt.Quote(text), f.Unit.want())
	case f.Unit == Share && !percent && n > 1:
		return nil, fmt.Errorf("%s: limit %q: it is a share, from 0 to 1 or as %s%%", f.Name, sessionfmt.Quote(text), sessionfmt.Quote(text))
	case percent:
		n /= 100
	}
	return &n, nil
}

// want is what a limit looks like.
func (u Unit) want() string {
	switch u {
	case Tokens:
		return "tokens, as 150000 or 150k"
	case Bytes:
		return "bytes, as 20000000 or 20M"
	case Dollars:
		return "dollars, as 1.20"
	case Share:
		return "a share, as 0.8 or 80%"
	}
	return "a number"
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
