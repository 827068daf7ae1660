package agents

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/rule"
)

// A Count counts compared requests.
type Count struct {
	Requests int
	Equal    [parts]int // by part
	Left     [parts]int // whose part is not compared
	Whole    int        // equal in all parts
	Exact    int        // whose messages are called exact
}

// Add counts a request.
func (c *Count) Add(one Comparison) {
	c.Requests++
	whole := true
	for p, equal := range one.Equal {
		switch {
		case one.Left[p]:
			c.Left[p]++
		case equal:
			c.Equal[p]++
		default:
			whole = false
		}
	}
	if whole {
		c.Whole++
	}
	if one.Claim.Messages == "exact" && !one.Hidden {
		c.Exact++
	}
}

// part returns how many are equal in a part, and of how many if that is not compared in all; a dash if in none.
func (c *Count) part(p int) string {
	switch c.Left[p] {
	case 0:
		return strconv.Itoa(c.Equal[p])
	case c.Requests:
		return "-"
	}
	return fmt.Sprintf("%d of %d", c.Equal[p], c.Requests-c.Left[p])
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
func (table Table) Measure(t testing.TB, of *Agent, dir, interfaceOf string,
	each func(with bool, c Comparison)) (lost int) {
	t.Helper()
	without := filepath.Join(t.TempDir(), filepath.Base(dir))
	recorded := WithoutRecords(dir, without)
	for _, with := range []bool{true, false} {
		from := dir
		if with && !recorded {
			continue
		} else if recorded && !with {
			from = without
		}
		all, gone := Compare(of, from, interfaceOf)
		for _, c := range all {
			row := Row{c.Script, c.Played, c.Model, with}
			if table[row] == nil {
				table[row] = &Count{}
			}
			table[row].Add(c)
			if wrong := c.Overstated(); wrong != nil && !c.Hidden {
				t.Errorf("%s of %s, request %d of %s, records %t: %v is called exact, and is not:\n%s", c.Script,
					c.Played, c.N, c.Model, with, wrong, strings.Join(c.Unlike[:], "\n"))
			}
			if each != nil {
				each(with, c)
			}
		}
		lost = len(gone)
	}
	return lost
}

// By returns the table with rows joined: by returns the row that one counts to.
func (table Table) By(by func(Row) Row) Table {
	joined := Table{}
	joined.join(table, by)
	return joined
}

// join adds the rows of another table: by returns the row that one counts to.
func (table Table) join(other Table, by func(Row) Row) {
	for row, n := range other {
		to := by(row)
		if table[to] == nil {
			table[to] = &Count{}
		}
		all := table[to]
		all.Requests, all.Whole, all.Exact = all.Requests+n.Requests, all.Whole+n.Whole, all.Exact+n.Exact
		for p := range n.Equal {
			all.Equal[p], all.Left[p] = all.Equal[p]+n.Equal[p], all.Left[p]+n.Left[p]
		}
	}
}

// brief returns the rows of an agent in Markdown, by version: with the records of its requests, and without
// where it makes any.
func (table Table) brief(agent string) (rows []string) {
	all := table.By(func(r Row) Row { return Row{Version: r.Version, Records: r.Records} })
	for _, row := range slices.SortedFunc(maps.Keys(all), byVersion) {
		n, version := all[row], row.Version
		if with := (Row{Version: row.Version, Records: true}); !row.Records && all[with] != nil {
			version += ", without its records"
		}
		b := &strings.Builder{}
		fmt.Fprintf(b, "| %s | %s | %d |", agent, version, n.Requests)
		for p := range n.Equal {
			fmt.Fprintf(b, " %s |", n.part(p))
		}
		fmt.Fprintf(b, " %d |", n.Exact)
		rows = append(rows, b.String())
	}
	return rows
}

// compared marks the table of all agents in a document.
const compared = "<!-- compared agents -->\n"

// Hold holds the rows of an agent, in the table of a document that all agents share, to what was measured. Under update
// it writes them.
func (table Table) Hold(t testing.TB, update bool, document, agent string) {
	t.Helper()
	data := string(must.Get(os.ReadFile(document)))
	before, rest, ok := strings.Cut(data, compared)
	if !ok {
		t.Fatalf("%s has no %s", document, compared)
	}
	var had []string
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		had, rest = append(had, strings.TrimSuffix(line, "\n")), rest[len(line):]
	}
	want := []string{"| agent | version | requests | " + strings.Join(PartNames[:], " | ") + " | exact |",
		"|---|---|" + strings.Repeat("---:|", int(parts)+2)}
	others := slices.DeleteFunc(had[min(2, len(had)):], func(row string) bool {
		return strings.HasPrefix(row, "| "+agent+" |")
	})
	rows := append(others, table.brief(agent)...)
	slices.SortStableFunc(rows, func(a, b string) int { return cmp.Compare(agentOf(a), agentOf(b)) })
	all := before + compared + strings.Join(append(want, rows...), "\n") + "\n" + rest
	switch {
	case all == data:
	case update:
		must.Do(os.WriteFile(document, []byte(all), 0o644))
	default:
		t.Errorf("%s has other rows of %s than were measured; -update writes them:\n%s", filepath.Base(document), agent,
			strings.Join(table.brief(agent), "\n"))
	}
}

// agentOf returns the agent of a row.
func agentOf(row string) string { return strings.Split(row, " | ")[0] }

func byVersion(a, b Row) int {
	with := func(r Row) int { return map[bool]int{true: 0, false: 1}[r.Records] }
	return cmp.Or(rule.Versions(a.Version, b.Version), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Script, b.Script),
		cmp.Compare(with(a), with(b)))
}

// summary returns how many requests of a script were compared, and which parts are equal.
func summary(all []Comparison, lost int) string {
	table, seen := Table{}, map[int]bool{} // with the records first
	for _, c := range all {
		if seen[c.N] {
			continue
		}
		seen[c.N] = true
		row := Row{c.Script, c.Played, c.Model, true}
		if table[row] == nil {
			table[row] = &Count{}
		}
		table[row].Add(c)
	}
	b := &strings.Builder{}
	for row, n := range table {
		fmt.Fprintf(b, "\t%d requests of %s, equal", n.Requests, row.Model)
		for p := range n.Equal {
			fmt.Fprintf(b, " %s %s", PartNames[p], n.part(p))
		}
		fmt.Fprintf(b, "; %d called exact\n", n.Exact)
	}
	fmt.Fprintf(b, "\t%d requests are in no session", lost)
	return b.String()
}

// String returns the table in Markdown, by version, model and script.
func (table Table) String() string {
	rows := make([]Row, 0, len(table))
	scripts := false
	for row := range table {
		rows, scripts = append(rows, row), scripts || row.Script != ""
	}
	slices.SortFunc(rows, byVersion)
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
		for p := range n.Equal {
			fmt.Fprintf(b, " %s |", n.part(p))
		}
		fmt.Fprintf(b, " %d | %d |\n", n.Whole, n.Exact)
	}
	return b.String()
}
