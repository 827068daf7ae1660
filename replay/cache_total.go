package replay

import (
	"cmp"
	"slices"

	"ctxtool/replay/models"
)

// A CacheTotal sums up rows: those whose usage is recorded, or where there are none all
// of them, which are estimates then.
//
// It is total of schema ctxtool/cache/2, and a line of ctxtool/cache.session/2.
type CacheTotal struct {
	Schema    string          `json:"schema,omitempty"`
	File      string          `json:"file,omitempty"`         // of several sessions
	Sessions  int             `json:"sessions,omitempty"`     // that the sum is over
	Error     string          `json:"error,omitempty"`        // why there is no account
	Requests  int             `json:"requests"`               // rows
	Answered  int             `json:"answered"`               // of them, those with a usage
	Hidden    int64           `json:"hidden,omitempty"`       // tokens of prompt and tools that the file does not hold: the recorded prompt of the first answered request less what is counted of it; absent where the file holds them
	Prompt    int64           `json:"prompt"`                 // tokens; as the next five the sum over the answered requests; without any, over all, which are estimates then
	Expected  *CacheExpected  `json:"expected,omitempty"`     // as of a request
	Recorded  CacheUsage      `json:"recorded,omitzero"`      // as of a request; absent without any usage
	HitRate   cacheHitRate    `json:"hitRate"`                // shares of `prompt`, from 0 to 1
	Rebilled  CacheAgain      `json:"rebilled"`               // what was billed again: `broken` and `unserved`
	Broken    CacheAgain      `json:"broken"`                 // sum of `break.again`
	Unserved  CacheAgain      `json:"unserved"`               // as of a request
	Breaks    []CacheLoss     `json:"breaks,omitempty"`       // each break, the most expensive first
	ByName    []CacheLoss     `json:"transformers,omitempty"` // as `breaks[]`, by transformer
	ByReason  []CacheLoss     `json:"reasons,omitempty"`      // as `breaks[]`, by reason, or cause where there is none; they hold `not served` too, so they add up to `rebilled`
	Outlived  []cacheLifetime `json:"outlived,omitempty"`     // models whose cache lived longer than its lifetime by the table
	Prices    string          `json:"prices,omitempty"`       // the day of the table of prices
	Estimated int64           `json:"estimated,omitempty"`    // tokens of the requests without usage, by count; in no other sum but that

	unserved int // rows with some of it
}

// cacheHitRate are shares of prompts, 0 to 1.
type cacheHitRate struct {
	Possible float64  `json:"possible"`           // that a cache could have served
	Achieved *float64 `json:"achieved,omitempty"` // that one did serve; absent without any usage
}

// A cacheLifetime is how long a model's cache was seen to keep what it had, beyond what
// the table says; both in seconds.
type cacheLifetime struct {
	Model string `json:"model"` // `provider/id`
	Table int64  `json:"table"` // seconds that its cache lives by the table
	Seen  int64  `json:"seen"`  // seconds after which it was read all the same
}

// ReasonUnserved is the reason of what the provider did not serve, in ByReason.
const ReasonUnserved = "not served"

// A CacheLoss is what a break cost, or several that have something in common.
type CacheLoss struct {
	Name    string      `json:"name,omitempty"`   // the transformer or the reason; absent of a single break
	Times   int         `json:"times,omitempty"`  // breaks of that name
	Request Index       `json:"request,omitzero"` // of a single break
	Entry   string      `json:"entry,omitempty"`  // of a single break, as the next two: what did it
	Op      Index       `json:"op,omitzero"`      // the operation of its patch
	Cause   CacheCause  `json:"cause,omitempty"`  // as of a request
	Break   *CacheBreak `json:"-"`
	CacheAgain
}

// sumUp is the total of rows.
func sumUp(rows []CacheRow) *CacheTotal {
	t := &CacheTotal{Requests: len(rows), Expected: &CacheExpected{}, Prices: models.Date}
	for i := range rows {
		if row := &rows[i]; row.answered() {
			t.Answered++
		} else {
			t.Estimated += row.Prompt
		}
	}
	for i := range rows {
		if row := &rows[i]; t.Answered == 0 || row.answered() {
			t.add(row)
		}
	}
	t.finish()
	return t
}

