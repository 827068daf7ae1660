package simulate

import (
	"cmp"
	"errors"
	"slices"

	"ctxtool/compact"
	"ctxtool/internal/base/parallel"
	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/reuse"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A session is what the runs of a session share. It is not changed while they run.
type session struct {
	*Options
	s     *sessionfmt.Session
	past  *past
	path  *compact.View                     // all messages of the path
	views map[*tokens.Counter]*compact.View // the same, counted by the tokenizers of policies
	front *prompt.Prompt                    // before the first message
	// a system message is sent in its place where the model takes it, as pi sends it, and not as the prompt
	own      bool
	patched  bool         // patches change the context, so a policy without them has other prompts
	size     Tokens       // of the front
	byRecord map[int]int  // the messages by record
	answers  []int        // the messages that are answers to requests, in order
	rows     []*cache.Row // the recorded requests, in that order
	windows  []int64      // of their models, tokens; the same for all policies
	from     string       // where the last of them comes from
	sized    bool         // the provider recorded the size of a request
	index    *reuse.Index
}

// ErrNoRequests is the error of a session without any request.
var ErrNoRequests = errors.New("it has no request to simulate")

// Session simulates a session.
func (o *Options) Session(s *sessionfmt.Session) (*Report, error) {
	c, err := o.open(s)
	if err != nil {
		return nil, err
	}
	report := &Report{Schema: "ctxtool/simulate/1", Reading: s.Reading(), Prices: models.Date, Path: c.path,
		Answers: c.answers}
	report.Runs = make([]*Run, len(o.Contenders))
	return report, parallel.Each(len(o.Contenders), func() func(int) error {
		return func(k int) (err error) {
			report.Runs[k], err = c.run(&o.Contenders[k])
			return err
		}
	})
}

// acts returns the entries of a path by which its agent changed its context.
func acts(s *sessionfmt.Session, leaf int) map[int]bool {
	all := map[int]bool{}
	path, _ := s.Path(leaf)
	for _, rec := range path {
		switch s.Kind(rec) {
		case jsonl.Compaction, jsonl.ContextEdit, jsonl.Transform, jsonl.Ephemeral, jsonl.Deletion, jsonl.Reset:
			all[rec] = true
		}
	}
	return all
}

// open reads what the runs share.
func (o *Options) open(s *sessionfmt.Session) (*session, error) {
	c := &session{Options: o, s: s, views: map[*tokens.Counter]*compact.View{}}
	opt, leaf := o.Replay, s.Leaf()
	opt.Leaf = leaf
	var err error
	if c.past, err = o.read(replay.New(s, opt), leaf); err != nil {
		return nil, err
	}
	if len(c.past.rows) == 0 {
		return nil, ErrNoRequests
	}
	opt.Without = acts(s, leaf)
	for rec := range opt.Without {
		c.patched = c.patched || s.Kind(rec) == jsonl.Transform
	}
	bare := replay.New(s, opt)
	e, err := bare.At(sessionfmt.After(leaf))
	if err != nil {
		return nil, err
	}
	if c.index, err = reuse.NewIndex(e); err != nil { // before the views, since it takes most memory while it is made
		return nil, err
	}
	for _, one := range o.Contenders {
		p := one.Policy
		if p == nil || p.Counter.Measure != tokens.Tokens || c.views[p.Counter] != nil {
			continue
		}
		if c.views[p.Counter], err = compact.NewView(e, p.Counter); err != nil {
			return nil, err
		}
		c.path = c.views[p.Counter]
	}
	if c.path == nil {
		if c.path, err = compact.NewView(e, nil); err != nil {
			return nil, err
		}
	}
	if err := c.match(bare); err != nil {
		return nil, err
	}
	return c, c.forget()
}

// forget removes from the index what answers cannot have used: the recorded context lacked it.
func (c *session) forget() error {
	w := &walk{session: c, removals: c.index.Removals(), load: c.past.l.Replay.NewReader()}
	for k, answer := range c.answers {
		if _, _, err := w.difference(k, &c.past.requests[k]); err != nil {
			return err
		}
		w.removals.Forget(answer)
	}
	return nil
}

// match finds the messages that answer the recorded requests, and the prompt before the first.
func (c *session) match(bare *replay.Replay) error {
	first := -1
	c.byRecord = make(map[int]int, len(c.path.Messages))
	for i := range c.path.Messages {
		m := &c.path.Messages[i]
		c.byRecord[m.Origin.Record] = i
		if first < 0 && m.Sent {
			first = m.Origin.Record
		}
	}
	for i := range c.past.rows {
		row := c.past.rows[i]
		if message, ok := c.byRecord[row.Record]; ok {
			c.answers, c.rows = append(c.answers, message), append(c.rows, row)
		}
	}
	if len(c.rows) == 0 || len(c.rows) != len(c.past.requests) {
		return ErrNoRequests
	}
	if err := c.measure(); err != nil {
		return err
	}
	e, err := bare.At(sessionfmt.Before(first))
	if err != nil {
		return err
	}
	if c.front, err = e.Prompt(); err != nil {
		return err
	}
	c.own = bare.Session.Dialect() == nil
	n := c.front.Counts(&tokens.Pi)
	_, hidden := c.rows[0].Counted()
	c.size = Tokens{System: n.System, Tools: n.Tools, Hidden: hidden}
	return nil
}

// run simulates one policy.
func (c *session) run(one *Contender) (*Run, error) {
	w := &walk{session: c, Contender: one, run: &Run{Policy: one.Name, WindowFrom: c.from},
		kept: map[models.Ref]map[asked]prefix{}, removals: c.index.Removals()}
	var err error
	switch {
	case one.Hook != nil:
		err = w.hooked()
	case one.Policy != nil:
		err = w.walk(one.Policy.Keeper(cmp.Or(c.views[one.Policy.Counter], c.path), w.summarize))
	case one.Name == Recorded:
		err = w.recorded()
	default:
		err = w.walk(nonePolicy.Keeper(c.path, nil))
	}
	if err != nil {
		return nil, err
	}
	return w.run, w.finish()
}

// nonePolicy changes nothing.
var nonePolicy = compact.Policy{Name: None, Counter: &tokens.Pi}

// unknownWindow is the context window of an unknown model in tokens, unless a recorded
// request was larger.
const unknownWindow = 200_000

// measure finds the context windows of the requests.
func (c *session) measure() error {
	largest := int64(unknownWindow)
	for _, row := range c.rows {
		if row.Sized() {
			largest, c.sized = max(largest, row.Prompt), true
		}
	}
	for _, row := range c.rows {
		window, from, err := c.past.l.Replay.Window(row.ModelRef())
		if err != nil {
			return err
		}
		c.from = from
		if window == 0 {
			window, c.from = largest, "assumed"
		}
		c.windows = append(c.windows, window)
	}
	if len(slices.Compact(slices.Clone(c.windows))) > 1 {
		c.from = "several"
	}
	return nil
}
