// Package report prepares a session for a page: its entries without fields that no reader
// needs, and for each request what was added to and removed from the context, its size, and
// what broke the cache. It stores steps, not envelopes.
package report

import (
	"cmp"
	"path/filepath"
	"slices"
	"sort"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/check"
	"ctxtool/internal/out/transcript"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

type value = jsonl.Value

// A Head describes a session as a whole, schema ctxtool/page/2.
type Head struct {
	Schema string `json:"schema"`
	File   string `json:"file"`            // shown if the session has no name
	Title  string `json:"title,omitempty"` // its name, or its first words
	Over   bool   `json:"over,omitempty"`  // the context of its last request exceeds the window
	outline.About
	dialect.Reading
	Version  int                 `json:"version"`
	Rules    string              `json:"rules"`
	Redacted bool                `json:"redacted,omitempty"`
	Leaf     int                 `json:"leaf"`    // row, -1 for none
	Entries  int                 `json:"entries"` // number of rows that are entries; messages and texts follow
	Kinds    []string            `json:"kinds"`   // names of kinds, by number
	Olds     []string            `json:"olds"`    // names of arguments that are texts which an edit replaces
	News     []string            `json:"news"`    // and of the new ones
	Coverage sessionfmt.Coverage `json:"coverage"`
	Findings []Finding           `json:"findings,omitempty"`
	Stopped  []Finding           `json:"stopped,omitempty"` // broken patches; later requests are unknown
	Hidden   int64               `json:"hidden,omitempty"`  // tokens of prompt and tools that the file does not record
	Window   int64               `json:"window,omitempty"`  // of the last request's model
	Usage    weigh.Size          `json:"contextUsage"`      // of the leaf (docs/figures.md)
	Cost     float64             `json:"cost"`              // dollars of all calls, each once (docs/figures.md)
	Recorded float64             `json:"recorded"`          // the part of it that the session records
	SubAgents
	From   int64      `json:"from,omitempty"` // time of the first message, milliseconds since 1970
	To     int64      `json:"to,omitempty"`   // of the last one
	Cache  CacheTotal `json:"cache"`
	Prices string     `json:"prices"` // date of the price table
}

// SubAgents are the calls of sub-agents that none of a session's rows has.
type SubAgents struct {
	Cost     float64 `json:"subagents,omitempty"` // dollars of them, part of the session's cost
	Recorded float64 `json:"-"`
	Calls    int64   `json:"-"`
	// calls of sub-agents are in no cost: `--no-subagents`
	Without bool   `json:"noSubagents,omitempty"`
	Unread  int    `json:"unreadSubagents,omitempty"` // sub-agents that could not be read: they are not in `cost`
	Owner   string `json:"subagentOf,omitempty"`      // id of the session whose sub-agent this one is
}

// A Finding is damage at a row: the first one at that place or later in the file.
type Finding struct {
	Row  int    `json:"row"` // -1 for the end
	Code string `json:"code,omitempty"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
	Note bool   `json:"note,omitempty"` // neither an error nor a warning
}

// CacheTotal is the account for the prompt cache, in tokens.
type CacheTotal struct {
	Prompt   int64   `json:"prompt"`
	Read     int64   `json:"read"`
	Achieved float64 `json:"achieved"` // share of the prompts, 0 to 1
}

// A Report is the content of a session's page.
type Report struct {
	Head  Head
	Index Index
	Steps Steps
	Subs  SubAgents // set before Begin

	// Check returns all findings of the session. It is called if reading or replaying it found errors or warnings, which
	// are then those of the page. It may be nil.
	Check func() []check.Finding

	s        *sessionfmt.Session
	r        *replay.Replay
	leaf     int
	about    outline.About
	total    *cache.Total
	speak    *replay.Reader
	extra    [][]byte // rows after the entries
	bodies   map[uint64]int
	places   map[replay.Piece]int // number of messages that do not come from a single entry, in Steps.Extra
	texts    map[string]int
	steps    map[int]int // of the answer's record
	contexts []int       // by step, the sizes of contexts in tokens (docs/figures.md)
	models   map[models.Ref]int
	prompts  map[promptKey]int
	read     error         // of Read
	done     chan struct{} // closed when reading has finished
}

// New returns a report of a session. Its page shows the path to leaf first.
func New(r *replay.Replay, leaf int) *Report {
	p := &Report{
		s: r.Session, r: r, leaf: leaf, speak: r.NewReader(),
		bodies: map[uint64]int{}, places: map[replay.Piece]int{}, texts: map[string]int{}, steps: map[int]int{},
		models: map[models.Ref]int{}, prompts: map[promptKey]int{},
		done: make(chan struct{}),
	}
	p.about, _ = outline.Headed(p.s) // what cannot be read stops the page too
	_ = outline.Entitle(&p.about, p.s, leaf)
	p.Index.start(p.s)
	return p
}

// titleSize is the number of characters of a title.
const titleSize = 120

// Title returns the title of the session.
func (p *Report) Title() string { return phrase.Cut(p.about.Title(), titleSize) }

// Begin starts to replay the requests, and divides the entries, which can be read meanwhile,
// into ranges of rows of about that many bytes of the file.
func (p *Report) Begin(size int) (all [][2]int) {
	go func() {
		defer close(p.done)
		p.read = p.requests(p.leaf)
	}()
	return stretches(size, 0, p.s.Len(), p.s.LineSize)
}

// Wait waits for the requests. Everything except entries can be read after it.
func (p *Report) Wait() error {
	<-p.done
	return p.read
}

// requests reads the requests on the path to leaf and on all other branches. A replay that
// stops is reported up to there.
func (p *Report) requests(leaf int) error {
	r, s := p.r, p.s
	l, err := ledger.Read(r, ledger.Options{Leaf: leaf, Counter: &tokens.Pi})
	if err != nil {
		return err
	}
	account, err := cache.Account(l, cache.Options{Leaf: leaf, All: true})
	if err != nil {
		return err
	}
	for _, stop := range l.Stopped {
		p.Head.Stopped = append(p.Head.Stopped, Finding{Row: stop.Record, Line: p.s.Line(stop.Record),
			Text: stop.Err.Error()})
	}
	for _, k := range l.Replayed {
		if err := p.request(l, k); err != nil {
			return err
		}
	}
	if err := p.now(l, leaf); err != nil {
		return err
	}
	p.account(account)
	t := account.Total
	p.total = t
	achieved := cmp.Or(t.HitRate.Achieved, new(float64))
	var kinds []string
	for k := range jsonl.Scalar + 1 {
		kinds = append(kinds, k.String())
	}
	about := p.about
	about.First = "" // the title has it
	p.Head = Head{
		Schema: "ctxtool/page/2", Olds: activity.OldTexts, News: activity.NewTexts, About: about, Reading: s.Reading(),
		Version: s.Version, Rules: r.Rules.String(), Leaf: leaf, Entries: s.Len(), Kinds: kinds,
		Coverage: s.Coverage, Stopped: p.Head.Stopped, Usage: p.Head.Usage, Hidden: t.Hidden, Window: p.Head.Window,
		Prices: models.Date, SubAgents: p.Subs,
		Cache: CacheTotal{t.Prompt, t.Recorded.CacheRead, *achieved},
	}
	found := r.AllFindings()
	if p.Check != nil && (check.Gravest(found) > check.Info || len(l.Stopped) > 0) {
		found = p.checked()
	}
	p.findings(found)
	return nil
}

// checked returns the findings of a check, but for those of patches at which the replay stopped.
func (p *Report) checked() (found []sessionfmt.Finding) {
	stopped := map[int]bool{}
	for _, s := range p.Head.Stopped {
		stopped[s.Line] = true
	}
	for _, f := range p.Check() {
		if c := check.Find(f.Code); c.Group == "patches" && c.Severity == check.Error && stopped[f.Line] {
			delete(stopped, f.Line)
			continue
		}
		one := sessionfmt.Finding{Code: f.Code, Line: f.Line, Entry: f.Entry, Text: f.Text}
		if f.File != p.s.Name {
			one.File = f.File
		}
		found = append(found, one)
	}
	return found
}

// findings assigns findings to rows.
func (p *Report) findings(found []sessionfmt.Finding) {
	n := p.s.Len()
	for _, f := range found {
		at := -1
		if row := sort.Search(n, func(i int) bool { return p.s.Reached(i, f) }); f.Line > 0 && row < n {
			at = row
		}
		text := f.Text
		if f.Entry != "" && (at < 0 || p.s.Line(at) != f.Line) {
			text = "entry " + f.Entry + ": " + text
		}
		if f.File != "" {
			text = sessionfmt.Clean(filepath.Base(f.File)) + ": " + text
		}
		note := check.Gravest([]sessionfmt.Finding{f}) == check.Info
		p.Head.Findings = append(p.Head.Findings, Finding{at, f.Code, f.Line, text, note})
	}
}

// Rest returns ranges of the rows after the entries, which exist once all others have been
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

// Rows appends the rows of a range to dst, one per line. It calls see for each with its record,
// -1 if it is not an entry. Different ranges may be read concurrently.
func (p *Report) Rows(dst []byte, stretch [2]int, see func(record int, row value)) ([]byte, error) {
	lines := p.s.NewReader()
	w := rower{table: p.r.Options.Models}
	for i := stretch[0]; i < stretch[1]; i++ {
		start, record := len(dst), i
		if i < p.s.Len() {
			line, err := lines.Line(i)
			if err != nil {
				return dst, err
			}
			kind, line := transcript.Shown(p.s, i, line)
			dst = w.entry(dst, kind, line)
			p.Index.take(p.s, i, kind, &w.facts)
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

// A Summary is a session in the report of a store, schema ctxtool/page.store/2.
type Summary struct {
	File  string `json:"file"`           // name in the store
	Page  string `json:"page,omitempty"` // address of its page
	Error string `json:"error,omitempty"`
	outline.About
	Model    string `json:"model,omitempty"` // of the last request
	From     int64  `json:"from,omitempty"`  // milliseconds since 1970
	To       int64  `json:"to,omitempty"`
	Prompts  int    `json:"prompts"`
	Requests int    `json:"requests"`
	Entries  int    `json:"entries"`
	Findings int    `json:"findings,omitempty"` // errors and warnings
	// the highest severity of what reading the session found, where its findings are not counted
	Found string `json:"found,omitempty"`
	// Cost is in dollars, of all calls, Recorded the part of it that is recorded, and Copied the one
	// that another session of the store has too. Tokens are those of all recorded prompts, Read those of them that came
	// from a cache.
	Cost     float64 `json:"cost"`
	Recorded float64 `json:"recorded"`
	Copied   float64 `json:"copied,omitempty"`
	SubAgents
	Tokens int64   `json:"tokens"`
	Read   int64   `json:"read"`
	Again  float64 `json:"again,omitempty"` // dollars for rebilled tokens
	// Sizes are the context sizes of the path's requests in tokens, the maximum of each range
	// of them.
	Sizes []int `json:"sizes,omitempty"`
	Over  bool  `json:"over,omitempty"` // the last of them exceeds the window

	id    string // of the session
	calls []call // of it, each once
}

// mostSizes is the maximum length of Summary.Sizes.
const mostSizes = 48

// Summary summarizes the report, which must be finished.
func (p *Report) Summary() *Summary {
	h := &p.Head
	s := &Summary{
		About: h.About, Findings: len(h.Stopped),
		Tokens: p.total.Recorded.Prompt(), Read: h.Cache.Read, Again: p.total.Rebilled.Cost,
		SubAgents: h.SubAgents, Cost: h.Cost, Recorded: h.Recorded, From: h.From, Over: h.Over, calls: p.Index.calls,
	}
	for _, f := range h.Findings {
		if !f.Note {
			s.Findings++
		}
	}
	if at := p.s.Header(); at >= 0 {
		s.id = p.s.ID(at)
	}
	s.First, _ = outline.FirstPrompt(p.s, h.Leaf)
	sizes, model := p.path()
	s.Model, s.Requests = model, len(p.steps)
	n := min(len(sizes), mostSizes)
	for k := range n {
		s.Sizes = append(s.Sizes, slices.Max(sizes[k*len(sizes)/n:(k+1)*len(sizes)/n]))
	}
	return s
}

// path returns the sizes of the requests on the path, in tokens, and the model of the
// last one.
func (p *Report) path() (sizes []int, model string) {
	path, _ := p.s.Path(p.Head.Leaf)
	for _, rec := range path {
		if k, ok := p.steps[rec]; ok {
			sizes = append(sizes, p.contexts[k])
			model = p.Steps.Models[p.Steps.Model[k]].Name
		}
	}
	return sizes, model
}

// A Store is the report of a store: sessions, and the addresses of their pages.
type Store struct {
	Schema   string     `json:"schema"` // ctxtool/page.store/2
	Title    string     `json:"title"`
	Redacted bool       `json:"redacted,omitempty"`
	Prices   string     `json:"prices"` // date of the price table
	Sessions []*Summary `json:"sessions"`
}

// NewStore returns the report of a store with these sessions.
func NewStore(title string, redacted bool, all []*Summary) *Store {
	var seen models.CallSet
	sessions := map[string]bool{}
	for _, s := range all {
		sessions[s.id] = sessions[s.id] || s.Owner == "" && s.Error == ""
	}
	for _, copies := range []bool{false, true} {
		for _, s := range all {
			if s.Owner != "" && sessions[s.Owner] { // its session's cost has this
				s.Copied = s.Cost
				continue
			}
			seen.AddSession(s.id)
			for _, c := range s.calls {
				if c.id.Copy == copies && !seen.Add(c.id) {
					s.Copied += c.cost
				}
			}
		}
	}
	for _, s := range all {
		s.calls = nil
	}
	return &Store{Schema: "ctxtool/page.store/2", Title: title, Redacted: redacted, Prices: models.Date, Sessions: all}
}
