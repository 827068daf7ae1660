// Package compared has the page docs/policies-compared.md and its charts: what the context policies
// of several agents would have cost and lost on the same sessions; see make compared.
package compared

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"ctxtool/internal/lens/simulate"
	"ctxtool/internal/read/phrase"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

//go:embed *.tmpl
var files embed.FS

// A set is a folder of sessions, and the window that policies have there.
type set struct {
	Name, Title, Folder, Window string
	Flags                       []string // of simulate; policies that are tuned are not in the first table
	Recorded, None              row
	Policies                    []row // those of agents
	Reports                     []*simulate.Report
}

// A row is a policy and its figures beside those of the path without any.
type row struct {
	*simulate.Run
	Against, Kept float64 // shares of none's cost and context
	Over, Again   float64 // shares of requests and of their tokens
	Lost          float64 // regrets per 100 requests
	Wins          int     // sessions in which it costs less than all others
}

// TestCompared writes the page and its charts under go test -update: it takes minutes, and the real
// sessions.
func TestCompared(t *testing.T) {
	if !*golden.Update {
		t.Skip("left out: only go test -update simulates the policies")
	}
	const docs = "../../../docs/policies-compared"
	real := testenv.NeedShared(t, "corpus")[0]
	generated := t.TempDir()
	store := must.Get(gen.Find("store"))
	store.Shape.Seed, store.Store.Files = 1, 40
	must.Do(store.Store.Write(generated, store.Shape))
	sets := []*set{
		{Name: "real-200k", Title: "Real sessions, window 200k", Folder: real, Window: "200k"},
		{Name: "real-64k", Title: "Real sessions, window 64k", Folder: real, Window: "64k"},
		{Name: "tuned-64k", Title: "Real sessions, window 64k: how many tokens pi keeps", Folder: real, Window: "64k", Flags: []string{"--policy", "recorded,none,pi", "--sweep", "keep=5000,10000,20000,40000"}},
		{Name: "generated-64k", Title: "Generated sessions, window 64k", Folder: generated, Window: "64k"},
	}
	for _, s := range sets {
		s.simulate()
		golden.Equal(t, filepath.Join(docs, s.Name+".svg"), fill("chart.svg.tmpl", s))
	}
	golden.Equal(t, docs+".md", fill("page.md.tmpl", page(sets)))
}

// A page is the data of the page.
type page []*set

// Agents returns the sets in which policies have the numbers of their agents.
func (p page) Agents() (sets []*set) {
	for _, s := range p {
		if s.Flags == nil {
			sets = append(sets, s)
		}
	}
	return sets
}

// Torn reports whether the cheapest policy never has the fewest regrets.
func (p page) Torn() bool {
	return !slices.ContainsFunc(p, func(s *set) bool { return s.Order("cost")[0] == s.Order("regrets")[0] })
}

// fill returns a template with data.
func fill(from string, data any) []byte {
	var text bytes.Buffer
	must.Do(template.Must(template.New("").Funcs(template.FuncMap{
		"percent": phrase.Percent,
		"signed":  func(share float64) string { return fmt.Sprintf("%+.1f%%", 100*share) },
		"at":      func(first, step, k int) int { return first + step*k },
	}).ParseFS(files, from)).ExecuteTemplate(&text, from, data))
	return text.Bytes()
}

// simulate simulates the set's sessions.
func (s *set) simulate() {
	cmd := exec.Command("../../../bin/ctxtool", append([]string{"simulate", s.Folder, "--window", s.Window, "--json"}, s.Flags...)...)
	cmd.Stderr = os.Stderr
	var all simulate.Store
	must.Do(json.Unmarshal(must.Get(cmd.Output()), &all))
	s.take(&all)
}

