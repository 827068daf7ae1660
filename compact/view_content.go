package compact

import (
	"bytes"

	"ctxtool/sessionfmt"
)

// Content is the content of a message as the view has it, as JSON: a list of blocks,
// what has not changed letter by letter as it is in the session. A string stays one
// where nothing has changed.
func (v *View) Content(i int) (sessionfmt.Value, error) {
	m := &v.Messages[i]
	var had []sessionfmt.Block
	if !m.Heads {
		msg, err := v.texts.of(m)
		if err != nil {
			return nil, err
		}
		if !m.Edited {
			return bytes.Clone(msg.Content), nil
		}
		if had = msg.Blocks; msg.Content.IsString() {
			had[0].Kind, had[0].Raw = sessionfmt.TextBlock, appendTextBlock(nil, msg.Content)
			v.texts.index = -1
		}
	}
	out := sessionfmt.Value{'['}
	next := 0 // the blocks before it are done with
	foreign := func(end int) {
		for ; next < min(end, len(had)); next++ {
			if had[next].Kind == sessionfmt.OtherBlock { // stays, wherever an edit leaves the message
				out = append(comma(out), had[next].Raw...)
			}
		}
	}
	for _, b := range m.Blocks {
		switch {
		case b.text != nil:
			out = appendTextBlock(comma(out), sessionfmt.AppendQuoted(nil, *b.text))
		case b.Kind == resultBlock:
			for i := range had {
				if had[i].Kind == sessionfmt.TextBlock {
					out = append(comma(out), had[i].Raw...)
				}
			}
		default:
			foreign(int(b.At))
			out = append(comma(out), had[b.At].Raw...)
		}
	}
	foreign(len(had))
	return append(out, ']'), nil
}

// comma separates what comes next from what stands before it.
func comma(list sessionfmt.Value) sessionfmt.Value {
	if list[len(list)-1] != '[' {
		list = append(list, ',')
	}
	return list
}

// appendTextBlock appends a block with one text, which is a JSON string.
func appendTextBlock(dst, text sessionfmt.Value) sessionfmt.Value {
	dst = append(dst, `{"type":"text","text":`...)
	return append(append(dst, text...), '}')
}
