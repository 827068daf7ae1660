package compact

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"ctxtool/internal/gen"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// alike returns a policy that acts at every moment as reduce does: before each request, all of
// its layers.
func alike(p *Policy) *Policy {
	p = p.Copy()
	p.TurnEnds = p.TurnEnds && p.ByUsage // pi's moments are those of reduce at the end of a turn
	for i := range p.Layers {
		p.Layers[i].Between = false
		if t := p.Layers[i].When; t != nil {
			when := *t
			when.Growth = false
			p.Layers[i].When = &when
		}
	}
	return p
}

// TestKeeperIsReduce: a keeper has, at every request, the context that reduce gives if it runs
// at each moment and its entries are part of the session.
func TestKeeperIsReduce(t *testing.T) {
	small := GSHPolicy.Copy()
	small.Layers = gshLayers(800, 400, 0.5)
	passes := alike(&yAgentPolicy).Only("passes", []Layer{
		{Pass: &Truncate, Options: Options{Max: 300, Unit: "chars"}}, {Pass: &Superseded}, {Pass: &RetryPrune, Options: Options{Profile: "seed"}},
		{Pass: &StripThinking}, {Pass: &Prune, Options: Options{Protect: 600}},
	})
	for seed := range uint64(4) {
		shape := gen.Shape{Seed: seed, Entries: 160, Text: 300, MaxText: 3000, Tools: 0.8, Systems: 0.1}
		data := gen.Session(shape)
		for _, p := range []*Policy{small, &PiPolicy, &swecliPolicy, &yAgentPolicy, passes} {
			t.Run(fmt.Sprintf("%s %d", p.Name, seed), func(t *testing.T) {
				s, err := sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				c := &beside{t: t, s: s.Copy(), policy: alike(p), window: 6000}
				if p.ByUsage {
					c.window = 16384 + 9000
					c.policy.Layers[0].Keep = 2000
				}
				if c.run(s); c.acts == 0 {
					t.Error("the policy never acts")
				}
			})
		}
	}
}

// A beside is a keeper beside a session that holds what reduce would have appended.
type beside struct {
	t      *testing.T
	s      *sessionfmt.Session
	policy *Policy
	window int64
	keeper *Keeper
	r      *replay.Replay
	walk   *replay.Walk
	last   int // record
	acts   int
}

func brief(Request) (string, error) { return "what was said so far", nil }

func (c *beside) run(s *sessionfmt.Session) {
	leaf := s.Leaf()
	e, err := replay.New(s, replay.Options{Leaf: leaf}).At(sessionfmt.After(leaf))
	if err != nil {
		c.t.Fatal(err)
	}
	all, err := NewView(e, c.policy.Counter)
	if err != nil {
		c.t.Fatal(err)
	}
	c.keeper = c.policy.Keeper(all.In(AsEdits), brief)
	c.r = replay.New(c.s, replay.Options{Leaf: leaf, Rules: replay.ByPi, Window: c.window})
	c.walk, c.last = c.r.Start(nil), -1
	path, _ := s.Path(leaf)
	kind := jsonl.User
	for _, rec := range path {
		if s.Kind(rec) == jsonl.User && kind == jsonl.Assistant {
			c.act(true)
		}
		if s.Answers(rec) {
			c.act(false)
			c.compare(rec)
		}
		c.s.Reparent(rec, c.last)
		if _, err := c.walk.Next(rec); err != nil {
			c.t.Fatal(err)
		}
		if c.last = rec; s.Kind(rec).IsMessage() {
			c.keeper.Add()
			kind = s.Kind(rec)
		}
	}
}

// act lets the keeper act, and holds what reduce appends at the same moment.
func (c *beside) act(turnEnds bool) {
	e := c.walk.Step().Envelope()
	u, err := e.ContextUsage(&tokens.Pi)
	if err != nil {
		c.t.Fatal(err)
	}
	p, err := e.Prompt()
	if err != nil {
		c.t.Fatal(err)
	}
	due := c.keeper.due(turnEnds)
	changes, err := c.keeper.Act(turnEnds, int64(u.Tokens), c.window, p)
	if err != nil {
		c.t.Fatal(err)
	}
	if !due || c.last < 0 {
		return
	}
	v, err := NewView(e, c.policy.Counter)
	if err != nil {
		c.t.Fatal(err)
	}
	did, err := c.triggered().Plan(v.In(AsEdits), brief)
	if err != nil {
		c.t.Fatal(err)
	}
	if len(did.Changes) != len(changes) {
		c.t.Fatalf("after record %d the keeper makes %d changes, reduce %d: %v %v", c.last, len(changes), len(did.Changes), changes, did.Layers[0].Report)
	}
	if len(changes) == 0 {
		return
	}
	c.acts++
	b := c.s.NewBatch(c.last, time.Time{})
	from := c.s.Len()
	if err := (&Job{Policy: c.policy, Unmarked: true}).Store(b, did, ""); err != nil {
		c.t.Fatal(err)
	}
	if err := c.s.Hold(b); err != nil {
		c.t.Fatal(err)
	}
	for rec := from; rec < c.s.Len(); rec++ {
		if _, err := c.walk.Next(rec); err != nil {
			c.t.Fatal(err)
		}
		c.last = rec
	}
}

// triggered returns the policy with its compaction where the keeper has it: pi puts another
// frame around a summary than other agents, and counts that.
func (c *beside) triggered() *Policy {
	p := c.policy.Copy()
	p.Layers = nil
	for k, l := range c.policy.Layers {
		if l.Pass == &Compact {
			if l.When = nil; !c.keeper.Layers[k].Fired {
				continue
			}
		}
		p.Layers = append(p.Layers, l)
	}
	return p
}

// compare compares the contexts before an answer.
func (c *beside) compare(rec int) {
	if err := Kept(c.keeper.view, c.walk.Step().Envelope()); err != nil {
		c.t.Fatalf("before the answer of line %d: %v", c.s.Line(rec), err)
	}
	size := 0
	for _, i := range c.keeper.view.live() {
		size += c.keeper.view.Messages[i].Tokens(c.policy.Counter)
	}
	if size != c.keeper.size {
		c.t.Fatalf("before the answer of line %d the keeper counts %d tokens, its messages have %d", c.s.Line(rec), c.keeper.size, size)
	}
}
