package labelled

import (
	"math/rand/v2"
	"os"
	"testing"

	"ctxtool/internal/redact"
	"ctxtool/internal/test/must"
)

// leastShares are the goals for both halves: the rules are developed until one half reaches its goals, and what the
// other half reaches is what they are worth.
var leastShares = map[string]float64{
	"developed on: " + Named: 0.985, "held out: " + Named: 0.93,
	"developed on: " + Alone: 0.96, "held out: " + Alone: 0.88,
	"developed on: " + CutOrSplit: 0.90, "held out: " + CutOrSplit: 0.82,
	"developed on: harmless": 0.995, "held out: harmless": 0.92,
}

// TestHalves measures the grammar: the half that rules are developed on, and the half that they are not. Of that
// half, texts are never printed.
func TestHalves(t *testing.T) {
	n := 1500
	from := *seed
	if os.Getenv("CTXTOOL_WHOLE") != "" {
		n, from = 10000, rand.Uint64()
		t.Logf("seed %d", from)
	}
	r := must.Get(redact.New(redact.Options{}))
	rows := table{}
	for h, name := range []string{"developed on", "held out"} {
		count := func(text, out string, good bool, shown string, names ...string) {
			if half(h) == heldOut {
				text, out = "", "" // nobody looks at them
			} else {
				names = append(names, shown)
			}
			rows.count(0, text, out, good, names...)
		}
		for _, c := range Grammar(from, half(h), n) {
			out := redacted(t, r, c.Text, true)
			count(c.Text, out, !c.Left(out), "examples: "+c.Goal, "total, "+name+": "+c.Goal, c.Group+" kind, "+name+": "+c.Kind,
				c.Group+" layout, "+name+": "+c.Shape, c.Group+" wrapping, "+name+": "+c.Spelling)
		}
		for _, c := range NoSecretsOf(from, half(h), n) {
			out := redacted(t, r, c.Text, true)
			count(c.Text, out, out == c.Text, "examples: harmless", "total, "+name+": harmless", "harmless, "+name+": "+c.Kind)
		}
	}
	if testing.Verbose() {
		rows.print(os.Stdout, []string{"ctxtool"})
	}
	for name, least := range leastShares {
		if x := rows["total, "+name]; x == nil || x.n < 1000 || x.share(0) < least {
			t.Errorf("%s: the goal is %.1f %%; %+v", name, 100*least, x)
		}
	}
}
