package replay

import (
	"iter"
	"maps"
	"slices"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Step is what one entry did.
type Step struct {
	Record int // the entry
	Did    Effect
	// Before and After are the numbers of cached messages in the request.
	Before, After int

	m *machine
}

// Envelope is the envelope after the step. It stays as it is while the walk goes
// on, but has to be asked for before it does.
func (s Step) Envelope() *Envelope { return s.m.envelope() }

// An Effect is what a step did to the envelope.
type Effect uint8

// The effects of steps.
const (
	Nothing   Effect = iota
	Added            // a message was appended
	Edited           // an edit took effect on messages that were there
	Compacted        // a compaction replaced the history, as an entry or as a patch
	Patched          // a transform's patch was applied
	Settings         // the model or the thinking level changed
)

// String names the effect.
func (e Effect) String() string {
	return [...]string{"nothing", "added", "edited", "compacted", "patched", "settings"}[e]
}

// Walk replays the path to record leaf, step by step from the root. An error
// ends it: a *sessionfmt.Error with the entry at which the replay had to stop.
// Findings of the walk are added to r.Findings.
func (r *Replay) Walk(leaf int) iter.Seq2[Step, error] { return r.walk(leaf, watching{}) }

// WalkTree replays the whole tree, each entry once, parents before children: where
// paths part, so does the machine. A step's envelope is that of its own path, as
// Walk would give it. An error ends the branch that it is on, and the walk goes on
// with the next; what is below a circle of parents is left out.
func (r *Replay) WalkTree(t *sessionfmt.Tree) iter.Seq2[Step, error] {
	return r.walkTree(t, watching{})
}

// A watching is what is asked of a walk besides its steps.
type watching struct {
	start   func() observer // one for each root; may be nil
	counter *tokens.Counter // counts each message, once; may be nil
}

// machine is a machine that is watched so.
func (w watching) machine(r *Replay) *machine {
	m := newMachine(r)
	if m.counter = w.counter; w.start != nil {
		m.watch = w.start()
	}
	return m
}

// An observer is told what goes on inside of steps. It goes with one machine, and where
// that forks it does too.
type observer interface {
	// request: an answer is at hand, and the machine stands where its request did.
	request(m *machine, rec int) error
	// did: an op of a patch has been applied, by its number.
	did(m *machine, k int, o *op) error
	// take: messages leave the list for that reason.
	take(gone iter.Seq[*message], by taker)
	// compacted: a compaction entry has made next out of before; the first heads messages
	// of it are its own.
	compacted(m *machine, msg message, line value, before, next *state, heads int) error
	fork() observer
}

// unconcerned is an observer of nothing, for others to build on.
type unconcerned struct{}

func (unconcerned) request(*machine, int) error                                   { return nil }
func (unconcerned) did(*machine, int, *op) error                                  { return nil }
func (unconcerned) take(iter.Seq[*message], taker)                                {}
func (unconcerned) compacted(*machine, message, value, *state, *state, int) error { return nil }
func (unconcerned) fork() observer                                                { return unconcerned{} }

// walk is Walk, watched.
func (r *Replay) walk(leaf int, w watching) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		path, found := r.Session.Path(leaf)
		r.Findings = append(r.Findings, found...)
		r.along(path, w)(yield)
	}
}

// along is a walk of a path, root first.
func (r *Replay) along(path []int, w watching) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		m := w.machine(r)
		way := make([]int32, len(path)) // half as large
		for i, rec := range path {
			way[i] = int32(rec)
		}
		path = nil
		m.path.own = way[:0]
		for _, rec := range way {
			if step, err := m.does(int(rec)); !yield(step, err) || err != nil {
				return
			}
		}
	}
}

// walkTree is WalkTree, watched.
func (r *Replay) walkTree(t *sessionfmt.Tree, w watching) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		for _, root := range t.Roots {
			if up := r.Session.Parent(root); up >= 0 {
				continue // its parents go round in a circle
			}
			if !w.machine(r).below(t, root, yield) {
				return
			}
		}
	}
}

// below goes down from a record, which the machine is about to do. It goes on where most
// of the entries are, and forks for the other ways: so forks are few and short, and
// nest no deeper than the logarithm of their number.
func (m *machine) below(t *sessionfmt.Tree, rec int, yield func(Step, error) bool) bool {
	for {
		step, err := m.does(rec)
		if !yield(step, err) {
			return false
		}
		if err != nil {
			return true
		}
		on := -1
		for c := range t.Children(rec) {
			if on < 0 || t.Size(c) > t.Size(on) {
				on = c
			}
		}
		if on < 0 {
			return true
		}
		for c := range t.Children(rec) {
			if c != on && !m.fork().below(t, c, yield) {
				return false
			}
		}
		rec = on
	}
}

// does is a step, as lenses see it.
func (m *machine) does(rec int) (Step, error) {
	m.path.push(rec)
	before := m.now().msgs.shown
	did, err := m.step(m.path.len()-1, rec)
	return Step{Record: rec, Did: did, Before: before, After: m.now().msgs.shown, m: m}, err
}

// fork is a copy of a machine that goes another way.
func (m *machine) fork() *machine {
	next := *m
	next.path = m.path.fork()
	next.base = *m.base.fork()
	if m.cut != nil {
		next.cut = m.cut.fork()
	}
	next.edits = maps.Clone(m.edits)
	next.where = map[*state]map[int32]int{}
	next.transforms = slices.Clip(m.transforms)
	next.prompt = m.prompt.fork(m.now().deltas, next.now().deltas)
	if m.beside != nil {
		next.beside = m.beside.fork()
	}
	next.watch = m.watch.fork()
	return &next
}

// fork is a copy of a state that goes its own way.
func (s *state) fork() *state {
	next := *s
	next.msgs.chunks = slices.Clone(s.msgs.chunks)
	if last := len(next.msgs.chunks) - 1; last >= 0 { // the others are full: nobody pushes there
		chunk := *next.msgs.chunks[last]
		next.msgs.chunks[last] = &chunk
	}
	next.uncached = slices.Clone(s.uncached)
	next.deltas = slices.Clone(s.deltas)
	return &next
}

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
	if next.Did == Added && a.r.Session.Kind(next.Record) == jsonl.Assistant {
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
