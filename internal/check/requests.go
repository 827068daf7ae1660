package check

import (
	"ctxtool/internal/dialect"
	"ctxtool/replay"
)

// readRequests reads the requests that the agent recorded beside the conversation.
func (x *subject) readRequests() (all []dialect.Recorded) {
	some := false
	for i := 0; i < x.s.Len() && !some; i++ {
		some = x.s.Recorded(i)
	}
	if !some {
		return nil
	}
	for r, err := range x.s.Requests {
		if err != nil {
			x.unread = err
			return nil
		}
		all = append(all, r)
	}
	return all
}

func (x *subject) unprovedRequest() {
	for _, r := range x.requests() {
		if r.Proof == dialect.Unproved {
			x.addLine(r.Line, "", "the digest of request %s is not that of what its record names: what was sent is not known", r.ID)
		}
	}
}

// A recordedWatch compares requests with what their agent recorded of them. Where the same message
// of successive ones differs, it names the first. It reads what is new in a request.
type recordedWatch struct {
	w        *walk
	natives  *replay.Natives
	recorded map[string]*dialect.Recorded // by the id of the answer

	// Of the last request that was compared: its record and its messages, the turns that these make,
	// the first turn that each message is a part of, and the turn that differs, -1 for none.
	last   *dialect.Recorded
	had    replay.Messages
	turns  []dialect.Turn
	of     []int
	unlike int
}

func (w *walk) recordedWatch(r *replay.Replay) replay.Observer {
	c := &recordedWatch{w: w, natives: r.Natives(), recorded: map[string]*dialect.Recorded{}, unlike: -1}
	all := w.requests()
	for k := range all {
		if all[k].Answer != "" && all[k].Messages != nil {
			c.recorded[all[k].Answer] = &all[k]
		}
	}
	return c
}

// Fork is of [replay.Observer], as Request is.
func (c *recordedWatch) Fork(_, _ replay.Step) replay.Observer { return c }

func (c *recordedWatch) Request(s replay.Step) error {
	if len(c.recorded) == 0 {
		return nil
	}
	recorded := c.recorded[c.w.s.ID(s.Record)]
	if recorded == nil {
		return nil
	}
	same, err := c.read(s.Messages())
	if err != nil {
		return err
	}
	if c.last != nil {
		same = min(same, recorded.Messages.Shared(c.last.Messages))
	}
	was := c.unlike
	if c.last == nil || was < 0 || was >= same {
		c.unlike = recorded.Unlike(c.turns, same)
	}
	c.last = recorded
	if k := c.unlike; k >= 0 && k != was {
		c.w.step = s
		c.w.found("request-differs", "message %d of the request that the agent recorded in line %d is not what its conversation gives: ctxtool replay -f native prints it as recorded", k, recorded.Line)
	}
	return nil
}

// read reads the messages of a request. It returns how many turns are those of the last one.
func (c *recordedWatch) read(is replay.Messages) (same int, err error) {
	from := 0
	if c.had.Known() {
		from = min(is.Same(c.had), len(c.of))
	}
	same = len(c.turns)
	if from < len(c.of) {
		same = c.of[from]
	}
	same = max(0, same-1) // it may go on
	for from > 0 && c.of[from-1] >= same {
		from--
	}
	c.turns, c.of, c.had = c.turns[:same], c.of[:from], is
	for i := from; i < is.Len(); i++ {
		at := len(c.turns)
		if m := is.Piece(i); m.Sent() {
			items, err := c.natives.Of(m)
			if err != nil {
				return 0, err
			}
			for item := range items.Elements {
				before := len(c.turns)
				if c.turns = dialect.AddTurn(c.turns, item); len(c.turns) == before {
					at = min(at, before-1)
				}
			}
		}
		c.of = append(c.of, at)
	}
	return same, nil
}
