package replay

import (
	"fmt"
	"iter"
	"slices"
)

// A Span is two points of one session and what lies between them: the envelopes, and
// what took messages out on the ways to them from where their paths part.
type Span struct {
	A, B *Envelope
	// Stopped is the broken patch that the replay did not come past. A point behind it
	// stands for the last entry before it.
	Stopped error

	fork   int       // the last record of both paths, -1 for none
	toA    takers    // what only A's path did
	toB    takers    // what only B's path did
	onlyAt [2]onPath // records that only one of the paths has
}

// takers are what took each message out of the request last; of the zero message, the
// patch that arranged all of them last.
type takers map[message]taker

// A taker is the entry and op that took a message out, and whether it put a summary
// there.
type taker struct {
	Origin
	summary bool
}

type onPath map[int]bool

// Between replays to the points behind records a and b, -1 for the empty session:
// each entry once where one path goes on from the other.
func (r *Replay) Between(a, b int) (*Span, error) {
	pathA, _ := r.Session.Path(a)
	pathB, _ := r.Session.Path(b)
	shared := 0
	for shared < min(len(pathA), len(pathB)) && pathA[shared] == pathB[shared] {
		shared++
	}
	s := &Span{fork: -1, onlyAt: [2]onPath{records(pathA[shared:]), records(pathB[shared:])}}
	if shared > 0 {
		s.fork = pathA[shared-1]
	}
	var err error
	switch {
	case shared == len(pathA):
		s.A, s.B, s.toB, err = r.span(pathB, shared)
	case shared == len(pathB):
		s.B, s.A, s.toA, err = r.span(pathA, shared)
	default:
		if _, s.A, s.toA, err = r.span(pathA, shared); err == nil || Stopped(err) {
			s.Stopped = err
			known := r.Findings
			r.Findings = nil
			if _, s.B, s.toB, err = r.span(pathB, shared); err == nil {
				err = s.Stopped
			}
			for _, f := range r.Findings { // what both paths have is found on both
				if !slices.Contains(known, f) {
					known = append(known, f)
				}
			}
			r.Findings = known
		}
	}
	if err != nil && !Stopped(err) {
		return nil, err
	}
	s.Stopped = err
	if s.Stopped != nil && s.A.Leaf == s.B.Leaf && a != b {
		return nil, err // both points lie behind it
	}
	return s, nil
}

func records(path []int) onPath {
	on := onPath{}
	for _, rec := range path {
		on[rec] = true
	}
	return on
}

// span goes a path, and records what takes messages out behind the first so many
// entries. The envelopes are those there and at the end.
func (r *Replay) span(path []int, first int) (there, end *Envelope, took takers, err error) {
	there = newMachine(r).envelope()
	end = there
	watch := &taking{on: first == 0, taken: takers{}}
	pos := 0
	for step, fault := range r.along(path, watching{start: func() observer { return watch }}) {
		if pos++; fault != nil {
			step.m.pos--
			err = fault
		}
		if pos == first || pos == len(path) || fault != nil {
			end = step.Envelope()
		}
		if pos <= first { // or the replay stopped before
			there = end
		}
		watch.on = pos >= first
	}
	return there, end, watch.taken, err
}

// A taking records what takes messages out.
type taking struct {
	unconcerned
	on    bool
	taken takers
}

func (t *taking) take(gone iter.Seq[*message], by taker) {
	if !t.on {
		return
	}
	for m := range gone {
		t.taken[m.itself()] = by
	}
	if !by.summary {
		t.taken[message{}] = by
	}
}

// broken says why a provider's cache of an earlier request cannot serve this one
// beyond some point: its prompt, its tools, or a message of it has changed or is
// gone. It is empty where this request only adds to the earlier one.
func (e *Envelope) broken(earlier *Envelope) (string, error) {
	is, err := e.Prompt()
	if err != nil {
		return "", err
	}
	was, err := earlier.Prompt()
	if err != nil {
		return "", err
	}
	if was.Compiled != "" && is.Compiled != was.Compiled {
		return "the system prompt changed", nil
	}
	same := func(a, b Tool) bool { return string(a.Raw) == string(b.Raw) }
	if len(was.Tools) > 0 && !slices.EqualFunc(is.Tools, was.Tools, same) {
		return "the tools changed", nil
	}
	n := 0
	next := e.shownMessages()
	for _, m := range earlier.state.msgs.all {
		if !m.shown() {
			continue
		}
		other := next()
		switch {
		case other == nil:
			return fmt.Sprintf("message %d and what followed it is gone", n), nil
		case other.place() != m.place():
			return fmt.Sprintf("message %d is another", n), nil
		}
		n++
	}
	return "", nil
}

// shownMessages hands out the cached messages of a request one by one, nil behind
// the last.
func (e *Envelope) shownMessages() func() *message {
	i := 0
	return func() *message {
		for ; i < e.state.msgs.n; i++ {
			if m := e.state.msgs.at(i); m.shown() {
				i++
				return m
			}
		}
		return nil
	}
}
