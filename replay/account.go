package replay

import (
	"iter"

	"ctxtool/replay/tokens"
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
	return r.Accounting(c).Along(leaf)
}

// An Accounting is a walk with accounts that goes on where it has stopped.
type Accounting struct {
	Behind []int // records of the last path that it did not come past

	r       *Replay
	c       *tokens.Counter
	m       *machine
	done    int    // entries of the path
	prompt  Counts // of prompt and tools
	last    Counts
	stopped error
}

// Accounting returns a walk that has not begun.
func (r *Replay) Accounting(c *tokens.Counter) *Accounting { return &Accounting{r: r, c: c} }

// Along are the accounts of the path to record leaf: where it goes on from the path gone
// before, those of its new entries, else all. A replay that had to stop stays there.
func (a *Accounting) Along(leaf int) iter.Seq2[Account, error] {
	return func(yield func(Account, error) bool) {
		path, found := a.r.Session.Path(leaf)
		if n := a.done; a.m == nil || n > len(path) || n > 0 && path[n-1] != a.m.path.at(n-1) {
			a.r.Findings = append(a.r.Findings, found...)
			*a = Accounting{r: a.r, c: a.c, m: watching{counter: a.c}.machine(a.r)}
		}
		for a.done < len(path) && a.stopped == nil {
			var next Account
			if next, a.stopped = a.next(path); a.stopped == nil && !yield(next, nil) {
				return
			}
		}
		if a.Behind = path[a.done:]; a.stopped != nil {
			yield(Account{Request: -1}, a.stopped)
		}
	}
}

func (a *Accounting) next(path []int) (next Account, err error) {
	next = Account{Request: -1, Before: a.last}
	if next.Step, err = a.m.does(path[a.done]); err != nil {
		return next, err
	}
	next.Answers = a.m.request
	if next.Did == Added && a.r.Session.Kind(next.Record) == sessionfmt.Assistant {
		next.Request = next.Answers - 1
	}
	if next.After, err = a.count(); err == nil {
		a.last = next.After
		a.done++
	}
	return next, err
}

// count is what the machine's envelope takes.
func (a *Accounting) count() (Counts, error) {
	m, s := a.m, a.m.now()
	changed, err := m.prompt.follow(a.r, s.deltas)
	if err != nil {
		return Counts{}, err
	}
	if changed {
		have, _ := a.r.implemented(m.prompt.f.tools)
		a.prompt = countPrompt(a.c, m.prompt.f.parts, have)
	}
	n := a.prompt
	n.Messages = s.msgs.tokens
	for i := range s.uncached {
		n.Messages += int(s.uncached[i].tokens)
	}
	n.Total = n.System + n.Tools + n.Messages
	return n, nil
}
