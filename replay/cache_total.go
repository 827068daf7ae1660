package replay

import (
	"cmp"
	"slices"
)

// A CacheTotal sums up rows.
type CacheTotal struct {
	Requests int // rows
	Answered int // of them, those with a recorded usage
	Prompt   int64
	Expected CacheExpected
	Recorded CacheUsage
	// Possible and Achieved are the shares of the prompts' tokens, 0 to 1, that caches
	// could have served and did serve, over the answered requests; without any,
	// Possible is over all of them. Base is what Possible is a share of.
	Possible float64
	Achieved float64
	Base     CacheExpected
	Rebilled CacheAgain  // what the provider did not serve, and could have
	Broken   CacheAgain  // what breaks had billed once more
	Breaks   []CacheLoss // by entry, the dearest first
	ByName   []CacheLoss // by transformer
	ByReason []CacheLoss // by cause, or reason where an op gives one
}

// A CacheLoss is what a break cost, or several that have something in common.
type CacheLoss struct {
	Name    string // the transformer's name, or the reason; empty for a single break
	Request int    // of a single break
	Break   *CacheBreak
	Times   int
	CacheAgain
}

// A cacheSum is a total in the making.
type cacheSum struct {
	CacheTotal
	answered CacheExpected // of the answered requests
}

func (t *cacheSum) add(s *sending, row *CacheRow) {
	t.Requests++
	t.Prompt += row.Prompt
	if row.Expected != nil {
		t.Expected.Read += row.Expected.Read
		t.Expected.Write += row.Expected.Write
	}
	if s.promptTokens() > 0 {
		t.Answered++
		t.Recorded.Input += s.usage.Input
		t.Recorded.CacheRead += s.usage.CacheRead
		t.Recorded.CacheWrite += s.usage.CacheWrite
		t.Recorded.CacheWrite1h += s.usage.CacheWrite1h
		if row.Expected != nil {
			t.answered.Read += row.Expected.Read
			t.answered.Write += row.Expected.Write
		}
	}
	if row.Rebilled != nil {
		t.Rebilled.plus(*row.Rebilled)
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

func (t *cacheSum) total() CacheTotal {
	t.Base = t.Expected
	if t.Answered > 0 {
		t.Base = t.answered
		t.Achieved = share(t.Recorded.CacheRead, t.Recorded.Prompt())
	}
	t.Possible = share(t.Base.Read, t.Base.Read+t.Base.Write)
	t.ByName = lossesBy(t.Breaks, func(b *CacheBreak) string { return b.Transformer })
	t.ByReason = lossesBy(t.Breaks, func(b *CacheBreak) string { return cmp.Or(b.Reason, string(b.Cause)) })
	worstFirst(t.Breaks)
	return t.CacheTotal
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
