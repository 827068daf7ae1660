package hook

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/diff"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Options configure a trial of results at one point.
type Options struct {
	Replay   replay.Options
	Leaf     int               // record whose path continues after the point; 0 is the session's leaf
	At       int               // record after which the results apply; 0 is Leaf
	Reason   Reason            // BeforeRequest if empty
	Source   string            // name of the file with the results, for messages
	Counters []*tokens.Counter // for sizes; the first one also for everything else; pi's if empty
	Now      time.Time
}

// A Trial is what results change: in the context at a point, and in the bill of the requests
// that the session records after it.
//
// It is patch of schema ctxtool/patch/1.
type Trial struct {
	Reason  Reason `json:"reason"`  // `before_request`, `turn_end` or `ephemeral`
	Request int    `json:"request"` // the first request that gets the patch, from 0
	// in which it is stored: `transform`, `edits` or `ephemeral`; absent without entries
	Form     string    `json:"form,omitempty"`
	Verdicts []Verdict `json:"verdicts"` // an element per operation
	// of the context before and after; like the rest, absent if an operation is refused
	Sizes  []Size  `json:"sizes,omitempty"`
	Prefix *Prefix `json:"prefix,omitempty"` // of the prompt cache
	Bill   *Bill   `json:"bill,omitempty"`   // of the requests after the point; absent without any

	Difference *diff.Difference `json:"-"` // of the context
	Envelope   *replay.Envelope `json:"-"` // the context with the results

	opt     Options
	results []Result
	s       *sessionfmt.Session // of the file
	with    *sessionfmt.Session // a copy that holds the results
	before  *replay.Replay      // replay of s
	after   *replay.Replay      // replay of with
	held    []int               // records of the results
}

// A Size is the size of a context before and after, in tokens of a counter.
type Size struct {
	Counter string       `json:"counter"`
	Before  weigh.Counts `json:"before"`
	After   weigh.Counts `json:"after"`
}

// A Prefix is the effect of a change on the prompt cache of the next request, in tokens of the first counter.
type Prefix struct {
	Messages int `json:"messages"` // messages before the first difference
	Of       int `json:"of"`       // messages before the change
	// where the first difference is: `system`, `tools` or `messages`; absent without any
	First    string  `json:"first,omitempty"`
	Kept     int     `json:"kept"`     // tokens before it, which the cache still serves
	Rebilled int     `json:"rebilled"` // tokens after it that are rebilled
	Cost     float64 `json:"cost"`     // of those, in dollars; 0 without prices
	Priced   bool    `json:"priced"`   // whether the table has prices for the model
}

// A Bill compares the prompt costs of recorded requests with and without a change, both as an ideal prompt
// cache would serve them. Answers are the same.
type Bill struct {
	Requests int `json:"requests"`
	// as recorded: `prompt` tokens, `read` from the cache, `write` not read, `cost` in dollars
	Was    ledger.Served `json:"was"`
	Is     ledger.Served `json:"is"`               // with the change, likewise
	Priced bool          `json:"priced"`           // whether the table has prices for all models
	Prices string        `json:"prices,omitempty"` // the date of the table
}

func (b *Bill) add(c *cache.Comparison) {
	b.Priced = c.Priced && (b.Priced || b.Requests == 0)
	b.Requests++
	b.Was.Plus(c.Was)
	b.Is.Plus(c.Is)
	b.Prices = models.Date
}

// New tries results on a session. If an operation is refused, the trial has only its verdicts.
func New(s *sessionfmt.Session, results []Result, opt Options) (*Trial, error) {
	opt.Leaf = cmp.Or(opt.Leaf, s.Leaf())
	opt.At = cmp.Or(opt.At, opt.Leaf)
	opt.Reason = cmp.Or(opt.Reason, BeforeRequest)
	if len(opt.Counters) == 0 {
		opt.Counters = []*tokens.Counter{&tokens.Pi}
	}
	t := &Trial{Reason: opt.Reason, Verdicts: Judge(opt.Reason, results), opt: opt, results: results, s: s}
	t.opt.Replay.Rules = opt.Replay.Rules.Decide(s, opt.Replay.Leaf)
	t.before = replay.New(s, t.opt.Replay)
	path, _ := s.Path(opt.At)
	for _, rec := range path {
		if s.Answers(rec) {
			t.Request++
		}
	}
	if Refused("", t.Verdicts) != nil {
		return t, nil
	}
	if err := t.hold(); err != nil {
		return nil, err
	}
	span, err := diff.Between(t.after, opt.At, t.held[len(t.held)-1])
	if err != nil {
		return nil, err
	}
	if span.Stopped != nil {
		return nil, span.Stopped
	}
	if t.Envelope = span.B; t.Reason == Ephemeral { // none of it is stored
		t.after.Findings = t.Findings()
	}
	if t.Difference, err = span.Diff(opt.Counters[0]); err != nil {
		return nil, err
	}
	if err = t.warn(span.A); err == nil {
		err = t.measure(span.A)
	}
	if err == nil {
		err = t.bill()
	}
	return t, err
}

// Findings returns the findings of the session's own entries, nil if an operation is refused.
func (t *Trial) Findings() []sessionfmt.Finding {
	if t.after == nil {
		return nil
	}
	held := map[string]bool{}
	for _, i := range t.held {
		held[sessionfmt.Quote(t.with.ID(i))] = true
	}
	return slices.DeleteFunc(slices.Clone(t.after.Findings), func(f sessionfmt.Finding) bool { return held[f.Entry] })
}

