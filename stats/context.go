package stats

import (
	"cmp"
	"slices"

	"ctxtool/internal/base/sorting"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats/table"
)

// contextLens counts the request at the point by category.
var contextLens = Lens{
	Name:    "context",
	About:   "what fills the context at a point: by category, the largest entries, files read again",
	Default: true,
	read:    readContext,
	add:     addContext,
	sheets:  contextSheets,
}

// most is the length of lists of the largest.
const most = 10

// A ContextPart is the content of the next request at the point, of each session. Tokens are
// those of the counter.
type ContextPart struct {
	Counter   string           `json:"counter"`   // that tokens are counted by
	Estimates bool             `json:"estimates"` // it does not know the model's own tokens
	Sessions  []SessionContext `json:"sessions"`  // the context of each
	// of all sessions, in the order below, the largest of each first
	Categories []ContextCategory `json:"categories"`
	Largest    []ContextEntry    `json:"largest"` // the largest messages by tokens, at most 10
	Rereads    Rereads           `json:"rereads"` // files that were read more than once
	// tools, skills and context files on the path, unused ones first
	Offered []Offer   `json:"offered"`
	Like    *Likeness `json:"like,omitempty"` // with figures of SWE-CLI in a gate, see below

	at map[[2]string]int // indexes into Categories by category and name
}

// A SessionContext is the context of one session.
type SessionContext struct {
	File    string `json:"file,omitempty"`    // as in `files[]`
	Session string `json:"session,omitempty"` // the header's id
	// the last entry of the context's path; absent for the empty state
	Entry   string     `json:"entry,omitempty"`
	Line    int        `json:"line,omitempty"` // of that entry
	Request int        `json:"request"`        // of the next request, from 0
	Model   models.Ref `json:"model"`          // as in `meta` of a replay
	Window  int64      `json:"window"`         // tokens, 0 where unknown
	// `given`, `baseline`, `session` (recorded by the agent), `unknown`, a match in the models table
	// (`exact`, `dated`, `bare`), or `recorded`: the model's largest recorded prompt with its answer,
	// which exceeds the table's window
	WindowFrom string `json:"windowFrom"`
	Messages   int    `json:"messages"` // of the request, including those logged for it alone
	// where the messages of the file are, and why a resume has fewer
	Places SessionPlaces `json:"places"`
	Bytes  int64         `json:"bytes"` // of all categories
	// the size of the context ([figures](figures.md)): the sum of all categories
	Tokens      int      `json:"tokens"`
	Counted     int      `json:"counted"`     // of all categories but `rest`, by the counter
	Share       *float64 `json:"share"`       // `tokens` of `window`
	PromptKnown bool     `json:"promptKnown"` // prompt and tools come from the session or a baseline
	// the same size: `{tokens, percent, estimated, hidden}`; `estimated` tokens were not recorded
	Usage weigh.Size `json:"contextUsage"`
	// with `--calibrate`, the model's factor: see lens `calibration`
	Calibrated *Calibrated `json:"calibrated,omitempty"`
}

// A ContextCategory is a kind of content: a part of the prompt, a tool's definition, the
// results of a tool.
type ContextCategory struct {
	Category string   `json:"category"`       // see below
	Name     string   `json:"name,omitempty"` // see below
	Tokens   int      `json:"tokens"`         // of all contexts together
	Bytes    int64    `json:"bytes"`          // of the text, or of the blocks as JSON
	Messages int      `json:"messages"`       // that have some of it
	Share    *float64 `json:"share"`          // of the window; null of several sessions too
}

// A ContextEntry is a message of a context.
type ContextEntry struct {
	File   string `json:"file,omitempty"` // as in `files[]`
	Entry  string `json:"entry"`          // of the message
	Line   int    `json:"line"`           // of that entry
	Kind   string `json:"kind"`           // as in a tree
	Tool   string `json:"tool,omitempty"` // of a result
	Tokens int    `json:"tokens"`         // of the message
	Bytes  int    `json:"bytes"`          // of the message as JSON
}

// Rereads are files that a context contains more than once.
type Rereads struct {
	Files   int      `json:"files"`   // whose text a context has more than once
	Tokens  int      `json:"tokens"`  // of all their reads but the newest
	Largest []Reread `json:"largest"` // by tokens, at most 10
}

