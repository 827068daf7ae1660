package opencode

import (
	"bytes"

	"ctxtool/sessionfmt/jsonl"
)

// What opencode sends depends on the provider. This is how it sends messages to one that speaks
// Chat Completions.

// nativePrompt appends the message of a prompt, as it is sent: a text, or several parts.
func (w *writer) nativePrompt(parts []jsonl.Value) {
	if !w.Native {
		return
	}
	w.Raw(`,"native":[{"role":"user","content":`)
	var only jsonl.Value
	n := 0
	for _, p := range parts {
		if said := spoken(p); said.Exists() {
			only = said
			n++
		} else if p.Get("type").Is("file") && attached(p.Get("mime")) {
			n += 2
		}
	}
	if n == 1 {
		w.Out = append(w.Out, only...)
		w.Raw("}]")
		return
	}
	sep := "["
	for _, p := range parts {
		if said := spoken(p); said.Exists() {
			w.Raw(sep)
			w.Block("text", "text", said)
			sep = ","
		} else if p.Get("type").Is("file") && attached(p.Get("mime")) {
			w.Raw(sep + `{"type":"image_url","image_url":{`)
			w.Member("", "url", p.Get("url"))
			w.Raw("}}")
			sep = ","
		}
	}
	if sep == "[" {
		w.Raw(sep)
	}
	w.Raw("]}]")
}

// nativeAnswer appends the message of an answer, as it is sent.
func (w *writer) nativeAnswer(parts []jsonl.Value) {
	if !w.Native {
		return
	}
	var said, thought []byte
	calls := 0
	for _, p := range parts {
		switch typ := p.Get("type"); {
		case typ.Is("reasoning"):
			thought = p.Get("text").AppendText(thought)
		case typ.Is("tool"):
			calls++
		default:
			said = spoken(p).AppendText(said)
		}
	}
	w.Raw(`,"native":[{"role":"assistant"`)
	w.Text(",", "content", string(said))
	if len(thought) > 0 {
		w.Text(",", "reasoning_content", string(thought))
	}
	sep := `,"tool_calls":[`
	for _, p := range parts {
		if p.Get("type").Is("tool") {
			w.Raw(sep)
			w.Member("{", "id", p.Get("callID"))
			w.Raw(`,"type":"function","function":{`)
			w.Member("", "name", p.Get("tool"))
			w.Text(",", "arguments", string(input(p)))
			w.Raw("}}")
			sep = ","
		}
	}
	if calls > 0 {
		w.Raw("]")
	}
	w.Raw("}]")
}

// nativeResult appends the message of a result, as it is sent.
func (w *writer) nativeResult(p jsonl.Value) {
	if !w.Native {
		return
	}
	said, _ := outcome(p)
	w.Raw(`,"native":[{"role":"tool"`)
	w.Member(",", "tool_call_id", p.Get("callID"))
	w.Member(",", "content", said)
	w.Raw("}]")
}

// imageData is the data of an image that is a data URL, a JSON string.
func imageData(url, mime jsonl.Value) (data jsonl.Value, ok bool) {
	if !bytes.HasPrefix(inner(mime), []byte("image/")) || !bytes.HasPrefix(inner(url), []byte("data:")) {
		return nil, false
	}
	_, data, ok = bytes.Cut(inner(url), []byte(";base64,"))
	if !ok {
		return nil, false
	}
	return append(append(jsonl.Value{'"'}, data...), '"'), true
}
