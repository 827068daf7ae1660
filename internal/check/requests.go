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
		r.Body = nil
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
// of successive ones differs, it names the first.
type recordedWatch struct {
	w        *walk
	natives  *replay.Natives
	recorded map[string]*dialect.Recorded // by the id of the answer
	turns    map[int32][]dialect.Turn     // messages as they are sent, by number
	unlike   int                          // the message that differed in the request before, -1 for none
}

func (w *walk) recordedWatch(r *replay.Replay) replay.Observer {
	c := &recordedWatch{w: w, natives: r.Natives(), recorded: map[string]*dialect.Recorded{}, turns: map[int32][]dialect.Turn{}, unlike: -1}
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
	var turns []dialect.Turn
	is := s.Messages()
	for i := range is.Len() {
		of, err := c.sent(is.Number(i), is)
		if err != nil {
			return err
		}
		for _, t := range of {
			turns = dialect.JoinTurn(turns, t)
		}
	}
	k := recorded.Unlike(turns)
	before := c.unlike
	if c.unlike = k; k >= 0 && k != before {
		c.w.step = s
		c.w.found("request-differs", "message %d of the request that the agent recorded in line %d is not what its conversation gives: ctxtool replay -f native prints it as recorded", k, recorded.Line)
	}
	return nil
}

// sent are the turns of a message.
func (c *recordedWatch) sent(number int32, of replay.Messages) ([]dialect.Turn, error) {
	turns, ok := c.turns[number]
	if m := of.Numbered(number); !ok && m.Sent() {
		items, err := c.natives.Of(m)
		if err != nil {
			return nil, err
		}
		for item := range items.Elements {
			turns = append(turns, dialect.AddTurn(nil, item)...)
		}
	}
	c.turns[number] = turns
	return turns, nil
}
