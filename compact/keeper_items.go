package compact

import (
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// A keptItem is a message of a keeper, for the reasons of a decision.
type keptItem struct {
	Message int // its index in the envelope of the path
	Kind    jsonl.Kind
	Tokens  int         // by the policy's counter
	Result  int         // tokens of a tool result as gsh counts them, -1 for other messages
	Tool    string      // of a result
	Args    jsonl.Value // of its call
}

// Items returns the messages of the next request, in order.
func (c *Keeper) Items() (all []keptItem, err error) {
	for i := range c.view.Messages {
		m := &c.view.Messages[i]
		if !m.Sent {
			continue
		}
		one := keptItem{Message: m.Index, Kind: m.Kind, Tokens: m.Tokens(c.policy.Counter), Result: -1}
		if k := m.result(); k >= 0 {
			one.Result, one.Tool = tokens.GSH.Of(m.Blocks[k].Bytes), m.Blocks[k].tool()
			if call, b := c.view.callOf(i); b >= 0 {
				text, err := c.view.text(call, b)
				if err != nil {
					return nil, err
				}
				one.Tool, one.Args = c.view.Messages[call].Blocks[b].tool(), jsonl.Value(text)
			}
		}
		all = append(all, one)
	}
	return all, nil
}
