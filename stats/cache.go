package stats

import (
	"cmp"
	"fmt"
	"strings"

	"ctxtool/internal/lens/cache"
	"ctxtool/replay"
	"ctxtool/stats/table"
)

// cacheLens summarizes the account of package cache for the path to the point.
var cacheLens = Lens{
	Name:   "cache",
	About:  "prompt cache: hit rate, rebilled tokens, the most expensive break",
	read:   readCache,
	add:    addCache,
	sheets: cacheSheets,
}

// A CachePart is the effect of the prompt cache on the requests of the path, in tokens and dollars. ctxtool
// cache lists the requests.
type CachePart struct {
	Requests int `json:"requests"` // of the path
	Answered int `json:"answered"` // those with a usage
	// tokens of answered requests; without any, an estimate of all
	Prompt  int64      `json:"prompt"`
	Read    int64      `json:"read"`              // tokens of them that a cache served
	HitRate *float64   `json:"hitRate,omitempty"` // share: `read` of `prompt`; absent without any usage
	Could   CacheCould `json:"could"`             // what a cache that keeps every prefix would have served
	// rebilled, as in `ctxtool cache`: the sum of the next two
	Rebilled cache.Rebilled `json:"rebilled"`
	Broken   cache.Rebilled `json:"broken"`          // what breaks had billed again
	Unserved cache.Rebilled `json:"unserved"`        // cached, but not served by the provider
	Worst    *CacheWorst    `json:"worst,omitempty"` // the entry that had the most billed once more

	Estimated int64 `json:"estimated,omitempty"` // tokens of the requests without usage, by count
}

// A CacheCould is what a cache that keeps every prefix of every request would have read and
// written, and its hit rate.
type CacheCould struct {
	Read    int64    `json:"read"`
	Write   int64    `json:"write"`
	HitRate *float64 `json:"hitRate,omitempty"`
}

// A CacheWorst is the entry that had the most tokens rebilled.
type CacheWorst struct {
	File  string `json:"file,omitempty"` // of several
	Entry string `json:"entry"`          // that did it
	// as in a break; absent if the provider did not serve them
	Cause   cache.Cause `json:"cause,omitempty"`
	Section string      `json:"section,omitempty"` // the section or tool of the prompt at which the prefix ended
	cache.Rebilled
}

func readCache(l *lensRun) {
	l.Requests, l.Hashes = true, true
	l.Ends = append(l.Ends, func(*replay.Envelope) {
		report, err := cache.Account(l.Book, cache.Options{Leaf: l.Point, Broken: true})
		if l.fail(err); err != nil {
			return
		}
		p := &CachePart{}
		p.plus(report.Total)
		for row := range report.Rows {
			p.worse(row)
		}
		l.Report.Cache = p
	})
}

// worse records a request's rebilled tokens if they are the most so far.
func (p *CachePart) worse(r *cache.Row) {
	if b := r.Break; b != nil && b.Rebilled.Tokens > 0 {
		w := &CacheWorst{Entry: r.Entry, Cause: b.Cause, Section: b.Section(), Rebilled: b.Rebilled}
		if b.Record >= 0 {
			w.Entry = b.Entry
		}
		p.worst(w)
	}
	if r.Unserved.Tokens > 0 {
		p.worst(&CacheWorst{Entry: r.Entry, Rebilled: r.Unserved})
	}
}

func (p *CachePart) worst(w *CacheWorst) {
	if p.Worst == nil || cmp.Or(cmp.Compare(w.Cost, p.Worst.Cost), cmp.Compare(w.Tokens, p.Worst.Tokens)) > 0 {
		p.Worst = w
	}
}

// total returns the part as a cache.Total.
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

// plus adds the total of another session.
func (p *CachePart) plus(o *cache.Total) {
	t := p.total()
	t.Plus(o)
	p.Requests, p.Answered, p.Prompt, p.Estimated = t.Requests, t.Answered, t.Prompt, t.Estimated
	p.Read, p.Could.Read, p.Could.Write = t.Recorded.CacheRead, t.Expected.Read, t.Expected.Write
	p.Rebilled, p.Broken, p.Unserved = t.Rebilled, t.Broken, t.Unserved
	p.HitRate, p.Could.HitRate = share(p.Read, t.Recorded.Prompt()), share(p.Could.Read, p.Prompt)
}

func addCache(sum, one *Report) {
	p, o := partOf(&sum.Cache, &CachePart{}), one.Cache
	p.plus(o.total())
	if o.Worst != nil {
		w := *o.Worst
		w.File = one.File
		p.worst(&w)
	}
}

func cacheSheets(r *Report) []table.Sheet {
	var parts []CachePart
	var notes []string
	if p := r.Cache; p != nil {
		parts = []CachePart{*p}
		if n := p.Rebilled.Unpriced; n > 0 {
			notes = []string{fmt.Sprintf("billed again at an unknown price: %d of %d tokens", n, p.Rebilled.Tokens)}
		}
	}
	return []table.Sheet{{Title: "requests of the path", Table: table.Of(parts, cacheColumns), Notes: notes}}
}

var cacheColumns = []col[*CachePart]{
	{Name: "requests", Unit: table.Number, Value: func(c *CachePart) any { return c.Requests }},
	{Name: "answered", Unit: table.Number, Value: func(c *CachePart) any { return c.Answered }},
	{Name: "prompts", Unit: table.Tokens, Value: func(c *CachePart) any { return c.Prompt }},
	{Name: "read", Unit: table.Tokens, Value: func(c *CachePart) any { return c.Read }},
	{Name: "hit rate", Unit: table.Share, Value: func(c *CachePart) any { return c.HitRate }},
	{Name: "could be", Unit: table.Share, Value: func(c *CachePart) any { return c.Could.HitRate }},
	{Name: "billed again", Unit: table.Dollars, Value: func(p *CachePart) any {
		again := p.Rebilled
		return table.If(again.Unpriced == 0 || again.Unpriced < again.Tokens, again.Cost)
	}},
	{Name: "most by", Flex: true, Value: func(p *CachePart) any {
		if w := p.Worst; w != nil {
			return strings.TrimRight(w.Entry+" "+string(w.Cause)+" "+w.Section, " ")
		}
		return nil
	}},
}
