package replay

import (
	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
	"iter"
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

// Reading returns how sure the request is: as the session, or exact where the agent's own record of
// it proves the same. unlike is the index of the first message that the record has otherwise, -1 if
// there is none.
func (e *Envelope) Reading() (reading dialect.Reading, unlike int, err error) {
	reading = e.r.Session.Reading()
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
