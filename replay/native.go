package replay

import (
	"iter"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Native are the items of the request as the session's own agent sends them, spelled as in the
// file. Prompt and tools are not among them where the agent keeps them elsewhere. Of pi's
// sessions there are none.
func (e *Envelope) Native() iter.Seq2[jsonl.Value, error] {
	return func(yield func(jsonl.Value, error) bool) {
		if e.r.Session.Dialect() == nil {
			return
		}
		n := e.r.Natives()
		for i := range e.Len() {
			m := e.Piece(i)
			if !m.Sent() {
				continue
			}
			items, err := n.Of(m)
			if err != nil {
				yield(nil, err)
				return
			}
			for item := range items.Elements {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// Natives are the items of messages as the session's own agent sends them. It is for one goroutine.
type Natives struct {
	l   *Reader
	rec int32
	at  map[uint32]int // places of the messages of that record's patch, by where they start
	all []jsonl.Value  // the same messages, with their native items
}

// Natives returns the items of the replay's messages.
func (r *Replay) Natives() *Natives { return &Natives{l: r.NewReader(), rec: -1} }

// Of returns the items of a message, as an array. They are valid until the next call. Those of a patch
// are found fastest in order.
func (n *Natives) Of(m Piece) (jsonl.Value, error) {
	switch {
	case m.edit >= 0: // what an edit makes of it
		line, err := n.l.lines.Native(int(m.edit))
		return line.Get("native"), err
	case m.form != patchGiven && m.form != framedSummary:
		line, err := n.l.lines.Native(int(m.rec))
		return line.Get("message").Get("native"), err
	}
	if n.rec != m.rec {
		if err := n.read(m.rec); err != nil {
			return nil, err
		}
	}
	return n.all[n.at[m.start]].Get("native"), nil
}

// read reads the patch of a record.
func (n *Natives) read(rec int32) error {
	line, err := n.l.lines.Line(int(rec))
	if err != nil {
		return err
	}
	n.rec, n.at, n.all = rec, map[uint32]int{}, n.all[:0]
	for op := range line.Get("patch").Elements {
		for v := range op.Get("messages").Elements {
			start, _ := span(line, v)
			n.at[start] = len(n.at)
		}
	}
	if line, err = n.l.edits.Native(int(rec)); err != nil {
		return err
	}
	for op := range line.Get("patch").Elements {
		for v := range op.Get("messages").Elements {
			n.all = append(n.all, v)
		}
	}
	return nil
}

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