// hold adds the results to a copy of the session.
func (t *Trial) hold() error {
	if len(t.results) == 0 {
		return errors.New("the result has no operations: there is nothing to try")
	}
	t.with = t.s.Copy()
	b := t.with.NewBatch(t.opt.At, t.opt.Now)
	for _, r := range t.results {
		b.Add(jsonl.Transform, r.fields()...)
	}
	n := t.with.Len()
	if err := t.with.Hold(b); err != nil {
		return err
	}
	for i := n; i < t.with.Len(); i++ {
		t.held = append(t.held, i)
	}
	opt := t.opt.Replay
	opt.Trial = true
	t.after = replay.New(t.with, opt)
	return nil
}

// warn adds the warnings that depend on the context.
func (t *Trial) warn(before *replay.Envelope) error {
	quiet := *t.after
	for n, r := range t.results {
		after := t.Envelope
		if n+1 < len(t.results) {
			var err error
			if after, err = quiet.At(sessionfmt.After(t.held[n])); err != nil {
				return err
			}
		}
		all, err := r.warnings(before, after, t.held[n])
		if err != nil {
			return err
		}
		for _, w := range all {
			k := slices.IndexFunc(t.Verdicts, func(v Verdict) bool { return v.Result == n && v.Op == w.Op })
			if v := &t.Verdicts[k]; v.Ruling == Apply {
				v.Ruling, v.Rule, v.Text = Warn, w.Rule, w.Text
			}
		}
		before = after
	}
	return nil
}

// measure computes the sizes, and what happens to the cached prefix.
func (t *Trial) measure(before *replay.Envelope) error {
	for _, c := range t.opt.Counters {
		was, err := before.Count(c)
		if err != nil {
			return err
		}
		is, err := t.Envelope.Count(c)
		if err != nil {
			return err
		}
		t.Sizes = append(t.Sizes, Size{c.Name, was, is})
	}
	d := t.Difference
	p := &Prefix{Messages: d.Shared.Messages, Of: d.A.Cached + d.A.Uncached, First: d.Shared.First,
		Kept: d.Shared.Tokens}
	t.Prefix = p
	if p.First == "" {
		return nil
	}
	for _, m := range d.Messages {
		if (m.Change == diff.Kept || m.Change == diff.Moved) && m.B >= p.Messages {
			p.Rebilled += m.Tokens
		}
	}
	if p.First != "messages" {
		p.Rebilled += min(d.Tokens.A.System+d.Tokens.A.Tools, d.Tokens.B.System+d.Tokens.B.Tools)
	}
	ref, err := t.Envelope.ModelRef()
	if err != nil {
		return err
	}
	if m, _, ok := t.after.Options.Models.Lookup(ref.Provider, ref.ID); ok && m.Priced() {
		n := int64(p.Rebilled)
		cost := m.Price(models.Usage{CacheWrite: n}).Total
		p.Cost = max(0, cmp.Or(cost, m.Price(models.Usage{Input: n}).Total)-m.Price(models.Usage{CacheRead: n}).Total)
		p.Priced = true
	}
	return nil
}

// bill accounts for the requests after the point, as recorded and with the results.
func (t *Trial) bill() error {
	path, _ := t.s.Path(t.opt.Leaf)
	at := slices.Index(path, t.opt.At)
	if t.opt.At >= 0 && at < 0 {
		return fmt.Errorf("the point is not on the path to the leaf")
	}
	later := path[at+1:]
	if !slices.ContainsFunc(later, t.s.Answers) {
		return nil
	}
	was := course{path: path}
	is := course{path: path, held: map[int][]move{at + 1: nil}}
	for _, rec := range t.held {
		is.held[at+1] = append(is.held[at+1], move{rec, t.Reason == Ephemeral})
	}
	quiet := *t.after // findings were already reported
	all, err := compare(t.before, &quiet, was, is, t.opt.Counters[0])
	if err != nil {
		return err
	}
	b, after := &Bill{}, map[int]bool{}
	for _, rec := range later {
		after[rec] = true
	}
	for k := range all {
		if after[all[k].Record] {
			b.add(&all[k])
		}
	}
	if b.Requests > 0 {
		t.Bill = b
	}
	return nil
}

// A course is a path with held entries before some of its places.
type course struct {
	path []int
	held map[int][]move
}

// A move is a held entry and its place; once means that only the next request gets it.
type move struct {
	record int
	once   bool
}

// compare bills the requests of two courses.
func compare(before, after *replay.Replay, was, is course, c *tokens.Counter) ([]cache.Comparison, error) {
	one, err := ledger.Measured(before, ledger.Options{Counter: c})
	if err != nil {
		return nil, err
	}
	other := one.Other(after)
	if err = one.Follow(was.walk); err == nil {
		err = other.Follow(is.walk)
	}
	for _, stop := range append(one.Stopped, other.Stopped...) {
		err = cmp.Or(err, stop.Err)
	}
	if err != nil {
		return nil, err
	}
	return cache.Compare(one, other)
}

// walk returns a ledger.Course: it replays the path, with the held entries where they belong.
func (c course) walk(r *replay.Replay, watch replay.Observer) iter.Seq2[replay.Step, error] {
	return func(yield func(replay.Step, error) bool) {
		w := r.Start(watch)
		var once []int
		for k, rec := range c.path {
			for _, m := range c.held[k] {
				if m.once {
					once = append(once, m.record)
				} else if step, err := w.Next(m.record); err != nil {
					yield(step, err)
					return
				}
			}
			sent := w
			if len(once) > 0 && r.Session.Answers(rec) {
				sent = w.Fork()
				for _, m := range once {
					if step, err := sent.Next(m); err != nil {
						yield(step, err)
						return
					}
				}
				once = nil
			}
			step, err := sent.Next(rec)
			if !yield(step, err) || err != nil {
				return
			}
			if sent != w {
				if step, err = w.Next(rec); err != nil {
					yield(step, err)
					return
				}
			}
		}
	}
}
