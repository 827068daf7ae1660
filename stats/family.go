package stats

import (
	"cmp"
	"errors"
	"runtime"
	"slices"

	"ctxtool/internal/base/parallel"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
)

// readFamily adds the calls of a session's sub-agents to the report on it.
func (o *Options) readFamily(name string, r *Report) {
	if o.Family == nil || o.NoSubAgents || r.Owner != "" {
		return
	}
	files := o.Family(name)
	if len(files) == 0 {
		return
	}
	own := Options{
		Lenses: []*Lens{&costLens}, By: o.By, Zone: o.Zone, Replay: replay.Options{Models: o.Replay.Models},
		Only: Only{Since: o.Only.Since, Until: o.Only.Until, Model: o.Only.Model},
		Open: sessionfmt.Options{Disk: o.Open.Disk, Through: o.Open.Through, Called: o.Open.Called,
			Lookup: o.Open.Lookup, Workers: 1},
	}
	workers := runtime.GOMAXPROCS(0)
	var subs []*Report
	for sub := range parallel.InOrder(len(files), workers, 2*workers, func() func(k int) *Report {
		return func(k int) *Report {
			sub, err := own.Read(files[k])
			if err != nil {
				return &Report{File: own.called(files[k]), Error: reason(err)}
			}
			return sub
		}
	}) {
		if sub.Error != "" || sub.Fits() {
			subs = append(subs, sub)
		}
	}
	r.join(subs)
}

// SubAgents returns the usage and cost of the calls of sub-agents of an open session that none of its entries
// records. It uses Family, NoSubAgents, Open and the table of models.
func (o Options) SubAgents(s *sessionfmt.Session) (*CostPart, error) {
	l := &lensRun{Options: &o, Report: &Report{Owner: s.Owner()}, Session: s}
	c := newCostReader(l)
	c.aside()
	c.part.NoSubAgents = o.NoSubAgents
	if at := s.Header(); at >= 0 {
		c.part.session = s.ID(at) // copies of its calls are known
	}
	c.part.recount()
	o.readFamily(s.Name, l.Report)
	return c.part, l.err
}

// Cost returns the cost of a session's calls; see SubAgents.
func (o Options) Cost(name string) (*CostPart, error) {
	o.Lenses, o.Only, o.By = []*Lens{&costLens}, Only{}, nil
	r, err := o.Read(name)
	if err != nil {
		return nil, err
	}
	return r.Cost, nil
}

// called returns the name of a file in reports.
func (o *Options) called(name string) string {
	if o.Open.Called == nil {
		return name
	}
	return o.Open.Called(name)
}

// reason returns the text of an error without its file.
func reason(err error) string {
	if at, ok := errors.AsType[*sessionfmt.Error](err); ok {
		return at.Err.Error()
	}
	return err.Error()
}

// Gather adds the calls of sub-agents to the reports of their sessions, in order. A sub-agent whose session is
// not among the reports keeps its own.
func (o *Options) Gather(all []*Report) []*Report {
	of := map[*Report]bool{}
	for owner, subs := range families(all) {
		for _, sub := range subs {
			of[sub] = true
		}
		if !o.NoSubAgents && owner.Cost != nil {
			owner.join(subs)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r *Report) bool {
		return of[r] || r.Error == "" && r.Owner != "" && (o.NoSubAgents || !r.placed)
	})
}

// GatherSummaries is Gather for summaries.
func (o *Options) GatherSummaries(all []*Summary) (sessions []*Summary) {
	var reports []*Report
	at := map[*Report]*Summary{}
	for _, sum := range all {
		r := &Report{Error: sum.Error} // it could not be read
		if sum.Calls != nil {
			r = sum.Calls.of
		}
		reports, at[r] = append(reports, r), sum
	}
	for _, r := range o.Gather(reports) {
		if at[r].Calls != nil {
			at[r].settle()
		}
		sessions = append(sessions, at[r])
	}
	return sessions
}

// families yields sessions with the sub-agents of each, in order. The sub-agents of a sub-agent count as its
// own.
func families(all []*Report) func(yield func(owner *Report, subs []*Report) bool) {
	type key struct{ agent, id string }
	sessions, workers := map[key]*Report{}, map[key]*Report{}
	for _, r := range all {
		of := sessions
		if r.Owner != "" {
			of = workers
		}
		if k := (key{r.Agent, r.ID}); r.Error == "" && of[k] == nil {
			of[k] = r
		}
	}
	subs := map[*Report][]*Report{}
	for _, r := range all {
		if r.Owner == "" || r.Error != "" {
			continue
		}
		top, seen := r, map[*Report]bool{}
		for top != nil && top.Owner != "" && !seen[top] {
			seen[top] = true
			k := key{top.Agent, top.Owner}
			top = cmp.Or(sessions[k], workers[k])
		}
		if top != nil && top.Owner == "" {
			subs[top] = append(subs[top], r)
		}
	}
	return func(yield func(*Report, []*Report) bool) {
		for _, r := range all {
			if subs[r] != nil && !yield(r, subs[r]) {
				return
			}
		}
	}
}

// join adds the calls of sub-agents to those of their session. If the session's file also records an answer, as
// progress of a sub-agent, the sub-agent's own file counts, which has the final usage.
func (r *Report) join(subs []*Report) {
	p := r.Cost
	aside := map[uint64][]int{} // by their response, in order
	for i := range p.calls {
		if one := &p.calls[i]; one.record < 0 && one.response != 0 {
			aside[one.response] = append(aside[one.response], i)
		}
	}
	own := CostKeys{Session: r.ID, Project: r.Project, Agent: r.Agent, Branch: subAgentBranch}.only(p.By)
	for _, sub := range subs {
		if sub.Error != "" {
			p.Unread = append(p.Unread, UnreadSubAgent{sub.File, sub.Error})
			continue
		}
		lacking := int32(len(p.lacking))
		p.lacking = append(p.lacking, sub.Cost.lacking...)
		for _, one := range sub.Cost.calls {
			keys := sub.Cost.Rows[one.row].CostKeys
			keys.Session, keys.Project, keys.Agent, keys.Branch = own.Session, own.Project, own.Agent, own.Branch
			one.row, one.record, one.kind = int32(p.row(keys)), -1, subAgentCall
			one.lack += lacking
			if at := aside[one.response]; len(at) > 0 {
				p.calls[at[0]], aside[one.response] = one, at[1:]
				continue
			}
			p.calls = append(p.calls, one)
		}
		p.family = append(p.family, sub.ID)
		p.late += sub.Cost.late
		p.gaps(sub.Cost)
	}
	p.recount()
	p.once = models.CallSet{}
}

// recount adds up the calls again.
func (p *CostPart) recount() {
	p.CostSum, p.Kinds, p.Copies, p.once = CostSum{}, CostKinds{}, p.late, models.CallSet{}
	p.Unpriced, p.unpriced = nil, map[Lack]int{}
	for i := range p.Rows {
		p.Rows[i].CostSum = CostSum{}
	}
	p.of(p.session).here = 0
	p.addSessions(&p.once)
	for _, copies := range []bool{false, true} {
		for i := range p.calls {
			if one := &p.calls[i]; one.id.Copy == copies {
				p.count(p.session, one, int(one.row), p.lacking)
			}
		}
	}
	p.table = nil
}
