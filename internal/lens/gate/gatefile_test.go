package gate_test

import (
	"strings"
	"testing"

	"ctxtool/internal/lens/gate"
	"ctxtool/internal/test/must"
)

// TestGateFile: files of budgets, and the errors in them.
func TestGateFile(t *testing.T) {
	g := &gate.Gate{}
	must.Do(g.Load("b.toml", []byte(`# a comment
unpriced = "ignore"
broken = "warn"
drift = "+5%"

[[budget]]
figure = "check.errors"
max = 1_500
tolerance = "5%"

[[budget]]
figure = "cache.hit-rate"
min = 0.5
max = "90%"
severity = "warning"
drift = 0.02
`)))
	var texts []string
	for _, b := range g.Budgets {
		texts = append(texts, budgetText(b, nil))
	}
	if got := strings.Join(texts, "; "); got != "check.errors max 1500 ~5% error; cache.hit-rate max 0.9 min 0.5 warning" || !g.IgnoreUnpriced || !g.WarnBroken {
		t.Errorf("%s, %+v", got, g)
	}
	rate := must.Get(gate.FindFigure("cache.hit-rate"))
	if want := (gate.Drift{Amount: gate.Amount{N: 0.05, Share: true}, Up: true}); *g.Drift != want || g.Drifts[rate].N != 0.02 || g.Drifts[rate].Severity != gate.Warning {
		t.Errorf("%+v, %+v", *g.Drift, *g.Drifts[rate])
	}
	const budget = "\n[[budget]]\nfigure = \"check.errors\"\n"
	for text, want := range map[string]string{
		"max = 3":                            `b.toml:1: unknown key "max"; keys are unpriced, broken, drift and tables [[budget]]`,
		budget + "maximum = 3":               `b.toml:4: unknown key "maximum"; keys of a budget are figure, max, min, tolerance, severity, drift`,
		budget + "max = [3]":                 `b.toml:2: check.errors: limit " ": must be a number`,
		budget + "max = ":                    "b.toml:4: expected value",
		budget:                               "b.toml:2: check.errors: a budget without max, min or drift",
		budget + "max = \"many\"":            `b.toml:2: check.errors: limit "many": must be a number`,
		budget + "max = 1\nmin = 2":          "b.toml:2: check.errors: min is more than max",
		budget + "max = 1\ntolerance = -1":   `b.toml:2: check.errors: tolerance "-1": must be a number or a percentage such as 5%`,
		budget + "max = 1\nseverity = \"x\"": `b.toml:2: check.errors: severity "x": must be error or warning`,
		budget + "drift = \"x\"":             `b.toml:2: check.errors: drift "x": must be a number or a percentage such as 5%, +5% or -5%`,
		budget + "max = 1" + "\n[[budget]]\nfigure = \"check.error\"": `b.toml:5: unknown figure "check.error"; of that kind are check.errors, check.warnings`,
		"[[budget]]\nmax = 1":  "b.toml:1: a budget without a figure; keys of a budget are figure, max, min, tolerance, severity, drift",
		"unpriced = \"maybe\"": `b.toml: unpriced "maybe": must be fail or ignore`,
		"broken = \"maybe\"":   `b.toml: broken "maybe": must be fail or warn`,
		"drift = \"much\"":     `b.toml: drift "much": must be a number or a percentage such as 5%, +5% or -5%`,
	} {
		err := (&gate.Gate{}).Load("b.toml", []byte(text))
		if err == nil {
			t.Errorf("%q is read", text)
			continue
		}
		if got := budgetText(gate.Budget{}, err); !strings.HasPrefix(got, want) {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}
