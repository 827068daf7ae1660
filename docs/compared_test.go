package docs_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"ctxtool/internal/read/dialect/pi"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/rule"
)

// comparedMark begins the table of compared.md that the tables of compared rules make.
var comparedMark = regexp.MustCompile(`(?m)^<!-- compared -->\n(?:\|.*\n)*`)

// TestCompared holds the table of compared rules to what tests compared.
func TestCompared(t *testing.T) {
	text := "<!-- compared -->\n| agent | version | requests | rules | all requests equal |\n|---|---|---:|---:|---:|\n"
	add := func(agent string, of *rule.Table) {
		for _, version := range of.Versions() {
			rules, requests, equal := of.Summary(version)
			text += fmt.Sprintf("| %s | %s | %d | %d of %d | %d |\n", agent, version, requests, rules, int(rule.Own)+len(of.Rules)-1, equal)
		}
	}
	add("pi", pi.Rules)
	add(dialect.OhMyPi, pi.OhMyPi)
	added := map[*rule.Table]bool{nil: true}
	for _, d := range sessionfmt.Dialects() {
		if !added[d.Rules] { // two formats of an agent have the same
			added[d.Rules] = true
			add(d.Name, d.Rules)
		}
	}
	data := must.Get(os.ReadFile("compared.md"))
	if !comparedMark.Match(data) {
		t.Fatal("compared.md has no table of compared rules")
	}
	want := comparedMark.ReplaceAllLiteral(data, []byte(text))
	if *update {
		must.Do(os.WriteFile("compared.md", want, 0o644))
	} else if string(want) != string(data) {
		t.Error("compared.md has another table of compared rules; go test ./docs -run Compared -update")
	}
}
