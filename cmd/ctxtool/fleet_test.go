package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/stats"
)

// A question is a block of SQL, and the table of its answer below it.
var question = regexp.MustCompile("(?s)```sql\n(.*?)```\n(\n<!-- answer -->\n(?:\\|[^\n]*\n)*)?")

// engine is what cmd/ctxtool/testdata/duckdb.mjs prints.
type engine struct {
	Answers []struct {
		Columns []string
		Rows    [][]any
	}
	Second map[string]map[string]float64 // sums of columns, by table, of another reader
}

// duckDB answers SQL in a folder with tables in fleet. It skips the test without DuckDB's library, which
// make duckdb installs.
func duckDB(t *testing.T, dir string, sql []string) (out engine) {
	t.Helper()
	cache, err := os.UserCacheDir()
	packages := filepath.Join(cache, "ctxtool-duckdb")
	if named := os.Getenv("CTXTOOL_DUCKDB"); named != "" {
		packages = named
	}
	if _, missing := os.Stat(filepath.Join(packages, "node_modules", "@duckdb", "node-api")); err != nil || missing != nil {
		testenv.Skip(t, "no library of DuckDB to ask; make duckdb installs it")
	}
	script := filepath.Join(corpus.Root(t), "cmd/ctxtool/testdata/duckdb.mjs")
	cmd := exec.Command("node", script, packages, "fleet")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(must.Get(json.Marshal(sql)))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	must.Do(json.Unmarshal(data, &out))
	return out
}

// TestFleet: DuckDB answers the questions of the guide as the page has it, and its sums are those of
// ctxtool and of another reader of the files.
func TestFleet(t *testing.T) {
	t.Parallel()
	dir := exampleFolder(t, true)
	if r := ranIn(dir, "export", ".", "../agents", "-o", "fleet"); r.status != exitOK {
		t.Fatal(r.stderr)
	}
	name := filepath.Join(corpus.Root(t), "docs/guide/fleet.md")
	page := must.Get(os.ReadFile(name))
	var asked []string
	for _, m := range question.FindAllSubmatch(page, -1) {
		asked = append(asked, string(m[1]))
	}
	if len(asked) != 11 {
		t.Fatalf("%d blocks of SQL, want the views and ten questions", len(asked))
	}
	sums := []string{
		"SELECT sum(cost_usd), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens), count(*) FROM calls",
		"SELECT sum(messages), sum(tool_calls), sum(tool_errors), sum(compactions), sum(prompts) FROM sessions",
		"SELECT count_if(severity = 'error'), count_if(severity = 'warning') FROM findings WHERE rule <> 'unreadable'",
		"SELECT count(*), sum(tokens_before), sum(tokens_after), sum(lost_constraints) FROM compactions WHERE tokens_before IS NOT NULL",
	}
	out := duckDB(t, dir, append(asked, sums...))
	k := -1
	golden.Equal(t, name, question.ReplaceAllFunc(page, func(block []byte) []byte {
		if k++; k == 0 {
			return block
		}
		m := question.FindSubmatch(block)
		a := out.Answers[k]
		text := fmt.Sprintf("```sql\n%s```\n\n<!-- answer -->\n| %s |\n|%s\n", m[1], strings.Join(a.Columns, " | "), strings.Repeat("---|", len(a.Columns)))
		for _, row := range a.Rows {
			for i, v := range row {
				text += "| " + strings.ReplaceAll(cell(v), "|", `\|`)
				if i == len(row)-1 {
					text += " |\n"
				} else {
					text += " "
				}
			}
		}
		return []byte(text)
	}))
	report := &stats.Report{}
	must.Do(json.Unmarshal(ranIn(dir, "stats", ".", "../agents", "--lens", "session,cost,compactions,check", "--json").stdout.Bytes(), report))
	cost, s, c := &report.Cost.CostSum, report.Session, report.Compactions
	kept := c.Survival.Constraints
	for i, want := range [][]float64{
		{cost.Cost.Total, float64(cost.Tokens.Input), float64(cost.Tokens.Output), float64(cost.Tokens.CacheRead), float64(cost.Tokens.CacheWrite), float64(cost.Calls.Total)},
		{float64(s.Messages), float64(s.Calls.Calls), float64(s.Calls.Error), float64(s.Compactions), float64(s.Turns)},
		{float64(report.Check.Errors), float64(report.Check.Warnings)},
		{float64(c.Count), float64(c.Before), float64(c.After), float64(kept.Of - kept.Found)},
	} {
		for j, v := range out.Answers[len(asked)+i].Rows[0] {
			if got, ok := v.(float64); !ok || math.Abs(got-want[j]) > 1e-9*max(1, want[j]) {
				t.Errorf("%s: column %d is %v, and ctxtool stats has %v", sums[i], j, v, want[j])
			}
		}
	}
	for table, columns := range out.Second {
		var words []string
		var names []string
		for column := range columns {
			if column != "rows" {
				words, names = append(words, fmt.Sprintf("sum(%q)", column)), append(names, column)
			}
		}
		words, names = append(words, "count(*)"), append(names, "rows")
		got := duckDB(t, dir, []string{fmt.Sprintf("SELECT %s FROM read_parquet('fleet/%s/*/*/*.parquet')", strings.Join(words, ", "), table)})
		for i, v := range got.Answers[0].Rows[0] {
			if n, ok := v.(float64); !ok || math.Abs(n-columns[names[i]]) > 1e-9*max(1, math.Abs(n)) {
				t.Errorf("%s.%s: %v, by another reader %v", table, names[i], v, columns[names[i]])
			}
		}
	}
	if len(out.Second) != 6 {
		t.Errorf("another reader reads %d tables", len(out.Second))
	}
}

// cell is a value as a page shows it.
func cell(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
