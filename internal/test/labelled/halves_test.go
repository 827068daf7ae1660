package labelled

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"ctxtool/internal/lens/redact"
	"ctxtool/internal/test/must"
)

// leastShares are the goals for both halves: the rules are developed until one half reaches its goals, and what the
// other half reaches is what they are worth.
var leastShares = map[string]float64{
	"developed on: " + Named: 0.985, "held out: " + Named: 0.95,
	"developed on: " + Alone: 0.98, "held out: " + Alone: 0.91,
	"developed on: " + CutOrSplit: 0.91, "held out: " + CutOrSplit: 0.84,
	"developed on: harmless": 0.997, "held out: harmless": 0.99,
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
	rows, tools := table{}, []string{"ctxtool"}
	for h, name := range []string{"developed on", "held out"} {
		cases, plain := Grammar(from, half(h), n), NoSecretsOf(from, half(h), n)
		var texts, left []string
		for _, c := range cases {
			texts = append(texts, c.Text)
		}
		for _, c := range plain {
			texts = append(texts, c.Text)
		}
		for _, text := range texts {
			left = append(left, redacted(t, r, text, true))
		}
		of := [][]string{left}
		tools = tools[:1]
		for _, s := range scanners(*gitleaks) {
			if _, err := exec.LookPath(s.command[0]); err == nil && *gitleaks != "" {
				tools, of = append(tools, s.name), append(of, must.Get(s.left(texts)))
			}
		}
		for tool := range of {
			count := func(k int, good bool, shown string, names ...string) {
				text, out := texts[k], of[tool][k]
				if half(h) == heldOut {
					text, out = "", "" // nobody looks at them
				} else {
					names = append(names, shown)
				}
				rows.count(tool, text, out, good, names...)
			}
			for k, c := range cases {
				count(k, !c.Left(of[tool][k]), "examples: "+c.Goal, "total, "+name+": "+c.Goal, c.Group+" kind, "+name+": "+c.Kind,
					c.Group+" layout, "+name+": "+c.Shape, c.Group+" wrapping, "+name+": "+c.Spelling)
			}
			for k, c := range plain {
				k += len(cases)
				count(k, of[tool][k] == c.Text, "examples: harmless", "total, "+name+": harmless", "harmless, "+name+": "+c.Kind)
			}
		}
	}
	if testing.Verbose() {
		rows.print(os.Stdout, tools)
	}
	for name, least := range leastShares {
		if x := rows["total, "+name]; x == nil || x.n < 1000 || x.share(0) < least {
			t.Errorf("%s: the goal is %.1f %%; %+v", name, 100*least, x)
		}
	}
}
