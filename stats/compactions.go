package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/lens/survival"
	"ctxtool/internal/read/ops"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats/table"
)

// compactionsLens reports the effect and the losses of each compaction on the path.
var compactionsLens = Lens{
	Name:  "compactions",
	About: "each compaction: why, how much it freed, what its summary keeps, loops",
	read: func(l *lensRun) {
		w := &compactionWalk{l: l, part: newCompactionsPart()}
		l.Report.Compactions = w.part
		l.Sizes = true
		l.Steps = append(l.Steps, w.step)
		l.Ends = append(l.Ends, func(*replay.Envelope) {
			for i := range w.part.List {
				w.part.List[i].endsAbove()
			}
			w.part.sum()
		})
	},
	add: func(sum, one *Report) {
		p := partOf(&sum.Compactions, newCompactionsPart())
		p.List = filed(p.List, one.Compactions.List, one.File, func(c *Compacting) *string { return &c.File })
	},
	finish: func(r *Report) { r.Compactions.sum() },
	sheets: func(r *Report) []table.Sheet { return cmp.Or(r.Compactions, newCompactionsPart()).sheets() },
}

// A CompactionsPart is the compactions of the path, or of the paths of several sessions.
type CompactionsPart struct {
	Count    int            `json:"count"`       // number of compactions
	Triggers map[string]int `json:"triggers"`    // numbers by `trigger`
	Bands    map[string]int `json:"bands"`       // numbers by `band`
	Split    int            `json:"split"`       // those that split a turn
	Loops    int            `json:"loops"`       // those in a loop that frees nothing
	Before   int64          `json:"before"`      // sum of tokens
	After    int64          `json:"after"`       // sum of tokens
	Survival Survival       `json:"survival"`    // sums
	List     []Compacting   `json:"compactions"` // in order
}

// A Compacting is a compaction: an entry, or a transform that has the effect or the name of
// one. Tokens are those of the whole context by the counter, except Recorded and Next.
type Compacting struct {
	File    string `json:"file,omitempty"` // as in `files[]`
	Line    int    `json:"line"`           // of the entry
	Entry   string `json:"entry"`          // the entry's id
	As      string `json:"as"`             // type of the entry
	Hook    bool   `json:"hook"`           // an extension made the summary
	Request int    `json:"request"`        // of the next request
	// `automatic`, `manual` or `overflow` if recorded, an inferred `overflow` after an answer that failed
	// for its length, else `unknown`
	Trigger  string `json:"trigger"`
	Inferred bool   `json:"inferred,omitempty"` // `trigger` is not recorded, but follows from `evidence`
	// the evidence for `trigger`, or its likely value if it is `unknown`
	Evidence string `json:"evidence"`
	Retried  bool   `json:"retried"` // an answer followed without another prompt

	Recorded  int64   `json:"recorded,omitempty"` // tokens before it, as the entry records
	Before    int     `json:"before"`             // tokens of the context before it
	After     int     `json:"after"`              // tokens of the context after it
	Next      int64   `json:"next,omitempty"`     // recorded tokens of the first request after it
	Reduction float64 `json:"reduction"`          // share that it freed; negative if the context grew
	Band      string  `json:"band"`               // `below`, `in` or `above` SWE-CLI's 60 to 80 percent

	Summarized int    `json:"summarized"`          // messages that the summary replaces
	Kept       int    `json:"kept"`                // messages after the summary
	FirstKept  string `json:"firstKept,omitempty"` // the entry of the first of these
	Split      bool   `json:"split"`               // the first of these is within a turn
	// files, commands, open failures and demands of the replaced messages, and how many the summary keeps;
	// each `{of, found}`; `ctxtool lost` lists the others
	Survival Survival `json:"survival"`
	Loops    []string `json:"loops,omitempty"` // why it is part of a loop

	limit    int64   // the threshold, 0 if the window is unknown
	expected float64 // tokens after, as a provider would count them
}

