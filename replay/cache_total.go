package replay

import (
	"cmp"
	"slices"
)

// A CacheTotal sums up rows: those whose usage is recorded, or where there are none all
// of them, which are estimates then.
type CacheTotal struct {
	Requests int // rows
	Answered int // of them, those with a recorded usage
	Prompt   int64
	Expected CacheExpected
	Recorded CacheUsage
	// Possible and Achieved are the shares of Prompt, 0 to 1, that caches could have
	// served and did serve.
	Possible float64
	Achieved float64
	// Estimated are the tokens of the rows without recorded usage, by count.
	Estimated int64
	Rebilled  CacheAgain  // what was billed again: Broken and Unserved
	Broken    CacheAgain  // of it what breaks cost
	Unserved  CacheAgain  // and what the cache had and the provider did not serve
	Breaks    []CacheLoss // by entry, the most expensive first
	ByName    []CacheLoss // by transformer
	ByReason  []CacheLoss // by cause, or reason where an op gives one; Unserved is one of them
	Outlived  []CacheLifetime

	unserved int // rows with some of it
}

// A CacheLifetime is how long a model's cache was seen to keep what it had, beyond what
// the table says; both in milliseconds.
type CacheLifetime struct {
	Model ModelRef
	Table int64
	Seen  int64
}

// ReasonUnserved is the reason of what the provider did not serve, in ByReason.
const ReasonUnserved = "not served"

// A CacheLoss is what a break cost, or several that have something in common.
type CacheLoss struct {
	Name    string // the transformer's name, or the reason; empty for a single break
	Request int    // of a single break
	Break   *CacheBreak
	Times   int
	CacheAgain
}

// sumUp is the total of rows.
func sumUp(rows []CacheRow) *CacheTotal {
	t := &CacheTotal{Requests: len(rows)}
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
	if row.Unserved != nil {
		t.Unserved.plus(*row.Unserved)
		t.unserved++
	}
	if b := row.Break; b != nil && b.Again.Tokens > 0 {
		t.Broken.plus(b.Again)
		t.Breaks = append(t.Breaks, CacheLoss{Request: row.Request, Break: b, Times: 1, CacheAgain: b.Again})
	}
}

func (a *CacheAgain) plus(b CacheAgain) {
	a.Tokens += b.Tokens
	a.Cost += b.Cost
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
	t.Achieved, t.Possible = share(t.Recorded.CacheRead, t.Prompt), share(t.Expected.Read, t.Prompt)
	t.Rebilled = t.Broken
	t.Rebilled.plus(t.Unserved)
}

func (t *CacheTotal) finish() {
	t.share()
	t.ByName = lossesBy(t.Breaks, func(b *CacheBreak) string { return b.Transformer })
	t.ByReason = lossesBy(t.Breaks, func(b *CacheBreak) string { return cmp.Or(b.Reason, string(b.Cause)) })
	if t.unserved > 0 {
		t.ByReason = append(t.ByReason, CacheLoss{Name: ReasonUnserved, Times: t.unserved, CacheAgain: t.Unserved})
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
			sums = append(sums, CacheLoss{Name: n})
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
