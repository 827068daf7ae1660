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
		for step, err := range r.walk(leaf, watching{counter: c}) {
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

// A promptCount counts prompt and tools along a walk, where they have changed.
type promptCount struct {
	c      *tokens.Counter
	counts Counts // of prompt and tools
}

// count is what the machine's envelope takes.
func (p *promptCount) count(m *machine) (Counts, error) {
	s := m.now()
	changed, err := m.prompt.follow(m.r, s.deltas)
	if err != nil {
		return Counts{}, err
	}
	if changed {
		have, _ := m.r.implemented(m.prompt.f.tools)
		p.counts = countPrompt(p.c, m.prompt.f.parts, have)
	}
	n := p.counts
	n.Messages = s.msgs.tokens
	for i := range s.uncached {
		n.Messages += int(s.uncached[i].tokens)
	}
	n.Total = n.System + n.Tools + n.Messages
	return n, nil
}
