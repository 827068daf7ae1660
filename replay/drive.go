package replay

import (
	"iter"

	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
)

// A Walk replays a path entry by entry. Its caller chooses each entry, which need not be a child
// of the one before, and may be one that the session only holds (sessionfmt.Session.Hold).
// Several walks over one session are independent.
type Walk struct {
	Unreached []int // records of the last path of Along that the walk did not reach

	r       *Replay
	c       *tokens.Counter
	m       *machine
	done    int          // entries of the path
	prompt  weigh.Counts // of prompt and tools
	last    weigh.Counts
	stopped error
}

// Start returns a walk before the first entry. With a counter it counts tokens: each message
// once, where it is set.
func (r *Replay) Start(c *tokens.Counter, watch ...Observer) *Walk {
	w := &Walk{r: r, c: c, m: newMachine(r, watch...)}
	w.m.counter = c
	return w
}

// Next replays an entry after those replayed so far. An error ends the walk, as with
// Replay.Walk.
func (w *Walk) Next(rec int) (next Account, err error) {
	next = Account{Request: -1, Before: w.last, At: w.done}
	if w.stopped != nil {
		return next, w.stopped
	}
	if next.Step, err = w.m.advance(rec); err != nil {
		w.stopped = err
		return next, err
	}
	next.Answers = w.m.request
	if next.Did == Added && w.r.Session.Answers(rec) {
		next.Request = next.Answers - 1
	}
	if w.c != nil {
		if next.After, err = w.count(); err != nil {
			w.stopped = err
			return next, err
		}
		w.last = next.After
	}
	w.done++
	return next, nil
}

// Step returns the state of the walk as a step without an entry, whose envelope is that of the
// next request.
func (w *Walk) Step() Step { return Step{Record: -1, Before: w.shown(), After: w.shown(), m: w.m} }

func (w *Walk) shown() int { return w.m.current().msgs.shown }

// Fork returns a walk that continues from the same state along another path. Observers are
// forked.
func (w *Walk) Fork() *Walk {
	next := *w
	next.m = w.m.fork()
	return &next
}

// Along returns the accounts of the path to record leaf. If the path extends that of the walk,
// it returns those of the new entries only, else it starts again, without observers. A replay
// that stopped does not continue.
func (w *Walk) Along(leaf int) iter.Seq2[Account, error] {
	return func(yield func(Account, error) bool) {
		path, found := w.r.Session.Path(leaf)
		n := w.done
		if n > len(path) || n > 0 && path[n-1] != w.m.path.at(n-1) {
			*w, n = *w.r.Start(w.c), 0
		}
		if n == 0 {
			w.r.Findings = append(w.r.Findings, found...)
		}
		for w.done < len(path) && w.stopped == nil {
			next, err := w.Next(path[w.done])
			if next.Path = path; err == nil && !yield(next, nil) {
				return
			}
		}
		if w.Unreached = path[w.done:]; w.stopped != nil {
			yield(Account{Request: -1}, w.stopped)
		}
	}
}

// messageTokens returns the tokens of the messages of the machine's envelope.
func (m *machine) messageTokens() int {
	s := m.current()
	n := s.msgs.tokens
	for _, number := range s.uncached {
		n += int(m.pool.at(number).tokens)
	}
	return n
}

// count returns the counts of the machine's envelope.
func (w *Walk) count() (weigh.Counts, error) {
	m, s := w.m, w.m.current()
	changed, err := m.prompt.follow(w.r, s.deltas)
	if err != nil {
		return weigh.Counts{}, err
	}
	if changed {
		w.prompt = m.prompt.Current.Counts(w.c)
	}
	n := w.prompt
	n.Messages = m.messageTokens()
	n.Total = n.System + n.Tools + n.Messages
	return n, nil
}
