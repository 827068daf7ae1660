package replay

import (
	"slices"

	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A ContextUsage is the size of a context by pi's own estimate.
type ContextUsage struct {
	Tokens int
	// Estimated is the share of Tokens that no recorded usage covers.
	Estimated int
	Known     bool  // false right after a compaction, and if an edit removed content: pi shows no number then
	Window    int64 // tokens, 0 if unknown: pi shows nothing then
}

// Shown returns what pi shows.
func (u *ContextUsage) Shown() (s weigh.Shown) {
	s.Estimated = u.Estimated
	if !u.Known {
		return s
	}
	n := u.Tokens
	s.Tokens = &n
	if u.Window > 0 {
		percent := float64(n) / float64(u.Window) * 100
		s.Percent = &percent
	}
	return s
}

// ContextUsage returns what pi's indicator shows at the envelope's leaf and what its thresholds
// use: the last answer's usage plus an estimate of what follows it (docs/session-format.md
// 8.3). It differs from Count, which is what /context shows.
func (e *Envelope) ContextUsage(c *tokens.Counter) (u ContextUsage, err error) {
	u, at, err := e.recorded()
	if err != nil {
		return u, err
	}
	return u, e.estimate(c, &u, at)
}

// RecordedUsage returns ContextUsage if part of it is recorded, else nil, since it would
// estimate every message.
func (e *Envelope) RecordedUsage(c *tokens.Counter) (*weigh.Shown, error) {
	u, at, err := e.recorded()
	if err != nil || at < 0 {
		return nil, err
	}
	if err := e.estimate(c, &u, at); err != nil || !u.Known {
		return nil, err
	}
	shown := u.Shown()
	return &shown, nil
}

// recorded returns the recorded part of the usage, and the index in the list of the answer that
// has it; -1 if no usage applies to the current context.
func (e *Envelope) recorded() (u ContextUsage, at int, err error) {
	if _, u.Window, _, err = e.Model(); err != nil {
		return u, -1, err
	}
	compaction, edit := e.lastCuts()
	at, used, err := e.lastUsage()
	if err != nil {
		return u, -1, err
	}
	usedPos := int32(-1)
	if at >= 0 {
		usedPos = e.state.msgs.at(at).pos
	}
	u.Known = compaction < 0 || usedPos > compaction
	if usedPos <= max(compaction, edit) {
		return u, -1, nil
	}
	u.Tokens = used
	return u, at, nil
}

// estimate adds what follows that answer.
func (e *Envelope) estimate(c *tokens.Counter, u *ContextUsage, at int) error {
	sum, whole, err := e.estimateAfter(c, at)
	u.Tokens, u.Estimated, u.Known = u.Tokens+sum, sum, u.Known && whole
	return err
}

// InUse returns the size of the context: that of ContextUsage, or the counter's if pi shows no
// number.
func (e *Envelope) InUse(c *tokens.Counter) (u ContextUsage, err error) {
	if u, err = e.ContextUsage(c); err != nil || u.Known {
		return u, err
	}
	n, err := e.Count(c)
	u.Tokens, u.Estimated = n.Total, n.Total
	return u, err
}

// Taken returns the size of the request where the provider recorded much less than the file has
// for it, given what its messages count for: the size that it recorded for this request, or the
// last one before it and an estimate of what follows. ok is false if no record contradicts the
// count (Contradicts).
func (e *Envelope) Taken(c *tokens.Counter, messages int) (size int, ok bool, err error) {
	path, _ := e.r.Session.Path(e.r.Options.Leaf)
	if k := slices.Index(path, e.Leaf) + 1; k < len(path) && e.r.Session.Answers(path[k]) {
		u, err := e.r.usage(path[k])
		if n := u.Prompt(); n > 0 || err != nil {
			return int(n), Contradicts(int64(messages), n), err
		}
	}
	u, at, err := e.recorded()
	if err != nil || at < 0 || messages-u.Tokens < jsonl.LeastGone {
		return 0, false, err
	}
	err = e.estimate(c, &u, at)
	return u.Tokens, u.Known && Contradicts(int64(messages-u.Estimated), int64(u.Tokens-u.Estimated)), err
}

// lastCuts returns the places on the path of the last compaction and the last context_edit, -1
// for none.
func (e *Envelope) lastCuts() (compaction, edit int32) {
	compaction, edit = -1, -1
	path, _ := e.r.Session.Path(e.Leaf)
	for pos, rec := range path {
		switch e.r.Session.Kind(rec) {
		case jsonl.Compaction, jsonl.Reset:
			compaction = int32(pos)
		case jsonl.ContextEdit, jsonl.Deletion:
			edit = int32(pos)
		}
	}
	return compaction, edit
}

// lastUsage finds the last answer that did not fail and returns the size of its context in
// tokens. at is its index in the list, -1 if there is none.
func (e *Envelope) lastUsage() (at, used int, err error) {
	msgs := &e.state.msgs
	for i := msgs.n - 1; i >= 0; i-- {
		m := msgs.at(i)
		if m.kind != jsonl.Assistant || m.form != plain || m.flags&omitted != 0 {
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

// estimateAfter adds up the messages after index at of the list. From the start on, system
// messages count as the one that they replay to. whole reports whether every message still has
// its content.
func (e *Envelope) estimateAfter(c *tokens.Counter, at int) (sum int, whole bool, err error) {
	if at < 0 {
		if sum, err = e.estimateSystem(c); err != nil {
			return 0, false, err
		}
	}
	l := e.r.NewReader()
	whole = true
	for i := at + 1; i < e.state.msgs.n; i++ {
		m := e.state.msgs.at(i)
		if m.flags&omitted != 0 || at < 0 && m.kind == jsonl.System {
			continue
		}
		n, err := l.Estimate(c, m)
		if err != nil {
			return 0, false, err
		}
		sum += n
		if m.edit >= 0 {
			v, err := l.Agent(m)
			if err != nil {
				return 0, false, err
			}
			whole = whole && v.Get("content").Exists()
		}
	}
	return sum, whole, nil
}

// estimateSystem counts the system message that all system messages replay to.
func (e *Envelope) estimateSystem(c *tokens.Counter) (n int, err error) {
	var f prompt.Fold
	if err := e.r.NewReader().fold(&f, e.state.deltas); err != nil {
		return 0, err
	}
	w := new(weigh.Weigher).Reset(c)
	for _, p := range f.Parts {
		n += w.Add(w.Text([]byte(jsonl.UTF8(p.Text))))
	}
	if len(f.Tools) == 0 {
		return n, nil
	}
	list := []byte{'['}
	for k, t := range f.Tools {
		if k > 0 {
			list = append(list, ',')
		}
		list = t.Raw.AppendMinified(list)
	}
	return n + w.Add(w.Text(append(list, ']'))), nil
}

// Estimate returns pi's estimate for a message (docs/session-format.md 8.1), in tokens of a
// counter. It counts the message as stored, not as sent.
func (l *Reader) Estimate(c *tokens.Counter, m *Piece) (int, error) {
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
	default:
		return 0, nil
	}
	return n, nil
}

// usage reads the usage of an answer. It is empty if the answer failed.
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

// Contradicts reports whether a request that has a counted size cannot have been the one that the
// provider recorded with so many tokens: it is more than 1.3 times that, and jsonl.LeastGone more.
func Contradicts(counted, recorded int64) bool {
	return recorded > 0 && counted-recorded >= jsonl.LeastGone && 10*counted > 13*recorded
}
