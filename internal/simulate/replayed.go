package simulate

import (
	"context"
	"time"

	"ctxtool/internal/shell"
	"ctxtool/replay/cache"
	"ctxtool/replay/hook"
	"ctxtool/replay/reuse"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// A Hook is a command that decides like a hook of an agent: ctxtool patch --exec asks it in the
// same way.
type Hook struct {
	Command shell.Command
	Context context.Context
	Now     func() time.Time
}

// hooked takes the figures of a path whose requests a hook has changed.
func (w *walk) hooked() error {
	opt, leaf := w.Replay, w.s.Leaf()
	opt.Leaf, opt.Without = leaf, acts(w.s, leaf)
	x := hook.Exec{Hook: hook.Shell(w.Hook.Command, false), Name: w.Hook.Command.Line, Context: w.Hook.Context, Replay: opt, Leaf: leaf, Reasons: []hook.Reason{hook.BeforeRequest, hook.TurnEnd}, To: -1, Now: w.Hook.Now}
	did, err := x.Run(w.s)
	if err != nil {
		return err
	}
	w.run.Failed = did.Failed
	path, _ := w.s.Path(leaf)
	r, course := did.Course()
	rec := newRecorder(r, path)
	for q, err := range cache.Requests(r, course, &tokens.Pi) {
		if err == nil {
			err = rec.request(q, nil)
		}
		if err != nil {
			return err
		}
	}
	byRecord := w.take(&rec.past)
	for k := range rec.requests {
		was, row := &rec.requests[k], w.rows[k]
		changes := w.numbered(was.changes, byRecord)
		if w.acted = w.acted || len(changes) > 0 || k > 0 && was.prompt != rec.requests[k-1].prompt; !w.acted {
			w.acted = len(w.past.requests[k].changes) > 0
		}
		was.tokens.Hidden = w.session.size.Hidden
		was.tokens.Total += was.tokens.Hidden
		front, counted := int64(was.tokens.System+was.tokens.Tools), was.tokens.Total-was.tokens.Hidden
		c := w.shared(row, &cut{was.messages, was.kept, was.keptTokens, was.again}, front, counted, was.compacts, len(changes) > 0)
		if k > 0 && was.prompt != rec.requests[k-1].prompt {
			c.Kept, c.Again, c.Cause = -1, front+int64(was.keptTokens+was.again), cache.CauseSystem
		}
		c.Same = !w.acted
		judged := row.Instead(c)
		cost, priced := judged.Cost()
		req := Request{
			Request: k, Prompt: judged.Prompt, Tokens: was.tokens, Messages: was.messages, Window: w.window(nil, row.ModelRef()), Shared: judged.Shared.Tokens,
			Read: judged.Expected.Read, Write: judged.Expected.Write, Rebilled: judged.Rebilled, Cost: costOf(cost, 0), Changes: changes,
		}
		if judged.Break != nil {
			req.Cause = judged.Break.Cause
		}
		w.add(&req, row, priced, was.compacts)
	}
	return nil
}

// recorded takes the figures of the recorded path from the account of its cache.
func (w *walk) recorded() {
	byRecord := w.take(w.past)
	for k, row := range w.rows {
		was := &w.past.requests[k]
		cost, priced := row.Cost()
		r := Request{Request: k, Prompt: row.Prompt, Tokens: was.tokens, Messages: was.messages, Window: w.window(nil, row.ModelRef()), Rebilled: row.Rebilled, Cost: costOf(cost, 0)}
		if row.Expected != nil {
			r.Read, r.Write = row.Expected.Read, row.Expected.Write
		}
		if row.Shared != nil {
			r.Shared = row.Shared.Tokens
		}
		if row.Break != nil {
			r.Cause = row.Break.Cause
		}
		r.Changes = w.numbered(was.changes, byRecord)
		w.add(&r, row, priced, was.compacts)
	}
}

// take takes what left the context of a path that was replayed. It returns the messages by record.
func (w *walk) take(p *past) (byRecord map[int]int) {
	w.gone, byRecord = w.removed(p)
	w.standing = p.standing
	return byRecord
}

// removed returns the requests from which on each message is not in the context of a path that was
// replayed, and the messages by record.
func (c *session) removed(p *past) (gone []int32, byRecord map[int]int) {
	gone, byRecord = make([]int32, len(c.path.Messages)), map[int]int{}
	for i := range c.path.Messages {
		byRecord[c.path.Messages[i].Origin.Record], gone[i] = i, reuse.Never
	}
	for rec, k := range p.gone {
		if i, ok := byRecord[rec]; ok {
			gone[i] = k
		}
	}
	return gone, byRecord
}

// numbered returns changes with messages in place of records.
func (w *walk) numbered(changes []Change, byRecord map[int]int) (all []Change) {
	for _, c := range changes {
		rec := c.Message
		c.Message = -1
		if rec < w.s.Len() {
			c.Entry, c.Line = sessionfmt.Quote(w.s.ID(rec)), w.s.Line(rec)
		}
		if i, ok := byRecord[rec]; ok {
			if c.Message = i; c.Action != "summarise" {
				c.Was = w.path.Size(i)
			}
		}
		var gone []int
		for _, rec := range c.Gone {
			if i, ok := byRecord[rec]; ok {
				gone = append(gone, i)
				c.Was += w.path.Size(i)
			}
		}
		c.Gone = gone
		all = append(all, c)
	}
	return all
}
