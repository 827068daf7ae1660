package stats

import (
	"cmp"
	"path"

	"ctxtool/compact"
	"ctxtool/internal/lens/reuse"
	"ctxtool/internal/read/activity"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A Likeness judges the contexts of sessions by the measures of other systems.
type Likeness struct {
	SWE []SWE `json:"swe-cli,omitempty"`
}

// A SWE is a context judged by the targets of SWE-CLI (docs/policies.md 3.3).
type SWE struct {
	File    string     `json:"file,omitempty"`
	Session string     `json:"session,omitempty"`
	Targets SWETargets `json:"targets"`
}

// sweFits reports whether a number of tokens is below SWE-CLI's threshold.
func sweFits(total int, limit int64) bool {
	threshold := 0.8 // a variable: the product must be computed in float64
	return float64(total) < float64(limit)*threshold
}

// SWETargets measures SWE-CLI's targets. A value is null if there is nothing to measure. No session
// determines the other targets in its table.
type SWETargets struct {
	Efficiency SWETarget `json:"context_efficiency"`       // requests below the threshold
	Compaction SWETarget `json:"compaction_effectiveness"` // tokens that compactions removed
	Waste      SWEWaste  `json:"token_waste"`              // tokens of results that say nothing new
	Autonomy   SWETarget `json:"task_autonomy"`            // prompts that ended without abort, error or steering
	// results of reads and searches that a later answer, edit or command used
	Precision SWETarget `json:"retrieval_precision"`
}

// All returns the targets by the short names that a gate uses.
func (t *SWETargets) All(yield func(name string, t *SWETarget) bool) {
	_ = yield("efficiency", &t.Efficiency) && yield("compaction", &t.Compaction) &&
		yield("waste", &t.Waste.SWETarget) &&
		yield("autonomy", &t.Autonomy) && yield("precision", &t.Precision)
}

// A SWETarget is a share, 0 to 1, with its two numbers.
type SWETarget struct {
	Value *float64 `json:"value"`
	Min   *float64 `json:"min,omitempty"` // its lower limit
	Max   *float64 `json:"max,omitempty"` // its upper limit
	Met   *bool    `json:"met"`
	Part  int      `json:"part"`
	Of    int      `json:"of"`
}

// A SWEWaste counts tokens of wasted results, each once.
type SWEWaste struct {
	SWETarget
	Retried    int `json:"retried"`    // failures whose call was made again
	Errors     int `json:"errors"`     // other failures
	Superseded int `json:"superseded"` // reads of files that were read again later
	Duplicate  int `json:"duplicate"`  // results that the same call returned again later
}

// measure computes the share, and whether the target is met.
func measure(part, of int, low, high float64) (t SWETarget) {
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

// sweCounter returns SWE-CLI's policy and its counter, or the one that was asked for.
func (o *Options) sweCounter() (*compact.Policy, *tokens.Counter) {
	p, err := compact.FindPolicy("swe-cli")
	if err != nil {
		panic(err)
	}
	if o.Asked {
		return p, cmp.Or(o.Counter, &tokens.Pi)
	}
	return p, p.Counter
}

// readTargets measures the targets of SWE-CLI.
func readTargets(l *lensRun, to *Likeness) {
	policy, counter := l.Options.sweCounter()
	run := sweRun{l: l}
	l.Sizes = true
	l.Ends = append(l.Ends, func(e *replay.Envelope) {
		for i := range l.Path {
			run.entry(&l.Path[i], l.before(i))
		}
		m := &sweMessages{c: counter, calls: map[string]sweCall{}}
		found := reuse.NewRetrievals()
		for msg, err := range e.Sources(func(replay.Message) bool { return true }) {
			if l.fail(err); err != nil {
				return
			}
			one := msg.Raw.Message()
			m.add(one)
			found.Message(one)
		}
		used, lookups := found.Count()
		limit, _, err := policy.Limit(e)
		l.fail(err)
		to.SWE = append(to.SWE, SWE{Session: l.Report.ID, Targets: SWETargets{
			Efficiency: measure(run.fits(limit), len(run.requests), 1, 0),
			Compaction: measure(run.before-run.after, run.before, 0.6, 0.8),
			Waste:      m.waste(),
			Autonomy:   run.autonomy(),
			Precision:  measure(used, lookups, 0.85, 0),
		}})
	})
}

// A sweRun collects the data of a path for SWE-CLI's targets.
type sweRun struct {
	l *lensRun

	requests      []int // the size of each, in tokens
	before, after int   // tokens around all compactions

	prompts []swePrompt
	working bool // an answer has called tools: a message of the user now is steering
}

// A swePrompt is the outcome of a prompt.
type swePrompt struct{ answered, failed, steered bool }

func (r *sweRun) entry(a *pathEntry, before int) {
	switch {
	case a.Did == replay.Compacted:
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

// fits returns the number of requests below the threshold.
func (r *sweRun) fits(limit int64) (n int) {
	for _, size := range r.requests {
		if sweFits(size, limit) {
			n++
		}
	}
	return n
}

// autonomy returns the share of prompts that ended well. A prompt without answer has not ended.
func (r *sweRun) autonomy() SWETarget {
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

// sweMessages counts messages, and results without new content.
type sweMessages struct {
	c       *tokens.Counter
	tokens  int
	calls   map[string]sweCall
	results []sweResult
}

// A sweCall is a tool call; one identifies equal calls, which can have different ids.
type sweCall struct {
	one        string
	file, part string // file and part that it reads; an empty part is the whole file
}

// A sweResult is a tool result.
type sweResult struct {
	sweCall
	text   string
	tokens int
	failed bool
}

// add counts a message of a request.
func (s *sweMessages) add(msg *jsonl.Message) {
	for b := range msg.Calls {
		c := activity.New(b.Name.Text(), b.ID.Text(), b.Args)
		call := sweCall{one: c.Tool + " " + string(b.Args.AppendMinified(nil))}
		if call.file, call.part = c.Reads(); call.file != "" {
			call.file = path.Clean(call.file)
		}
		s.calls[c.ID] = call
	}
	n := weigh.MessageTokens(s.c, msg)
	s.tokens += n
	if msg.Kind == jsonl.ToolResult {
		s.results = append(s.results, sweResult{s.calls[msg.CallID.Text()], msg.Text(""), n, msg.IsError.Truthy()})
	}
}

// waste counts results without new content. From the end backwards, these are results whose calls
// were repeated, and files or results that were read again. A read supersedes an older one of the
// same lines, and one of all lines supersedes every older one (docs/policies.md 4.9).
func (s *sweMessages) waste() (w SWEWaste) {
	called, said, read := map[string]bool{}, map[string]bool{}, map[[2]string]bool{}
	for i := len(s.results) - 1; i >= 0; i-- {
		r := &s.results[i]
		saying := r.one + "\x00" + r.text
		switch {
		case r.failed && r.one != "" && called[r.one]:
			w.Retried += r.tokens
		case r.failed:
			w.Errors += r.tokens
		case r.file != "" && (read[[2]string{r.file}] || read[[2]string{r.file, r.part}]):
			w.Superseded += r.tokens
		case r.one != "" && said[saying]:
			w.Duplicate += r.tokens
		}
		called[r.one], said[saying] = true, true
		if !r.failed {
			read[[2]string{r.file, r.part}] = true
		}
	}
	w.SWETarget = measure(w.Retried+w.Errors+w.Superseded+w.Duplicate, s.tokens, 0, 0.1)
	return w
}
