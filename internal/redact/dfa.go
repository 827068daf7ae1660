package redact

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// A dfa decides whether a match of an expression begins at a place, and how far one has to read
// to know. Its states are built on demand. The expression itself, which is slow, is only run
// where the dfa matches.
type dfa struct {
	prog   *syntax.Prog
	states []dfaState
	known  map[string]int32
	key    []byte
	starts [utf8.RuneSelf]int32 // by the previous character: the start state plus 1, 0 if unknown
	wide   [256][3]int32        // some of the last steps by other characters: state, character, next

	steps uint32      // counts calls of step
	in    [][2]uint32 // by instruction: the last step that reached it, and that leads to it
	stack []uint32
	out   []uint32

	read  int     // bytes that were read in the current text
	first int     // where trail begins, divided by trailStride
	trail []trace // the states of runs at every trailStride bytes of the text
	ends  []ending
}

// A dfaState is a list of instructions before a character, in the order in which package regexp
// prefers them, and the kind of the previous character.
type dfaState struct {
	next [utf8.RuneSelf]int32 // by character: the next state, see step
	pcs  []uint32
	prev rune // '\n', 'a' for word characters, ' ' for others, -1 for none
}

// A trace is the state that a run has at a place. Another run that has it there ends as that one
// does: many runs over the same bytes take linear time.
type trace struct{ state, run int32 }

// An ending is where a run ended, and where the match did, -1 for none.
type ending struct{ until, match int }

const trailStride = 64

// Values of dfaState.next: 0 is unknown; else the number of the next state plus 1, negative if
// a match ends before the character.
const dead = 0 // the state in which nothing can match any more

// maxStates is the number of states after which a dfa starts over.
const maxStates = 1000

func newDFA(prog *syntax.Prog) *dfa {
	d := &dfa{prog: prog, in: make([][2]uint32, len(prog.Inst))}
	d.reset()
	return d
}

func (d *dfa) reset() {
	d.known = map[string]int32{}
	d.states = append(d.states[:0], dfaState{})
	clear(d.starts[:])
	clear(d.trail)
	clear(d.wide[:])
}

// begin prepares for the runs in a text, from left to right.
func (d *dfa) begin() { d.read, d.first, d.trail, d.ends = 0, -1, d.trail[:0], d.ends[:0] }

// start returns the state at a place, given the previous character, -1 for none.
func (d *dfa) start(prev rune) int32 {
	at := []uint32{uint32(d.prog.Start)}
	if prev < 0 || prev >= utf8.RuneSelf {
		return d.state(at, prev)
	}
	if d.starts[prev] == 0 {
		d.starts[prev] = d.state(at, prev) + 1
	}
	return d.starts[prev] - 1
}

// state returns the number of the state with these instructions.
func (d *dfa) state(pcs []uint32, prev rune) int32 {
	if len(pcs) == 0 {
		return dead
	}
	switch {
	case prev == '\n' || prev < 0:
	case syntax.IsWordChar(prev):
		prev = 'a'
	default:
		prev = ' '
	}
	d.key = append(d.key[:0], byte(prev))
	for _, pc := range pcs {
		d.key = binary.LittleEndian.AppendUint32(d.key, pc)
	}
	if n, ok := d.known[string(d.key)]; ok {
		return n
	}
	n := int32(len(d.states))
	d.known[string(d.key)] = n
	d.states = append(d.states, dfaState{pcs: slices.Clone(pcs), prev: prev})
	return n
}

