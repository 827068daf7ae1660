// Command compared writes docs/policies-compared.md and its charts: what the context policies of
// several agents would have cost and lost on the same sessions; see make compared.
package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"ctxtool/internal/gen"
	"ctxtool/internal/phrase"
	"ctxtool/internal/simulate"
)

//go:embed *.tmpl
var files embed.FS

// A set is a folder of sessions, and the window that policies have there.
type set struct {
	Name, Title, Folder, Window string
	Flags                       []string // of simulate; policies that are tuned are not in the first table
	Sums                        map[string]*simulate.Run
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

func main() {
	log.SetFlags(0)
	log.SetPrefix("compared: ")
	ctxtool := flag.String("ctxtool", "bin/ctxtool", "the binary that simulates")
	real := flag.String("sessions", "../shared/corpus", "folder of real sessions")
	out := flag.String("o", "docs", "folder for the page; its charts are in policies-compared/")
	flag.Parse()
	if err := run(*ctxtool, *real, *out); err != nil {
		log.Fatal(err)
	}
}

func run(ctxtool, real, out string) error {
	generated, err := os.MkdirTemp("", "compared")
	if err != nil {
		return err
	}
	defer os.RemoveAll(generated)
	store, err := gen.Find("store")
	if err != nil {
		return err
	}
	store.Shape.Seed, store.Store.Files = 1, 40
	if err := store.Store.Write(generated, store.Shape); err != nil {
		return err
	}
	sets := []*set{
		{Name: "real-200k", Title: "Real sessions, window 200k", Folder: real, Window: "200k"},
		{Name: "real-64k", Title: "Real sessions, window 64k", Folder: real, Window: "64k"},
		{Name: "tuned-64k", Title: "Real sessions, window 64k: how many tokens pi keeps", Folder: real, Window: "64k", Flags: []string{"--policy", "recorded,none,pi", "--sweep", "keep=5000,10000,20000,40000"}},
		{Name: "generated-64k", Title: "Generated sessions, window 64k", Folder: generated, Window: "64k"},
	}
	charts := filepath.Join(out, "policies-compared")
	if err := os.MkdirAll(charts, 0o777); err != nil {
		return err
	}
	for _, s := range sets {
		if err := s.simulate(ctxtool); err != nil {
			return err
		}
		if err := write(filepath.Join(charts, s.Name+".svg"), "chart.svg.tmpl", s.chart()); err != nil {
			return err
		}
	}
	return write(filepath.Join(out, "policies-compared.md"), "page.md.tmpl", page(sets))
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

// write writes a template with data to a file.
func write(name, from string, data any) error {
	text, err := fill(from, data)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o666)
}

// fill returns a template with data.
func fill(from string, data any) (string, error) {
	t, err := template.New("").Funcs(template.FuncMap{"percent": phrase.Percent, "signed": func(share float64) string { return fmt.Sprintf("%+.1f%%", 100*share) }}).ParseFS(files, from)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = t.ExecuteTemplate(&text, from, data)
	return text.String(), err
}

// simulate simulates the set's sessions.
func (s *set) simulate(ctxtool string) error {
	cmd := exec.Command(ctxtool, append([]string{"simulate", s.Folder, "--window", s.Window, "--json"}, s.Flags...)...)
	cmd.Stderr = os.Stderr
	data, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	var all simulate.Store
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	s.take(&all)
	return nil
}

// take takes the figures of a store.
func (s *set) take(all *simulate.Store) {
	s.Sums = map[string]*simulate.Run{}
	for _, r := range all.Total.Runs {
		s.Sums[r.Policy] = r
	}
	s.Reports = slices.DeleteFunc(all.Sessions, func(r *simulate.Report) bool { return r.Error != "" })
	none := s.Sums[simulate.None]
	for k, r := range all.Total.Runs {
		if r.Policy == simulate.Recorded || r.Policy == simulate.None {
			continue
		}
		requests := float64(r.Requests)
		s.Policies = append(s.Policies, row{r, r.Cost.Total/none.Cost.Total - 1, r.Mean / none.Mean, float64(r.Overflows) / requests, float64(r.Rebilled.Tokens) / float64(r.Prompt), 100 * float64(r.Regrets) / requests, s.wins(k)})
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

// Of returns the sum of a policy.
func (s *set) Of(policy string) *simulate.Run { return s.Sums[policy] }

// Why returns why one of the agents' policies is the best, in a sentence.
func (s *set) Why() string {
	r := simulate.Report{}
	for _, p := range s.Policies {
		r.Runs = append(r.Runs, p.Run)
	}
	r.Decide(simulate.LeastCost)
	return strings.Join(r.Why, "; ")
}

// A choice is what a reader wants of a policy, and a figure that says how well one does.
type choice struct {
	less func(a, b row) int
	text func(r row) string
}

// choices are what a reader may want.
var choices = map[string]choice{
	"cost":    {func(a, b row) int { return cmp.Compare(a.Cost.Total, b.Cost.Total) }, func(r row) string { return fmt.Sprintf("`$%.2f`", r.Cost.Total) }},
	"window":  {func(a, b row) int { return cmp.Compare(a.Over, b.Over) }, func(r row) string { return phrase.Percent(r.Over) }},
	"regrets": {func(a, b row) int { return cmp.Compare(a.Regrets, b.Regrets) }, func(r row) string { return fmt.Sprint(r.Regrets) }},
	"kept":    {func(a, b row) int { return cmp.Compare(b.Kept, a.Kept) }, func(r row) string { return phrase.Percent(r.Kept) }},
	"cache":   {func(a, b row) int { return cmp.Compare(b.HitRate, a.HitRate) }, func(r row) string { return phrase.Percent(r.HitRate) }},
}

// Order returns the names of the policies by what a reader wants, the best first.
func (s *set) Order(want string) []string {
	var names []string
	for _, r := range slices.SortedStableFunc(slices.Values(s.Policies), choices[want].less) {
		names = append(names, r.Policy)
	}
	return names
}

// Choice returns the policy that has most of what a reader wants, with its figure.
func (s *set) Choice(want string) string {
	best := slices.MinFunc(s.Policies, choices[want].less)
	return best.Policy + ", " + choices[want].text(best)
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
