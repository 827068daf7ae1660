package plan

import (
	"cmp"
	"errors"

	"ctxtool/compact"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/sessionfmt"
)

// Patch plans to append the results of a hook below a point, in the form of a job, which has no
// policy. A form that cannot store them is an error only if stored asks for entries. A refused
// operation is a plan without entries: see hook.Refused.
func Patch(file string, s *sessionfmt.Session, results []hook.Result, opt hook.Options, j *compact.Job, stored bool) (*Plan, error) {
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
	switch {
	case err == nil:
		p.appends(b)
		p.promise = t.Promise
	case stored:
		return nil, placed(s, err)
	default:
		var at *sessionfmt.Error
		if t.Form, p.Unstored = "", err.Error(); errors.As(err, &at) {
			p.Unstored = at.Err.Error()
		}
	}
	return p, nil
}

// stores returns the entries of a trial.
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
	return b, cmp.Or(err, t.Store(b, form == compact.AsEdits), b.Err())
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
	if p.Rules = rules.String(); stored && run.Stored() && rules == replay.ByPi {
		return nil, &sessionfmt.Error{
			Pos: sessionfmt.Pos{File: s.Name}, Err: errors.New("it has no patches, and pi does not read them"),
			Hint: "--rules envelope asks for a session with the patches of the hook",
		}
	}
	return p, nil
}