// A Reread is a file that was read more than once.
type Reread struct {
	File   string `json:"file,omitempty"`
	Path   string `json:"path"`   // of the file
	Times  int    `json:"times"`  // that it was read
	Tokens int    `json:"tokens"` // of all reads but the newest
	Entry  string `json:"entry"`  // the newest
}

// The categories, in the order in which they are shown.
const (
	inSystem    = "system"
	inSkills    = "skills" // the prompt's section, and skill instructions in a prompt
	inTools     = "tools"
	inUser      = "user"
	inAssistant = "assistant"
	inThinking  = "thinking"
	inCalls     = "calls"
	inResults   = "results"
	inImages    = "images"
	inSummaries = "summaries"
	inShell     = "shell"     // commands run by the user
	inCustom    = "custom"    // messages of extensions
	inUnseen    = "unseen"    // hidden messages of extensions
	inRest      = "rest"      // recorded by the provider beyond what is counted; below 0 where that is more
	inEphemeral = "ephemeral" // for the next request only: not part of any sum
)

var categories = []string{
	inSystem, inSkills, inTools, inUser, inAssistant, inThinking, inCalls, inResults, inImages,
	inSummaries, inShell, inCustom, inUnseen, inRest, inEphemeral,
}

func newContextPart(counter string, estimates bool) *ContextPart {
	return &ContextPart{Counter: counter, Estimates: estimates, Largest: []ContextEntry{},
		Rereads: Rereads{Largest: []Reread{}}, Offered: []Offer{}, at: map[[2]string]int{}}
}

func readContext(l *lensRun) {
	p := newContextPart(l.Counter.Name, l.Counter.Estimates())
	p.Sessions = []SessionContext{{}}
	l.Report.Context = p
	t := &contextTally{l: l, part: p, calls: map[string]string{}, fileAt: map[string]int{}}
	l.Messages = append(l.Messages, t.message)
	l.Ends = append(l.Ends, func(e *replay.Envelope) {
		t.prompt(e)
		p.Sessions[0].read(l, e)
		t.finish()
	})
	lookAtOffers(l)
	if l.Targets {
		p.Like = &Likeness{}
		readTargets(l, p.Like)
	}
}

// read records a session's context, except what the tally counts.
func (c *SessionContext) read(l *lensRun, e *replay.Envelope) {
	c.Session = l.Report.ID
	if e.Leaf >= 0 {
		c.Entry, c.Line = sessionfmt.Quote(l.Session.ID(e.Leaf)), l.Session.Line(e.Leaf)
	}
	var err, failed error
	c.Request, c.Places = e.RequestIndex, findPlaces(l.Session, e)
	c.Model, c.Window, c.WindowFrom, err = e.Model()
	c.Usage, failed = e.Size()
	l.fail(cmp.Or(err, failed))
}

// addContext adds one session's part to a sum.
func addContext(sum, one *Report) {
	q := one.Context
	p := partOf(&sum.Context, newContextPart(q.Counter, q.Estimates))
	p.Estimates = p.Estimates || q.Estimates // if either is calibrated
	p.Sessions = filed(p.Sessions, q.Sessions, one.File, func(c *SessionContext) *string { return &c.File })
	for _, c := range q.Categories {
		addUp(p.category(c.Category, c.Name), &c)
	}
	p.Largest = largest(filed(p.Largest, q.Largest, one.File, func(e *ContextEntry) *string { return &e.File }), most,
		entryTokens)
	again := filed(p.Rereads.Largest, q.Rereads.Largest, one.File, func(r *Reread) *string { return &r.File })
	addUp(&p.Rereads, &q.Rereads)
	p.Rereads.Largest = largest(again, most, rereadTokens)
	p.order()
	p.addOffers(q.Offered)
	if q.Like != nil {
		p.Like = cmp.Or(p.Like, &Likeness{})
		p.Like.SWE = filed(p.Like.SWE, q.Like.SWE, one.File, func(s *SWE) *string { return &s.File })
	}
}

