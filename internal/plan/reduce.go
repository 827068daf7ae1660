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

// Reduce plans to shrink the context of an envelope by a batch with time at, below an entry. It
// is checked message by message in a replay with opt. It sets the time of the job.
func Reduce(file string, e *replay.Envelope, below int, job *compact.Job, at time.Time, opt replay.Options) (*Plan, error) {
	s := e.Replay().Session
	own := s.Foreign() == nil
	b := s.NewBatch(below, at)
	job.Time = time.UnixMilli(b.Millis())
	done, err := job.Plan(e)
	if err != nil {
		return nil, placed(s, err)
	}
	if own {
		err = job.Store(b, done, changesTable(done))
	}
	if err == nil && b.Len() > 0 { // appending nothing needs no check
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

// placed adds the session's name to an error without a place.
func placed(s *sessionfmt.Session, err error) error {
	if errors.As(err, new(*sessionfmt.Error)) {
		return err
	}
	return &sessionfmt.Error{Pos: sessionfmt.Pos{File: s.Name}, Err: err}
}

// Brief frees what a list of many plans does not show in that form: the entries, and in text
// the changes as well.
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

// MostChanges is how many changes are shown in text.
const MostChanges = 60

// changesTable returns the changes of a reduction as a Markdown table.
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
