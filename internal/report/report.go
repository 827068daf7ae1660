// Package report says of a session what a page shows of it: its entries without what
// nobody reads, and of each request what came into the context, what left, what it
// took, and what broke the cache. It stores steps, not envelopes.
package report

import (
	"cmp"
	"slices"
	"sort"

	"ctxtool/replay"
	"ctxtool/replay/cache"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
)

type value = jsonl.Value

// A Head is what is said of a session as a whole, schema ctxtool/page/1.
type Head struct {
	Schema   string              `json:"schema"`
	File     string              `json:"file"`           // what the session is called where it has no name
	Name     string              `json:"name,omitempty"` // that it was given
	Cwd      string              `json:"cwd,omitempty"`
	Version  int                 `json:"version"`
	Rules    string              `json:"rules"`
	Redacted bool                `json:"redacted,omitempty"`
	Leaf     int                 `json:"leaf"`    // row, -1 for none
	Entries  int                 `json:"entries"` // rows that are entries; those after them are messages and texts
	Kinds    []string            `json:"kinds"`   // names of kinds, by number
	Coverage sessionfmt.Coverage `json:"coverage"`
	Findings []Finding           `json:"findings,omitempty"`
	Stopped  []Finding           `json:"stopped,omitempty"`      // broken patches: nothing is known of requests after them
	Hidden   int64               `json:"hidden,omitempty"`       // tokens of prompt and tools that the file does not hold
	Window   int64               `json:"window,omitempty"`       // of the last request's model
	Usage    *weigh.Shown        `json:"contextUsage,omitempty"` // of the leaf, as pi shows it; nil where no provider has told
	Cache    CacheTotal          `json:"cache"`
	Prices   string              `json:"prices"` // the day of the table of prices
}

// A Finding is damage at a row: the first that stands there or later in the file.
type Finding struct {
	Row  int    `json:"row"` // -1 for after all
	Code string `json:"code,omitempty"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// CacheTotal is the account for the prompt cache, tokens and dollars.
type CacheTotal struct {
	Prompt   int64          `json:"prompt"`
	Recorded int64          `json:"recorded"` // of it what providers have recorded
	Read     int64          `json:"read"`
	Possible float64        `json:"possible"` // share of the prompts, 0 to 1
	Achieved float64        `json:"achieved"`
	Rebilled cache.Rebilled `json:"rebilled"` // Broken and Unserved
	Broken   cache.Rebilled `json:"broken"`
	Unserved cache.Rebilled `json:"unserved"`
}

// A Report is all that a page says of a session.
type Report struct {
	Head  Head
	Index Index
	Steps Steps

	s      *sessionfmt.Session
	r      *replay.Replay
	leaf   int
	speak  *replay.Reader
	extra  [][]byte // rows after the entries
	bodies map[uint64]int
	places map[cache.Piece]int // of messages that are no entry's own, in Steps.Extra
	texts  map[string]int
	steps  map[int]int // of the answer's record
	models map[models.Ref]int
	tip    *cache.Prefix
	read   error         // of Read
	done   chan struct{} // closed when it is through
}

// New is a report of a session whose path to leaf a page opens with.
func New(r *replay.Replay, leaf int) *Report {
	p := &Report{
		s: r.Session, r: r, leaf: leaf, speak: r.NewReader(),
		bodies: map[uint64]int{}, places: map[cache.Piece]int{}, texts: map[string]int{}, steps: map[int]int{}, models: map[models.Ref]int{},
		done: make(chan struct{}),
	}
	p.Index.start(p.s)
	return p
}

// Begin starts replaying the requests, and cuts the entries, which can be read meanwhile,
// into ranges of about so many bytes of the file, each from a row to the next one's
// first.
func (p *Report) Begin(size int) (all [][2]int) {
	go func() {
		defer close(p.done)
		p.read = p.requests(p.leaf)
	}()
	return stretches(size, 0, p.s.Len(), p.s.LineSize)
}

// Wait waits for the requests: all but entries can be read then.
func (p *Report) Wait() error {
	<-p.done
	return p.read
}

// requests reads what the requests had, on the path to leaf and on all others. Replays
// that stop are reported as far as they go.
func (p *Report) requests(leaf int) error {
	r, s := p.r, p.s
	account, err := cache.Account(r, cache.Options{Leaf: leaf, All: true, Counter: &tokens.Pi, Requests: p.request})
	if err != nil {
		return err
	}
	if err := p.now(leaf); err != nil {
		return err
	}
	p.account(account.Rows)
	t := account.Total
	achieved := cmp.Or(t.HitRate.Achieved, new(float64))
	var kinds []string
	for k := range jsonl.Scalar + 1 {
		kinds = append(kinds, k.String())
	}
	p.Head = Head{
		Schema: "ctxtool/page/1", Version: s.Version, Rules: r.Rules.String(), Leaf: leaf, Entries: s.Len(), Kinds: kinds,
		Coverage: s.Coverage, Stopped: p.Head.Stopped, Usage: p.Head.Usage, Hidden: t.Hidden, Window: p.Head.Window, Prices: models.Date,
		Cache: CacheTotal{
			Prompt: t.Prompt, Recorded: t.Recorded.Prompt(), Read: t.Recorded.CacheRead, Possible: t.HitRate.Possible, Achieved: *achieved,
			Rebilled: t.Rebilled, Broken: t.Broken, Unserved: t.Unserved,
		},
	}
	p.findings(r.AllFindings())
	return nil
}

// findings puts findings at rows.
func (p *Report) findings(found []sessionfmt.Finding) {
	n := p.s.Len()
	for _, f := range found {
		at := -1
		if row := sort.Search(n, func(i int) bool { return p.s.Line(i) >= f.Line }); f.Line > 0 && row < n {
			at = row
		}
		text := f.Text
		if f.Entry != "" && (at < 0 || p.s.Line(at) != f.Line) {
			text = "entry " + f.Entry + ": " + text
		}
		p.Head.Findings = append(p.Head.Findings, Finding{at, f.Code, f.Line, text})
	}
}

// Rest are ranges of the rows after the entries, which are there once all has been
// read.
func (p *Report) Rest(size int) (all [][2]int) {
	n := p.s.Len()
	return stretches(size, n, n+len(p.extra), func(i int) int { return len(p.extra[i-n]) })
}

func stretches(most, from, end int, size func(i int) int) (all [][2]int) {
	bytes := 0
	for i := from; i < end; i++ {
		bytes += size(i) + 1
		if bytes >= most || i == end-1 {
			all = append(all, [2]int{from, i + 1})
			from, bytes = i+1, 0
		}
	}
	return all
}

// Rows appends the rows of a range to dst, a line each. see is given each by itself
// with its record, -1 where it is not an entry's. Stretches may be read at the same time.
func (p *Report) Rows(dst []byte, stretch [2]int, see func(record int, row value)) ([]byte, error) {
	lines := p.s.NewReader()
	var w rower
	for i := stretch[0]; i < stretch[1]; i++ {
		start, record := len(dst), i
		if i < p.s.Len() {
			line, err := lines.Line(i)
			if err != nil {
				return dst, err
			}
			dst = w.entry(dst, p.s.Kind(i), line)
			p.Index.take(p.s, i, &w.facts)
		} else {
			record = -1
			dst = append(dst, p.extra[i-p.s.Len()]...)
		}
		if see != nil {
			see(record, value(dst[start:]))
		}
		dst = append(dst, '\n')
	}
	return dst, nil
}

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
	// of each range of them.
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
