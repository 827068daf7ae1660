package replay

import (
	"iter"

	"ctxtool/sessionfmt"
)

// A boundary is where in the agent's loop a transform is likely to come from. The
// file does not say: it is inferred from what stands around the transform.
type boundary string

// The two points of the loop at which transforms are made (spec/pi-format.md
// 4.4): right before a request, and when the answer to one has come.
const (
	beforeRequest boundary = "before_request"
	turnEnd       boundary = "turn_end"
)

// boundary infers the boundary of a transform on a walk along a path. Messages reach
// the file late: a transform made before a request stands in front of the prompt that
// caused it, right behind an earlier answer. Between an answer and a prompt the nearer in
// time decides.
func (s Step) boundary() (boundary, error) {
	session := s.m.r.Session
	before, after := s.m.turnEntry(-1), s.m.turnEntry(1)
	if before < 0 || session.Kind(before) != sessionfmt.Assistant {
		return beforeRequest, nil
	}
	if after < 0 || session.Kind(after) != sessionfmt.User {
		return turnEnd, nil
	}
	var at [3]int64
	lines := session.NewReader()
	for i, rec := range []int{before, s.Record, after} {
		line, err := lines.Line(rec)
		if err != nil {
			return "", err
		}
		ms, ok := line.Get("timestamp").Millis()
		if !ok {
			return turnEnd, nil
		}
		at[i] = ms
	}
	if at[2]-at[1] < at[1]-at[0] {
		return beforeRequest, nil
	}
	return turnEnd, nil
}

// turnEntry is the next record on the path, in that direction, that a turn is
// made of; -1 if there is none.
func (m *machine) turnEntry(step int) int {
	for k := m.pos + step; k >= 0 && k < m.path.len(); k += step {
		switch rec := m.path.at(k); m.r.Session.Kind(rec) {
		case sessionfmt.User, sessionfmt.Assistant, sessionfmt.ToolResult:
			return rec
		}
	}
	return -1
}

// entered are the messages of the request that were not in an earlier envelope of
// the same replay, in order, as a provider gets them; the uncached ones last.
func (e *Envelope) entered(earlier *Envelope) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		same := e.state.msgs.n
		for i := range e.state.msgs.differs(&earlier.state.msgs) {
			same = i
			break
		}
		had := map[message]int{}
		for i := same; i < earlier.len(); i++ {
			had[earlier.message(i).place()]++
		}
		l := e.r.newLoader()
		for i := same; i < e.len(); i++ {
			m := e.message(i)
			if had[m.place()] > 0 {
				had[m.place()]--
			} else if m.shown() && !l.yield(yield, m, (*loader).provider) {
				return
			}
		}
	}
}

// messages goes through all messages, the uncached ones last.
func (e *Envelope) messages(yield func(*message) bool) {
	for i := 0; i < e.len() && yield(e.message(i)); i++ {
	}
}
