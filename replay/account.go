package replay

import (
	"iter"

	"ctxtool/internal/tokens"
	"ctxtool/sessionfmt"
)

// An Account is a step with what it did to the size of the context.
type Account struct {
	Step
	Request int    // number of the request that the entry answers, from 0; -1 for any other entry
	Answers int    // requests answered so far, this one included
	Before  Counts // tokens, as Count counts
	After   Counts
}

// Accounts replays the path to record leaf like Walk, and counts on the way: each
// message once, so that the whole path costs one reading.
func (r *Replay) Accounts(leaf int, c *tokens.Counter) iter.Seq2[Account, error] {
	return func(yield func(Account, error) bool) {
		p := promptCount{c: c}
		var last Counts
		for step, err := range r.walk(leaf, c) {
			a := Account{Step: step, Request: -1, Before: last, After: last}
			if err == nil {
				a.Answers = step.m.request
				if r.Session.Kind(step.Record) == sessionfmt.Assistant && step.Did == Added {
					a.Request = step.m.request - 1
				}
				a.After, err = p.count(step.m)
				last = a.After
			}
			if !yield(a, err) || err != nil {
				return
			}
		}
	}
}

// A promptCount counts prompt and tools along a walk. It folds only what has been
// added since it was last asked.
type promptCount struct {
	c      *tokens.Counter
	f      folded
	seen   []delta
	own    bool
	begun  bool
	counts Counts // of prompt and tools
}

// count is what the machine's envelope takes.
func (p *promptCount) count(m *machine) (Counts, error) {
	s := m.now()
	if err := p.follow(m, s); err != nil {
		return Counts{}, err
	}
	n := p.counts
	n.Messages = s.msgs.tokens
	for i := range s.uncached {
		n.Messages += int(s.uncached[i].tokens)
	}
	n.Total = n.System + n.Tools + n.Messages
	return n, nil
}

// follow brings prompt and tools to where the state is.
func (p *promptCount) follow(m *machine, s *state) error {
	own := hasSystem(s.deltas)
	fresh := s.deltas
	extends := p.begun && own == p.own && len(s.deltas) >= len(p.seen) &&
		(len(p.seen) == 0 || &p.seen[0] == &s.deltas[0])
	if extends {
		fresh = s.deltas[len(p.seen):]
	}
	if extends && len(fresh) == 0 {
		return nil
	}
	if !extends {
		p.f = m.r.startingPrompt(own)
	}
	if err := m.r.fold(&p.f, fresh); err != nil {
		return err
	}
	p.seen, p.own, p.begun = s.deltas, own, true
	have, _ := m.r.implemented(p.f.tools)
	p.counts = countPrompt(p.c, p.f.parts, have)
	return nil
}