// The reserve that pi leaves free by default (docs/session-format.md 9.1), in tokens, and the
// band of SWE-CLI's target for a compaction (docs/policies.md 3.2).
const (
	piReserve          = 16384
	bandFrom, bandTo   = 0.6, 0.8
	freesNothing       = 0.05
	loopFreesNothing   = "it frees less than 5 percent"
	loopEndsAbove      = "it ends above the threshold"
	loopWithoutRequest = "no request since the one before"
)

func newCompactionsPart() *CompactionsPart {
	return &CompactionsPart{List: []Compacting{}}
}

// sum adds up the list.
func (p *CompactionsPart) sum() {
	*p = CompactionsPart{List: p.List, Count: len(p.List), Triggers: map[string]int{}, Bands: map[string]int{}}
	for i := range p.List {
		c := &p.List[i]
		p.Triggers[c.Trigger]++
		p.Bands[c.Band]++
		p.Before += int64(c.Before)
		p.After += int64(c.After)
		if c.Split {
			p.Split++
		}
		if len(c.Loops) > 0 {
			p.Loops++
		}
		addUp(&p.Survival, &c.Survival)
	}
}

// A compactionWalk finds the compactions during a walk of the path.
type compactionWalk struct {
	l    *lensRun
	part *CompactionsPart

	found   survival.Follower
	last    lastAnswer
	asked   int  // requests answered before the last compaction
	waiting bool // the last compaction has had no prompt after it
}

func (w *compactionWalk) step(s replay.Step) {
	b, err := w.found.Step(w.l.Replay, s)
	w.l.fail(err)
	switch kind := w.l.Session.Kind(s.Record); {
	case b != nil && kind != jsonl.Reset:
		w.boundary(s, b)
	case kind == jsonl.User:
		w.last.failed, w.waiting = "", false
	case kind == jsonl.ContextEdit:
		w.edit(s.Record)
	case w.l.Session.Answers(s.Record):
		w.answer(s.Record)
	}
}

// boundary records a compaction.
func (w *compactionWalk) boundary(a replay.Step, b *survival.Boundary) {
	line := w.l.line(a.Record)
	s, n := w.l.Session, len(w.l.Path)-1
	c := Compacting{
		Line: s.Line(a.Record), Entry: s.ID(a.Record), As: s.Kind(a.Record).Type(), Hook: line.Get("fromHook").Truthy(),
		Request: a.Requests(), Recorded: tokensBefore(line), Before: w.l.before(n), After: int(w.l.Path[n].Tokens),
	}
	_, window, _, err := a.Envelope().Model()
	w.l.fail(err)
	w.judge(&c, line.Get("trigger"), window)
	c.Summarized, c.Kept, c.Split, c.Survival = len(b.Gone), b.Kept, b.Split, survivalOf(&b.Survival)
	if b.FirstKept >= 0 {
		c.FirstKept = s.ID(b.FirstKept)
	}
	w.part.List = append(w.part.List, c)
	w.asked, w.waiting, w.last = a.Requests(), true, lastAnswer{}
}

// tokensBefore returns the tokens before a compaction, as its entry or op records them.
func tokensBefore(line jsonl.Value) int64 {
	if n := tokensIn(line.Get("tokensBefore")); n > 0 {
		return n
	}
	op, _ := ops.Compacts(line)
	return tokensIn(op.Get("tokensBefore"))
}

// triggers are the causes that entries record, by their words for them.
var triggers = map[string]string{"auto": "automatic", "manual": "manual", "overflow": "overflow"}

// Why returns the trigger, marked if it is inferred.
func (c *Compacting) Why() string { return c.Trigger + phrase.If(c.Inferred, " (inferred)") }

