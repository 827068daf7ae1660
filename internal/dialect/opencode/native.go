package opencode

import (
	"slices"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// What opencode sends depends on the provider. This is how it sends messages to one that speaks
// Chat Completions.

// native adds what was sent for a message of parts.
func (m *maker) native(msg *dialect.Message, parts []row, answer, foreign bool) {
	switch {
	case !m.Native:
	case answer:
		msg.Native = dialect.List(m.sentAnswer(parts, foreign))
	default:
		msg.Native = dialect.List(jsonl.Value(`{"role":"user"}`).With("content", sentPrompt(parts)))
	}
}

// sentPrompt is what a prompt says, as it is sent: a text, or several parts.
func sentPrompt(parts []row) jsonl.Value {
	var all []jsonl.Value
	var text jsonl.Value
	for k := range parts {
		p := &parts[k].data.part
		if said := p.spoken().Value; said.Exists() {
			all, text = append(all, jsonl.Value(`{"type":"text"}`).With("text", said)), said
		} else if p.typ.Is("file") && attached(p.mime) {
			all = append(all, jsonl.Value(`{"type":"image_url"}`).With("image_url",
				jsonl.Value("{}").With("url", p.url)))
		}
	}
	if len(all) == 1 && text.Exists() {
		return text
	}
	return dialect.List(all...)
}

// sentAnswer is an answer as it is sent: to another model its reasoning is a part of the text.
func (m *maker) sentAnswer(parts []row, foreign bool) jsonl.Value {
	var said, thought []byte
	var calls []jsonl.Value
	one := jsonl.Value(`{"role":"assistant"}`)
	for k := range parts {
		switch p := &parts[k].data.part; {
		case p.typ.Is("reasoning") && foreign:
			said = p.text.AppendText(said)
		case p.typ.Is("reasoning"):
			thought = p.text.AppendText(thought)
		case p.typ.Is("tool"):
			calls = append(calls, dialect.SentCall(p.callID, p.tool, object(p.state.input)))
		default:
			said = p.spoken().AppendText(said)
		}
	}
	content := jsonl.Value(jsonl.AppendQuoted(nil, said))
	if m.agent == kilo && len(said) == 0 && calls != nil {
		content = jsonl.Value("null")
	}
	one = one.With("content", content)
	if len(thought) > 0 {
		one = one.With("reasoning_content", jsonl.AppendQuoted(nil, thought))
	}
	if calls != nil {
		one = one.With("tool_calls", dialect.List(calls...))
	}
	return one
}

// nativeResult adds what was sent for a result.
func (m *maker) nativeResult(msg *dialect.Message, p *partData) {
	if m.Native {
		said, _ := p.outcome()
		msg.Native = dialect.List(jsonl.Value(`{"role":"tool"}`).With("tool_call_id",
			p.callID).With("content", said.Value))
	}
}

// nativeMedia adds what is sent after the last result of an answer: the files of all of them.
func (m *maker) nativeMedia(msg *dialect.Message, parts []row) {
	var all []jsonl.Value
	for k := range parts {
		if p := &parts[k].data.part; p.typ.Is("tool") && p.media() {
			for f := range p.state.attachments.Elements {
				all = append(all, jsonl.Value(`{"type":"image_url"}`).With("image_url",
					jsonl.Value("{}").With("url", f.Get("url"))))
			}
		}
	}
	if m.Native && len(all) > 0 {
		all = slices.Insert(all, 0, mediaText)
		user := jsonl.Value(`{"role":"user"}`).With("content", dialect.List(all...))
		msg.Native = dialect.List(append(slices.Collect(msg.Native.Elements), user)...)
	}
}

var mediaText = jsonl.Value(`{"type":"text","text":"Attached media from tool result:"}`)
