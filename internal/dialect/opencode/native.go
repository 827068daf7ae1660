package opencode

import (
	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// What opencode sends depends on the provider. This is how it sends messages to one that speaks
// Chat Completions.

// native adds what was sent for a message of parts.
func (m *maker) native(msg *dialect.Message, parts []row, answer bool) {
	switch {
	case !m.Native:
	case answer:
		msg.Native = dialect.List(sentAnswer(parts))
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

// sentAnswer is an answer as it is sent.
func sentAnswer(parts []row) jsonl.Value {
	var said, thought []byte
	var calls []jsonl.Value
	one := jsonl.Value(`{"role":"assistant"}`)
	for k := range parts {
		switch p := &parts[k].data.part; {
		case p.typ.Is("reasoning"):
			thought = p.text.AppendText(thought)
		case p.typ.Is("tool"):
			calls = append(calls, dialect.SentCall(p.callID, p.tool, object(p.state.input)))
		default:
			said = p.spoken().AppendText(said)
		}
	}
	one = one.With("content", jsonl.AppendQuoted(nil, said))
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
