package labelled

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/redact"
	"ctxtool/internal/test/must"
)

var (
	seed     = flag.Uint64("seed", 1, "seed of the texts")
	gitleaks = flag.String("gitleaks", "", "also measure others: gitleaks, from this module with its version, and trufflehog if it is installed")
	examples = flag.Int("examples", 0, "failures to print per row")
	only     = flag.String("only", "", "examples of rows that contain this")
)

// goals are the least shares of secrets that are removed.
var goals = map[string]float64{
	Prefixed: 0.995, Whole: 0.95, PEM: 0.97, Parts: 0.93, Encoded: 0.93,
}

const mostHarmless = 0.003 // share of harmless texts that are changed

// TestGoals: redaction reaches its goals on a sample of the labelled set, and for each group of kinds.
// With -v it prints the shares by kind, shape, spelling and place.
func TestGoals(t *testing.T) {
	every, harmless := 16, 2000
	if os.Getenv("CTXTOOL_WHOLE") != "" {
		every, harmless = 1, 20000
	}
	cases := must.Get(Set(*seed, must.Get(os.ReadFile("../../lens/redact/gitleaks.toml"))))
	r := must.Get(redact.New(redact.Options{}))
	var texts, left []string
	measure := func(text string, message bool) {
		texts, left = append(texts, text), append(left, redacted(t, r, text, message))
	}
	for k := 0; k < len(cases); k += every {
		measure(cases[k].Text, cases[k].Place == "text")
	}
	plain := NoSecrets(*seed, harmless)
	for _, h := range plain {
		measure(h.Text, true)
	}
	tools, out := []string{"ctxtool"}, [][]string{left}
	for _, s := range scanners(*gitleaks) {
		if _, err := exec.LookPath(s.command[0]); err != nil || *gitleaks == "" {
			t.Logf("%s is left out", s.name)
			continue
		}
		tools, out = append(tools, s.name), append(out, must.Get(s.left(texts)))
	}
	rows := table{}
	for k, text := range texts {
		for tool := range tools {
			result := out[tool][k]
			if at := k * every; at < len(cases) {
				c := &cases[at]
				rows.count(tool, text, result, !c.Left(result), append(prefixed("goal: ", c.Goals()...),
					"group: "+c.Group+", "+c.Spelling, "kind: "+c.Group+", "+c.Kind, "shape: "+c.Group+", "+c.Shape, "place: "+c.Place)...)
				continue
			}
			h := plain[len(plain)-(len(texts)-k)]
			rows.count(tool, text, result, result == text, "harmless: all", "harmless: "+h.Kind)
		}
	}
	if testing.Verbose() {
		rows.print(os.Stdout, tools)
	}
	for goal, least := range goals {
		if x := rows["goal: "+goal]; x == nil || x.n < 50 || x.share(0) < least {
			t.Errorf("%s: the goal is %.1f%%; %+v", goal, 100*least, x)
		}
	}
	if x := rows["harmless: all"]; x.share(0) < 1-mostHarmless {
		t.Errorf("%.2f%% of the harmless texts are changed, the limit is %.1f%%; such as %s", 100-100*x.share(0), 100*mostHarmless, x.bad)
	}
}

func prefixed(with string, all ...string) (names []string) {
	for _, name := range all {
		names = append(names, with+name)
	}
	return names
}

// redacted returns what redaction leaves of a session, or of a text as the message of one.
func redacted(t *testing.T, r *redact.Redactor, text string, message bool) string {
	var said struct {
		Content string `json:"content"`
	}
	if message {
		said.Content = text
		text = string(must.Get(json.Marshal(said)))
	}
	var from io.Reader = strings.NewReader(text)
	var out []byte
	for pass := range r.Passes(nil) {
		var to bytes.Buffer
		if err := pass(&to, from); err != nil {
			t.Fatal(err)
		}
		out, from = to.Bytes(), &to
	}
	if !message {
		return string(out)
	}
	must.Do(json.Unmarshal(out, &said))
	return said.Content
}

// A table has the texts with something in common, by its name.
type table map[string]*row

type row struct {
	n    int
	good [3]int   // by tool: secrets that are removed, or harmless texts that stay
	bad  []string // of ours
}

func (x *row) share(tool int) float64 { return float64(x.good[tool]) / float64(x.n) }

func (t table) count(tool int, text, out string, good bool, names ...string) {
	for _, name := range names {
		x := t[name]
		if x == nil {
			x = &row{}
			t[name] = x
		}
		if tool == 0 {
			x.n++
		}
		if good {
			x.good[tool]++
		} else if tool == 0 && len(x.bad) < max(*examples, 1) {
			x.bad = append(x.bad, fmt.Sprintf("%.300q\n      -> %.200q", text, out))
		}
	}
}

// print prints the rows by what they have in common, the worst first.
func (t table) print(w io.Writer, tools []string) {
	fmt.Fprintf(w, "%-52s %7s %10s\n", "removed, or unchanged", "texts", strings.Join(tools, " "))
	group := func(name string) string { return name[:strings.IndexByte(name, ':')] }
	for _, name := range slices.SortedFunc(maps.Keys(t), func(a, b string) int {
		return cmp.Or(strings.Compare(group(a), group(b)), cmp.Compare(t[a].share(0), t[b].share(0)), strings.Compare(a, b))
	}) {
		fmt.Fprintf(w, "%-52s %7d", name, t[name].n)
		for tool := range tools {
			fmt.Fprintf(w, " %9.2f%%", 100*t[name].share(tool))
		}
		fmt.Fprintln(w)
		if *examples > 0 && strings.Contains(name, *only) {
			fmt.Fprintf(w, "    %s\n", strings.Join(t[name].bad, "\n    "))
		}
	}
}
