package compact

import (
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A keptContext is what a keeper would send with the next request.
type keptContext struct {
	weigh.Shares
	Messages int            // in the request
	Prompt   *prompt.Prompt // as the policy has left it
	Kept     int            // leading messages that the previous request had at the same place
	KeptSize int            // their tokens
	Again    int            // tokens of messages after those that the previous request had too
}

// Request returns the context of the next request, compared with the one at the previous call.
func (c *Keeper) Request() keptContext {
	all := c.view.Messages
	from := c.sent
	if c.first >= 0 {
		from, c.last = 0, keptContext{}
	}
	c.last.Kept, c.last.KeptSize, c.last.Again = c.last.Messages, c.last.Total(), 0
	for i := from; i < len(all); i++ {
		m := &all[i]
		if !m.Sent {
			continue
		}
		n := m.Tokens(&tokens.Pi)
		switch {
		case c.first < 0 || i >= c.sent:
		case i < c.first:
			c.last.Kept++
			c.last.KeptSize += n
		case !m.fresh:
			c.last.Again += n
		}
		c.last.Add(m.Kind, n)
		c.last.Messages++
		m.fresh = false
	}
	c.last.Prompt, c.first, c.sent = c.view.Prompt, -1, len(all)
	return c.last
}

// Messages returns the number of messages of the path that the keeper has.
func (c *Keeper) Messages() int { return c.next }

// LastKind returns the kind of the last message, zero without any.
func (c *Keeper) LastKind() (k jsonl.Kind) {
	if n := len(c.view.Messages); n > 0 {
		k = c.view.Messages[n-1].Kind
	}
	return k
}
