package simulate

import (
	"cmp"
	"context"
	"ctxtool/internal/lens/cache"
	"ctxtool/replay/hook"
	"time"
)

// A Hook is a command that decides like a hook of an agent: ctxtool patch --exec asks it in the
// same way.
type Hook struct {
	Command hook.Command
	Context context.Context
	Now     func() time.Time
}

// hooked takes the figures of a path whose requests a hook has changed.
func (w *walk) hooked() error {
	opt, leaf := w.Replay, w.s.Leaf()
	opt.Leaf, opt.Without = leaf, acts(w.s, leaf)
	x := hook.Exec{Hook: hook.Shell(w.Hook.Command, false), Name: w.Hook.Command.Line, Context: w.Hook.Context,
		Replay: opt, Leaf: leaf, Reasons: []hook.Reason{hook.BeforeRequest, hook.TurnEnd}, To: -1, Now: w.Hook.Now}
	did, err := x.Run(w.s)
	if err != nil {
		return err
	}
	w.run.Failed, w.run.Skipped = did.Failed, did.Skipped
	for _, row := range did.Rows {
		w.run.Failure = cmp.Or(w.run.Failure, row.Error)
	}
	r, course := did.Course()
	l := w.past.l.Other(r)
	if err := l.Follow(course); err != nil {
		return err
	}
	for _, stop := range l.Stopped {
		return stop.Err
	}
	requests := requestsOf(l, leaf)
	w.load = r.NewReader()
	for k := range requests {
		was, row := &requests[k], w.rows[k]
		changes, compacts, err := w.difference(k, was)
		if err != nil {
			return err
		}
		past, prompted := w.past.requests, false // by the hook
		switch {
		case k == 0:
		case past[k].prompt != past[k-1].prompt:
			w.systems++
		default:
			prompted = was.prompt != requests[k-1].prompt
		}
		w.acted = w.acted || was.acts() || past[k].acts() || prompted
		was.tokens.Hidden = w.session.size.Hidden
		was.tokens.Total += was.tokens.Hidden
		front, counted := int64(was.tokens.System+was.tokens.Tools), was.tokens.Total-was.tokens.Hidden
		c := w.shared(k, &cut{was.messages, was.kept, was.keptTokens, was.again}, front, counted, compacts)
		if prompted {
			c.Kept, c.Again, c.Cause = -1, front+int64(was.keptTokens+was.again), cache.CauseSystem
		}
		c.Same = !w.acted
		judged := row.Instead(c)
		w.add(&Request{Request: k, Tokens: was.tokens, Messages: was.messages, Window: w.windows[k], Changes: changes},
			&judged, compacts)
	}
	return nil
}
