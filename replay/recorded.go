package replay

import (
	"iter"

	"ctxtool/internal/dialect"
	"ctxtool/internal/rule"
	"ctxtool/sessionfmt/jsonl"
)

// Recorded returns the request as the agent recorded it beside the conversation, nil where it did
// not (docs/session-format.md 16.9): the one that was answered at once. It reads the session.
func (e *Envelope) Recorded() (*dialect.Recorded, error) {
	s := e.r.Session
	for i := e.Leaf + 1; i < s.Len(); i++ {
		if s.Recorded(i) && s.Parent(i) == e.Leaf {
			for r, err := range s.Requests {
				if err != nil || r.Answer == s.ID(i) {
					return &r, err
				}
			}
		}
	}
	return nil, nil
}

// Items returns the items of the request as the session's own agent sends them: the recorded ones, or
// else Native.
func (e *Envelope) Items() (iter.Seq2[jsonl.Value, error], error) {
	recorded, err := e.Recorded()
	if recorded != nil && recorded.Messages != nil {
		return recorded.Items, err
	}
	return e.Native(), err
}

// Rules returns the rules by which the request follows from its path: those of the session's agent.
func (e *Envelope) Rules() rule.Set { return e.used }

// Reading returns how sure the request is: as the rules that it used, or exact where the agent's own
// record of it proves the same. unlike is the index of the first message that the record has otherwise, -1
// if there is none.
func (e *Envelope) Reading() (reading dialect.Reading, unlike int, err error) {
	d := e.r.Session.Dialect()
	if e.r.Session.OhMyPi() {
		return e.r.Session.Reading(), -1, nil
	} else if d == nil {
		reading, err = e.piReading()
		return reading, -1, err
	}
	asked, err := e.askedBy(d.Rules)
	if err != nil {
		return reading, -1, err
	}
	reading = e.r.Session.ReadingOf(e.used, asked)
	recorded, err := e.Recorded()
	if err != nil || recorded == nil || recorded.Messages == nil {
		return reading, -1, err
	}
	var turns []dialect.Turn
	for m, err := range e.Native() {
		if err != nil {
			return reading, -1, err
		}
		turns = dialect.AddTurn(turns, m)
	}
	unlike = recorded.Unlike(turns, 0)
	if recorded.Exact() {
		exact := dialect.Certainty{Messages: "exact", System: "exact", Tools: "exact"}
		if unlike >= 0 {
			exact.Messages = reading.Certainty.Messages
		}
		reading.Certainty = &exact
	}
	return reading, unlike, nil
}