func (t *CacheTotal) add(row *CacheRow) {
	t.Prompt += row.Prompt
	var u CacheUsage
	if row.Recorded != nil {
		u = *row.Recorded
	}
	t.Recorded.plus(u)
	e := CacheExpected{u.CacheRead, row.Prompt - u.CacheRead} // behind a broken patch nothing else is known
	if row.Expected != nil {
		e = *row.Expected
	}
	t.Expected.Read += e.Read
	t.Expected.Write += e.Write
	if row.Unserved.Tokens > 0 {
		t.Unserved.plus(row.Unserved)
		t.unserved++
	}
	if b := row.Break; b != nil && b.Again.Tokens > 0 {
		t.Broken.plus(b.Again)
		t.Breaks = append(t.Breaks, CacheLoss{Request: row.Request, Entry: b.Entry, Op: b.Op, Cause: b.Cause, Break: b, CacheAgain: b.Again})
	}
}

func (a *CacheAgain) plus(b CacheAgain) {
	a.Tokens += b.Tokens
	a.Cost += b.Cost
}

// SumCaches adds up the totals of sessions, but for those with an error.
func SumCaches(all []CacheTotal) *CacheTotal {
	sum := sumUp(nil)
	for i := range all {
		if all[i].Error == "" {
			sum.Plus(&all[i])
		}
	}
	sum.Sessions, sum.Prices = len(all), models.Date
	return sum
}

// Plus adds the total of another session, but for its single losses.
func (t *CacheTotal) Plus(o *CacheTotal) {
	requests, estimated := t.Requests+o.Requests, t.Estimated+o.Estimated
	switch {
	case t.Answered == 0 && o.Answered > 0: // estimates are no part of what is recorded
		*t = CacheTotal{}
		fallthrough
	case (t.Answered > 0) == (o.Answered > 0):
		t.Answered += o.Answered
		t.Prompt += o.Prompt
		if t.Expected == nil {
			t.Expected = &CacheExpected{}
		}
		t.Expected.Read += o.Expected.Read
		t.Expected.Write += o.Expected.Write
		t.Recorded.plus(o.Recorded)
		t.Broken.plus(o.Broken)
		t.Unserved.plus(o.Unserved)
	}
	t.Requests, t.Estimated = requests, estimated
	t.share()
}

// share works out what follows from the sums.
func (t *CacheTotal) share() {
	t.HitRate = cacheHitRate{Possible: share(t.Expected.Read, t.Prompt)}
	if achieved := share(t.Recorded.CacheRead, t.Prompt); t.Answered > 0 {
		t.HitRate.Achieved = &achieved
	}
	t.Rebilled = t.Broken
	t.Rebilled.plus(t.Unserved)
}

func (t *CacheTotal) finish() {
	t.share()
	t.ByName = lossesBy(t.Breaks, func(b *CacheBreak) string { return b.Transformer })
	t.ByReason = lossesBy(t.Breaks, func(b *CacheBreak) string { return cmp.Or(b.Reason, string(b.Cause)) })
	if t.unserved > 0 {
		t.ByReason = append(t.ByReason, CacheLoss{Name: ReasonUnserved, Times: t.unserved, Request: -1, Op: -1, CacheAgain: t.Unserved})
		worstFirst(t.ByReason)
	}
	worstFirst(t.Breaks)
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// lossesBy sums up losses that have a name in common; those without are left out.
func lossesBy(all []CacheLoss, name func(*CacheBreak) string) (sums []CacheLoss) {
	at := map[string]int{}
	for _, l := range all {
		n := name(l.Break)
		if n == "" {
			continue
		}
		i, ok := at[n]
		if !ok {
			i = len(sums)
			at[n] = i
			sums = append(sums, CacheLoss{Name: n, Request: -1, Op: -1})
		}
		sums[i].Times++
		sums[i].plus(l.CacheAgain)
	}
	worstFirst(sums)
	return sums
}

func worstFirst(all []CacheLoss) {
	slices.SortStableFunc(all, func(a, b CacheLoss) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Tokens, a.Tokens))
	})
}
