// Package doctor tells what is wrong with a session, the worst first: damage, what the prompt cache
// lost, what fills the context and nobody uses, and what the last compaction dropped. Each line has
// the command that fixes it and what that is worth.
//
// Examine returns the report of a session: figures of package stats, plans of package compact, and
// lines by one table of looks. Stores adds up reports by project.
package doctor

import (
	"cmp"
	"fmt"
	"slices"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/check"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/stats"
)

// Schema is that of a Report.
const Schema = "ctxtool/doctor/1"

// A Report lists the problems of a session, schema ctxtool/doctor/1.
type Report struct {
	Schema string `json:"schema"`
	File   string `json:"file"` // as a command takes it
	ID     string `json:"session,omitempty"`
	dialect.Reading
	Project   string     `json:"project,omitempty"`   // the header's folder
	Error     string     `json:"error,omitempty"`     // why it could not be read; no other keys follow
	Stopped   string     `json:"stopped,omitempty"`   // why its replay stopped; figures cover what came before
	Model     models.Ref `json:"model"`               // of the path
	Requests  int        `json:"requests"`            // answered ones of the path
	Context   int        `json:"context"`             // size of the context in tokens ([figures](figures.md))
	Estimated bool       `json:"estimated,omitempty"` // a part of `context`, or all of it
	Window    int64      `json:"window,omitempty"`    // tokens of the model's window; absent where it is not known
	Cost      float64    `json:"cost"`                // US dollars ([figures](figures.md)), of all branches
	Recorded  float64    `json:"recorded"`            // the part of it that is recorded
	// calls of sub-agents are not in `cost`: `--no-subagents`
	NoSubAgents bool   `json:"noSubagents,omitempty"`
	Unread      int    `json:"unreadSubagents,omitempty"` // sub-agents that could not be read: they are not in `cost`
	Owner       string `json:"subagentOf,omitempty"`      // id of the session whose sub-agent this one is
	Fills       []Fill `json:"fills"`                     // what fills the context, the largest first
	Lines       []Line `json:"lines"`                     // what is wrong, the worst first; empty if nothing is
	Prices      string `json:"prices,omitempty"`          // the date of the table of prices

	Figures *stats.Report `json:"-"` // with the lenses context, cost and check
}

// A Fill is a kind of content of the context.
type Fill struct {
	Category string `json:"category"` // as in `ctxtool stats`
	Tokens   int    `json:"tokens"`
}

// A Line is something that is wrong, and what to do about it.
type Line struct {
	// `damage`, `full`, `cache`, `tools`, `skills`, `context`, `together`, `compaction`
	Kind    string `json:"kind"`
	Text    string `json:"text"`    // a sentence
	Command string `json:"command"` // that fixes it, or shows what a person must fix
	// affected: in the context, in each request, hidden, or rebilled
	Tokens  int64    `json:"tokens,omitempty"`
	Cost    *float64 `json:"cost,omitempty"`    // US dollars: that it has cost so far
	Saves   int      `json:"saves,omitempty"`   // tokens saved per request
	Counter string   `json:"counter,omitempty"` // of the command's plan
	// US dollars of writing the rest of the context to the cache again, once
	Once *float64 `json:"once,omitempty"`
	// requests until that pays off, at this session's hit rate so far
	PaysBack int `json:"paysBack,omitempty"`
	// `paysBack` in prompts of the user, about
	Prompts int     `json:"prompts,omitempty"`
	weight  float64 // what a request costs for it, in dollars, or tokens that cost as much; see the looks
}

// Options are how a session is examined.
type Options struct {
	Stats stats.Options // how it is opened and replayed; its lenses are the package's
	Ref   string        // how commands name the session
	Brief bool          // lines do not tell what answers have used
}

// An exam is a session that is examined.
type exam struct {
	*Report
	Options
	book  *ledger.Ledger
	end   *replay.Envelope
	cache *cache.Total
	model models.Model
	pace  float64 // requests for a prompt
	drops drops
}

// A look finds what is wrong in one respect.
type look struct {
	name string
	find func(x *exam) ([]Line, error)
}

// looks are all looks.
var looks = []look{
	{"full", (*exam).full},
	{"cache", (*exam).lost},
	{"tools", (*exam).carried},
	{"context", (*exam).dead},
	{"compaction", (*exam).summarized},
}

// lenses are the figures that a report rests on; costs are by project.
var lenses, byProject = lensesOf("context", "cost", "check"), []string{"project"}

func lensesOf(names ...string) (all []*stats.Lens) {
	for _, l := range stats.Lenses {
		if slices.Contains(names, l.Name) {
			all = append(all, l)
		}
	}
	return all
}

// Examine reports on a session file. A file that cannot be read is an error.
func Examine(name string, opt Options) (*Report, error) {
	o := opt.Stats
	o.Lenses, o.By = lenses, byProject
	x := &exam{Report: &Report{Schema: Schema, Lines: []Line{}, Fills: []Fill{}}, Options: opt}
	o.End = func(r *stats.Report, l *ledger.Ledger, e *replay.Envelope) error {
		x.book, x.end, x.Figures, x.Reading = l, e, r, r.Reading
		return x.look()
	}
	o.Step = x.step
	var damage *check.Report
	o.Check = func(name string, open sessionfmt.Options) (sessionfmt.Options, func(*sessionfmt.Session)) {
		open, look := check.Opening(name, check.Options{
			Choice: check.Harms(), Provider: check.OwnProvider, Weigh: true,
			Models: o.Replay.Models, Now: o.Now, Open: open,
		})
		return open, func(s *sessionfmt.Session) { damage = look(s) }
	}
	r, err := o.Read(name)
	if err != nil {
		return nil, err
	}
	x.ID, x.Reading, x.Stopped, x.Project = r.ID, r.Reading, r.Stopped, r.Project
	x.figures(r)
	damage.Rename(x.Ref)
	x.Lines = append(damaged(damage), x.Lines...)
	sorting.By(x.Lines, func(a, b Line) int { return cmp.Compare(b.weight, a.weight) })
	return x.Report, nil
}

