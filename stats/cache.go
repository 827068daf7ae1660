package stats

import (
	"cmp"

	"ctxtool/replay"
	"ctxtool/replay/cache"
)

// cacheLens sums up what replay.Cache says of the path to the point.
var cacheLens = Lens{
	Name:   "cache",
	About:  "prompt cache: hit rate, what was billed again, the most expensive break",
	look:   lookAtCache,
	add:    addCache,
	sheets: cacheSheets,
}

// A CachePart is what the prompt cache did for the requests of the path, in tokens
// and dollars. ctxtool cache has the requests one by one.
type CachePart struct {
	Requests int         `json:"requests"`          // of the path
	Answered int         `json:"answered"`          // those with a usage
	Prompt   int64       `json:"prompt"`            // tokens of the prompts of the answered ones; without any, an estimate of all
	Read     int64       `json:"read"`              // tokens of them that a cache served
	HitRate  *float64    `json:"hitRate,omitempty"` // share: `read` of `prompt`; absent without any usage
	Could    cacheCould  `json:"could"`             // what a cache would have done that keeps every beginning
	Rebilled cache.Again `json:"rebilled"`          // what was billed again, as `ctxtool cache` says it: the sum of the next two
	Broken   cache.Again `json:"broken"`            // what breaks had billed again
	Unserved cache.Again `json:"unserved"`          // what the cache had, and the provider did not serve
	Worst    *CacheWorst `json:"worst,omitempty"`   // the entry that had the most billed once more

	Estimated int64 `json:"estimated,omitempty"` // tokens of the requests without usage, by count
}

// A cacheCould is what a cache that keeps every beginning of every request would
// have read and written, and the share of it that it would have read.
type cacheCould struct {
	Read    int64    `json:"read"`
	Write   int64    `json:"write"`
	HitRate *float64 `json:"hitRate,omitempty"`
}

// A CacheWorst is the entry that had the most billed once more.
type CacheWorst struct {
	File  string      `json:"file,omitempty"`  // of several
	Entry string      `json:"entry"`           // that did it
	Cause cache.Cause `json:"cause,omitempty"` // as in a break; absent where the provider did not serve what it could
	cache.Again
}

func lookAtCache(l *lensRun) {
	l.Ends = append(l.Ends, func(*replay.Envelope) error {
		opt := l.Options.Replay
		opt.Leaf = l.Session.Leaf()
		report, err := cache.Account(replay.New(l.Session, opt), cache.Options{Leaf: l.Point, Counter: l.Counter})
		if err != nil {
			return err
		}
		p := &CachePart{}
		p.plus(report.Total)
		for i := range report.Rows {
			p.worse(&report.Rows[i])
		}
		l.Report.Cache = p
		return nil
	})
}

// worse keeps what a request had billed again, if it is the most so far.
func (p *CachePart) worse(r *cache.Row) {
	if b := r.Break; b != nil && b.Again.Tokens > 0 {
		w := &CacheWorst{Entry: r.Entry, Cause: b.Cause, Again: b.Again}
		if b.Record >= 0 {
			w.Entry = b.Entry
		}
		p.worst(w)
	}
	if r.Unserved.Tokens > 0 {
		p.worst(&CacheWorst{Entry: r.Entry, Again: r.Unserved})
	}
}

func (p *CachePart) worst(w *CacheWorst) {
	if p.Worst == nil || cmp.Or(cmp.Compare(w.Cost, p.Worst.Cost), cmp.Compare(w.Tokens, p.Worst.Tokens)) > 0 {
		p.Worst = w
	}
}

// total is the part as the account has it.
func (p *CachePart) total() *cache.Total {
	t := &cache.Total{
		Requests: p.Requests, Answered: p.Answered, Prompt: p.Prompt, Estimated: p.Estimated,
		Expected: &cache.Expected{Read: p.Could.Read, Write: p.Could.Write}, Broken: p.Broken, Unserved: p.Unserved,
	}
	if p.Answered > 0 {
		t.Recorded = cache.Usage{Input: p.Prompt - p.Read, CacheRead: p.Read}
	}
	return t
}

// plus adds the total of one more session.
func (p *CachePart) plus(o *cache.Total) {
	t := p.total()
	t.Plus(o)
	p.Requests, p.Answered, p.Prompt, p.Estimated = t.Requests, t.Answered, t.Prompt, t.Estimated
	p.Read, p.Could.Read, p.Could.Write = t.Recorded.CacheRead, t.Expected.Read, t.Expected.Write
	p.Rebilled, p.Broken, p.Unserved = t.Rebilled, t.Broken, t.Unserved
	p.HitRate, p.Could.HitRate = rate(p.Read, t.Recorded.Prompt()), rate(p.Could.Read, p.Prompt)
}

// rate is a share, nil where there is nothing to have a share of.
func rate(part, whole int64) *float64 {
	if whole <= 0 {
		return nil
	}
	share := float64(part) / float64(whole)
	return &share
}

func addCache(sum, one *Report) {
	if sum.Cache == nil {
		sum.Cache = &CachePart{}
	}
	p, o := sum.Cache, one.Cache
	p.plus(o.total())
	if o.Worst != nil {
		w := *o.Worst
		w.File = one.File
		p.worst(&w)
	}
}

func cacheSheets(r *Report) []Sheet {
	s := Sheet{Columns: []sheetColumn{
		{Name: "requests", Unit: Number}, {Name: "answered", Unit: Number}, {Name: "prompts", Unit: Tokens}, {Name: "read", Unit: Tokens},
		{Name: "hit rate", Unit: Share}, {Name: "could be", Unit: Share}, {Name: "billed again", Unit: Dollars}, {Name: "most by", Flex: true},
	}}
	p := r.Cache
	if p == nil {
		return []Sheet{s}
	}
	row := []any{int64(p.Requests), int64(p.Answered), p.Prompt, p.Read, nil, nil, p.Rebilled.Cost, nil}
	if p.HitRate != nil {
		row[4] = *p.HitRate
	}
	if p.Could.HitRate != nil {
		row[5] = *p.Could.HitRate
	}
	if w := p.Worst; w != nil {
		row[7] = w.Entry
		if w.Cause != "" {
			row[7] = w.Entry + " " + string(w.Cause)
		}
	}
	s.Rows = [][]any{row}
	return []Sheet{s}
}
