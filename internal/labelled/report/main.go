// Command report measures redaction on generated texts: what share of secrets it removes, by
// group, kind, shape, spelling and place, and what share of harmless texts it changes.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"ctxtool/internal/labelled"
	"ctxtool/sessionfmt/redact"
)

func main() {
	seed := flag.Uint64("seed", 1, "seed of the texts")
	harmless := flag.Int("harmless", 20000, "number of harmless texts")
	examples := flag.Int("examples", 0, "failures to print per row")
	only := flag.String("only", "", "examples of rows that contain this")
	leaks := flag.String("gitleaks", "", "also measure others: gitleaks, from this module with its version, and trufflehog if it is installed")
	flag.Parse()
	if err := run(*seed, *harmless, *examples, *only, *leaks); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(2)
	}
}

func run(seed uint64, n, examples int, only, leaks string) error {
	config, err := os.ReadFile("sessionfmt/redact/gitleaks.toml")
	if err != nil {
		return err
	}
	cases, err := labelled.Set(seed, config)
	if err != nil {
		return err
	}
	plain := labelled.NoSecrets(seed, n)
	r, err := redact.New(redact.Options{})
	if err != nil {
		return err
	}
	t := table{examples: examples, only: only, names: []string{"ctxtool"}}
	var texts, out []string
	measure := func(text string, message bool) error {
		left, err := redacted(r, text, message)
		texts, out = append(texts, text), append(out, left)
		return err
	}
	for _, c := range cases {
		if err := measure(c.Text, c.Place == "text"); err != nil {
			return fmt.Errorf("%s: %w", c.Place, err)
		}
	}
	for _, h := range plain {
		if err := measure(h.Text, true); err != nil {
			return err
		}
	}
	t.tools = append(t.tools, out)
	for _, s := range scanners(leaks) {
		if _, err := exec.LookPath(s.command[0]); err != nil || leaks == "" {
			fmt.Fprintf(os.Stderr, "report: %s is left out\n", s.name)
			continue
		}
		if out, err = s.left(texts); err != nil {
			return err
		}
		t.names, t.tools = append(t.names, s.name), append(t.tools, out)
	}
	t.print(os.Stdout, cases, plain)
	return nil
}

// redacted returns what redaction leaves of a session, or of a text as the message of one.
func redacted(r *redact.Redactor, text string, message bool) (string, error) {
	var said struct {
		Content string `json:"content"`
	}
	if message {
		said.Content = text
		line, err := json.Marshal(said)
		if err != nil {
			return "", err
		}
		text = string(line)
	}
	var from io.Reader = strings.NewReader(text)
	var out []byte
	for pass := range r.Passes(nil) {
		var to bytes.Buffer
		if err := pass(&to, from); err != nil {
			return "", err
		}
		out, from = to.Bytes(), &to
	}
	if !message {
		return string(out), nil
	}
	err := json.Unmarshal(out, &said)
	return said.Content, err
}

// A table counts what each tool removed.
type table struct {
	tools    [][]string // by tool, what is left of each text
	names    []string   // of tools
	examples int
	only     string
}

// A row is the texts with something in common.
type row struct {
	name string
	n    int
	hits []int // by tool
	bad  []string
}

func (t *table) print(w io.Writer, cases []labelled.Case, plain []labelled.Harmless) {
	for _, by := range []struct {
		title string
		of    func(c labelled.Case) string
	}{
		{"goal", func(c labelled.Case) string { return c.Goal }},
		{"group", func(c labelled.Case) string { return c.Group + ", " + c.Spelling }},
		{"kind", func(c labelled.Case) string { return c.Group + ", " + c.Kind }},
		{"shape", func(c labelled.Case) string { return c.Group + ", " + c.Shape }},
		{"place", func(c labelled.Case) string { return c.Place }},
	} {
		rows := map[string]*row{}
		for k, c := range cases {
			names := []string{by.of(c)}
			if by.title == "goal" {
				names = c.Goals()
			}
			for _, name := range names {
				t.count(rows, name, k, c.Text, func(out string) bool { return !c.Left(out) })
			}
		}
		t.rows(w, by.title, "removed", rows, false)
	}
	rows := map[string]*row{}
	for k, h := range plain {
		for _, name := range []string{h.Kind, "all"} {
			t.count(rows, name, len(cases)+k, h.Text, func(out string) bool { return out != h.Text })
		}
	}
	t.rows(w, "harmless", "changed", rows, true)
}

func (t *table) count(rows map[string]*row, name string, k int, text string, hit func(out string) bool) {
	x := rows[name]
	if x == nil {
		x = &row{name: name, hits: make([]int, len(t.tools))}
		rows[name] = x
	}
	x.n++
	for tool, out := range t.tools {
		if hit(out[k]) {
			x.hits[tool]++
		}
		if tool == 0 {
			x.bad = append(x.bad, fmt.Sprintf("%v\x00%.300q\n      -> %.200q", hit(out[k]), text, out[k]))
		}
	}
}

// rows prints rows, the worst first.
func (t *table) rows(w io.Writer, title, what string, rows map[string]*row, bad bool) {
	fmt.Fprintf(w, "\n%-44s %7s", title+", "+what, "texts")
	for _, name := range t.names {
		fmt.Fprintf(w, " %10s", name)
	}
	fmt.Fprintln(w)
	var all []*row
	for _, x := range rows {
		all = append(all, x)
	}
	share := func(x *row) float64 { return float64(x.hits[0]) / float64(x.n) }
	slices.SortFunc(all, func(a, b *row) int {
		if share(a) != share(b) {
			if (share(a) < share(b)) != bad {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	for _, x := range all {
		fmt.Fprintf(w, "%-44s %7d", x.name, x.n)
		for _, hits := range x.hits {
			fmt.Fprintf(w, " %9.2f%%", 100*float64(hits)/float64(x.n))
		}
		fmt.Fprintln(w)
		left := t.examples
		for _, b := range x.bad {
			hit, text, _ := strings.Cut(b, "\x00")
			if left > 0 && hit == fmt.Sprint(bad) && strings.Contains(title+" "+x.name, t.only) {
				fmt.Fprintf(w, "    %s\n", text)
				left--
			}
		}
	}
}
