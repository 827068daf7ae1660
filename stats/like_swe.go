package stats

import (
	"cmp"
	"fmt"

	"ctxtool/internal/phrase"
	"ctxtool/replay"
	"ctxtool/replay/reuse"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// likeSWE computes SWE-CLI's usage statistics (docs/policies.md 3.1, 3.3) and those of its targets
// that a session determines.
var likeSWE = like{
	Name:  "swe-cli",
	About: "SWE-CLI's usage statistics, and its targets: efficiency, compaction, waste, autonomy, precision",
	read:  likeSWEReport,
}

// A swe is a context as SWE-CLI counts it.
type swe struct {
	File      string     `json:"file,omitempty"`
	Session   string     `json:"session,omitempty"`
	Estimator string     `json:"estimator"` // the counter: swe-cl100k, unless another was asked for
	LimitFrom string     `json:"limitFrom"` // as windowFrom of a reduction
	Usage     sweUsed    `json:"usage"`
	Targets   sweTargets `json:"targets"`
	Images    int        `json:"unestimatedBlocks"`

	estimates bool
}

// A sweUsed has the keys of SWE-CLI's own.
type sweUsed struct {
	Total       int     `json:"total_tokens"`
	Limit       int64   `json:"limit"`
	Percent     float64 `json:"usage_percent"`
	Available   int64   `json:"available_tokens"` // negative if it is exceeded
	Needed      bool    `json:"needs_compaction"`
	Messages    int     `json:"message_count"`
	Compactions int     `json:"compaction_count"`
	Breakdown   struct {
		Messages int `json:"messages"`
		Codebase int `json:"codebase_summary"` // the project's notes for agents in the prompt
		Task     int `json:"current_task"`     // what SWE-CLI retrieves for a prompt: always 0
	} `json:"breakdown"`
}

// sweLimit and sweThreshold are SWE-CLI's own defaults.
const (
	sweLimit     = 256_000
	sweThreshold = 0.8
)

// sweUsage returns the usage for a number of tokens.
func sweUsage(total int, limit int64) sweUsed {
	u := sweUsed{Total: total, Limit: limit, Available: limit - int64(total), Needed: !sweFits(total, limit)}
	if limit > 0 {
		u.Percent = float64(total) / float64(limit) * 100
	}
	return u
}

// sweFits reports whether a number of tokens is below SWE-CLI's threshold.
func sweFits(total int, limit int64) bool {
	threshold := sweThreshold
	return float64(total) < float64(limit)*threshold
}

// sweTargets measures SWE-CLI's targets. A value is null if there is nothing to measure. No session
// determines the other targets in its table.
type sweTargets struct {
	Efficiency sweTarget `json:"context_efficiency"`       // requests below the threshold
	Compaction sweTarget `json:"compaction_effectiveness"` // tokens that compactions removed
	Waste      sweWaste  `json:"token_waste"`              // tokens of results that say nothing new
	Autonomy   sweTarget `json:"task_autonomy"`            // prompts that ended without abort, error or steering
	Precision  sweTarget `json:"retrieval_precision"`      // results of reads and searches that a later answer, edit or command used
}

// All returns the targets by the short names that a gate uses.
func (t *sweTargets) All(yield func(name string, t *sweTarget) bool) {
	_ = yield("efficiency", &t.Efficiency) && yield("compaction", &t.Compaction) && yield("waste", &t.Waste.sweTarget) &&
		yield("autonomy", &t.Autonomy) && yield("precision", &t.Precision)
}

// A sweTarget is a share, 0 to 1, with its two numbers.
type sweTarget struct {
	Value *float64 `json:"value"`
	Min   *float64 `json:"min,omitempty"` // its lower limit
	Max   *float64 `json:"max,omitempty"` // its upper limit
	Met   *bool    `json:"met"`
	Part  int      `json:"part"`
	Of    int      `json:"of"`
}

// A sweWaste counts tokens of wasted results, each once.
type sweWaste struct {
	sweTarget
	Retried    int `json:"retried"`    // failures whose call was made again
	Errors     int `json:"errors"`     // other failures
	Superseded int `json:"superseded"` // reads of files that were read again later
	Duplicate  int `json:"duplicate"`  // results that the same call returned again later
}

// measure computes the share, and whether the target is met.
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

func likeSWEReport(l *lensRun, to *likeness) {
	policy, counter := l.Options.basis()
	run := sweRun{l: l}
	l.Sizes = true
	l.Ends = append(l.Ends, func(e *replay.Envelope) {
		for i := range l.Path {
			run.entry(&l.Path[i], l.before(i))
		}
		s := swe{Session: l.Report.ID, Estimator: counter.Name, estimates: counter.Estimates()}
		m := newSWEMessages(counter)
		found := reuse.NewRetrievals()
		for msg, err := range e.Sources(func(replay.Message) bool { return true }) {
			if l.fail(err); err != nil {
				return
			}
			one := msg.Raw.Message()
			m.add(one)
			found.Message(one)
		}
		p, err := e.Prompt()
		limit, from, err2 := policy.Limit(e)
		if err = cmp.Or(err, err2); err != nil {
			l.fail(err)
			return
		}
		codebase := weigh.TextTokens(counter, []byte(p.Notes()))
		s.Usage, s.Images, s.LimitFrom = sweUsage(m.tokens+codebase, limit), m.images, from
		s.Usage.Messages, s.Usage.Compactions = m.n, run.compactions
		s.Usage.Breakdown.Messages, s.Usage.Breakdown.Codebase = m.tokens, codebase
		s.Targets = sweTargets{
			Efficiency: measure(run.fits(limit), len(run.requests), 1, 0),
			Compaction: measure(run.before-run.after, run.before, 0.6, 0.8),
			Waste:      m.waste(),
			Autonomy:   run.autonomy(),
			Precision:  precision(found.Count()),
		}
		to.SWE = append(to.SWE, s)
	})
}

// precision returns the share of lookups whose results were used.
func precision(used, of int) sweTarget { return measure(used, of, 0.85, 0) }

// A sweRun collects the data of a path for SWE-CLI's targets.
type sweRun struct {
	l *lensRun

	requests      []int // the size of each, in tokens
	compactions   int
	before, after int // tokens around all compactions

	prompts []swePrompt
	working bool // an answer has called tools: a message of the user is steering
}

// A swePrompt is the outcome of a prompt.
type swePrompt struct{ answered, failed, steered bool }

func (r *sweRun) entry(a *pathEntry, before int) {
	switch {
	case a.Did == replay.Compacted:
		r.compactions++
		r.before += before
		r.after += int(a.Tokens)
	case a.Request >= 0:
		r.answer(r.l.message(a.Record), before)
	case a.Did == replay.Added && r.l.Session.Kind(int(a.Record)) == jsonl.User:
		if n := len(r.prompts); r.working && n > 0 {
			r.prompts[n-1].steered = true
		} else {
			r.prompts = append(r.prompts, swePrompt{})
		}
	}
}

// answer records an answer, and the request that it answers.
func (r *sweRun) answer(m *jsonl.Message, counted int) {
	size := 0
	if !m.Failed() {
		u := m.Usage.Usage()
		size = int(u.Prompt())
	}
	r.requests = append(r.requests, cmp.Or(size, counted))
	r.working = m.Stop.Is("toolUse")
	if n := len(r.prompts); n > 0 {
		r.prompts[n-1].answered, r.prompts[n-1].failed = true, m.Failed()
	}
}

// fits is how many requests are below the threshold.
func (r *sweRun) fits(limit int64) (n int) {
	for _, size := range r.requests {
		if sweFits(size, limit) {
			n++
		}
	}
	return n
}

// autonomy returns the share of prompts that ended well. A prompt without answer has not ended.
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

// cell returns a number of tokens as a cell.
func (s *swe) cell(n int64) any {
	if s.estimates {
		return About(n)
	}
	return n
}

// sheets returns the tables of usage and targets.
func (s *swe) sheets() []Sheet {
	u := &s.Usage
	usage := Sheet{Columns: columns("usage", "tokens:tokens", "of:tokens", "percent:share")}
	usage.row("total", s.cell(int64(u.Total)), u.Limit, u.Percent/100)
	usage.row("available", s.cell(u.Available), nil, nil)
	usage.row("messages", s.cell(int64(u.Breakdown.Messages)), nil, nil)
	var codebase any
	if n := u.Breakdown.Codebase; n > 0 {
		codebase = s.cell(int64(n))
	}
	usage.row("codebase summary", codebase, nil, nil)
	usage.Notes = []string{
		fmt.Sprintf("Counted by %s, window of %d tokens (%s).", s.Estimator, u.Limit, phrase.WindowFrom(s.LimitFrom)),
		fmt.Sprintf("%s, %s before.", phrase.Count(u.Messages, "message"), phrase.Count(u.Compactions, "compaction")),
	}
	if u.Needed {
		usage.Notes = append(usage.Notes, "It needs compaction: SWE-CLI compacts at 80% of its limit.")
	}
	targets := Sheet{Title: "targets", Columns: columns("target", "is:share", "should be", "met", "from")}
	row := func(name string, t *sweTarget, should, from string) {
		met := "nothing to measure"
		if t.Met != nil {
			met = map[bool]string{true: "yes", false: "no"}[*t.Met]
		}
		if t.Of > 0 {
			from = fmt.Sprintf("%d of %d %s", t.Part, t.Of, from)
		}
		targets.row(name, t.Value, should, met, from)
	}
	t, w := &s.Targets, &s.Targets.Waste
	row("context efficiency", &t.Efficiency, "100%", "requests below 80% of the limit")
	row("compaction effectiveness", &t.Compaction, "60% to 80%", "tokens that compactions removed")
	row("token waste", &w.sweTarget, "at most 10%",
		fmt.Sprintf("tokens: %d retried, %d errors, %d superseded, %d duplicate", w.Retried, w.Errors, w.Superseded, w.Duplicate))
	row("task autonomy", &t.Autonomy, "at least 90%", "prompts without abort, error or steering")
	row("retrieval precision", &t.Precision, "at least 85%", "reads and searches that later answers used")
	return []Sheet{usage, targets}
}

// sweSheet returns a table of the fullest of several contexts.
func sweSheet(all []swe) Sheet {
	s := Sheet{Columns: columns("session*", "total:tokens", "of:share", "efficiency:share", "compaction:share", "waste:share", "autonomy:share", "precision:share")}
	var some []swe
	some, s.Notes = fullest(all, func(s swe) int { return s.Usage.Total })
	s.Notes = append(s.Notes, windowRule)
	for _, one := range some {
		t := &one.Targets
		s.row(cmp.Or(one.File, one.Session), one.cell(int64(one.Usage.Total)), one.Usage.Percent/100, t.Efficiency.Value, t.Compaction.Value, t.Waste.Value, t.Autonomy.Value, t.Precision.Value)
	}
	return s
}
