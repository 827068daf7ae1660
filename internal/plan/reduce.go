package plan

import (
	"errors"
	"fmt"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/markdown"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
)

// A Reduction is what leaves a session's context by a policy.
type Reduction struct {
	As compact.Form `json:"as,omitempty"`
	*compact.Plan
	Changes []Change             `json:"changes,omitempty"`
	Cannot  []Change             `json:"cannot,omitempty"` // what the form cannot store; in no sum
	Waits   []string             `json:"waits,omitempty"`  // for what summaries
	Cache   *compact.CacheEffect `json:"cache,omitempty"`
	Prices  string               `json:"prices,omitempty"` // the day of their table
	Notice  string               `json:"notice,omitempty"`
}

// A Change is one change of a context.
type Change struct {
	Entry  string         `json:"entry"`
	Line   int            `json:"line,omitempty"`
	Pass   string         `json:"pass"`
	Action compact.Action `json:"action"`
	Block  *int           `json:"block,omitempty"` // of the message; absent for all of it
	Range  *Range         `json:"range,omitempty"` // of a summary
	Was    int            `json:"wasTokens"`
	Now    int            `json:"nowTokens"`
	Why    string         `json:"why"`
	Could  compact.Form   `json:"could,omitempty"` // the form that can store it
}

// A Range is what a summary stands for.
type Range struct {
	Messages int    `json:"messages"`
	Kept     string `json:"firstKept,omitempty"` // the entry; absent where nothing stays
	Summary  int    `json:"summaryTokens"`
}

// Reduce is the plan to make the context of an envelope smaller, by a batch below the
// entry at which it stands, of a time. It is promised message by message, replayed by opt.
func Reduce(file string, e *replay.Envelope, below int, job *compact.Job, at time.Time, opt replay.Options) (*Plan, error) {
	s := e.Replay().Session
	done, err := job.Plan(e)
	if err != nil {
		return nil, placed(s, err)
	}
	b := s.NewBatch(below, at)
	if err = job.Store(b, done, changesTable(s, done)); err == nil && b.Len() > 0 { // nothing speaks against appending nothing
		err = b.Err()
	}
	if err != nil {
		return nil, err
	}
	p := New(job.Command, file, s)
	p.reduces(done)
	p.appends(b)
	p.Guarded = true
	p.promise = func(after *sessionfmt.Session) error { return done.Promise(after, opt) }
	return p, nil
}

// placed puts an error at a session, unless it has a place already.
func placed(s *sessionfmt.Session, err error) error {
	if errors.As(err, new(*sessionfmt.Error)) {
		return err
	}
	return &sessionfmt.Error{Pos: sessionfmt.Pos{File: s.Name}, Err: err}
}

// reduces says what a reduction does.
func (p *Plan) reduces(done *compact.Reduction) {
	p.Skipped, p.Rules = done.Skipped, done.From.Envelope.Replay().Rules.String()
	r := &Reduction{As: done.Form, Plan: done.Plan, Cache: done.Cache, Notice: done.Notice()}
	if p.Reduction = r; r.Cache != nil && r.Cache.Cost != nil {
		r.Prices = models.Date
	}
	for _, c := range done.Changes {
		r.Changes = append(r.Changes, newChange(p.s, c))
	}
	for _, c := range done.Plan.Cannot {
		r.Cannot = append(r.Cannot, Change{
			Entry: sessionfmt.Quote(p.s.ID(c.Record)), Line: p.s.Line(c.Record), Pass: c.Pass, Action: c.Action, Why: c.Why, Could: c.Could,
		})
	}
	for _, q := range done.Requests {
		plural := "s"
		if len(q.Messages) == 1 {
			plural = ""
		}
		r.Waits = append(r.Waits, fmt.Sprintf("%s of %d message%s", q.Part, len(q.Messages), plural))
	}
}

func newChange(s *sessionfmt.Session, c compact.Change) Change {
	row := Change{
		Entry: sessionfmt.Quote(s.ID(c.Record)), Line: s.Line(c.Record), Pass: c.Pass, Action: c.Action, Was: c.Was, Now: c.Now, Why: c.Why,
	}
	if c.Block >= 0 {
		row.Block = &c.Block
	}
	if c.Range != nil {
		row.Range = &Range{Messages: c.Range.Messages, Summary: c.Range.Summary}
		if c.Range.Kept >= 0 {
			row.Range.Kept = sessionfmt.Quote(s.ID(c.Range.Kept))
		}
	}
	return row
}

// Brief lets go of what a list of many does not show: the entries, and for people the
// changes too.
func (p *Plan) Brief(form string) {
	if p.Reduction != nil {
		p.Events, p.Reduction.Plan.Changes = nil, nil
		if form == "text" {
			p.Reduction.Changes = nil
		}
	}
	if form != "jsonl" {
		p.Append = nil
	}
}

// MostChanges is how many changes people are shown.
const MostChanges = 60

// changesTable is what a reduction changes as a Markdown table, which a patch shows.
func changesTable(s *sessionfmt.Session, r *compact.Reduction) string {
	if r.Skipped != "" || len(r.Changes) == 0 {
		return ""
	}
	out := []byte("| entry | pass | action | tokens before | after |\n| --- | --- | --- | ---: | ---: |\n")
	for k, c := range r.Changes {
		if k == MostChanges {
			out = fmt.Appendf(out, "| and %d more | | | | |\n", len(r.Changes)-k)
			break
		}
		out = append(out, "| "...)
		out = markdown.AppendInline(out, []byte(sessionfmt.Quote(s.ID(c.Record))))
		out = fmt.Appendf(out, " | %s | %s | %d | %d |\n", c.Pass, c.Action, c.Was, c.Now)
	}
	return string(out)
}
