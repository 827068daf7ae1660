package report

import (
	"cmp"
	"slices"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
)

// A Summary is a session on one line of the report of a store, schema ctxtool/page.store/1.
type Summary struct {
	File     string `json:"file"`           // as it is called in the store
	Page     string `json:"page,omitempty"` // the address of its page
	Error    string `json:"error,omitempty"`
	Name     string `json:"name,omitempty"`
	Prompt   string `json:"prompt,omitempty"` // the first words of the first prompt
	Cwd      string `json:"cwd,omitempty"`
	Model    string `json:"model,omitempty"` // of the last request
	From     int64  `json:"from,omitempty"`  // milliseconds since 1970
	To       int64  `json:"to,omitempty"`
	Prompts  int    `json:"prompts"`
	Requests int    `json:"requests"`
	Entries  int    `json:"entries"`
	Findings int    `json:"findings,omitempty"`
	// Cost is in dollars, of all answers; Tokens are those of all prompts that
	// providers have recorded, Read those of them that came from a cache.
	Cost   float64 `json:"cost"`
	Tokens int64   `json:"tokens"`
	Read   int64   `json:"read"`
	Again  float64 `json:"again,omitempty"` // dollars for what was billed again
	// Sizes are how large the contexts of the path's requests were, tokens, the largest
	// of each stretch of them.
	Sizes  []int `json:"sizes,omitempty"`
	Window int64 `json:"window,omitempty"`
}

// mostSizes is how many sizes of contexts a summary has.
const mostSizes = 48

// Summary sums the report up. The report is finished.
func (p *Report) Summary() (*Summary, error) {
	h := &p.Head
	s := &Summary{
		Name: h.Name, Cwd: h.Cwd, Entries: h.Coverage.Entries, Findings: len(h.Findings) + len(h.Stopped),
		Tokens: h.Cache.Recorded, Read: h.Cache.Read, Again: h.Cache.Rebilled.Cost, Window: h.Window,
	}
	for i := range p.s.Len() {
		s.Cost += p.Index.Cost[i]
		if p.s.Kind(i) == jsonl.User {
			s.Prompts++
		}
		if at := p.Index.times[i]; p.Index.Has[i]&noTime == 0 {
			s.From, s.To = min(cmp.Or(s.From, at), at), max(s.To, at)
		}
	}
	path, _ := p.s.Path(h.Leaf)
	if err := p.first(s, path); err != nil {
		return nil, err
	}
	var sizes []int
	for _, rec := range path {
		if k, ok := p.steps[rec]; ok {
			sizes = append(sizes, p.Steps.System[k]+p.Steps.Tools[k]+p.Steps.Messages[k])
			s.Model = p.Steps.Models[p.Steps.Model[k]].Name
		}
	}
	s.Requests = len(p.steps)
	n := min(len(sizes), mostSizes)
	for k := range n {
		s.Sizes = append(s.Sizes, slices.Max(sizes[k*len(sizes)/n:(k+1)*len(sizes)/n]))
	}
	return s, nil
}

// first records what the first prompt says.
func (p *Report) first(s *Summary, path []int) error {
	lines := p.s.NewReader()
	for _, rec := range path {
		if p.s.Kind(rec) != jsonl.User {
			continue
		}
		line, err := lines.Line(rec)
		if err != nil {
			return err
		}
		if s.Prompt = outline.Gist(jsonl.User, line); s.Prompt != "" {
			break
		}
	}
	return nil
}

// A Store is the report of a store: sessions, and where their pages are.
type Store struct {
	Schema   string     `json:"schema"` // ctxtool/page.store/1
	Title    string     `json:"title"`
	Redacted bool       `json:"redacted,omitempty"`
	Prices   string     `json:"prices"` // the day of the table of prices
	Sessions []*Summary `json:"sessions"`
}

// NewStore is the report of a store with these sessions.
func NewStore(title string, redacted bool, all []*Summary) *Store {
	return &Store{Schema: "ctxtool/page.store/1", Title: title, Redacted: redacted, Prices: models.Date, Sessions: all}
}