// step computes the transition from a state by a character, -1 for the end of the text; see
// dfaState.next.
func (d *dfa) step(from int32, r rune) int32 {
	s := &d.states[from]
	flags := syntax.EmptyOpContext(s.prev, r)
	d.steps++
	d.out, d.stack = d.out[:0], append(d.stack[:0], s.pcs...)
	slices.Reverse(d.stack)
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.in[pc][0] == d.steps {
			continue
		}
		d.in[pc][0] = d.steps
		i := &d.prog.Inst[pc]
		takes := false
		switch i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			d.stack = append(d.stack, i.Arg, i.Out)
		case syntax.InstCapture, syntax.InstNop:
			d.stack = append(d.stack, i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^flags == 0 {
				d.stack = append(d.stack, i.Out)
			}
		case syntax.InstMatch: // preferred to all that follow
			return -d.state(d.out, r) - 1
		case syntax.InstRune, syntax.InstRune1:
			takes = r >= 0 && i.MatchRune(r)
		case syntax.InstRuneAny:
			takes = r >= 0
		case syntax.InstRuneAnyNotNL:
			takes = r >= 0 && r != '\n'
		}
		if takes && d.in[i.Out][1] != d.steps {
			d.in[i.Out][1] = d.steps
			d.out = append(d.out, i.Out)
		}
	}
	return d.state(d.out, r) + 1
}

// run reports whether a match begins at text[at:], and the offset after which nothing can
// change that or the match's length.
func (d *dfa) run(text []byte, at int) (matched bool, until int) {
	if len(d.states) > maxStates {
		d.reset()
	}
	s := d.start(runeBefore(text, at))
	d.read -= at
	end, traced := ending{match: -1}, false
	for s != dead && at < len(text) {
		if at%trailStride == 0 {
			if was, ok := d.trace(at/trailStride, s); ok {
				end.until = was.until
				if was.match >= at {
					end.match = was.match
				}
				break
			}
			traced = true
		}
		to, size := int32(0), 1
		if c := text[at]; c < utf8.RuneSelf {
			if to = d.states[s].next[c]; to == 0 {
				to = d.step(s, rune(c))
				d.states[s].next[c] = to
			}
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[at:])
			w := &d.wide[(uint32(r)+uint32(s)*31)%uint32(len(d.wide))]
			if w[2] == 0 || w[0] != s || w[1] != r {
				*w = [3]int32{s, r, d.step(s, r)}
			}
			to = w[2]
		}
		if to < 0 {
			end.match, to = at, -to
		}
		s = to - 1
		at += size
	}
	if end.until == 0 {
		if end.until = at; s != dead && d.step(s, -1) < 0 {
			end.match = at
		}
	}
	if d.read += at; traced {
		d.ends = append(d.ends, end)
	}
	return end.match >= 0, end.until
}

// trace records the state of the current run at a place, or returns how a previous run with the
// same state ended.
func (d *dfa) trace(place int, s int32) (was ending, ok bool) {
	if d.first < 0 {
		d.first = place
	}
	place -= d.first
	for len(d.trail) <= place {
		d.trail = append(d.trail, trace{})
	}
	t := &d.trail[place]
	if t.state == s {
		return d.ends[t.run], true
	}
	*t = trace{s, int32(len(d.ends))}
	return ending{}, false
}

// runeBefore returns the character before text[at:], -1 for none.
func runeBefore(text []byte, at int) rune {
	if at == 0 {
		return -1
	}
	if c := text[at-1]; c < utf8.RuneSelf {
		return rune(c)
	}
	r, _ := utf8.DecodeLastRune(text[:at])
	return r
}

// A searcher reports whether an expression matches anywhere in a text. It is safe for concurrent use.
type searcher struct{ dfas sync.Pool }

// newSearcher returns a searcher of a valid expression.
func newSearcher(regex string) *searcher {
	re, err := syntax.Parse(`(?s:.*?)(?:`+regex+`)`, syntax.Perl)
	if err != nil {
		panic(err)
	}
	prog, _ := syntax.Compile(re.Simplify())
	return &searcher{sync.Pool{New: func() any { return newDFA(prog) }}}
}

func (s *searcher) match(text []byte) bool {
	d := s.dfas.Get().(*dfa)
	defer s.dfas.Put(d)
	d.begin()
	ok, _ := d.run(text, 0)
	return ok
}
