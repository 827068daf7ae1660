package agents

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/rule"
)

// A Count counts compared requests.
type Count struct {
	Requests int
	Equal    [parts]int // by part
	Whole    int        // equal in all of them
	Exact    int        // whose messages are called exact
}

// Add counts a request.
func (c *Count) Add(one Comparison) {
	c.Requests++
	whole := true
	for p, equal := range one.Equal {
		if equal {
			c.Equal[p]++
		}
		whole = whole && equal
	}
	if whole {
		c.Whole++
	}
	if one.Claim.Messages == "exact" {
		c.Exact++
	}
}

// A Row is what a count is of.
type Row struct {
	Script, Version, Model string
	Records                bool // with the records of the requests
}

// A Table counts what was compared.
type Table map[Row]*Count

// Measure compares the requests of a recording, with the records that the program made of them and without. It
// reports what is called exact and is not. Each comparison is given to a function, which may be nil. lost are requests
// whose answer is in no session.
func (table Table) Measure(t testing.TB, dir, interfaceOf string, each func(with bool, c Comparison)) (lost int) {
	t.Helper()
	without := filepath.Join(t.TempDir(), filepath.Base(dir))
	recorded := WithoutRecords(dir, without)
	for _, with := range []bool{true, false} {
		if with && !recorded {
			continue
		}
		from := map[bool]string{true: dir, false: without}[with]
		all, gone := Compare(from, interfaceOf)
		for _, c := range all {
			row := Row{c.Script, c.Version, c.Model, with}
			if table[row] == nil {
				table[row] = &Count{}
			}
			table[row].Add(c)
			if wrong := c.Overstated(); wrong != nil {
				t.Errorf("%s of %s, request %d of %s, records %t: %v is called exact, and is not:\n%s", c.Script,
					c.Version, c.N, c.Model, with, wrong, strings.Join(c.Unlike[:], "\n"))
			}
			if each != nil {
				each(with, c)
			}
		}
		lost = len(gone)
	}
	return lost
}

// By is the table with rows joined: by returns the row that one counts to.
func (table Table) By(by func(Row) Row) Table {
	joined := Table{}
	for row, n := range table {
		to := by(row)
		if joined[to] == nil {
			joined[to] = &Count{}
		}
		all := joined[to]
		all.Requests, all.Whole, all.Exact = all.Requests+n.Requests, all.Whole+n.Whole, all.Exact+n.Exact
		for p := range n.Equal {
			all.Equal[p] += n.Equal[p]
		}
	}
	return joined
}

// Brief is the table in Markdown with the parts that a session has: the prompt and messages.
func (table Table) Brief(agent string) string {
	rows := slices.SortedFunc(maps.Keys(table), func(a, b Row) int { return rule.Versions(a.Version, b.Version) })
	b := &strings.Builder{}
	b.WriteString("| agent | version | requests | system | messages | exact |\n|---|---|---:|---:|---:|---:|\n")
	for _, row := range rows {
		n := table[row]
		fmt.Fprintf(b, "| %s | %s | %d | %d | %d | %d |\n", agent, row.Version, n.Requests, n.Equal[System],
			n.Equal[Messages], n.Exact)
	}
	return b.String()
}

// String is the table in Markdown, by version, model and script.
func (table Table) String() string {
	rows := make([]Row, 0, len(table))
	scripts := false
	for row := range table {
		rows, scripts = append(rows, row), scripts || row.Script != ""
	}
	slices.SortFunc(rows, func(a, b Row) int {
		with := func(r Row) int { return map[bool]int{true: 0, false: 1}[r.Records] }
		return cmp.Or(rule.Versions(a.Version, b.Version), cmp.Compare(a.Model, b.Model),
			cmp.Compare(a.Script, b.Script), cmp.Compare(with(a), with(b)))
	})
	b := &strings.Builder{}
	script := func(s string) string {
		if scripts {
			return s + " | "
		}
		return ""
	}
	columns := 0
	if scripts {
		columns = 1
	}
	fmt.Fprintf(b, "| version | model | %srecords | requests | %s | all | exact |\n|---|---|%s---|%s\n",
		script("script"), strings.Join(PartNames[:], " | "),
		strings.Repeat("---|", columns), strings.Repeat("---:|", int(parts)+3))
	for _, row := range rows {
		n := table[row]
		fmt.Fprintf(b, "| %s | %s | %s%s | %d |", row.Version, row.Model, script(row.Script),
			map[bool]string{true: "with", false: "without"}[row.Records], n.Requests)
		for _, equal := range n.Equal {
			fmt.Fprintf(b, " %d |", equal)
		}
		fmt.Fprintf(b, " %d | %d |\n", n.Whole, n.Exact)
	}
	return b.String()
}
