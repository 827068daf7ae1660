package plan

import (
	"errors"
	"fmt"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/markdown"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// Reduce is the plan to make the context of an envelope smaller, by a batch below the
// entry at which it stands, of a time. It is promised message by message, replayed by opt.
func Reduce(file string, e *replay.Envelope, below int, job *compact.Job, at time.Time, opt replay.Options) (*Plan, error) {
	s := e.Replay().Session
	done, err := job.Plan(e)
	if err != nil {
		return nil, placed(s, err)
	}
	b := s.NewBatch(below, at)
	if err = job.Store(b, done, changesTable(done)); err == nil && b.Len() > 0 { // nothing speaks against appending nothing
		err = b.Err()
	}
	if err != nil {
		return nil, err
	}
	p := New(job.Command, file, s)
	p.Reduction, p.Skipped, p.Rules = done, done.Skipped, done.From.Envelope.Replay().Rules.String()
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

// Brief lets go of what a list of many does not show: the entries, and for people the
// changes too.
func (p *Plan) Brief(form string) {
	switch {
	case p.Reduction == nil:
	case form == "text":
		p.Reduction.Changes = nil
	default:
		for k := range p.Reduction.Changes {
			p.Reduction.Changes[k].Text = ""
		}
	}
	if form != "jsonl" {
		p.Append = nil
		if p.Reduction != nil {
			p.Summary = ""
		}
	}
}

// MostChanges is how many changes people are shown.
const MostChanges = 60

// changesTable is what a reduction changes as a Markdown table, which a patch shows.
func changesTable(r *compact.Reduction) string {
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
		out = markdown.AppendInline(out, []byte(c.Entry))
		out = fmt.Appendf(out, " | %s | %s | %d | %d |\n", c.Pass, c.Action, c.Was, c.Now)
	}
	return string(out)
}