// CostOf reports what a session file cost, and nothing else.
func CostOf(name string, opt Options) (*Report, error) {
	o := opt.Stats
	o.Lenses, o.By = lensesOf("cost"), byProject
	r, err := o.Read(name)
	if err != nil {
		return nil, err
	}
	return &Report{Figures: r}, nil
}

// figures takes what the lenses have counted.
func (x *exam) figures(r *stats.Report) {
	c := r.Context.Sessions[0]
	x.Context, x.Estimated, x.Window, x.Model = c.Tokens, c.Usage.Estimated > 0, c.Window, c.Model
	x.Cost, x.Recorded, x.Prices = r.Cost.Cost.Total, r.Cost.Cost.Recorded, r.Cost.Prices
	x.NoSubAgents, x.Unread, x.Owner = r.Cost.NoSubAgents, len(r.Cost.Unread), r.Owner
}

// look runs the looks over the open session.
func (x *exam) look() error {
	account, err := cache.Account(x.book, cache.Options{Leaf: x.end.Leaf})
	if err != nil {
		return err
	}
	x.cache, x.Requests = account.Total, account.Total.Answered
	ref, err := x.end.ModelRef()
	if err != nil {
		return err
	}
	x.model, _, _ = x.models().Lookup(ref.Provider, ref.ID)
	for _, q := range slices.Backward(x.book.Requests) { // it has the terms of the last answer
		if m := &x.book.Models[q.Model]; m.Ref == ref {
			x.model = m.Model
			break
		}
	}
	x.fills()
	x.pace = max(1, float64(x.end.RequestIndex)/float64(max(1, x.end.TurnIndex+1)))
	for _, l := range looks {
		lines, err := l.find(x)
		if err != nil {
			return err
		}
		x.Lines = append(x.Lines, lines...)
	}
	return nil
}

func (x *exam) models() *models.Table { return cmp.Or(x.Options.Stats.Replay.Models, models.Builtin()) }

// What a token read from a cache and one written to it cost where the prices of the model are not known,
// in the proportion that is usual.
const usualRead, usualWrite = 0.1e-6, 1.25e-6

// carrying returns what it costs that a request carries tokens which an earlier one had, in
// dollars: by the prices of the model, and by the share of such tokens that its cache has served of this
// session. Without prices it is by those that are usual.
func (x *exam) carrying(tokens int64) float64 {
	read, again := x.cache.Recorded.CacheRead, x.cache.Rebilled.Tokens
	served := 1.0
	if read+again > 0 {
		served = float64(read) / float64(read+again)
	}
	cached, fresh := usualRead, usualWrite
	if x.model.Priced() {
		cached, fresh = x.price(models.Usage{CacheRead: 1}), x.price(models.Usage{Input: 1})
	}
	return float64(tokens) * (served*cached + (1-served)*fresh)
}

// price returns what the usage of a token costs in a request as large as the next one, since sizes have
// prices of their own.
func (x *exam) price(token models.Usage) float64 {
	size := int64(max(1, x.Figures.Context.Sessions[0].Tokens))
	return x.model.Price(models.Usage{
		Input: token.Input * size, CacheRead: token.CacheRead * size,
		CacheWrite: token.CacheWrite * size, CacheWrite1h: token.CacheWrite1h * size,
	}).Total / float64(size)
}

// priced returns a cost, nil where the model has no prices.
func (x *exam) priced(dollars float64) *float64 {
	if !x.model.Priced() {
		return nil
	}
	return &dollars
}

// Worth returns what the command of a line is worth in words, empty if it changes no context.
func (l *Line) Worth() string {
	if l.Saves == 0 {
		return ""
	}
	text := fmt.Sprintf(": -%s tokens", phrase.Short(int64(l.Saves)))
	if l.Once != nil {
		text += ", costs " + phrase.Dollars(*l.Once) + " once"
	}
	if l.PaysBack > 0 {
		text += ", pays back after " + phrase.Count(l.PaysBack, "request")
	}
	if l.Prompts > 0 {
		text += " (" + phrase.Count(l.Prompts, "prompt") + ")"
	}
	return text
}

// writing returns the command that writes a session whose context reduce, or a pass by its own name, has
// made smaller. A session that cannot be appended to becomes a new file, and one of another agent or of
// the first version is made one of pi before that.
func (x *exam) writing(verb, flags string) string {
	s, session, out := x.end.Replay().Session, "-", " -o NEW.jsonl"
	first := ""
	switch {
	case s.Foreign() != nil:
		first = "ctxtool import " + x.Ref + " -o - | "
	case s.Version < 2:
		first = "ctxtool migrate " + x.Ref + " -o - | "
	case s.Packed():
		session = x.Ref
	default:
		session, out = x.Ref, " --write"
	}
	return first + "ctxtool " + verb + " " + session + flags + out
}
