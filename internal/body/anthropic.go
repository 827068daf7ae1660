package body

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// anthropic is Anthropic's Messages API. pi asks for the cache after the system prompt, the tools
// and the last message.
var anthropic = Form{
	Name:  "anthropic",
	About: "the request for Anthropic's Messages API",
	api:   "anthropic-messages",
	list:  "messages",
	head:  anthropicHead,
	items: anthropicItems,
	callID: func(_ *request, id string, _ bool) string {
		return idPart(id, 64)
	},
}

// idPart makes an id of letters, digits, _ and - of another, of at most that many.
func idPart(id string, most int) string {
	b := []byte(strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, id))
	return string(b[:min(len(b), most)])
}

// ephemeral asks for the cache.
var ephemeral = object{"type": "ephemeral"}

// unlimited is how long an answer may be where the model is not known: the interface wants a number.
const unlimited = 8192

func anthropicHead(r *request) object {
	head := object{"model": r.model.ID, "stream": true}
	if text := clean(r.prompt.Compiled); text != "" {
		head["system"] = []object{{"type": "text", "text": text, "cache_control": ephemeral}}
	}
	tools := r.tools(func(name, description string, parameters json.RawMessage) object {
		return object{"name": name, "description": description, "eager_input_streaming": true,
			"input_schema": inputSchema(parameters)}
	})
	if len(tools) > 0 {
		tools[len(tools)-1]["cache_control"] = ephemeral
		head["tools"] = tools
	}
	most := r.most
	off, named := r.model.Takes.Level("off")
	switch {
	case r.level == "" && r.known && r.reasons() && (!named || off != ""):
		head["thinking"] = object{"type": "disabled"}
	case r.level != "" && r.model.Takes.Has("adaptive"):
		head["thinking"] = object{"type": "adaptive", "display": "summarized"}
		effort := r.effort()
		if effort == "minimal" { // not a level of this interface
			effort = "low"
		}
		head["output_config"] = object{"effort": effort}
	case r.level != "":
		var budget int64
		most, budget = r.budget()
		head["thinking"] = object{"type": "enabled", "budget_tokens": budget, "display": "summarized"}
	}
	if temperature := r.prompt.Options.Temperature; temperature.Exists() && r.level == "" {
		head["temperature"] = json.RawMessage(temperature)
	}
	head["max_tokens"] = cmp.Or(most, unlimited)
	return head
}

// budget returns the tokens of the answer and, of these, those for thinking.
func (r *request) budget() (most, budget int64) {
	budget, is := map[string]int64{"minimal": 1024, "low": 2048, "medium": 8192}[r.level]
	if !is {
		budget = 16384
	}
	most = cmp.Or(r.most, unlimited) + budget
	if r.model.MaxTokens > 0 {
		most = min(most, r.model.MaxTokens)
	}
	const answer = 1024 // left for the answer itself
	most = r.room(most)
	return most, cmp.Or(min(budget, max(0, most-answer)), answer)
}

// inputSchema returns what the interface takes of a schema: other keywords at its root are refused.
func inputSchema(parameters json.RawMessage) object {
	schema := object{"type": "object", "properties": object{}, "required": []string{}}
	for _, name := range []string{"properties", "required", "$defs", "definitions"} {
		if v := jsonl.Value(parameters).Get(name); !v.IsNull() {
			schema[name] = json.RawMessage(v)
		}
	}
	return schema
}

func anthropicItems(r *request) iter.Seq2[any, error] {
	var results, images []object // in a row
	return r.each(func(m *message) []any {
		if m.role == jsonl.ToolResult {
			result, more := anthropicResult(m)
			results, images = append(results, result), append(images, more...)
			return nil
		}
		return said(m.role.Role(), anthropicContent(m))
	}, func() []any {
		all := append(results, images...)
		results, images = nil, nil
		if all == nil {
			return nil
		}
		return said("user", all)
	})
}