// category returns the row of a category, adding it if necessary. It is valid until the next
// call.
func (p *ContextPart) category(category, name string) *ContextCategory {
	return rowOf(&p.Categories, p.at, [2]string{category, name}, ContextCategory{Category: category, Name: name})
}

// order sorts the categories, the largest of each first, and computes their shares of the
// window.
func (p *ContextPart) order() {
	sorting.By(p.Categories, func(a, b ContextCategory) int {
		return cmp.Or(
			slices.Index(categories, a.Category)-slices.Index(categories, b.Category),
			b.Tokens-a.Tokens, cmp.Compare(a.Name, b.Name))
	})
	for i := range p.Categories {
		c := &p.Categories[i]
		p.at[[2]string{c.Category, c.Name}] = i
		c.Share = nil
		if len(p.Sessions) == 1 {
			c.Share = share(c.Tokens, p.Sessions[0].Window)
		}
	}
}

// share returns part divided by whole, nil if whole is 0 or unknown.
func share[N int | int64](part N, whole int64) *float64 {
	if whole <= 0 {
		return nil
	}
	x := float64(part) / float64(whole)
	return &x
}

func entryTokens(e ContextEntry) int { return e.Tokens }

func rereadTokens(r Reread) int { return r.Tokens }

// A SessionPlaces counts the messages of a file by where they are.
type SessionPlaces struct {
	In        int `json:"in"`        // the request has them
	Unsure    int `json:"unsure"`    // of these, before a lost line: a resume may not load them
	Branches  int `json:"branches"`  // on other branches, such as reverted turns, or after the point
	Compacted int `json:"compacted"` // dropped by compactions, or replaced by patches
	Omitted   int `json:"omitted"`   // removed by edits, or never sent
}

// findPlaces finds where the messages of a session are at a point.
func findPlaces(s *sessionfmt.Session, e *replay.Envelope) (p SessionPlaces) {
	in := map[int]bool{} // the records whose messages the request has, and those that replaced others
	for i := range e.Len() {
		if m := e.Piece(i); m.Sent() {
			in[m.Origin().Record] = true
		}
	}
	path, _ := s.Path(e.Leaf)
	cut, at := -1, make(map[int]int, len(path))
	for k, rec := range path {
		at[rec] = k
		if kind := s.Kind(rec); in[rec] && (kind == jsonl.Compaction || kind == jsonl.Transform) {
			cut = k
		}
	}
	lost := 0 // line of the last record whose parent is not in the file
	for _, f := range s.Findings {
		if f.Code == "bridged" {
			lost = max(lost, f.Line)
		}
	}
	for rec := range s.Len() {
		k, active := at[rec]
		switch kind := s.Kind(rec); {
		case !kind.IsMessage() || kind == jsonl.System || kind == jsonl.NoMessage:
		case in[rec]:
			if p.In++; s.Line(rec) < lost {
				p.Unsure++
			}
		case !active:
			p.Branches++
		case k < cut:
			p.Compacted++
		default:
			p.Omitted++
		}
	}
	return p
}

// placeSheet returns the table of where the messages are.
func (p *ContextPart) placeSheet() table.Sheet {
	var all SessionPlaces
	for i := range p.Sessions {
		addUp(&all, &p.Sessions[i].Places)
	}
	var rows []fact
	add := func(what string, n int) {
		if n > 0 {
			rows = append(rows, fact{What: what, Number: n})
		}
	}
	add("dropped by compactions or patches", all.Compacted)
	add("on other branches, or later", all.Branches)
	add("removed by edits, or never sent", all.Omitted)
	if len(rows)+all.Unsure > 0 {
		rows = append(rows, fact{What: "in the context", Number: all.In})
	}
	add("  of these before a lost line: a resume may miss them", all.Unsure)
	return table.Sheet{Title: "why it is shorter than the file",
		Table: table.Of(rows, []col[*fact]{
			{Name: "messages of the file", Value: func(f *fact) any { return f.What }},
			{Name: "number", Unit: table.Number, Value: func(f *fact) any { return f.Number }},
		})}
}

// A fact is a number of things.
type fact struct {
	What   string `json:"what"`
	Number int    `json:"number"`
	Of     string `json:"of"` // which things these are
}
