package simulate

import (
	"cmp"
	"ctxtool/internal/base/sorting"
	"ctxtool/internal/lens/cache"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"fmt"
	"strings"
)

// add adds a request, and the requests for summaries before it, to the figures of the run. row is
// its account.
func (w *walk) add(r *Request, row *cache.Row, compacts bool) {
	run, recorded := w.run, w.rows[r.Request]
	cost, priced := row.Cost()
	r.Cost = Cost{Input: cost.Input, CacheRead: cost.CacheRead, CacheWrite: cost.CacheWrite, Output: cost.Output}
	for _, s := range w.summaries {
		r.Cost.Summaries += recorded.SummaryCost(s.input, s.output)
	}
	r.Cost.Total = cost.Total + r.Cost.Summaries
	w.summaries = w.summaries[:0]
	r.Prompt, r.Rebilled = row.Prompt, row.Rebilled
	if row.Expected != nil {
		r.Read, r.Write = row.Expected.Read, row.Expected.Write
	}
	if row.Shared != nil {
		r.Shared = row.Shared.Tokens
	}
	if row.Break != nil {
		r.Cause = row.Break.Cause
	}
	run.Requests++
	run.Window = r.Window
	if r.Estimated = !recorded.Sized(); !r.Estimated || !w.sized {
		run.Peak = max(run.Peak, r.Prompt)
		if r.Overflow = max(0, r.Prompt-r.Window); r.Overflow > 0 {
			run.Overflows++
		}
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
	if run.Estimated = w.past.total.Answered == 0; run.Estimated ||
		recorded.Recorded != nil && recorded.Recorded.Prompt() > 0 {
		run.counted++
		run.Prompt += r.Prompt
		run.Read += r.Read
		run.Write += r.Write
		run.Rebilled.Plus(r.Rebilled)
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
		run.Regretted = append(run.Regretted, Regret{Kind: r.Kind, What: names[i], Entry: sessionfmt.Quote(w.s.ID(rec)),
			Line: w.s.Line(rec), Removed: r.Removed, Request: r.Request, Message: r.Message})
	}
	sorting.By(run.Regretted, func(a, b Regret) int {
		return cmp.Or(a.Request-b.Request, strings.Compare(string(a.Kind), string(b.Kind)),
			strings.Compare(a.What, b.What))
	})
	for _, r := range run.Regretted {
		if w.Rows {
			run.Rows[r.Request].Regrets = append(run.Rows[r.Request].Regrets, r)
		}
	}
	return nil
}

// Failures describes the calls of a hook that failed.
func (r *Run) Failures() string {
	return fmt.Sprintf("%s failed, the first: %s", phrase.Count(r.Failed, "call"), r.Failure) +
		phrase.If(r.Skipped > 0, "; %s skipped, since three in a row took too long", phrase.Count(r.Skipped, "call"))
}

// idle sets why a policy never acted.
func (r *Run) idle(w *walk) {
	if r.Acts > 0 || w.Name == None && w.Policy == nil && w.Hook == nil {
		return
	}
	switch near := w.closest; {
	case r.Failed > 0:
		r.Idle = r.Failures()
	case w.Hook != nil:
		r.Idle = "the hook returned nothing that applies"
	case w.Policy == nil:
		r.Idle = "the session has no compaction, edit or transform"
	case near.skip != "":
		r.Idle = near.skip
	case near.limit > 0:
		r.Idle = fmt.Sprintf("the session is too small: %s had at most %d of %.0f tokens", near.pass,
			near.used, near.limit)
	default:
		r.Idle = "nothing in the session triggers it"
	}
}
