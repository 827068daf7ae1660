package replay

import (
	"iter"
	"maps"
	"slices"

	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
)

// A Step is what one entry did.
type Step struct {
	Record int // the entry
	Did    Effect
	// Before and After are the numbers of cached messages in the request.
	Before, After int

	m *machine
}

// Watch are the observers of the step's own way, in the order of the walk's.
func (s Step) Watch() []Observer { return s.m.watch }

// Requests are the answers so far.
func (s Step) Requests() int { return s.m.request }

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

// An Observer is told what goes on in a walk. Where paths part, so does it.
type Observer interface {
	// Request: an answer is at hand, and the step's envelope is what its request got.
	Request(Step) error
	// Changed: the context has changed, by an entry or by an op of its patch.
	Changed(Step, *Change) error
	// Fork is the observer of another way that goes on from where from stands, as to.
	Fork(from, to Step) Observer
}

// Unconcerned is an observer of nothing, for others to build on.
type Unconcerned struct{}

// Request, Changed and Fork do nothing.
func (Unconcerned) Request(Step) error          { return nil }
func (Unconcerned) Changed(Step, *Change) error { return nil }
func (u Unconcerned) Fork(_, _ Step) Observer   { return u }

// Walk replays the path to record leaf, step by step from the root. An error
// ends it: a *sessionfmt.Error with the entry at which the replay had to stop, whose
// step has the envelope that the entry found. Findings of the walk are added to
// r.Findings.
func (r *Replay) Walk(leaf int, watch ...Observer) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		path, found := r.Session.Path(leaf)
		r.Findings = append(r.Findings, found...)
		r.Along(path, watch...)(yield)
	}
}

// Along is a walk of a path, root first.
func (r *Replay) Along(path []int, watch ...Observer) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		m := newMachine(r, watch...)
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

// WalkTree replays the whole tree, each entry once, parents before children: where
// paths part, so does the machine. A step's envelope is that of its own path, as
// Walk would give it. An error ends the branch that it is on, and the walk goes on
// with the next; what is below a circle of parents is left out.
func (r *Replay) WalkTree(t *sessionfmt.Tree, watch ...Observer) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		empty := newMachine(r, watch...)
		for _, root := range t.Roots {
			if up := r.Session.Parent(root); up >= 0 {
				continue // its parents go round in a circle
			}
			if !empty.fork().below(t, root, yield) {
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
	if err != nil {
		m.pos = m.path.len() - 2
	}
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
	next.prompt = m.prompt.Fork(Step{m: m}, Step{m: &next})
	next.watch = make([]Observer, len(m.watch))
	for i, o := range m.watch {
		next.watch[i] = o.Fork(Step{m: m}, Step{m: &next})
	}
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
	Request int          // number of the request that the entry answers, from 0; -1 for any other entry
	Answers int          // requests answered so far, this one included
	Path    []int        // that it is on, to its end
	At      int          // its place there
	Before  weigh.Counts // tokens, as Count counts
	After   weigh.Counts
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
	done    int          // entries of the path
	prompt  weigh.Counts // of prompt and tools
	last    weigh.Counts
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
			*a = Accounting{r: a.r, c: a.c, m: newMachine(a.r)}
			a.m.counter = a.c
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
	next = Account{Request: -1, Before: a.last, Path: path, At: a.done}
	if next.Step, err = a.m.does(path[a.done]); err != nil {
		return next, err
	}
	next.Answers = a.m.request
	if next.Did == Added && a.r.Session.Answers(next.Record) {
		next.Request = next.Answers - 1
	}
	if next.After, err = a.count(); err == nil {
		a.last = next.After
		a.done++
	}
	return next, err
}

// count is what the machine's envelope takes.
func (a *Accounting) count() (weigh.Counts, error) {
	m, s := a.m, a.m.now()
	changed, err := m.prompt.follow(a.r, s.deltas)
	if err != nil {
		return weigh.Counts{}, err
	}
	if changed {
		a.prompt = m.prompt.Now.Counts(a.c)
	}
	n := a.prompt
	n.Messages = s.msgs.tokens
	for i := range s.uncached {
		n.Messages += int(s.uncached[i].tokens)
	}
	n.Total = n.System + n.Tools + n.Messages
	return n, nil
}
