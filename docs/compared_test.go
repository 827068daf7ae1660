package docs_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"ctxtool/internal/dialect"
	"ctxtool/internal/test/must"
)

// comparedMark begins the table of session-format.md that compared.txt makes.
var comparedMark = regexp.MustCompile(`(?m)^<!-- compared -->\n(?:\|.*\n)*`)

// TestCompared holds the table of compared requests to what tests compared.
func TestCompared(t *testing.T) {
	table := "<!-- compared -->\n| agent | version | requests compared | equal |\n|---|---|---|---|\n"
	for c := range dialect.Compared {
		table += fmt.Sprintf("| %s | %s | %d | %d |\n", c.Agent, c.Version, c.Requests, c.Equal)
	}
	data := must.Get(os.ReadFile("session-format.md"))
	if !comparedMark.Match(data) {
		t.Fatal("session-format.md has no table of compared requests")
	}
	want := comparedMark.ReplaceAllLiteral(data, []byte(table))
	if *update {
		must.Do(os.WriteFile("session-format.md", want, 0o644))
	} else if string(want) != string(data) {
		t.Error("compared.txt is not as session-format.md has it; go test ./docs -run Compared -update")
	}
}
