package replay

import (
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Size returns the size of the context: what pi's indicator shows at the envelope's leaf, and what its
// thresholds use (docs/figures.md, "Size of a context"). If nothing is recorded since the last change of
// earlier messages, all of it is estimated.
func (e *Envelope) Size() (s weigh.Size, err error) {
	if _, s.Window, _, err = e.Model(); err != nil {
		return s, err
	}
	at, used, err := e.lastUsage()
	if err != nil {
		return s, err
	}
	if s.Estimated, err = e.estimateAfter(at); err != nil {
		return s, err
	}
	if at < 0 {
		if s.Hidden, err = e.hidden(); err != nil {
			return s, err
		}
		s.Estimated += s.Hidden
	}
	return s.Of(used + s.Estimated), nil
}

// hidden returns the tokens of prompt and tools that the size includes but the session does not record.
func (e *Envelope) hidden() (int, error) {
	path, _ := e.r.Session.Path(e.Leaf)
	if len(path) > 0 && e.r.Session.Coverage.Partial && e.r.Session.Orphan(path[0]) {
		return 0, nil // the beginning was not read
	}
	for _, rec := range path {
		if u, err := e.r.answered(rec); err != nil || u.Context() == 0 {
			if err != nil {
				return 0, err
			}
			continue
		}
		p, err := e.Prompt()
		if err != nil {
			return 0, err
		}
		return e.r.Hidden(rec, tokens.Pi.Of(p.Units()), p.Known)
	}
	return 0, nil
}

// answered reads the usage of a record. It is empty unless the record is an answer that succeeded.
func (r *Replay) answered(rec int) (u jsonl.Usage, err error) {
	if !r.Session.Answers(rec) {
		return u, nil
	}
	return r.usage(rec)
}

// A firstRequest is the first answered request of a path: the tokens that it had besides its messages, as the
// provider recorded them, and how many of these the session records.
type firstRequest struct {
	beyond, prompt int
	known          bool
}

// Hidden estimates the tokens of a context's prompt and tools that the session does not record, from the first
// answered request of its path (docs/figures.md, "Size of a context"). first is the record of that answer;
// prompt is the number of prompt and tool tokens that the session records for the context, and known reports
// whether it records a prompt at all.
func (r *Replay) Hidden(first, prompt int, known bool) (int, error) {
	q, ok := r.first[first]
	if !ok {
		u, err := r.usage(first)
		if err != nil {
			return 0, err
		}
		e, _, err := New(r.Session, r.Options).Reach(sessionfmt.Before(first)) // whose findings r already has
		if err != nil {
			return 0, err
		}
		p, err := e.Prompt()
		if err != nil {
			return 0, err
		}
		all, err := e.estimateAfter(-1)
		if err != nil {
			return 0, err
		}
		q = firstRequest{prompt: tokens.Pi.Of(p.Units()), known: p.Known}
		q.beyond = int(u.Prompt()) - (all - q.prompt)
		r.first[first] = q
	}
	if q.known || !known {
		prompt = q.prompt
	}
	return max(0, q.beyond-prompt), nil
}

// lastUsage finds the last answer that did not fail, and returns the size of its context in tokens and its
// index in the list; -1 if no such answer follows the last change of earlier messages (docs/session-format.md
// 8.3).
func (e *Envelope) lastUsage() (at, used int, err error) {
	msgs := &e.state.msgs
	for i := msgs.n - 1; i >= 0; i-- {
		m := msgs.at(i)
		if int(m.pos) <= e.altered {
			break
		}
		if m.kind != jsonl.Assistant || m.form != plain || m.flags&omitted != 0 || !e.r.Session.Answers(int(m.rec)) {
			continue
		}
		u, err := e.r.usage(int(m.rec))
		if err != nil {
			return -1, 0, err
		}
		if n := int(u.Context()); n > 0 {
			return i, n, nil
		}
	}
	return -1, 0, nil
}

// estimateAfter adds up the messages after index at of the list. From the beginning on, it includes prompt and
// tools of the session or the baseline, to which system messages belong.
func (e *Envelope) estimateAfter(at int) (sum int, err error) {
	c := &tokens.Pi
	if at < 0 {
		p, err := e.Prompt()
		if err != nil {
			return 0, err
		}
		sum = c.Of(p.Units())
	}
	l := e.r.NewReader()
	known := at < 0 && e.turns != nil && e.Len() == e.state.msgs.n
	if known {
		sum += *e.turns
	}
	since := int32(-1)
	if at >= 0 {
		since = e.state.msgs.at(at).pos
	}
	for i := at + 1; i < e.Len(); i++ {
		m := e.Piece(i)
		switch {
		case known && m.kind.IsTurn():
			continue
		case m.flags&omitted != 0, at < 0 && m.kind == jsonl.System, i >= e.state.msgs.n && m.pos <= since:
			continue
		}
		n, err := l.Estimate(c, m)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// Estimate returns pi's estimate for a message (docs/session-format.md 8.1), in tokens of a
// counter. It counts the message as stored, not as sent.
func (l *Reader) Estimate(c *tokens.Counter, m Piece) (int, error) {
	switch m.kind {
	case jsonl.User, jsonl.Assistant, jsonl.ToolResult:
		n, _, err := l.Tokens(c, m)
		return n, err
	}
	v, err := l.Agent(m)
	if err != nil {
		return 0, err
	}
	w := l.weighing.Reset(c)
	field := func(name string) int { return w.Add(w.Value(v.Get(name))) }
	content := func() int {
		l.msg.ReadContent(l.at.Reset(v.Get("content")), jsonl.User)
		return w.Content(&l.msg).Total()
	}
	n := c.Message
	switch m.kind {
	case jsonl.System:
		n += content()
		for _, text := range v.Get("sections").Members {
			n += w.Add(w.Value(text))
		}
		if tools := v.Get("toolsAdded"); !tools.IsNull() {
			n += w.Add(w.Minified(tools))
		}
	case jsonl.Custom:
		n += content()
	case jsonl.Bash:
		n += field("command") + field("output")
	case jsonl.BranchMessage, jsonl.CompactionMessage:
		if m.form == framedSummary {
			return n + content(), nil
		}
		n += field("summary")
		if blocks := v.Get("blocks"); blocks.IsArray() {
			l.msg.ReadContent(l.at.Reset(blocks), jsonl.User)
			n += w.Content(&l.msg).Total()
		}
	default:
		return 0, nil
	}
	return n, nil
}

// usage reads the usage of an answer; empty if the answer failed.
func (r *Replay) usage(rec int) (u jsonl.Usage, err error) {
	if r.Session.NoUsage(rec) {
		return u, nil
	}
	line, err := r.Session.NewReader().Line(rec)
	if err != nil {
		return u, err
	}
	if m := line.Get("message").Message(); !m.Failed() {
		u = m.Usage.Usage()
	}
	return u, nil
}
