package simulate

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"ctxtool/internal/outline"
	"ctxtool/internal/phrase"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// A Store is the simulation of several sessions. In the sum of a policy, peak is the largest of
// all sessions.
//
// It is schema ctxtool/simulate.store/1.
type Store struct {
	Schema   string    `json:"schema"`
	Sessions []*Report `json:"sessions"` // in the order of the files, each a `ctxtool/simulate/1`
	// sessions in which a policy changed anything; spreads are of these
	Acted int `json:"acted"`
	// the ten whose costs differ most; `least` and `most` are the cheapest and the most expensive policy: `{policy,
	// cost, overflows, regrets}`
	Differing []Difference `json:"differing,omitempty"`
	Total     *Report      `json:"total"` // a `ctxtool/simulate/1`, with the spread of each policy
}

// A Spread is how the figures of a policy differ from session to session.
type Spread struct {
	Cost    Distribution `json:"cost"` // dollars, of sessions with prices only
	Peak    Distribution `json:"peak"` // tokens
	HitRate Distribution `json:"hitRate"`
	Regrets Distribution `json:"regrets"`
}

// A Distribution has values of sessions: the least, three quartiles, the one that 5 of 100
// sessions exceed, and the largest.
type Distribution struct {
	Sessions int     `json:"sessions"`
	Min      float64 `json:"min"`
	Q1       float64 `json:"q1"`
	Median   float64 `json:"median"`
	Q3       float64 `json:"q3"`
	P95      float64 `json:"p95"`
	Max      float64 `json:"max"`
}

// distribution returns the distribution of values, which it sorts.
func distribution(values []float64) (d Distribution) {
	n := len(values)
	if n == 0 {
		return d
	}
	slices.Sort(values)
	at := func(share float64) float64 { return values[max(0, int(math.Ceil(share*float64(n)))-1)] }
	return Distribution{n, values[0], at(0.25), at(0.5), at(0.75), at(0.95), values[n-1]}
}

// A Difference is a session with its cheapest and its most expensive policy.
type Difference struct {
	File     string  `json:"file"`
	Requests int     `json:"requests"`
	Least    Extreme `json:"least"`
	Most     Extreme `json:"most"`
}

// An Extreme is a policy that costs the least or the most in a session.
type Extreme struct {
	Policy    string  `json:"policy"`
	Cost      float64 `json:"cost"`
	Overflows int     `json:"overflows"`
	Regrets   int     `json:"regrets"`
}

// mostDiffering is the largest number of sessions in Store.Differing.
const mostDiffering = 10

// NewStore returns the reports of several sessions, and their sum by policy, with the best for a
// goal. Sessions with an error do not count.
func NewStore(all []*Report, goal Goal) *Store {
	s := &Store{Schema: "ctxtool/simulate.store/1", Sessions: all, Total: &Report{Prices: models.Date}}
	var acted []*Report
	for _, one := range all {
		for k, r := range one.Runs {
			if k == len(s.Total.Runs) {
				s.Total.Runs = append(s.Total.Runs, &Run{Policy: r.Policy})
			}
			s.Total.Runs[k].plus(r)
		}
		if slices.ContainsFunc(one.Runs, func(r *Run) bool { return r.Acts > 0 }) {
			acted = append(acted, one)
		}
	}
	if s.Acted = len(acted); s.Acted > 0 {
		for k, sum := range s.Total.Runs {
			sum.Spread = spread(acted, k)
		}
	}
	s.Differing = differing(all)
	s.Total.Decide(goal)
	return s
}

// spread returns the spread of the k-th policy.
func spread(all []*Report, k int) *Spread {
	var cost, peak, hits, regrets []float64
	for _, one := range all {
		r := one.Runs[k]
		if r.Unpriced == 0 {
			cost = append(cost, r.Cost.Total)
		}
		if r.Prompt > 0 {
			hits = append(hits, r.HitRate)
		}
		peak, regrets = append(peak, float64(r.Peak)), append(regrets, float64(r.Regrets))
	}
	return &Spread{distribution(cost), distribution(peak), distribution(hits), distribution(regrets)}
}

// plus adds the run of another session.
func (r *Run) plus(o *Run) {
	if r.Sessions++; r.Sessions == 1 {
		r.Window, r.WindowFrom = o.Window, o.WindowFrom
	} else if r.Window != o.Window || r.WindowFrom != o.WindowFrom {
		r.Window, r.WindowFrom = 0, ""
	}
	r.Requests += o.Requests
	r.counted += o.counted
	r.Peak = max(r.Peak, o.Peak)
	r.Overflows += o.Overflows
	r.Compactions += o.Compactions
	r.Acts += o.Acts
	r.Prompt += o.Prompt
	r.Read += o.Read
	r.Write += o.Write
	r.Rebilled.Plus(o.Rebilled)
	r.Output += o.Output
	r.Cost.plus(o.Cost)
	if o.Billed != nil {
		r.Billed = cmp.Or(r.Billed, &Billed{})
		r.Billed.plus(o.Billed)
	}
	r.Unpriced += o.Unpriced
	r.Failed, r.Skipped, r.Failure = r.Failed+o.Failed, r.Skipped+o.Skipped, cmp.Or(r.Failure, o.Failure)
	r.Regrets += o.Regrets
	r.ByKind.Call += o.ByKind.Call
	r.ByKind.Path += o.ByKind.Path
	r.ByKind.Line += o.ByKind.Line
	r.ByKind.Identifier += o.ByKind.Identifier
	if r.counted > 0 {
		r.Mean = float64(r.Prompt) / float64(r.counted)
	}
	if r.Prompt > 0 {
		r.HitRate = float64(r.Read) / float64(r.Prompt)
	}
}

