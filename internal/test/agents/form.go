package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/test/must"
)

// A form is how the bodies of an interface are compared.
type form struct {
	list     string                      // the field with messages, contents or items
	system   func(b object) []string     // the texts of the system prompt
	messages func(b object) []any        // the rest of the list
	thinking func(b object) any          // how much of it is asked for
	aside    []string                    // fields that other parts compare, and those that no record has
	text     bool                        // a text counts as one block
	blocks   func(b object) (all []turn) // the messages as blocks of the Messages API
}

// A turn is a message as blocks of the Messages API.
type turn struct {
	role   string
	blocks []any
}

// The names of the interfaces, as package body has them.
const (
	messagesForm  = "anthropic"
	responsesForm = "openai-responses"
	chatForm      = "openai-chat"
	geminiForm    = "google"
)

// forms are those of the interfaces.
var forms = map[string]form{
	messagesForm: {
		list:     "messages",
		system:   func(b object) []string { return texts(b["system"]) },
		messages: func(b object) []any { return list(b, "messages") },
		thinking: func(b object) any { return b["thinking"] },
		aside:    []string{"metadata", "safeguards", "diagnostics", "thread", "system", "thinking"},
		text:     true,
		blocks: func(b object) (all []turn) {
			for _, m := range list(b, "messages") {
				m := m.(object)
				blocks, _ := asBlocks(m["content"]).([]any)
				all = append(all, turn{word(m, "role"), blocks})
			}
			return all
		},
	},
	chatForm: {
		list:   "messages",
		system: func(b object) []string { return leading(list(b, "messages"), isSystem) },
		messages: func(b object) []any {
			all := list(b, "messages")
			return all[len(leading(all, isSystem)):]
		},
		thinking: func(b object) any {
			return []any{b["reasoning_effort"], b["reasoning"], b["thinking"], b["enable_thinking"]}
		},
		aside: []string{"stream_options", "user", "metadata", "store", "prompt_cache_key", "reasoning_effort",
			"reasoning", "thinking", "enable_thinking"},
		blocks: chatBlocks,
	},
	responsesForm: {
		list: "input",
		system: func(b object) (all []string) {
			if text := word(b, "instructions"); text != "" {
				all = append(all, text)
			}
			return append(all, leading(list(b, "input"), isPrompt)...)
		},
		messages: func(b object) []any {
			all := list(b, "input")
			return all[len(leading(all, isPrompt)):]
		},
		thinking: func(b object) any { return b["reasoning"] },
		aside: []string{"instructions", "reasoning", "store", "include", "prompt_cache_key", "client_metadata",
			"metadata", "safety_identifier", "user"},
		blocks: responseBlocks,
	},
	geminiForm: {
		list: "contents",
		system: func(b object) []string {
			prompt, _ := b["systemInstruction"].(object)
			return texts(prompt["parts"])
		},
		messages: func(b object) []any { return list(b, "contents") },
		thinking: func(b object) any {
			config, _ := b["generationConfig"].(object)
			return config["thinkingConfig"]
		},
		aside:  []string{"systemInstruction"},
		blocks: geminiBlocks,
	},
}

// leading returns the texts of the first items of a list that are of a kind.
func leading(items []any, is func(m object) bool) (all []string) {
	for _, m := range items {
		m, ok := m.(object)
		if !ok || !is(m) {
			break
		}
		all = append(all, strings.Join(texts(m["content"]), "\n"))
	}
	return all
}

func isSystem(m object) bool { return m["role"] == "system" || m["role"] == "developer" }

// isPrompt reports whether an item is the system prompt, and no item of a history, which has a type.
func isPrompt(m object) bool { return isSystem(m) && m["type"] == nil }

// part returns a part of a body.
func (f form) part(b object, p Part) any {
	switch p {
	case System:
		return f.system(b)
	case Tools:
		return Unmarked(b["tools"])
	case Messages:
		if _, ok := b[f.list].([]any); !ok {
			return b[f.list]
		}
		var all []any
		for _, m := range f.messages(b) {
			m := Unmarked(m).(object)
			if f.text {
				m["content"] = asBlocks(m["content"])
			}
			all = append(all, m)
		}
		return all
	case Thinking:
		return f.thinking(b)
	case Options:
		all := object{}
		for name, v := range b {
			if name != f.list && name != "tools" && name != "stream" && !slices.Contains(f.aside, name) {
				all[name] = v
			}
		}
		var same any
		must.Do(json.Unmarshal([]byte(encoded(all)), &same))
		return same
	}
	var all []string
	marks(map[string]any{"system": b["system"], "tools": b["tools"], f.list: b[f.list]}, "", &all)
	slices.Sort(all)
	return all
}