// take takes the figures of a store.
func (s *set) take(all *simulate.Store) {
	s.Reports = slices.DeleteFunc(all.Sessions, func(r *simulate.Report) bool { return r.Error != "" })
	none := all.Total.Runs[slices.IndexFunc(all.Total.Runs, func(r *simulate.Run) bool { return r.Policy == simulate.None })]
	for k, r := range all.Total.Runs {
		requests := float64(r.Requests)
		one := row{
			r, r.Cost.Total/none.Cost.Total - 1, r.Mean / none.Mean, float64(r.Overflows) / requests,
			float64(r.Rebilled.Tokens) / float64(r.Prompt), 100 * float64(r.Regrets) / requests, s.wins(k),
		}
		switch r.Policy {
		case simulate.Recorded:
			s.Recorded = one
		case simulate.None:
			s.None = one
		default:
			s.Policies = append(s.Policies, one)
		}
	}
}

// wins returns the number of sessions in which a policy costs less than all others, but recorded and none.
func (s *set) wins(k int) (n int) {
	for _, one := range s.Reports {
		if !slices.ContainsFunc(one.Runs, func(r *simulate.Run) bool {
			return r != one.Runs[k] && r.Policy != simulate.Recorded && r.Policy != simulate.None && r.Cost.Total <= one.Runs[k].Cost.Total
		}) {
			n++
		}
	}
	return n
}

// Why returns why one of the agents' policies is the best, in a sentence.
func (s *set) Why() string {
	r := simulate.Report{}
	for _, p := range s.Policies {
		r.Runs = append(r.Runs, p.Run)
	}
	r.Decide(simulate.LeastCost)
	return strings.Join(r.Why, "; ")
}

// A figure of a policy: how its chart is called, and whether less of it is better.
type figure struct {
	title string
	less  bool
	of    func(r row) float64
	text  func(figure float64) string
}

// figures are what a reader may want.
var figures = map[string]figure{
	"cost":    {"cost", true, func(r row) float64 { return r.Cost.Total }, func(f float64) string { return fmt.Sprintf("`$%.2f`", f) }},
	"window":  {"requests over the window", true, func(r row) float64 { return r.Over }, phrase.Percent},
	"regrets": {"regrets", true, func(r row) float64 { return float64(r.Regrets) }, func(f float64) string { return fmt.Sprint(f) }},
	"kept":    {"context kept, on average", false, func(r row) float64 { return r.Kept }, phrase.Percent},
	"cache":   {"hit rate", false, func(r row) float64 { return r.HitRate }, phrase.Percent},
}

// Order returns the names of the policies by what a reader wants, the best first.
func (s *set) Order(want string) []string {
	var names []string
	f := figures[want]
	for _, r := range slices.SortedStableFunc(slices.Values(s.Policies), func(a, b row) int {
		if f.less {
			a, b = b, a
		}
		return cmp.Compare(f.of(b), f.of(a))
	}) {
		names = append(names, r.Policy)
	}
	return names
}

// Choice returns the policy that has most of what a reader wants, with its figure.
func (s *set) Choice(want string) string {
	best := s.Order(want)[0]
	k := slices.IndexFunc(s.Policies, func(r row) bool { return r.Policy == best })
	return best + ", " + figures[want].text(figures[want].of(s.Policies[k]))
}

// Names returns the policies by what a reader wants, in a sentence.
func (s *set) Names(want string) string { return strings.Join(s.Order(want), ", ") }

// Opposed reports whether each policy that costs less loses more.
func (s *set) Opposed() bool {
	loses := s.Order("regrets")
	slices.Reverse(loses)
	return slices.Equal(s.Order("cost"), loses)
}

// Largest returns the share of the cost without any policy that the largest sessions have.
func (s *set) Largest(n int) float64 {
	var costs []float64
	sum := 0.0
	for _, one := range s.Reports {
		for _, r := range one.Runs {
			if r.Policy == simulate.None {
				costs, sum = append(costs, r.Cost.Total), sum+r.Cost.Total
			}
		}
	}
	slices.Sort(costs)
	top := 0.0
	for _, c := range costs[max(0, len(costs)-n):] {
		top += c
	}
	return top / sum
}

// Differ returns the number of sessions in which one policy costs less than all others.
func (s *set) Differ() (n int) {
	for _, p := range s.Policies {
		n += p.Wins
	}
	return n
}

