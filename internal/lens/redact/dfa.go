package redact

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
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
	starts [utf8.RuneSelf + 1]int32 // by the previous character plus 1: the start state plus 1, 0 if unknown

	steps uint32      // counts calls of step
	in    [][2]uint32 // by instruction: the last step that reached it, and that leads to it
	stack []uint32
	out   []uint32
}

// A dfaState is a list of instructions before a character, in the order in which package regexp
// prefers them, and the kind of the previous character.
type dfaState struct {
	next [utf8.RuneSelf]int16 // by character: the next state, see dead
	pcs  []uint32
	prev rune // '\n', 'a' for word characters, ' ' for others, -1 for none
}

// Values of dfaState.next and results of step: 0 is unknown; else the number of the next state plus 1, negative if a
// match ends before the character.
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
}

// start returns the state at a place, given the previous character, -1 for none.
func (d *dfa) start(prev rune) int32 {
	at := []uint32{uint32(d.prog.Start)}
	if prev >= utf8.RuneSelf {
		return d.state(at, prev)
	}
	known := &d.starts[prev+1]
	if *known == 0 {
		*known = d.state(at, prev) + 1
	}
	return *known - 1
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

// to is step for a character of ASCII, computed once.
func (d *dfa) to(from int32, c byte) int32 {
	if to := d.states[from].next[c]; to != 0 {
		return int32(to)
	}
	to := d.step(from, rune(c))
	if short := int16(to); int32(short) == to {
		d.states[from].next[c] = short
	}
	return to
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

// mostGuess is how many bytes may reads.
const mostGuess = 64

// may reports whether a match may begin at text[at:], a part of a text or, if it is spelled so, of a string of JSON: it
// reads up to the first escape that is no white space or quote, and does not know what is before.
func (d *dfa) may(text []byte, at int, spelled bool) bool {
	if len(d.states) > maxStates {
		d.reset()
	}
	s, start := d.start(-1), at
	for end := min(len(text), at+mostGuess); s != dead && at < end; at++ {
		c := text[at]
		switch {
		case c == '\\' && !spelled: // the expression sees it as it is
		case c == '\\' && at+1 < len(text):
			at++
			c = blanks[text[at]]
		case special[c] != 0 || c >= utf8.RuneSelf:
			c = 0
		}
		if c == 0 {
			return true
		}
		to := d.to(s, c)
		if to < 0 {
			return true
		}
		s = to - 1
	}
	if s == dead {
		return at-start > minPart && !isAlnum(text[at-1]) // it may continue, see rejoined
	}
	return at < len(text) || d.step(s, -1) < 0
}

// blanks are the characters of the escapes that inString leaves out, by their letter.
var blanks = [256]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"'}

// matches reports whether there may be a match in a text, given the dfa of an expression that begins with anything.
func (d *dfa) matches(text []byte) bool {
	s := d.start(-1)
	for at := 0; at < len(text); {
		to, size := int32(0), 1
		if c := text[at]; c < utf8.RuneSelf {
			if len(d.states) > maxStates { // too many for the expression to be worth it
				d.reset()
				return true
			}
			to = d.to(s, c)
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[at:])
			to = d.step(s, r)
		}
		if to < 0 {
			return true
		}
		s = to - 1
		at += size
	}
	return d.step(s, -1) < 0
}

// run reports whether a match begins at text[at:], and the offset after which nothing can
// change that or the match's length.
func (d *dfa) run(text []byte, at int) (matched bool, until int) {
	if len(d.states) > maxStates {
		d.reset()
	}
	s := d.start(runeBefore(text, at))
	for s != dead && at < len(text) {
		to, size := int32(0), 1
		if c := text[at]; c < utf8.RuneSelf {
			to = d.to(s, c)
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[at:])
			to = d.step(s, r)
		}
		if to < 0 {
			matched, to = true, -to
		}
		s = to - 1
		at += size
	}
	return matched || s != dead && d.step(s, -1) < 0, at
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
