package simulate

import (
	"cmp"
	"math"
	"slices"

	"ctxtool/internal/base/sorting"
	"ctxtool/replay/models"
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
	// the ten with the largest difference in cost between cheapest and most expensive policy:
	// `{policy, cost, overflows, regrets}`
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
	sorting.By(found, func(a, b Difference) int {
		return cmp.Compare(b.Most.Cost-b.Least.Cost, a.Most.Cost-a.Least.Cost)
	})
	return found[:min(mostDiffering, len(found))]
}

func extreme(r *Run) Extreme { return Extreme{r.Policy, r.Cost.Total, r.Overflows, r.Regrets} }
