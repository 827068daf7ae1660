package compact

import (
	"fmt"

	"ctxtool/sessionfmt"
)

// Content is the content of a message as the view has it, as JSON: a list of blocks,
// what has not changed letter by letter as it is in the session. A string stays one
// where nothing has changed.
func (v *View) Content(i int) (sessionfmt.Value, error) {
	m := &v.Messages[i]
	var content sessionfmt.Value
	if !m.Heads {
		var err error
		if content, err = v.texts.of(m); err != nil {
			return nil, err
		}
		if !m.Edited {
			return append(sessionfmt.Value(nil), content...), nil
		}
	}
	var elements []sessionfmt.Value
	for el := range content.Elements {
		elements = append(elements, el)
	}
	if content.IsString() {
		elements = append(elements, appendTextBlock(nil, content))
	}
	out := sessionfmt.Value{'['}
	next := 0 // the elements before it are done with
	foreign := func(end int) {
		for ; next < min(end, len(elements)); next++ {
			if !m.knows(elements[next].Get("type")) {
				out = append(comma(out), elements[next]...)
			}
		}
	}
	for _, b := range m.Blocks {
		switch {
		case b.text != nil:
			out = appendTextBlock(comma(out), sessionfmt.AppendQuoted(nil, *b.text))
		case b.Kind == ResultBlock:
			for _, el := range elements {
				if el.Get("type").Is("text") {
					out = append(comma(out), el...)
				}
			}
		default:
			foreign(int(b.At))
			out = append(comma(out), elements[b.At]...)
		}
	}
	foreign(len(elements))
	return append(out, ']'), nil
}

// knows says that blocks of a type are what a message of the kind is made of. Others
// stay, wherever an edit leaves the message.
func (m *Message) knows(typ sessionfmt.Value) bool {
	if m.isAssistant() {
		return typ.Is("text") || typ.Is("thinking") || typ.Is("toolCall")
	}
	return typ.Is("text") || typ.Is("image")
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

// Provider is a message as a provider gets it, as the view has it. All members but the
// content are as they are in the session; the summary of a compaction is the user's.
func (v *View) Provider(i int) (sessionfmt.Value, error) {
	m := &v.Messages[i]
	content, err := v.Content(i)
	if err != nil {
		return nil, err
	}
	if m.Heads {
		return fmt.Appendf(nil, `{"role":"user","content":%s}`, content), nil
	}
	raw, err := v.texts.provider(m)
	if err != nil {
		return nil, err
	}
	if !m.Edited {
		return append(sessionfmt.Value(nil), raw...), nil
	}
	out := sessionfmt.Value{'{'}
	for key, val := range raw.Members {
		if len(out) > 1 {
			out = append(out, ',')
		}
		if string(key) == "content" {
			val = content
		}
		out = append(append(sessionfmt.AppendQuoted(out, string(key)), ':'), val...)
	}
	return append(out, '}'), nil
}
