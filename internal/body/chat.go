package body

import (
	"ctxtool/sessionfmt/jsonl"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// chat is OpenAI's Chat Completions API, which many other providers have too.
var chat = Form{
	Name:   "openai-chat",
	About:  "the request for OpenAI's Chat Completions API",
	api:    "openai-completions",
	list:   "messages",
	lead:   true,
	head:   chatHead,
	items:  chatItems,
	callID: chatID,
}

// chatID returns an id of at most 40 bytes for a call of another model. One of the Responses API has
// two parts.
func chatID(r *request, id string, _ bool) string {
	const most = 40
	call, item, two := strings.Cut(id, "|")
	switch {
	case !two && r.model.Provider == "openai":
		return id[:min(len(id), most)]
	case !two:
		return id
	}
	call, item = idPart(call, len(call)), idPart(item, len(item))
	if item == "" {
		return call
	}
	if both := call + "_" + item; len(both) <= most {
		return both
	}
	hash := shortHash(id)
	hash = hash[:min(len(hash), 8)]
	return call[:min(len(call), max(1, most-len(hash)-1))] + "_" + hash
}

// shortHash is the hash with which pi shortens ids.
func shortHash(s string) string {
	h1, h2 := uint32(0xdeadbeef), uint32(0x41c6ce57)
	for _, u := range utf16.Encode([]rune(s)) {
		h1, h2 = (h1^uint32(u))*2654435761, (h2^uint32(u))*1597334677
	}
	mixed := func(a, b uint32) uint32 { return (a^a>>16)*2246822507 ^ (b^b>>13)*3266489909 }
	h1 = mixed(h1, h2)
	h2 = mixed(h2, h1)
	return strconv.FormatUint(uint64(h2), 36) + strconv.FormatUint(uint64(h1), 36)
}

func chatHead(r *request) object {
	head := object{"model": r.model.ID, "stream": true, "stream_options": object{"include_usage": true}}
	if !r.model.Takes.Has("plain") {
		head["store"] = false
	}
	if r.model.Provider == "openai" {
		head["prompt_cache_key"] = r.cacheKey()
	}
	if r.most > 0 {
		head["max_completion_tokens"] = r.most
	}
	if temperature := r.prompt.Options.Temperature; temperature.Exists() {
		head["temperature"] = json.RawMessage(temperature)
	}
	if effort := r.effort(); effort != "" && (r.level != "" || effort != "off") {
		head["reasoning_effort"] = effort
	}
	tools := r.tools(func(name, description string, parameters json.RawMessage) object {
		return object{"type": "function", "function": object{"name": name, "description": description,
			"parameters": parameters}}
	})
	if len(tools) > 0 {
		head["tools"] = tools
	}
	return head
}

// cacheKey is by what OpenAI finds the cache of a session.
func (r *request) cacheKey() string {
	id := []rune(r.session)
	return string(id[:min(len(id), 64)])
}

// instructions is the system prompt as a message, nil if there is none.
func (r *request) instructions() object {
	text := clean(r.prompt.Compiled)
	switch {
	case text == "":
		return nil
	case r.reasons() && !r.model.Takes.Has("plain"):
		return object{"role": "developer", "content": text}
	}
	return object{"role": "system", "content": text}
}

func chatItems(r *request) iter.Seq2[any, error] {
	var images []object // of results in a row
	return r.each(func(m *message) []any {
		switch m.role {
		case jsonl.User:
			return said("user", chatPrompt(m))
		case jsonl.Assistant:
			if answer := chatAnswer(m); answer != nil {
				return []any{answer}
			}
			return nil
		}
		for _, b := range m.images() {
			images = append(images, chatImage(b))
		}
		return []any{object{"role": "tool", "content": resultText(m), "tool_call_id": m.call}}
	}, func() []any {
		all := images
		images = nil
		if all == nil {
			return nil
		}
		return said("user",
			slices.Insert(all, 0, object{"type": "text", "text": "Attached image(s) from tool result:"}))
	})
}

// resultText is a result as a text.
func resultText(m *message) string {
	text := m.texts("\n")
	switch {
	case jsonl.TrimJS(text) != "":
		return text
	case m.images() != nil:
		return imageOnly
	}
	return "(no tool output)"
}

func chatImage(b jsonl.Block) object {
	return object{"type": "image_url", "image_url": object{"url": dataURL(b)}}
}

// chatPrompt returns the content of what the user says, nil for none.
func chatPrompt(m *message) any {
	if m.text {
		return m.texts("")
	}
	var content []object
	for _, b := range m.Blocks {
		switch text := textOf(b); {
		case b.Kind == jsonl.ImageBlock:
			content = append(content, chatImage(b))
		case b.Kind == jsonl.TextBlock && b.Text.Exact() != "":
			content = append(content, object{"type": "text", "text": text})
		}
	}
	if content == nil {
		return nil
	}
	return content
}

// chatAnswer returns the message of an answer, nil if it is empty. Thinking goes back in the field
// that it came in.
func chatAnswer(m *message) object {
	out := object{"role": "assistant", "content": nil}
	var text, thinking []string
	var field, details string
	var calls []object
	for _, b := range m.Blocks {
		switch {
		case b.Kind == jsonl.TextBlock && !blank(b.Text):
			text = append(text, textOf(b))
		case b.Kind == jsonl.ThinkingBlock:
			name := signature(b).Text()
			if strings.HasPrefix(name, "[") && details == "" && json.Valid([]byte(name)) {
				details = name
			}
			if !blank(b.Text) {
				if thinking == nil {
					field = name
				}
				thinking = append(thinking, b.Text.Text())
			}
		case b.Kind == jsonl.CallBlock:
			function := object{"name": b.Name.Text(), "arguments": string(raw(b.Args))}
			calls = append(calls, object{"id": b.ID.Text(), "type": "function", "function": function})
		}
	}
	switch {
	case text == nil && calls == nil:
		return nil
	case details != "":
		out["reasoning_details"] = json.RawMessage(details)
	case thinking != nil && slices.Contains([]string{"reasoning", "reasoning_content", "reasoning_text"}, field):
		out[field] = strings.Join(thinking, "\n")
	}
	if text != nil {
		out["content"] = strings.Join(text, "")
	}
	if calls != nil {
		out["tool_calls"] = calls
	}
	return out
}
