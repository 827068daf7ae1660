package opencode

import (
	"bytes"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// What opencode sends depends on the provider. This is how it sends messages to one that speaks
// Chat Completions.

// native adds what was sent for a message of parts.
func (m *maker) native(msg *dialect.Message, parts []jsonl.Value, answer bool) {
	switch {
	case !m.Native:
	case answer:
		msg.Native = m.list(sentAnswer(parts))
	default:
		msg.Native = m.list(jsonl.Value(`{"role":"user"}`).With("content", sentPrompt(parts)))
	}
}

// list is a list of one message.
func (m *maker) list(one jsonl.Value) jsonl.Value { return m.Make([]byte("["), one, []byte("]")) }

// sentPrompt is what a prompt says, as it is sent: a text, or several parts.
func sentPrompt(parts []jsonl.Value) jsonl.Value {
	var only jsonl.Value
	list, sep, n := jsonl.Value("["), "", 0
	for _, p := range parts {
		if only = spoken(p); only.Exists() {
			only = jsonl.Value(`{"type":"text"}`).With("text", only)
		} else if p.Get("type").Is("file") && attached(p.Get("mime")) {
			only = jsonl.Value(`{"type":"image_url"}`).With("image_url", jsonl.Value("{}").With("url", p.Get("url")))
		} else {
			continue
		}
		list = append(append(list, sep...), only...)
		sep = ","
		n++
	}
	list = append(list, ']')
	for _, p := range parts {
		if said := spoken(p); n == 1 && said.Exists() {
			return said
		}
	}
	return list
}

// sentAnswer is an answer as it is sent.
func sentAnswer(parts []jsonl.Value) jsonl.Value {
	var said, thought []byte
	var calls, quoted jsonl.Value
	for _, p := range parts {
		switch typ := p.Get("type"); {
		case typ.Is("reasoning"):
			thought = p.Get("text").AppendText(thought)
		case typ.Is("tool"):
			calls = append(append(calls, ','), dialect.SentCall(p.Get("callID"), p.Get("tool"), input(p))...)
		default:
			said = spoken(p).AppendText(said)
		}
	}
	if len(thought) > 0 {
		quoted = jsonl.AppendQuoted(nil, thought)
	}
	if calls != nil {
		calls[0] = '['
		calls = append(calls, ']')
	}
	one := jsonl.Value(`{"role":"assistant"}`).With("content", jsonl.AppendQuoted(nil, said))
	return one.With("reasoning_content", quoted).With("tool_calls", calls)
}

// nativeResult adds what was sent for a result.
func (m *maker) nativeResult(msg *dialect.Message, p jsonl.Value) {
	if m.Native {
		said, _ := outcome(p)
		msg.Native = m.list(jsonl.Value(`{"role":"tool"}`).With("tool_call_id", p.Get("callID")).With("content", said))
	}
}

// imageData is the data of an image that is a data URL, a JSON string.
func imageData(url, mime jsonl.Value) (data jsonl.Value, ok bool) {
	if !bytes.HasPrefix(mime.Inside(), []byte("image/")) || !bytes.HasPrefix(url.Inside(), []byte("data:")) {
		return nil, false
	}
	_, data, ok = bytes.Cut(url.Inside(), []byte(";base64,"))
	if !ok {
		return nil, false
	}
	return append(append(jsonl.Value{'"'}, data...), '"'), true
}