// said returns a message with a content, none without.
func said(role string, content any) []any {
	if content == nil {
		return nil
	}
	return []any{object{"role": role, "content": content}}
}

// anthropicContent returns the content of a message of the user or the model, nil if it is empty.
func anthropicContent(m *message) any {
	if m.text {
		if text := m.texts(""); jsonl.TrimJS(text) != "" {
			return text
		}
		return nil
	}
	var blocks []object
	for _, b := range m.Blocks {
		switch text := textOf(b); {
		case b.Kind == jsonl.TextBlock && !blank(b.Text):
			blocks = append(blocks, object{"type": "text", "text": text})
		case b.Kind == jsonl.ImageBlock:
			blocks = append(blocks, anthropicImage(b))
		case b.Kind == jsonl.CallBlock:
			blocks = append(blocks, object{"type": "tool_use", "id": b.ID.Text(), "name": b.Name.Text(),
				"input": raw(b.Args)})
		case b.Kind != jsonl.ThinkingBlock:
		case b.Raw.Get("redacted").Truthy():
			blocks = append(blocks, object{"type": "redacted_thinking", "data": signature(b).Text()})
		case jsonl.TrimJS(signature(b).Text()) != "":
			blocks = append(blocks, object{"type": "thinking", "thinking": text, "signature": signature(b).Text()})
		case !blank(b.Text): // of an answer that was cut off
			blocks = append(blocks, object{"type": "text", "text": text})
		}
	}
	if blocks == nil {
		return nil
	}
	return blocks
}

// anthropicResult returns the block of a result. An error takes no images: more are the blocks with
// those, which follow all results.
func anthropicResult(m *message) (result object, more []object) {
	result = object{"type": "tool_result", "tool_use_id": m.call, "is_error": m.IsError.Truthy()}
	if images := m.images(); m.IsError.Truthy() && images != nil {
		m.Blocks = replaceImages(m.Blocks, "(image attached after the tool results)")
		caption := fmt.Sprintf("Images from the error result of tool call %s (%s):", m.call, m.Tool.Text())
		more = append(more, object{"type": "text", "text": caption})
		for _, b := range images {
			more = append(more, anthropicImage(b))
		}
	}
	if m.images() == nil {
		result["content"] = m.texts("\n")
		return result, more
	}
	content, text := []object{}, false
	for _, b := range m.Blocks {
		switch b.Kind {
		case jsonl.TextBlock:
			content, text = append(content, object{"type": "text", "text": textOf(b)}), true
		case jsonl.ImageBlock:
			content = append(content, anthropicImage(b))
		}
	}
	if !text {
		content = slices.Insert(content, 0, object{"type": "text", "text": imageOnly})
	}
	result["content"] = content
	return result, more
}

// imageOnly is the text of a result that has only images.
const imageOnly = "(see attached image)"

func anthropicImage(b jsonl.Block) object {
	return object{"type": "image", "source": object{"type": "base64", "media_type": b.Mime.Text(),
		"data": b.Data.Text()}}
}

// marked asks for the cache after the last message, if it is the user's.
func marked(items iter.Seq2[any, error]) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		var last any
		for item, err := range items {
			if err != nil || last != nil && !yield(last, nil) {
				yield(nil, err)
				return
			}
			last = item
		}
		if last == nil {
			return
		}
		m, err := decoded(last)
		if err != nil || m["role"] != "user" {
			yield(last, err)
			return
		}
		if text, is := m["content"].(string); is {
			m["content"] = []any{object{"type": "text", "text": text}}
		}
		if blocks, is := m["content"].([]any); is && len(blocks) > 0 {
			blocks[len(blocks)-1].(object)["cache_control"] = ephemeral
		}
		yield(m, nil)
	}
}

// decoded returns an item as JSON reads it, with numbers as they are spelled.
func decoded(item any) (m object, err error) {
	b, err := JSON(item)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err = d.Decode(&m)
	return m, err
}
