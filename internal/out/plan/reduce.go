package plan

import (
	"errors"
	"fmt"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/base/markdown"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/sessionfmt"
)

// Reduce plans to shrink the context of an envelope by a batch with time at, below an entry. It
// is checked message by message in a replay with opt. It sets the time of the job.
func Reduce(file string, e *replay.Envelope, below int, job *compact.Job, at time.Time,
	opt replay.Options) (*Plan, error) {
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
	size, err := e.Size()
	if err != nil {
		return nil, err
	}
	p.Context = &size
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

// Patch plans to append the results of a hook below a point, in the form of a job, which has no
// policy. If that form cannot store them, the plan has no entries, and CannotStore says why. A
// refused operation is a plan without entries too: see hook.Refused.
func Patch(file string, s *sessionfmt.Session, results []hook.Result, opt hook.Options, j *compact.Job) (*Plan, error) {
	t, err := hook.New(s, results, opt)
	if err != nil {
		return nil, placed(s, err)
	}
	p := New(j.Command, file, s)
	p.Patch, p.Guarded = t, true
	p.Rules = opt.Replay.Rules.Decide(s, opt.Replay.Leaf).String()
	if t.Envelope == nil {
		return p, nil
	}
	t.Difference.A.File, t.Difference.B.File = file, file
	b, err := stores(s, t, opt, j)
	if err == nil {
		p.appends(b)
		err = p.readBack(t.Promise)
	}
	if err != nil {
		p.unstored = placed(s, err)
		var at *sessionfmt.Error
		errors.As(p.unstored, &at)
		t.Form, p.Unstored = "", at.Err.Error()
		p.batch, p.Entries, p.Append = nil, 0, nil
	}
	return p, nil
}

// CannotStore returns why a patch has no entries in the form that was asked for, nil if it has.
func (p *Plan) CannotStore() error { return p.unstored }

func stores(s *sessionfmt.Session, t *hook.Trial, opt hook.Options, j *compact.Job) (*sessionfmt.Batch, error) {
	r, form := t.Envelope.Replay(), j.Form
	if err := s.Foreign(); err != nil {
		return nil, err
	}
	if t.Reason == hook.Ephemeral { // its log is an entry of the same dialect
		form = compact.AsTransform
	}
	form, err := form.Decide(r, opt.Replay.Leaf, j.GivenRules)
	if err != nil {
		return nil, err
	}
	count := s.NewBatch(opt.At, opt.Now) // the mark comes first, and has the number
	if err := t.Store(count, form == compact.AsEdits); err != nil || count.Len() == 0 {
		return count, err
	}
	b := s.NewBatch(opt.At, opt.Now)
	tokens := t.Difference.Tokens
	err = j.Mark(b, compact.Form(t.Form), tokens.A.Total, tokens.B.Total, count.Len())
	if err == nil {
		err = t.Store(b, form == compact.AsEdits)
	}
	if err == nil {
		err = b.Err()
	}
	return b, err
}

// Exec runs a hook over a session, and plans to write a session with what it stored. given
// reports whether the caller has set the rules.
func Exec(file string, s *sessionfmt.Session, x *hook.Exec, given, stored bool) (*Plan, error) {
	if stored {
		if err := s.Foreign(); err != nil {
			return nil, err
		}
	}
	run, err := x.Run(s)
	if err != nil {
		return nil, placed(s, err)
	}
	p := New("patch", file, s)
	p.Run, p.fresh, p.promise = run, run.Print, run.Promise
	rules := x.Replay.Rules.Decide(s, x.Replay.Leaf)
	p.Rules = rules.String()
	if stored && run.Stored() && rules == replay.ByPi {
		return nil, sessionfmt.Errorf("it has no patches, and pi does not read them").In(s.Name).
			Hinted("--rules envelope writes a session with the patches of the hook")
	}
	return p, nil
}
