package compact

import (
	"cmp"
	"errors"
	"slices"
	"sort"

	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A Keeper is a context that grows message by message while a policy keeps it small, as if reduce ran whenever
// the policy acts, but without entries: the changes of one run stay in the view, and the next run continues
// from there.
type Keeper struct {
	Layers []LayerPlan // that the last call of Act considered
	Skip   string      // why the last layer that ran changed nothing

	policy    *Policy
	path      *View         // all messages; the keeper changes none of them
	view      *View         // messages so far, as the policy has left them
	next      int           // of path.Messages
	size      int           // tokens of the view's messages by the policy's counter
	runs      [][2]layerRun // by layer: where it runs, and whether within a turn
	summarize Summarize
	prompt    *prompt.Prompt
	beside    int // tokens of the prompt, if the policy counts it

	log     []int // positions of changed messages, in the order of the changes
	removed int   // number of messages in the view

	last   KeptContext // tally of the previous request
	logged int         // number of changes before it
	sizes  []tally     // tally of each message of the view in it
	before tallies     // the sums of these
}

// A layerRun is what a keeper remembers of a layer.
type layerRun struct {
	size    int // after its last run
	logged  int // number of changes before that run
	settled int // position of the last answer at that time
	memory  any // what the pass remembers
}

// Keeper returns a keeper that has no messages yet. path has those to come, and needs the
// policy's counter if that is a tokenizer.
func (p *Policy) Keeper(path *View, summarize Summarize) *Keeper {
	v := *path
	v.Messages, v.partial, v.listing = nil, true, nil
	v.counter, v.tokenizer = p.Counter, nil
	if p.Counter.Measure == tokens.Tokens {
		v.tokenizer = p.Counter
	}
	v.texts = &texts{e: path.Envelope, from: path.Envelope.Replay().NewReader(), index: -1}
	return &Keeper{policy: p, path: path, view: &v, runs: make([][2]layerRun, len(p.Layers)), summarize: summarize}
}

// Add adds the next message of the path.
func (c *Keeper) Add() {
	m := c.path.Messages[c.next]
	c.next++
	if m.Sent {
		c.size += m.Tokens(c.policy.Counter)
	}
	if len(c.policy.Layers) == 0 { // nothing will change them, so copies are not needed
		c.view.Messages = c.path.Messages[:c.next]
		return
	}
	if m.Call >= 0 {
		m.Call = c.place(c.path.Messages[m.Call].Index)
	}
	if m.Call < 0 && c.path.Messages[c.next-1].Call == c.next-1 {
		m.Call = len(c.view.Messages)
	}
	m.results = nil
	c.view.Messages = append(c.view.Messages, m)
	c.view.grouped(len(c.view.Messages) - 1)
}

// place returns the position in the view of the message with an index, -1 if it is gone.
func (c *Keeper) place(index int) int {
	all := c.view.Messages
	i := sort.Search(len(all), func(i int) bool { return all[i].Index >= index })
	if i < len(all) && all[i].Index == index && !all[i].Heads && !all[i].Removed {
		return i
	}
	return -1
}

// due reports whether the policy acts now: one that acts at the end of turns does so before the next prompt.
func (c *Keeper) due(turnEnds bool) bool {
	if turnEnds || !c.policy.TurnEnds {
		return turnEnds == c.policy.TurnEnds
	}
	m := c.view.last()
	return m != nil && !m.isUser()
}

// Act runs the layers that are due before the next request, or at the end of a turn, when its answer is the
// last message. used is the size of the context in tokens as the provider recorded it, for a policy that goes
// by usage. The changes name messages by their index in the envelope of the path.
func (c *Keeper) Act(turnEnds bool, used, window int64, p *prompt.Prompt) (changes []Change, err error) {
	c.Layers = c.Layers[:0]
	if !c.due(turnEnds) {
		return nil, nil
	}
	c.prompts(p)
	was := c.size
	for k := range c.policy.Layers {
		l := &c.policy.Layers[k]
		o, run := l.Options, &c.runs[k][0]
		done := LayerPlan{Pass: l.Pass.Name, Used: int64(c.size + c.beside), By: c.policy.Counter.Name, Fired: true}
		if c.policy.ByUsage && c.size == was && used > 0 {
			done.Used, done.By = used, byRecord(c.view.Envelope.Replay().Session)
		}
		within := l.Between && !turnEnds
		switch {
		case within && l.Pass != &RetryPrune:
			continue
		case within:
			o.IntraTurn, run = true, &c.runs[k][1]
		case l.When != nil:
			grown := done.Used
			if l.When.Growth {
				grown -= int64(run.size)
			}
			done.Trigger = l.When.String()
			done.Limit, _ = l.When.limit(window)
			done.Fired = l.When.fires(grown, window)
			o.enough = func(tokens int) bool { return !l.When.fires(int64(tokens+c.beside), window) }
		}
		c.Layers = append(c.Layers, done)
		if !done.Fired {
			continue
		}
		found, err := c.run(l, o, run)
		if err != nil {
			return changes, err
		}
		changes = append(changes, found...)
	}
	return changes, nil
}

// prompts sets the prompt of the next request.
func (c *Keeper) prompts(p *prompt.Prompt) {
	c.view.Prompt, c.view.reprompted = p, false
	if c.prompt == p {
		return
	}
	c.prompt, c.beside = p, 0
	if f := c.policy.beside(); f != nil && p != nil {
		c.beside = f(p, c.policy.Counter)
	}
}

// run runs one layer. If a summary fails, the context stays as it is, as in the agents.
func (c *Keeper) run(l *Layer, o Options, run *layerRun) ([]Change, error) {
	o.Counter, o.Summarize = c.policy.Counter, c.summarize
	changed := slices.Clone(c.log[run.logged:])
	slices.Sort(changed)
	w := &Work{View: c.view, Options: o, pass: l.Pass.Name, changed: slices.Compact(changed), settled: run.settled,
		memory: &run.memory}
	w.was.tokens = c.size + c.beside
	l.Pass.run(w)
	err := cmp.Or(w.err, w.texts.err)
	if errors.Is(err, errNoSummary) || errors.Is(err, errNothingSaid) {
		err = nil
	}
	if len(w.Changes) > 0 {
		c.changed(w)
	}
	c.Skip = ""
	if len(w.Changes) == 0 {
		c.Skip = w.skip
	}
	run.size, run.logged = c.size+c.beside, len(c.log)
	for i, m := range slices.Backward(c.view.Messages) {
		if m.isAssistant() && !m.Removed {
			run.settled = i
			break
		}
	}
	return w.Changes, err
}

// changed applies the changes of a pass to the keeper.
func (c *Keeper) changed(w *Work) {
	all := c.view.Messages
	for i := range w.Changes {
		ch := &w.Changes[i]
		c.size -= ch.Was - ch.Now
		if ch.Message < 0 { // of the prompt
			continue
		}
		c.log = append(c.log, ch.Message)
		if ch.Range != nil {
			for k := range all {
				m := &all[k]
				if m.gone {
					continue
				}
				m.Removed = m.Removed || m.Kind == jsonl.System // the prompt has it now
				in := k >= ch.Range.From && k < ch.Range.To
				if in && (m.Removed && m.Sent || k == ch.Message) {
					ch.gone = append(ch.gone, m.Index)
				}
				c.remove(k)
			}
		}
		c.remove(ch.Message)
		ch.Message = all[ch.Message].Index
	}
}

// remove records that a pass has removed a message, if it has.
func (c *Keeper) remove(i int) {
	all := c.view.Messages
	m := &all[i]
	if !m.Removed || m.gone {
		return
	}
	m.gone = true
	c.removed++
	c.log = append(c.log, i)
	for _, k := range m.results {
		if !all[k].Removed {
			all[k].Call = -1
		}
	}
}

// drop removes removed messages from the view once they are half of it. Layers start afresh, since what they
// remember refers to positions.
func (c *Keeper) drop() {
	all := c.view.Messages
	if 2*c.removed <= len(all) {
		return
	}
	place := make([]int, len(all))
	left := make([]Message, 0, len(all)-c.removed)
	c.sizes, c.before = nil, nil
	c.last.Shares, c.last.Messages = weigh.Shares{}, 0
	for i := range all {
		if place[i] = -1; all[i].Removed {
			continue
		}
		place[i] = len(left)
		m := all[i]
		if m.results = nil; m.Call >= 0 {
			m.Call = place[m.Call]
		}
		left = append(left, m)
	}
	c.view.Messages, c.removed, c.log, c.logged = left, 0, nil, 0
	for i := range left {
		c.view.grouped(i)
		c.count(i)
	}
	for k := range c.runs {
		for n := range c.runs[k] {
			c.runs[k][n] = layerRun{size: c.runs[k][n].size}
		}
	}
}

// Gone returns the messages that a summary replaces, of a change of a Keeper.
func (c *Change) Gone() []int { return c.gone }

// Size returns the tokens of message i, as pi estimates them.
func (v *View) Size(i int) int { return v.Messages[i].Tokens(&tokens.Pi) }

// Size returns the tokens of the messages to be summarised, and of the earlier summary if it is
// none of them, as pi estimates them.
func (r Request) Size() (n int) {
	seen := false
	for _, i := range r.Messages {
		m := &r.View.Messages[i]
		n += m.Tokens(&tokens.Pi)
		seen = seen || m.isSummary()
	}
	if !seen {
		n += tokens.Pi.Of(jsonl.Units(r.Previous))
	}
	return n
}

// Estimate returns pi's estimate of message i as it is stored.
func (v *View) Estimate(i int) int { return v.Messages[i].estimate() }

// A KeptContext is what a keeper would send with the next request.
type KeptContext struct {
	weigh.Shares
	Messages int            // place in the request
	Prompt   *prompt.Prompt // content as the policy has left it
	Kept     int            // number of leading messages that the previous request had in the same place
	KeptSize int            // their tokens
	Again    int            // tokens of later messages that the previous request also had
}

// Request returns the context of the next request, compared with the one at the previous call.
func (c *Keeper) Request() KeptContext {
	sent := len(c.sizes)
	changed := slices.DeleteFunc(slices.Clone(c.log[c.logged:]), func(i int) bool { return i >= sent })
	slices.Sort(changed)
	changed = slices.Compact(changed)
	q := &c.last
	q.Kept, q.KeptSize, q.Again = q.Messages, q.Total(), 0
	if len(changed) > 0 {
		kept := c.before.of(changed[0])
		q.Again = q.KeptSize - kept.size
		q.Kept, q.KeptSize = kept.messages, kept.size
	}
	for _, i := range changed {
		q.Again -= c.sizes[i].size
		c.count(i)
	}
	for i := sent; i < len(c.view.Messages); i++ {
		c.count(i)
	}
	q.Prompt, c.logged = c.view.Prompt, len(c.log)
	c.drop()
	return c.last
}

// count replaces the tally of a message by its current one; zero removes it.
func (c *Keeper) count(i int) {
	var is tally
	if m := &c.view.Messages[i]; c.view.Live(i) {
		is = tally{1, m.Tokens(&tokens.Pi), m.Kind}
	}
	if i == len(c.sizes) {
		c.sizes = append(c.sizes, tally{})
	}
	was := c.sizes[i]
	c.sizes[i] = is
	c.before.plus(i, tally{messages: is.messages - was.messages, size: is.size - was.size})
	c.last.Add(was.kind, -was.size)
	c.last.Add(is.kind, is.size)
	c.last.Messages += is.messages - was.messages
}

// Messages returns the number of messages of the path that the keeper has.
func (c *Keeper) Messages() int { return c.next }

// LastKind returns the kind of the last message, zero without any.
func (c *Keeper) LastKind() (k jsonl.Kind) {
	if m := c.view.last(); m != nil {
		k = m.Kind
	}
	return k
}

// A KeptItem is a message of a keeper, for the reasons of a decision.
type KeptItem struct {
	Message int         // its index in the envelope of the path
	Tokens  int         // by the policy's counter
	Result  int         // tokens of a tool result as gsh counts them, -1 for other messages
	Tool    string      // tool of a result
	Args    jsonl.Value // arguments of its call
}

// Items returns the messages of the next request, in order.
func (c *Keeper) Items() (all []KeptItem, err error) {
	for i := range c.view.Messages {
		m := &c.view.Messages[i]
		if !c.view.Live(i) {
			continue
		}
		one := KeptItem{Message: m.Index, Tokens: m.Tokens(c.policy.Counter), Result: -1}
		if k := m.result(); k >= 0 {
			one.Result, one.Tool = tokens.GSH.Of(m.Blocks[k].Bytes), m.Blocks[k].tool()
			if tool, args, ok := c.view.callOf(i); ok {
				one.Tool, one.Args = tool, args
			}
		}
		all = append(all, one)
	}
	return all, c.view.texts.err
}
