package agents

import (
	"encoding/json"
	"strings"

	"ctxtool/internal/test/must"
)

// chatForm is the form in which agents send messages that keep a history as Chat Completions has it.
const chatForm = "openai-chat"

// asMessages is a body as the Messages API has it: one text of all system messages, and messages of one role as one.
// Of Chat Completions it takes messages alone.
func asMessages(b sent) sent {
	var system []string
	var all []any
	add := func(role string, blocks ...any) {
		if last := len(all) - 1; last >= 0 && all[last].(object)["role"] == role {
			blocks = append(all[last].(object)["content"].([]any), blocks...)
			all = all[:last]
		}
		all = append(all, object{"role": role, "content": blocks})
	}
	list, ok := b["messages"].([]any)
	if !ok {
		return b
	}
	system = append(system, texts(b["system"])...)
	for _, m := range list {
		m := Unmarked(m).(object)
		blocks, _ := asBlocks(m["content"]).([]any)
		for k, one := range blocks {
			blocks[k] = asBlock(one.(object))
		}
		switch m["role"] {
		case "system":
			system = append(system, texts(blocks)...)
		case "tool":
			add("user", object{"type": "tool_result", "tool_use_id": m["tool_call_id"], "content": m["content"]})
		case "assistant":
			add("assistant", append(append(reasoning(m), blocks...), toolUses(m)...)...)
		default:
			add("user", blocks...)
		}
	}
	return sent{"system": []any{object{"type": "text", "text": strings.Join(system, "\n\n")}}, "messages": all}
}

// asBlock is a part of a message of Chat Completions as a block.
func asBlock(part object) object {
	if part["type"] != "image_url" {
		return part
	}
	url, _ := part["image_url"].(object)["url"].(string)
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

// toolUses are the calls of an answer.
func toolUses(m object) (all []any) {
	calls, _ := m["tool_calls"].([]any)
	for _, c := range calls {
		f := c.(object)["function"].(object)
		var input any
		must.Do(json.Unmarshal([]byte(f["arguments"].(string)), &input))
		all = append(all, object{"type": "tool_use", "id": c.(object)["id"], "name": f["name"], "input": input})
	}
	return all
}