// asMessages returns a body as the Messages API has it: one text of all of the system prompt, and messages of
// one role as one. It has these alone: for an agent whose own form is another than what was sent.
func asMessages(of string, b object) object {
	f := forms[of]
	if _, ok := b[f.list].([]any); !ok {
		return b
	}
	prompt, _ := b["systemInstruction"].(object)
	system := slices.Concat(texts(b["system"]), texts(b["instructions"]), texts(prompt["parts"]))
	var all []any
	for _, t := range f.blocks(b) {
		if isSystem(object{"role": t.role}) {
			system = append(system, texts(t.blocks)...)
			continue
		}
		blocks := slices.Clone(t.blocks)
		if last := len(all) - 1; last >= 0 && all[last].(object)["role"] == t.role {
			blocks = append(all[last].(object)["content"].([]any), blocks...)
			all = all[:last]
		}
		all = append(all, Unmarked(object{"role": t.role, "content": blocks}))
	}
	text := object{"type": "text", "text": strings.Join(system, "\n\n")}
	return object{"system": []any{text}, "messages": all}
}

// chatBlocks returns the messages of Chat Completions as blocks.
func chatBlocks(b object) (all []turn) {
	for _, m := range list(b, "messages") {
		m := m.(object)
		content, _ := asBlocks(m["content"]).([]any)
		var blocks []any
		for _, part := range content {
			blocks = append(blocks, asBlock(part.(object)))
		}
		switch m["role"] {
		case "tool":
			returned := m["content"]
			if _, parts := returned.([]any); parts {
				returned = blocks
			}
			all = append(all, turn{"user", []any{object{"type": "tool_result", "tool_use_id": m["tool_call_id"],
				"content": returned}}})
		case "assistant":
			blocks = append(reasoning(m), blocks...)
			for _, c := range list(m, "tool_calls") {
				f := c.(object)["function"].(object)
				blocks = append(blocks, toolUse(c.(object)["id"], f["name"], word(f, "arguments")))
			}
			fallthrough
		default:
			all = append(all, turn{word(m, "role"), blocks})
		}
	}
	return all
}

// asBlock returns a part of a message of Chat Completions as a block.
func asBlock(part object) object {
	if part["type"] != "image_url" {
		return part
	}
	url, _ := part["image_url"].(object)["url"].(string)
	return picture(url)
}

// picture returns one that an address has in it.
func picture(url string) object {
	mime, data, _ := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	return object{"type": "image", "source": object{"type": "base64", "media_type": mime, "data": data}}
}

// reasoning is that of an answer which has it beside its content.
func reasoning(m object) []any {
	if m["reasoning_opaque"] == nil {
		return nil
	}
	return []any{object{"type": "thinking", "thinking": m["reasoning_text"], "signature": m["reasoning_opaque"]}}
}

// toolUse returns a call, with arguments as a text.
func toolUse(id, name any, arguments string) object {
	var input any
	must.Do(json.Unmarshal([]byte(or(arguments, "{}")), &input))
	return object{"type": "tool_use", "id": id, "name": name, "input": input}
}

// responseBlocks returns items of the Responses API as blocks.
func responseBlocks(b object) (all []turn) {
	for _, item := range list(b, "input") {
		item := item.(object)
		switch item["type"] {
		case "function_call":
			all = append(all, turn{"assistant", []any{toolUse(item["call_id"], item["name"], word(item, "arguments"))}})
		case "function_call_output", "custom_tool_call_output":
			all = append(all, turn{"user", []any{object{"type": "tool_result", "tool_use_id": item["call_id"],
				"content": item["output"]}}})
		case "custom_tool_call":
			all = append(all, turn{"assistant", []any{object{"type": "tool_use", "id": item["call_id"],
				"name": item["name"], "input": item["input"]}}})
		case "reasoning":
			all = append(all, turn{"assistant", []any{object{"type": "thinking",
				"thinking": strings.Join(texts(item["summary"]), "\n\n"), "signature": item["encrypted_content"]}}})
		default:
			var blocks []any
			content, _ := asBlocks(item["content"]).([]any)
			for _, part := range content {
				part := part.(object)
				if url, ok := part["image_url"].(string); ok {
					blocks = append(blocks, picture(url))
				} else {
					blocks = append(blocks, object{"type": "text", "text": part["text"]})
				}
			}
			all = append(all, turn{word(item, "role"), blocks})
		}
	}
	return all
}

// geminiBlocks returns contents of the Gemini API as blocks. Calls without an id get one by their name.
func geminiBlocks(b object) (all []turn) {
	id := func(f object) any { return or(word(f, "id"), fmt.Sprint(f["name"])) }
	for _, c := range list(b, "contents") {
		c := c.(object)
		role, blocks := or(word(c, "role"), "user"), []any{}
		if role == "model" {
			role = "assistant"
		}
		for _, p := range list(c, "parts") {
			p := p.(object)
			call, _ := p["functionCall"].(object)
			result, _ := p["functionResponse"].(object)
			data, _ := p["inlineData"].(object)
			switch {
			case call != nil:
				blocks = append(blocks, object{"type": "tool_use", "id": id(call), "name": call["name"],
					"input": call["args"]})
			case result != nil:
				blocks = append(blocks, object{"type": "tool_result", "tool_use_id": id(result),
					"content": result["response"]})
			case data != nil:
				blocks = append(blocks, object{"type": "image", "source": object{"type": "base64",
					"media_type": data["mimeType"], "data": data["data"]}})
			case p["thought"] == true:
				blocks = append(blocks, object{"type": "thinking", "thinking": p["text"]})
			default:
				blocks = append(blocks, object{"type": "text", "text": p["text"]})
			}
		}
		all = append(all, turn{role, blocks})
	}
	return all
}
