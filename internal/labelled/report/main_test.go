package main

import (
	"os"
	"testing"

	"ctxtool/internal/labelled"
	"ctxtool/sessionfmt/redact"
)

// goals are the least shares of secrets that are removed.
var goals = map[string]float64{
	labelled.Prefixed: 0.995, labelled.Whole: 0.95, labelled.PEM: 0.97, labelled.Parts: 0.93, labelled.Encoded: 0.93,
}

const mostHarmless = 0.003 // share of harmless texts that are changed

// TestGoals: redaction reaches its goals on a sample of the labelled set, and for each group of kinds.
func TestGoals(t *testing.T) {
	every, harmless := 16, 2000
	if os.Getenv("CTXTOOL_WHOLE") != "" {
		every, harmless = 1, 20000
	}
	config, err := os.ReadFile("../../../sessionfmt/redact/gitleaks.toml")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := labelled.Set(1, config)
	if err != nil {
		t.Fatal(err)
	}
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, removed, missed := map[string]float64{}, map[string]float64{}, map[string]string{}
	for k := 0; k < len(cases); k += every {
		c := &cases[k]
		out, err := redacted(r, c.Text, c.Place == "text")
		if err != nil {
			t.Fatal(err)
		}
		for _, goal := range c.Goals() {
			all[goal]++
			if c.Left(out) {
				missed[goal] = c.Text
			} else {
				removed[goal]++
			}
		}
	}
	for goal, least := range goals {
		if share := removed[goal] / all[goal]; all[goal] < 50 || share < least {
			t.Errorf("%s: %.2f%% of %.0f are removed, the goal is %.1f%%; such as %q is not", goal, 100*share, all[goal], 100*least, missed[goal])
		}
	}
	changed, last := 0.0, ""
	for _, h := range labelled.NoSecrets(1, harmless) {
		if out, err := redacted(r, h.Text, true); err != nil || out != h.Text {
			changed++
			last = h.Text
		}
	}
	if changed > mostHarmless*float64(harmless) {
		t.Errorf("%.2f%% of the harmless texts are changed, the limit is %.1f%%; such as %q", 100*changed/float64(harmless), 100*mostHarmless, last)
	}
}
