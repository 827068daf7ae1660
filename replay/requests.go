package replay

import (
	"iter"

	"ctxtool/internal/tokens"
	"ctxtool/sessionfmt"
)

// A Request is one call of a provider: what it got, and the entry that answers it.
type Request struct {
	Step             // the answer
	Index  int       // from 0 along the answer's path
	Before *Envelope // what the provider got
	// Prompt is a hash of prompt and tools, good for one run only, and Counts what
	// they take; Parts and Tools are what they are, until the walk goes on.
	Prompt uint64
	Counts Counts
	Parts  []Part
	Tools  []Tool
	// Prefix is what the messages of the request are, one after the other. It stays
	// as it is until the next request of the same path.
	Prefix *Prefix
}

// Requests are the requests of the path to record leaf, in order. The error is that
// of Walk; what came before it is right.
func (r *Replay) Requests(leaf int, c *tokens.Counter) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		path, found := r.Session.Path(leaf)
		r.Findings = append(r.Findings, found...)
		m := newMachine(r, path)
		m.asked = newAsking(r, c)
		for pos, rec := range path {
			step, err := m.does(pos, rec)
			if err != nil {
				yield(Request{Step: step}, err)
				return
			}
			if m.asked.at == rec && !yield(m.asked.request(step), nil) {
				return
			}
		}
	}
}

// RequestsOfTree are the requests of all branches, each once, as WalkTree goes
// through them.
func (r *Replay) RequestsOfTree(t *sessionfmt.Tree, c *tokens.Counter) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		for step, err := range r.walkTree(t, func() *machine {
			m := newMachine(r, nil)
			m.asked = newAsking(r, c)
			return m
		}) {
			switch {
			case err != nil:
				if !yield(Request{Step: step}, err) {
					return
				}
			case step.m.asked.at == step.Record && !yield(step.m.asked.request(step), nil):
				return
			}
		}
	}
}

// An asking is what a machine remembers of the requests on its path.
type asking struct {
	c      *tokens.Counter
	at     int // the last answer
	before *Envelope
	prompt uint64
	counts Counts
	prefix Prefix
}

func newAsking(r *Replay, c *tokens.Counter) *asking {
	return &asking{c: c, at: -1, prefix: Prefix{says: newSayings(r, c)}}
}

// fork is the same for a machine that goes another way.
func (a *asking) fork() *asking {
	next := *a
	next.prefix = a.prefix.fork()
	return &next
}

// ask takes down what the request got that the record at hand answers.
func (a *asking) ask(m *machine, rec int) error {
	changed, err := m.prompt.follow(m.r, m.now().deltas)
	if err != nil {
		return err
	}
	if changed || a.at < 0 {
		have, _ := m.r.implemented(m.prompt.f.tools)
		a.counts = countPrompt(a.c, m.prompt.f.parts, have)
		a.prompt = hashPrompt(compiled(m.r.Rules, m.prompt.f.parts), have)
	}
	a.at = rec
	a.before = m.envelope()
	if a.before.Leaf = -1; m.pos > 0 { // the answer is not part of it
		a.before.Leaf = m.path.at(m.pos - 1)
	}
	return a.prefix.follow(a.before)
}

func (a *asking) request(step Step) Request {
	n := a.counts
	n.Messages = a.prefix.Tokens(a.prefix.Len())
	n.Total = n.System + n.Tools + n.Messages
	f := &step.m.prompt.f
	return Request{Step: step, Index: a.before.RequestIndex, Before: a.before, Prompt: a.prompt, Counts: n, Parts: f.parts, Tools: f.tools, Prefix: &a.prefix}
}
