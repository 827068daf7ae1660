package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/phrase"
	"ctxtool/replay/cache"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
)

// add adds a request to the figures of the run.
func (w *walk) add(r *Request, row *cache.Row, priced, compacts bool) {
	run := w.run
	run.Requests++
	run.Window = r.Window
	run.Peak = max(run.Peak, r.Prompt)
	if r.Window > 0 && r.Prompt > r.Window {
		r.Overflow = r.Prompt - r.Window
		run.Overflows++
	}
	if compacts {
		run.Compactions++
	}
	if len(r.Changes) > 0 {
		run.Acts++
	}
	for _, c := range r.Changes {
		run.layer(c.Pass, c.Was-c.Now)
	}
	if run.Estimated = w.past.total.Answered == 0; run.Estimated || row.Recorded != nil && row.Recorded.Prompt() > 0 {
		run.counted++
		run.Prompt += r.Prompt
		run.Read += r.Read
		run.Write += r.Write
		run.Rebilled.Tokens += r.Rebilled.Tokens
		run.Rebilled.Cost += r.Rebilled.Cost
		run.Output += row.Output()
		run.Cost.plus(r.Cost)
		if !priced {
			run.Unpriced++
		}
	}
	found := w.removals.Regrets(r.Request, w.answers[r.Request])
	run.Regrets += len(found)
	for _, one := range found {
		run.ByKind.add(one.Kind)
	}
	if w.Options.Regrets {
		w.regrets = append(w.regrets, found...)
	}
	if !w.Rows {
		return
	}
	r.Schema, r.Policy, r.Entry, r.Line = "ctxtool/simulate.request/1", w.Name, row.Entry, w.s.Line(row.Record)
	r.Time, r.Model = row.Time, row.Model
	if !w.Options.Changes {
		r.Changes = nil
	}
	run.Rows = append(run.Rows, *r)
}

// layer adds a change to what a pass did.
func (r *Run) layer(pass string, saved int) {
	for i := range r.Layers {
		if r.Layers[i].Pass == pass {
			r.Layers[i].Changes++
			r.Layers[i].Saved += saved
			return
		}
	}
	r.Layers = append(r.Layers, Layer{pass, 1, saved})
}

// finish computes what needs the whole run.
func (w *walk) finish() error {
	run := w.run
	if run.counted > 0 {
		run.Mean = float64(run.Prompt) / float64(run.counted)
	}
	if run.Prompt > 0 {
		run.HitRate = float64(run.Read) / float64(run.Prompt)
	}
	run.idle(w)
	names, err := w.index.Names(w.regrets)
	if err != nil {
		return err
	}
	for i, r := range w.regrets {
		rec := w.path.Messages[r.Message].Origin.Record
		run.Regretted = append(run.Regretted, Regret{Kind: r.Kind, What: names[i], Entry: sessionfmt.Quote(w.s.ID(rec)), Line: w.s.Line(rec), Removed: r.Removed, Request: r.Request, Message: r.Message})
	}
	slices.SortFunc(run.Regretted, func(a, b Regret) int {
		return cmp.Or(a.Request-b.Request, strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.What, b.What))
	})
	for _, r := range run.Regretted {
		if w.Rows {
			run.Rows[r.Request].Regrets = append(run.Rows[r.Request].Regrets, r)
		}
	}
	return nil
}

// idle sets why a policy never acted.
func (r *Run) idle(w *walk) {
	if r.Acts > 0 || w.Name == None && w.Policy == nil && w.Hook == nil {
		return
	}
	switch near := w.closest; {
	case r.Failed > 0:
		r.Idle = fmt.Sprintf("%s failed, the first: %s", phrase.Count(r.Failed, "call"), r.Failure)
	case w.Hook != nil:
		r.Idle = "the hook returned nothing that applies"
	case w.Policy == nil:
		r.Idle = "the session has no compaction, edit or transform"
	case near.skip != "":
		r.Idle = near.skip
	case near.limit > 0:
		r.Idle = fmt.Sprintf("the session is too small: %s had at most %d of %.0f tokens", near.pass, near.used, near.limit)
	default:
		r.Idle = "nothing in the session triggers it"
	}
}