// barWidth is that of the longest bar of an agent's policy, in pixels.
const barWidth = 136

// A panel of a chart has a bar for each policy.
type panel struct {
	Title string
	Bars  []bar
}

// A bar ends where its label begins.
type bar struct {
	Parts []part
	End   float64
	Label string
}

type part struct {
	Class    string
	X, Width float64
}

// All returns the rows of a chart: recorded and none first, which are no policies of agents.
func (s *set) All() []row { return append([]row{s.Recorded, s.None}, s.Policies...) }

// Panels returns the panels of the chart.
func (s *set) Panels() (all []panel) {
	for _, name := range []string{"cost", "kept", "window", "regrets"} {
		f, most := figures[name], 1e-9
		for _, r := range s.Policies {
			most = max(most, f.of(r))
		}
		p := panel{Title: f.title}
		for _, r := range s.All() {
			b := bar{Label: strings.Trim(f.text(f.of(r)), "`")}
			if f.of(r) > most {
				b.Label = "› " + b.Label
			}
			whole := barWidth * min(1, f.of(r)/most)
			parts := []part{{"whole", 0, f.of(r)}}
			if c := r.Cost; name == "cost" {
				parts = []part{{"read", 0, c.CacheRead}, {"input", 0, c.Input + c.CacheWrite}, {"output", 0, c.Output}, {"summary", 0, c.Summaries}}
			}
			for _, x := range parts {
				x.X, x.Width = b.End, whole*x.Width/max(f.of(r), 1e-9)
				b.Parts, b.End = append(b.Parts, x), b.End+x.Width
			}
			p.Bars = append(p.Bars, b)
		}
		all = append(all, p)
	}
	return all
}

// small returns a set of two sessions and two policies of agents.
func small() *set {
	run := func(name string, cost, mean float64, over, regrets int) *simulate.Run {
		return &simulate.Run{Policy: name, Requests: 50, Prompt: 1000, Mean: mean, Overflows: over, Regrets: regrets, Cost: simulate.Cost{CacheRead: cost, Total: cost}, Acts: 1}
	}
	var all []*simulate.Report
	for _, cheap := range []float64{1, 3} {
		all = append(all, &simulate.Report{Runs: []*simulate.Run{run("recorded", 9, 20, 0, 1), run("none", 10, 40, 30, 0), run("pi", cheap, 10, 0, 9), run("gsh", 2, 12, 1, 4)}})
	}
	all = append(all, &simulate.Report{Error: "broken"})
	s := &set{Name: "small", Title: "Small & few"}
	s.take(simulate.NewStore(all, simulate.LeastCost))
	return s
}

// TestFigures: comparisons are with none, and a policy wins where it costs less than the others.
func TestFigures(t *testing.T) {
	s := small()
	if len(s.Policies) != 2 || s.Differ() != 2 || s.Policies[0].Wins != 1 || s.Largest(1) != 0.5 || len(s.Reports) != 2 {
		t.Errorf("%+v", s)
	}
	if pi := s.Policies[0]; pi.Against != -0.8 || pi.Lost != 18 || pi.Over != 0 {
		t.Errorf("%+v", pi)
	}
	if s.Choice("cost") != "pi, `$4.00`" || s.Choice("regrets") != "gsh, 8" || s.Names("window") != "pi, gsh" || !(page{s}).Torn() {
		t.Error(s.Choice("cost"), s.Choice("regrets"), s.Names("window"))
	}
}

// TestPage: the page has no value that is missing, and its charts are XML.
func TestPage(t *testing.T) {
	s := small()
	text := string(fill("page.md.tmpl", page{s}))
	if strings.Contains(text, "%!") || strings.Contains(text, "no value") || !strings.Contains(text, "| the least cost | pi, `$4.00` |") {
		t.Error(text)
	}
	chart := fill("chart.svg.tmpl", s)
	for d := xml.NewDecoder(bytes.NewReader(chart)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
