package compact

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestKeeperIsReduce: a keeper has, at every request, the context that reduce gives if it runs
// at each moment and its entries are part of the session.
func TestKeeperIsReduce(t *testing.T) {
	small := GSHPolicy.Copy()
	small.Layers = gshLayers(800, 400, 0.5)
	passes := yAgentPolicy.Only("passes", []Layer{
		{Pass: &Truncate, Options: Options{Max: 300, Unit: "chars"}}, {Pass: &Superseded}, {Pass: &RetryPrune, Options: Options{}},
		{Pass: &StripThinking}, {Pass: &Prune, Options: Options{Protect: 600}},
	})
	did := map[string]int{} // changes, by policy, pass and whether a turn ended
	for _, seed := range []uint64{0, 3, 4, 5} {
		data := gen.Session(gen.Shape{Seed: seed, Entries: 160, Text: 300, MaxText: 3000, Tools: 0.8, Systems: 0.1})
		if seed >= 4 {
			data = retries(seed)
		}
		policies := []*Policy{small, &PiPolicy, &swecliPolicy, &yAgentPolicy, passes}
		if seed == 0 {
			policies = append(policies, &claudeCodePolicy, &codexPolicy, &openCodePolicy)
		}
		for _, p := range policies {
			t.Run(fmt.Sprintf("%s %d", p.Name, seed), func(t *testing.T) {
				s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
				defer s.Close()
				c := &beside{t: t, s: s.Copy(), policy: p.Copy(), window: 6000, did: did}
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
	for _, want := range []string{
		"gsh truncate false", "gsh prune false", "gsh compact false", "pi compact true", "pi compact false", "swe-cli compact false", "y-agent superseded true",
		"y-agent retry-prune false", "y-agent strip-thinking true", "y-agent strip-thinking false", "y-agent progressive true", "y-agent compact true", "y-agent compact false",
	} {
		if did[want] == 0 {
			t.Errorf("no change of %s: %v", want, did)
		}
	}
}

// retries returns a session whose agent reads files again, repeats calls that failed, and thinks.
func retries(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	var b bytes.Buffer
	b.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
	n := 0
	entry := func(format string, args ...any) {
		parent := "null"
		if n > 0 {
			parent = fmt.Sprintf(`"%08d"`, n-1)
		}
		fmt.Fprintf(&b, `{"type":"message","id":"%08d","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","message":%s}`+"\n", n, parent, fmt.Sprintf(format, args...))
		n++
	}
	for turn := range 14 {
		entry(`{"role":"user","content":"task %d"}`, turn)
		for range 1 + r.IntN(7) {
			file, failed := r.IntN(4), r.IntN(3) == 0
			tool, size, thought := "read", r.IntN(2500), r.IntN(400)
			if failed {
				tool, size = "bash", 400+r.IntN(3000)
			}
			entry(`{"role":"assistant","provider":"acme","model":"m","content":[{"type":"thinking","thinking":%q},{"type":"toolCall","id":"c%d","name":%q,"arguments":{"path":"f%d"}}],"stopReason":"toolUse"}`, strings.Repeat("t", thought), n, tool, file)
			entry(`{"role":"toolResult","toolCallId":"c%d","toolName":%q,"content":[{"type":"text","text":%q}],"isError":%v}`, n-1, tool, strings.Repeat("r", size), failed)
		}
		entry(`{"role":"assistant","provider":"acme","model":"m","content":[{"type":"thinking","thinking":"done?"},{"type":"text","text":"task %d is done"}],"stopReason":"stop"}`, turn)
	}
	return b.Bytes()
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
	mark   int64 // tokens after the last run of a layer with a growth gate
	did    map[string]int
	sent   []string // messages of the last request
}

func brief(Request) (string, error) { return "what was said so far", nil }

func (c *beside) run(s *sessionfmt.Session) {
	leaf := s.Leaf()
	e := must.Get(replay.New(s, replay.Options{Leaf: leaf}).At(sessionfmt.After(leaf)))
	all := must.Get(NewView(e, c.policy.Counter))
	c.keeper = c.policy.Keeper(all.In(AsEdits), brief)
	c.r = replay.New(c.s, replay.Options{Leaf: leaf, Rules: replay.ByPi, Window: c.window})
	c.walk, c.last = c.r.Start(), -1
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
	u := must.Get(e.Size())
	p := must.Get(e.Prompt())
	due := c.keeper.due(turnEnds)
	changes := must.Get(c.keeper.Act(turnEnds, int64(u.Tokens), c.window, p))
	if !due || c.last < 0 {
		return
	}
	v := must.Get(NewView(e, c.policy.Counter))
	did := must.Get(c.due(turnEnds).Plan(v.In(AsEdits), brief))
	if len(did.Changes) != len(changes) {
		c.t.Fatalf("after record %d the keeper makes %d changes, reduce %d: %v %v", c.last, len(changes), len(did.Changes), changes, did.Layers[0].Report)
	}
	if len(changes) == 0 {
		return
	}
	c.acts++
	for _, ch := range changes {
		c.did[fmt.Sprint(c.policy.Name, " ", ch.Pass, " ", turnEnds)]++
	}
	b := c.s.NewBatch(c.last, time.Time{})
	from := c.s.Len()
	must.Do((&Job{Policy: c.policy, Unmarked: true}).Store(b, did, ""))
	must.Do(c.s.Hold(b))
	for rec := from; rec < c.s.Len(); rec++ {
		if _, err := c.walk.Next(rec); err != nil {
			c.t.Fatal(err)
		}
		c.last = rec
	}
}

// due returns the policy with the layers that run at a moment: within a turn, what runs where turns
// end does not, and retries are those of the turn. The growth gate is computed here. A compaction
// runs where the keeper has it: pi puts another frame around a summary than other agents, and
// counts that.
func (c *beside) due(turnEnds bool) *Policy {
	p := c.policy.Copy()
	p.Layers = nil
	ran := c.keeper.Layers
	for _, l := range c.policy.Layers {
		within := l.Between && !turnEnds
		if within && l.Pass != &RetryPrune {
			continue
		}
		if ran[0].Pass != l.Pass.Name {
			c.t.Fatalf("%s is due, the keeper considers %s", l.Pass.Name, ran[0].Pass)
		}
		fired := ran[0].Fired
		if within {
			l.IntraTurn, l.When = true, nil
		} else if l.When != nil && l.When.Growth {
			if want := ran[0].Used-c.mark >= l.When.Tokens; fired != want {
				c.t.Fatalf("after record %d %s runs: %v, with %d tokens, %d after its last run", c.last, l.Pass.Name, fired, ran[0].Used, c.mark)
			}
			l.When = nil
			if fired {
				c.mark = ran[1].Used
			}
		} else if l.Pass == &Compact {
			l.When = nil
		}
		ran = ran[1:]
		if fired || l.When != nil {
			p.Layers = append(p.Layers, l)
		}
	}
	return p
}

// compare compares the contexts before an answer.
func (c *beside) compare(rec int) {
	if err := Kept(c.keeper.view, c.walk.Step().Envelope()); err != nil {
		c.t.Fatalf("before the answer of line %d: %v", c.s.Line(rec), err)
	}
	size := 0
	var want KeptContext
	had := map[string]bool{}
	for _, one := range c.sent {
		had[one] = true
	}
	var sent []string
	for _, i := range c.keeper.view.live() {
		m := &c.keeper.view.Messages[i]
		n := m.Tokens(&tokens.Pi)
		size += m.Tokens(c.policy.Counter)
		sent = append(sent, fmt.Sprintf("%d %p %s", m.Index, m.head, c.keeper.view.Content(i))) // each summary is new
		switch k := len(sent) - 1; {
		case k == want.Kept && k < len(c.sent) && c.sent[k] == sent[k]:
			want.Kept++
			want.KeptSize += n
		case had[sent[k]]:
			want.Again += n
		}
		want.Add(m.Kind, n)
		want.Messages++
	}
	want.Prompt = c.keeper.view.Prompt
	if got := c.keeper.Request(); got != want {
		c.t.Fatalf("before the answer of line %d the request is %+v, want %+v", c.s.Line(rec), got, want)
	}
	c.sent = sent
	if size != c.keeper.size {
		c.t.Fatalf("before the answer of line %d the keeper counts %d tokens, its messages have %d", c.s.Line(rec), c.keeper.size, size)
	}
}

// TestKeeperLooksAtNews: a pass gets what came and what changed since it ran, not the whole context
// again, whatever other passes change of it and however often.
func TestKeeperLooksAtNews(t *testing.T) {
	looks := func(n int) (looks, changes, messages int) {
		var all []testMessage
		for i := range n {
			id, path := fmt.Sprint(i), fmt.Sprintf(`{"path":"f%d"}`, i%7)
			text := strings.Repeat("said ", 60)
			all = append(all, user("go on"), answer("", thinking("so"), call(id, "read", path)), failed(id, text, i%3 == 0),
				answer("", call(id+"b", "read", path)), result(id+"b", text), answer("done"))
		}
		v := of(t, all...)
		count := Pass{Name: "count", run: func(w *Work) {
			for range w.news {
				looks++
			}
		}}
		p := yAgentPolicy.Copy()
		p.Layers = append(p.Layers, Layer{Pass: &count})
		c := p.Keeper(v, brief)
		for i := range v.Messages {
			if m := &v.Messages[i]; m.isAssistant() || m.Kind == jsonl.User && i > 0 {
				changes += len(must.Get(c.Act(m.Kind == jsonl.User, 0, 6000, nil)))
				c.Request()
			}
			c.Add()
		}
		return looks, changes, len(v.Messages)
	}
	for _, turns := range []int{50, 200, 800} {
		if looked, changes, messages := looks(turns); changes < turns || looked > 4*messages {
			t.Errorf("%d turns: a pass looks at %d of %d messages, with %d changes", turns, looked, messages, changes)
		}
	}
}