// A Goal is what the best policy has least of.
type Goal string

// The goals.
const (
	LeastCost    Goal = "cost"
	LeastPeak    Goal = "peak"
	LeastRegrets Goal = "regret"
)

// Goals are the names of all goals.
var Goals = []string{string(LeastCost), string(LeastPeak), string(LeastRegrets)}

// Decide sets the best of the runs for a goal. Of equal ones, the one with fewer overflows, then
// with fewer regrets, then the cheaper, then the first is the best. The recorded path and None
// take part like the others.
func (r *Report) Decide(goal Goal) {
	r.Optimize, r.Best = goal, ""
	var best *Run
	for _, one := range r.Runs {
		if best == nil || one.before(best, goal) {
			best = one
		}
	}
	if best != nil {
		r.Best = best.Policy
	}
}

// before reports whether a run is better for a goal than another. A run that exceeds the window
// in more requests is worse: those requests would have failed.
func (r *Run) before(o *Run, goal Goal) bool {
	mine, others := r.figures(goal), o.figures(goal)
	for i := range mine {
		if mine[i] != others[i] {
			return mine[i] < others[i]
		}
	}
	return false
}

func (r *Run) figures(goal Goal) [4]float64 {
	over, cost, peak, regrets := float64(r.Overflows), r.Cost.Total, float64(r.Peak), float64(r.Regrets)
	switch goal {
	case LeastPeak:
		return [4]float64{over, peak, regrets, cost}
	case LeastRegrets:
		return [4]float64{over, regrets, cost, peak}
	}
	return [4]float64{over, cost, regrets, peak}
}

// NewStore returns the reports of several sessions, and their sum by policy, with the best for a
// goal. Sessions with an error do not count.
func NewStore(all []*Report, goal Goal) *Store {
	sum := &Report{Prices: models.Date}
	for _, one := range all {
		for k, r := range one.Runs {
			if k == len(sum.Runs) {
				sum.Runs = append(sum.Runs, &Run{Policy: r.Policy})
			}
			sum.Runs[k].plus(r)
		}
	}
	sum.Decide(goal)
	return &Store{"ctxtool/simulate.store/1", all, sum}
}

// plus adds the run of another session.
func (r *Run) plus(o *Run) {
	r.Sessions++
	r.Requests += o.Requests
	r.counted += o.counted
	r.Peak = max(r.Peak, o.Peak)
	r.Overflows += o.Overflows
	r.Compactions += o.Compactions
	r.Acts += o.Acts
	r.Prompt += o.Prompt
	r.Read += o.Read
	r.Write += o.Write
	r.Rebilled.Tokens += o.Rebilled.Tokens
	r.Rebilled.Cost += o.Rebilled.Cost
	r.Output += o.Output
	r.Cost.plus(o.Cost)
	r.Unpriced += o.Unpriced
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

// A Spread is a session, with the cheapest and the most expensive policy.
type Spread struct {
	File      string
	Low, High *Run
}

// Differing returns the sessions in which the costs of policies differ most, at most so many.
func Differing(all []*Report, most int) (found []Spread) {
	for _, r := range all {
		if len(r.Runs) < 2 {
			continue
		}
		s := Spread{File: r.File, Low: r.Runs[0], High: r.Runs[0]}
		for _, one := range r.Runs {
			if one.Cost.Total < s.Low.Cost.Total {
				s.Low = one
			}
			if one.Cost.Total > s.High.Cost.Total {
				s.High = one
			}
		}
		if s.High.Cost.Total > s.Low.Cost.Total {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b Spread) int {
		return cmp.Compare(b.High.Cost.Total-b.Low.Cost.Total, a.High.Cost.Total-a.Low.Cost.Total)
	})
	return found[:min(most, len(found))]
}