// differing returns the sessions in which the costs of policies differ most.
func differing(all []*Report) (found []Difference) {
	for _, r := range all {
		if len(r.Runs) < 2 {
			continue
		}
		byCost := func(a, b *Run) int { return cmp.Compare(a.Cost.Total, b.Cost.Total) }
		least, most := slices.MinFunc(r.Runs, byCost), slices.MaxFunc(r.Runs, byCost)
		if most.Cost.Total > least.Cost.Total {
			found = append(found, Difference{r.File, least.Requests, extreme(least), extreme(most)})
		}
	}
	slices.SortStableFunc(found, func(a, b Difference) int {
		return cmp.Compare(b.Most.Cost-b.Least.Cost, a.Most.Cost-a.Least.Cost)
	})
	return found[:min(mostDiffering, len(found))]
}

func extreme(r *Run) Extreme { return Extreme{r.Policy, r.Cost.Total, r.Overflows, r.Regrets} }

// A Page is the data of a page that compares policies: what all of them share, and what each
// changed.
type Page struct {
	Title    string        `json:"title"`
	Optimize Goal          `json:"optimize"`
	Best     string        `json:"best,omitempty"`
	Why      []string      `json:"why"`
	Messages []PageMessage `json:"messages"` // of the path, without changes
	Answers  []int         `json:"answers"`  // the messages that answer the requests
	Runs     []PageRun     `json:"runs"`

	Acted     int          `json:"acted"`     // of several sessions, as in Store
	Differing []Difference `json:"differing"` // likewise
}

// A PageMessage is a message of the path.
type PageMessage struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"` // its first words, with the call of a result
	Tokens int    `json:"tokens"`
	Entry  string `json:"entry"`
	Line   int    `json:"line"`
	Sent   bool   `json:"sent,omitempty"`
}

// A PageRun is one policy. A change is [message, what stands there, its tokens, the messages
// that it replaces]; a text of null removes the message.
type PageRun struct {
	*Run
	Sizes   []int64         `json:"sizes"`
	Costs   []float64       `json:"costs"`
	Over    []int           `json:"over"` // requests over the window
	Changes map[int][][]any `json:"changes"`
	Why     map[int]string  `json:"why"` // by request, in a few words
	Missed  []Regret        `json:"missed"`
}

// Page returns the data of a page. The report needs the rows, changes and regrets of its runs.
func (r *Report) Page(title string) (*Page, error) {
	p := &Page{Title: title, Optimize: r.Optimize, Best: r.Best, Why: r.Why, Answers: r.Answers, Runs: []PageRun{}}
	v := r.Path
	s := v.Envelope.Replay().Session
	p.Messages = make([]PageMessage, len(v.Messages))
	err := v.Envelope.Scan(func(index int, piece replay.Piece, m *jsonl.Message, _ int) {
		rec := piece.Origin().Record
		one := PageMessage{Kind: piece.Kind().String(), Entry: s.ID(rec), Line: s.Line(rec), Sent: m != nil}
		if m != nil {
			one.Text, one.Tokens = firstWords(m), v.Size(index)
		}
		p.Messages[index] = one
	})
	for _, run := range r.Runs {
		p.Runs = append(p.Runs, pageRun(run))
	}
	return p, err
}

// Page returns the data of a page that has the totals only.
func (s *Store) Page(title string) *Page {
	t := s.Total
	p := &Page{Title: title, Optimize: t.Optimize, Best: t.Best, Why: t.Why, Messages: []PageMessage{},
		Answers: []int{}, Runs: []PageRun{}, Acted: s.Acted, Differing: append([]Difference{}, s.Differing...)}
	for _, run := range t.Runs {
		p.Runs = append(p.Runs, pageRun(run))
	}
	return p
}

// firstWords returns the beginning of what a message says, or else of its calls.
func firstWords(m *jsonl.Message) string {
	var text []byte
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == jsonl.TextBlock && len(text) == 0 {
			text = b.Text.AppendText(nil)
		}
	}
	said := outline.FirstWords(string(text[:min(len(text), 2000)]))
	for call := range m.Calls {
		said += " → " + called(call.Name.Text(), call.Args)
	}
	return said
}

// longestStanding is how much of a text that stands for messages a page has, in bytes.
const longestStanding = 400

func pageRun(run *Run) PageRun {
	p := PageRun{Run: run, Sizes: []int64{}, Costs: []float64{}, Over: []int{}, Changes: map[int][][]any{},
		Why: map[int]string{}, Missed: append([]Regret{}, run.Regretted...)}
	for k := range run.Rows {
		row := &run.Rows[k]
		p.Sizes = append(p.Sizes, row.Prompt)
		p.Costs = append(p.Costs, row.Cost.Total)
		if row.Overflow > 0 {
			p.Over = append(p.Over, k)
		}
		why := map[string]int{}
		for _, c := range row.Changes {
			if c.Message < 0 {
				continue
			}
			var text any
			if c.Action != "omit" {
				text = sessionText(c.Text)
			}
			one := []any{c.Message, text, c.Now}
			if len(c.Gone) > 0 {
				one = append(one, c.Gone)
			}
			p.Changes[k] = append(p.Changes[k], one)
			why[c.Pass]++
		}
		if len(why) > 0 {
			p.Why[k] = reasons(why)
		}
	}
	run.Rows = nil
	return p
}

// sessionText returns the beginning of a text.
func sessionText(text string) string {
	if len(text) > longestStanding {
		return strings.ToValidUTF8(text[:longestStanding], "") + "…"
	}
	return text
}

// reasons returns how many changes each pass made, in words.
func reasons(passes map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(passes)) {
		all = append(all, name+phrase.If(passes[name] > 1, " %d", passes[name]))
	}
	return strings.Join(all, ", ")
}