// judge sets the cause of a compaction, its band, and whether it is part of a loop. Limits other than the
// window are settings, which no file holds.
func (w *compactionWalk) judge(c *Compacting, recorded jsonl.Value, window int64) {
	size := c.Recorded
	if size == 0 {
		size = max(w.last.context, int64(c.Before))
	}
	limit := window - piReserve
	c.Trigger = "unknown"
	switch {
	case triggers[recorded.Text()] != "":
		c.Trigger, c.Evidence = triggers[recorded.Text()], "as the file records"
	case w.last.failed != "":
		c.Trigger, c.Inferred, c.Evidence = "overflow", true, "inferred: "+w.last.failed
	case w.l.Session.Dialect() != nil:
		c.Evidence = "the file does not record it"
	case window <= 0:
		c.Evidence = fmt.Sprintf("%d tokens, but the window is unknown", size)
	case size > limit:
		c.Evidence = fmt.Sprintf("%d tokens, more than %d less %d: automatic by pi's usual settings, or manual",
			size, window, piReserve)
	default:
		c.Evidence = fmt.Sprintf("%d tokens, not more than %d less %d, and no failed answer: manual, or by other settings",
			size, window, piReserve)
	}
	if c.Before > 0 {
		c.Reduction = 1 - float64(c.After)/float64(c.Before)
	}
	switch {
	case c.Reduction < bandFrom:
		c.Band = "below"
	case c.Reduction > bandTo:
		c.Band = "above"
	default:
		c.Band = "in"
	}
	if c.Reduction < freesNothing {
		c.Loops = append(c.Loops, loopFreesNothing)
	}
	if window > 0 {
		c.limit, c.expected = limit, float64(c.After)*max(1, float64(size)/float64(max(1, c.Before)))
	}
	if len(w.part.List) > 0 && c.Request == w.asked {
		c.Loops = append(c.Loops, loopWithoutRequest)
	}
}

// endsAbove adds that the context is still too large, by the recorded size of the next request,
// or else by its expected size.
func (c *Compacting) endsAbove() {
	after := c.expected
	if c.Next > 0 {
		after = float64(c.Next)
	}
	if c.limit != 0 && after > float64(c.limit) {
		c.Loops = append(c.Loops, loopEndsAbove)
	}
}

// A lastAnswer is the evidence of the last answer before a compaction for its cause.
type lastAnswer struct {
	id      string // of its entry, empty for none
	context int64  // recorded tokens of its context, 0 if none are recorded
	failed  string // the failure in words if its length caused it, else empty
}

// overflows are words in providers' errors about requests that are too long.
var overflows = []string{
	"too long", "too large", "context window", "context length", "context_length", "context size", "maximum prompt",
	"too many tokens",
	"token count", "token limit", "tokens exceed", "exceeds the limit", "reduce the length", "input length",
	"input tokens",
}

// answer records an answer, and its effect on the compaction before it.
func (w *compactionWalk) answer(rec int) {
	var f [3]jsonl.Value
	w.l.line(rec).Get("message").Fields(f[:], "usage", "stopReason", "errorMessage")
	u, stop, failure := f[0].Usage(), f[1], f[2].Text()
	if n := len(w.part.List); n > 0 {
		c := &w.part.List[n-1]
		if w.waiting {
			c.Retried, w.waiting = true, false
		}
		if c.Next == 0 {
			c.Next = u.Prompt()
		}
	}
	w.last = lastAnswer{id: w.l.Session.ID(rec), context: u.Context()}
	message := strings.ToLower(failure)
	switch {
	case stop.Is("length"):
		w.last.failed = fmt.Sprintf("answer %s was cut off for its length", sessionfmt.Quote(w.last.id))
	case stop.Is("error") && slices.ContainsFunc(overflows,
		func(words string) bool { return strings.Contains(message, words) }):
		w.last.failed = fmt.Sprintf("answer %s failed: %s", sessionfmt.Quote(w.last.id), sessionfmt.Quote(failure))
	}
}

// edit records that the last answer was omitted, as pi does before it compacts after an
// overflow (docs/session-format.md 9.1).
func (w *compactionWalk) edit(rec int) {
	line := w.l.line(rec)
	replacement := line.Get("replacement")
	if w.last.failed == "" && w.last.id != "" && line.Get("targetId").Is(w.last.id) && replacement.Exists() &&
		replacement.IsNull() {
		w.last.failed = fmt.Sprintf("answer %s was left out by an edit", sessionfmt.Quote(w.last.id))
	}
}

// tokensIn returns a recorded number of tokens. A negative or impossible number counts as not
// recorded.
func tokensIn(v jsonl.Value) int64 {
	if n, ok := v.Float(); !ok || n < 0 || n > jsonl.MostUsage {
		return 0
	}
	return v.Int()
}
