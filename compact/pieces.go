package compact

import "ctxtool/sessionfmt"

// A piece is a part of a message as the view has it.
type piece struct {
	*block
	Says string           // what it says, of a call nothing
	Args sessionfmt.Value // of a call, as JSON
}

// pieces are the parts of a message, and the message as a provider gets it, nil for one
// that a pass has put there: its line is read once. Both are valid until the next call. Of
// a text longer than most bytes they have the beginning and the end; 0 is all of it.
func (v *View) pieces(i, most int) (raw sessionfmt.Value, all []piece, err error) {
	m := &v.Messages[i]
	if !m.Heads {
		if raw, err = v.texts.provider(m); err != nil {
			return nil, nil, err
		}
	}
	msg := raw.Message()
	for k := range msg.Blocks {
		if says := &msg.Blocks[k].Says; most > 0 && len(says.Value) > most {
			says.Value = says.AppendShort(nil, most)
		}
	}
	for k := range m.Blocks {
		p := piece{block: &m.Blocks[k]}
		switch {
		case p.text != nil:
			p.Says = *p.text
		case p.Kind == callBlock:
			p.Args = msg.Blocks[p.At].Args
		default:
			p.Says = says(p.block, msg)
		}
		all = append(all, p)
	}
	return raw, all, nil
}
