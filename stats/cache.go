package stats

import (
	"cmp"

	"ctxtool/replay"
)

// cacheLens sums up what replay.Cache says of the path to the point.
var cacheLens = Lens{
	Name:   "cache",
	About:  "prompt cache: hit rate, what was billed again, the dearest break",
	look:   lookAtCache,
	add:    addCache,
	sheets: cacheSheets,
}

// A CachePart is what the prompt cache did for the requests of the path, in tokens
// and dollars. ctxtool cache has the requests one by one.
type CachePart struct {
	Requests int               `json:"requests"`
	Answered int               `json:"answered"` // of them, those with a recorded usage
	Prompt   int64             `json:"prompt"`   // recorded: the tokens of their requests
	Read     int64             `json:"read"`     // recorded: those of them that a cache served
	HitRate  *float64          `json:"hitRate,omitempty"`
	Could    CacheCould        `json:"could"`
	Rebilled replay.CacheAgain `json:"rebilled"` // what the provider could have served, and did not
	Broken   replay.CacheAgain `json:"broken"`   // what breaks had billed once more
	Worst    *CacheWorst       `json:"worst,omitempty"`
}

// A CacheCould is what a cache that keeps every beginning of every request would
// have read and written, and the share of it that it would have read.
type CacheCould struct {
	Read    int64    `json:"read"`
	Write   int64    `json:"write"`
	HitRate *float64 `json:"hitRate,omitempty"`
}

// A CacheWorst is the entry that had the most billed once more.
type CacheWorst struct {
	File  string            `json:"file,omitempty"` // of several
	Entry string            `json:"entry"`
	Cause replay.CacheCause `json:"cause,omitempty"` // none where the provider did not serve what it could
	replay.CacheAgain
}

// Again is what was billed once more, whoever is to blame.
func (p *CachePart) Again() replay.CacheAgain {
	return replay.CacheAgain{Tokens: p.Rebilled.Tokens + p.Broken.Tokens, Cost: p.Rebilled.Cost + p.Broken.Cost}
}

func lookAtCache(l *Look) {
	l.Ends = append(l.Ends, func(*replay.Envelope) error {
		opt := l.Options.Replay
		opt.Leaf = l.Session.Leaf()
		report, err := replay.New(l.Session, opt).Cache(replay.CacheOptions{Leaf: l.Point, Counter: l.Counter})
		if err != nil {
			return err
		}
		t := &report.Total
		p := &CachePart{
			Requests: t.Requests, Answered: t.Answered, Prompt: t.Recorded.Prompt(), Read: t.Recorded.CacheRead,
			Could: CacheCould{Read: t.Base.Read, Write: t.Base.Write}, Rebilled: t.Rebilled, Broken: t.Broken,
		}
		for i := range report.Rows {
			p.worse(l, &report.Rows[i])
		}
		p.rates()
		l.Report.Cache = p
		return nil
	})
}

// worse keeps what a request had billed again, if it is the most so far.
func (p *CachePart) worse(l *Look, r *replay.CacheRow) {
	if b := r.Break; b != nil && b.Again.Tokens > 0 {
		entry := r.Record
		if b.Entry >= 0 {
			entry = b.Entry
		}
		p.worst(&CacheWorst{Entry: l.Session.ID(entry), Cause: b.Cause, CacheAgain: b.Again})
	}
	if r.Rebilled != nil {
		p.worst(&CacheWorst{Entry: l.Session.ID(r.Record), CacheAgain: *r.Rebilled})
	}
}

func (p *CachePart) worst(w *CacheWorst) {
	if p.Worst == nil || cmp.Or(cmp.Compare(w.Cost, p.Worst.Cost), cmp.Compare(w.Tokens, p.Worst.Tokens)) > 0 {
		p.Worst = w
	}
}

// rates works out the shares of tokens that a cache served, and could have.
func (p *CachePart) rates() {
	p.HitRate, p.Could.HitRate = rate(p.Read, p.Prompt), rate(p.Could.Read, p.Could.Read+p.Could.Write)
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
	p.Requests += o.Requests
	p.Answered += o.Answered
	p.Prompt += o.Prompt
	p.Read += o.Read
	p.Could.Read += o.Could.Read
	p.Could.Write += o.Could.Write
	p.Rebilled.Tokens, p.Rebilled.Cost = p.Rebilled.Tokens+o.Rebilled.Tokens, p.Rebilled.Cost+o.Rebilled.Cost
	p.Broken.Tokens, p.Broken.Cost = p.Broken.Tokens+o.Broken.Tokens, p.Broken.Cost+o.Broken.Cost
	if o.Worst != nil {
		w := *o.Worst
		w.File = one.File
		p.worst(&w)
	}
	p.rates()
}

func cacheSheets(r *Report) []Sheet {
	s := Sheet{Columns: []Column{
		{Name: "requests", Unit: Number}, {Name: "answered", Unit: Number}, {Name: "prompts", Unit: Tokens}, {Name: "read", Unit: Tokens},
		{Name: "hit rate", Unit: Share}, {Name: "could be", Unit: Share}, {Name: "billed again", Unit: Dollars}, {Name: "most by", Flex: true},
	}}
	p := r.Cache
	if p == nil {
		return []Sheet{s}
	}
	row := []any{int64(p.Requests), int64(p.Answered), p.Prompt, p.Read, nil, nil, p.Again().Cost, nil}
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
