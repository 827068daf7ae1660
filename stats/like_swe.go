package stats

import (
	"cmp"
	"fmt"

	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// likeSWE is SWE-CLI's usage statistics (spec/policies.md 2.2, 2.6) and its table of
// targets, as far as a session tells them.
var likeSWE = Like{
	Name:  "swe-cli",
	About: "SWE-CLI's usage statistics, and its targets: efficiency, compaction, waste, autonomy",
	look:  lookLikeSWE,
	plus: func(sum, one *likeness, file string) {
		for _, s := range one.SWE {
			s.File = cmp.Or(s.File, file)
			sum.SWE = append(sum.SWE, s)
		}
	},
	sheets: func(k *likeness) (all []Sheet) {
		switch len(k.SWE) {
		case 0:
			return nil
		case 1:
			return k.SWE[0].sheets()
		}
		return []Sheet{sweSheet(k.SWE)}
	},
}

// A swe is how SWE-CLI takes a context.
type swe struct {
	File      string     `json:"file,omitempty"`
	Session   string     `json:"session,omitempty"`
	Estimator string     `json:"estimator"` // cl100k; chars4: a quarter of the characters of each text, rounded down
	Usage     sweUsed    `json:"usage"`
	Targets   sweTargets `json:"targets"`
	Images    int        `json:"unestimatedBlocks"`
}

// A sweUsed has the keys of SWE-CLI's own.
type sweUsed struct {
	Total       int     `json:"total_tokens"`
	Limit       int64   `json:"limit"`
	Percent     float64 `json:"usage_percent"`
	Available   int64   `json:"available_tokens"` // below 0 where it is over
	Needed      bool    `json:"needs_compaction"`
	Messages    int     `json:"message_count"`
	Compactions int     `json:"compaction_count"`
	Breakdown   struct {
		Messages int `json:"messages"`
		Codebase int `json:"codebase_summary"` // the project's notes for agents, where the prompt has them
		Task     int `json:"current_task"`     // what SWE-CLI looks up for a prompt: nothing here
	} `json:"breakdown"`
}

// sweLimit and sweThreshold are SWE-CLI's own defaults.
const (
	sweLimit     = 256_000
	sweThreshold = 0.8
)

// sweUsage is the usage of so many tokens.
func sweUsage(total int, limit int64) sweUsed {
	u := sweUsed{Total: total, Limit: limit, Available: limit - int64(total), Needed: !sweFits(total, limit)}
	if limit > 0 {
		u.Percent = float64(total) / float64(limit) * 100
	}
	return u
}

// sweFits reports that so many tokens are below SWE-CLI's threshold.
func sweFits(total int, limit int64) bool {
	threshold := sweThreshold
	return float64(total) < float64(limit)*threshold
}

// sweTargets is how far SWE-CLI's targets are met. A value is null where there is
// nothing to measure. What its table has besides, no session tells.
type sweTargets struct {
	Efficiency sweTarget `json:"context_efficiency"`       // requests below the threshold
	Compaction sweTarget `json:"compaction_effectiveness"` // tokens that compactions took away
	Waste      sweWaste  `json:"token_waste"`              // tokens of results that say nothing new
	Autonomy   sweTarget `json:"task_autonomy"`            // prompts that ended without abort, error or steering
}

// A sweTarget is a share, 0 to 1, with what it was found from.
type sweTarget struct {
	Value *float64 `json:"value"`
	Min   *float64 `json:"min,omitempty"` // what it should not be below
	Max   *float64 `json:"max,omitempty"` // or above
	Met   *bool    `json:"met"`
	Part  int      `json:"part"`
	Of    int      `json:"of"`
}

// A sweWaste is tokens of results, each counted once.
type sweWaste struct {
	sweTarget
	Retried    int `json:"retried"`    // failures whose call was made again
	Errors     int `json:"errors"`     // other failures
	Superseded int `json:"superseded"` // reads of files that were read again later
	Duplicate  int `json:"duplicate"`  // what the same call said again later
}

// measure is a target met or not.
func measure(part, of int, low, high float64) (t sweTarget) {
	t.Part, t.Of = part, of
	if low > 0 {
		t.Min = &low
	}
	if high > 0 {
		t.Max = &high
	}
	if of > 0 {
		x := float64(part) / float64(of)
		met := x >= low && (high == 0 || x <= high)
		t.Value, t.Met = &x, &met
	}
	return t
}

func lookLikeSWE(l *lensRun, to *likeness) {
	limit := cmp.Or(l.Options.Replay.Window, sweLimit)
	run := sweRun{l: l, limit: limit}
	l.Steps = append(l.Steps, run.step)
	l.Ends = append(l.Ends, func(e *replay.Envelope) error {
		m := newSWEMessages(l.Asked && l.Counter == &tokens.Pi)
		if err := m.read(e); err != nil {
			return err
		}
		p, err := e.Prompt()
		if err != nil {
			return err
		}
		codebase := 0
		for _, part := range p.Parts {
			if part.Name == "project_context" {
				codebase += m.of(part.Text)
			}
		}
		s := swe{Session: l.Report.ID, Estimator: m.estimator(), Usage: sweUsage(m.tokens+codebase, limit), Images: m.images}
		s.Usage.Messages, s.Usage.Compactions = m.n, run.compactions
		s.Usage.Breakdown.Messages, s.Usage.Breakdown.Codebase = m.tokens, codebase
		s.Targets = sweTargets{
			Efficiency: measure(run.fitting, run.requests, 1, 0),
			Compaction: measure(run.before-run.after, run.before, 0.6, 0.8),
			Waste:      m.waste(),
			Autonomy:   run.autonomy(),
		}
		to.SWE = append(to.SWE, s)
		return nil
	})
}

// A sweRun is what the path tells of SWE-CLI's targets.
type sweRun struct {
	l     *lensRun
	limit int64

	requests, fitting int
	compactions       int
	before, after     int // tokens around all compactions

	prompts []swePrompt
	working bool // an answer has called tools: what the user says now is steering
}

// A swePrompt is how a prompt went.
type swePrompt struct{ answered, failed, steered bool }

// step records a step of the path.
func (r *sweRun) step(a *replay.Account) error {
	if a.Did == replay.Compacted {
		r.compactions++
		r.before += a.Before.Total
		r.after += a.After.Total
		return nil
	}
	if a.Did != replay.Added {
		return nil
	}
	switch r.l.Session.Kind(a.Record) {
	case jsonl.User:
		if n := len(r.prompts); r.working && n > 0 {
			r.prompts[n-1].steered = true
		} else {
			r.prompts = append(r.prompts, swePrompt{})
		}
	case jsonl.Assistant:
		return r.answer(a)
	}
	return nil
}

// answer records an answer, and the request that it answers.
func (r *sweRun) answer(a *replay.Account) error {
	line, err := r.l.line(a.Record)
	if err != nil {
		return err
	}
	m := line.Get("message").Message()
	size := 0
	if !m.Failed() {
		usage := m.Usage.Usage()
		size = int(usage.Prompt())
	}
	r.requests++
	if sweFits(cmp.Or(size, a.Before.Total), r.limit) {
		r.fitting++
	}
	r.working = m.Stop.Is("toolUse")
	if n := len(r.prompts); n > 0 {
		r.prompts[n-1].answered, r.prompts[n-1].failed = true, m.Failed()
	}
	return nil
}

// autonomy is the prompts that ended well. One that nobody has answered yet has not
// ended.
func (r *sweRun) autonomy() sweTarget {
	good, all := 0, 0
	for i, p := range r.prompts {
		if i == len(r.prompts)-1 && !p.answered {
			break
		}
		all++
		if p.answered && !p.failed && !p.steered {
			good++
		}
	}
	return measure(good, all, 0.9, 0)
}

// cell is a number of tokens as a cell.
func (s *swe) cell(n int64) any {
	if s.Estimator == sweEstimate {
		return About(n)
	}
	return n
}

// sheets are the tables of usage and targets.
func (s *swe) sheets() []Sheet {
	u := s.Usage
	usage := Sheet{Columns: []sheetColumn{{Name: "usage"}, {Name: "tokens", Unit: Tokens}, {Name: "of", Unit: Tokens}, {Name: "percent", Unit: Share}}}
	usage.Rows = [][]any{
		{"total", s.cell(int64(u.Total)), u.Limit, u.Percent / 100},
		{"available", s.cell(u.Available), nil, nil},
		{"messages", s.cell(int64(u.Breakdown.Messages)), nil, nil},
		{"codebase summary", nil, nil, nil},
	}
	if n := u.Breakdown.Codebase; n > 0 {
		usage.Rows[3][1] = s.cell(int64(n))
	}
	usage.Notes = []string{fmt.Sprintf("%d messages, %d compactions before.", u.Messages, u.Compactions)}
	if u.Needed {
		usage.Notes = append(usage.Notes, "It needs compaction: SWE-CLI compacts at 80% of its limit.")
	}
	targets := Sheet{Title: "targets", Columns: []sheetColumn{
		{Name: "target"}, {Name: "is", Unit: Share}, {Name: "should be"}, {Name: "met"}, {Name: "from"},
	}}
	w := s.Targets.Waste
	targets.Rows = [][]any{
		s.Targets.Efficiency.row("context efficiency", "100%", "requests below 80% of the limit"),
		s.Targets.Compaction.row("compaction effectiveness", "60% to 80%", "tokens that compactions took away"),
		w.row("token waste", "at most 10%", fmt.Sprintf("tokens: %d retried, %d errors, %d superseded, %d duplicate", w.Retried, w.Errors, w.Superseded, w.Duplicate)),
		s.Targets.Autonomy.row("task autonomy", "at least 90%", "prompts without abort, error or steering"),
	}
	return []Sheet{usage, targets}
}

func (t *sweTarget) row(name, should, from string) []any {
	met := ""
	switch {
	case t.Met == nil:
		met = "nothing to measure"
	case *t.Met:
		met = "yes"
	default:
		met = "no"
	}
	if t.Of > 0 {
		from = fmt.Sprintf("%d of %d %s", t.Part, t.Of, from)
	}
	return []any{name, ratio(t.Value), should, met, from}
}

// sweSheet is a table of the fullest of several contexts.
func sweSheet(all []swe) Sheet {
	s := Sheet{Columns: []sheetColumn{
		{Name: "session", Flex: true}, {Name: "total", Unit: Tokens}, {Name: "of", Unit: Share}, {Name: "efficiency", Unit: Share},
		{Name: "compaction", Unit: Share}, {Name: "waste", Unit: Share}, {Name: "autonomy", Unit: Share},
	}}
	some, notes := fullest(all, func(s swe) int { return s.Usage.Total })
	s.Notes = notes
	for _, one := range some {
		t := &one.Targets
		s.Rows = append(s.Rows, []any{
			cmp.Or(one.File, one.Session), one.cell(int64(one.Usage.Total)), one.Usage.Percent / 100,
			ratio(t.Efficiency.Value), ratio(t.Compaction.Value), ratio(t.Waste.Value), ratio(t.Autonomy.Value),
		})
	}
	return s
}
