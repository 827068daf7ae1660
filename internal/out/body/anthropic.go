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
	placement: func(r *request) (bool, placement) {
		if r.compat.SupportsMidConvoSystemMessages && r.compat.SupportsMidConvoToolChanges {
			return true, additions // what the first message adds is the list
		}
		return r.compat.SupportsMidConvoSystemMessages, folded
	},
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

// cacheControl asks for the cache, for an hour if the answer reports a write for an hour.
func (r *request) cacheControl() object {
	if r.answer.Get("usage").Get("cacheWrite1h").Int() > 0 && orTrue(r.compat.SupportsLongCacheRetention) {
		return object{"type": "ephemeral", "ttl": "1h"}
	}
	return object{"type": "ephemeral"}
}

// unlimited is how long an answer may be where the model is not known: the interface wants a number.
const unlimited = 8192

func anthropicHead(r *request) object {
	head := object{"model": r.model.ID, "stream": true}
	if text := clean(r.transcript.prompt); text != "" && !r.own {
		head["system"] = []object{{"type": "text", "text": text, "cache_control": r.cacheControl()}}
	}
	if tools := r.anthropicTools(); tools != nil && !r.own {
		head["tools"] = tools
	}
	if r.own {
		r.claudeHead(head)
	}
	most := r.most
	switch {
	case r.disabled():
		head["thinking"] = object{"type": "disabled"}
	case r.compat.SupportsMidConvoEffort:
		head["thinking"] = object{"type": "adaptive", "display": "summarized",
			"block_binding": object{"prefix_mismatch_behavior": "drop_block"}}
		head["output_config"] = object{"effort": "low"} // the level stands in place
	case r.level != "" && r.compat.ForceAdaptiveThinking:
		head["thinking"] = object{"type": "adaptive", "display": "summarized"}
		head["output_config"] = object{"effort": r.anthropicEffort()}
	case r.level != "":
		var budget int64
		most, budget = r.budget()
		head["thinking"] = object{"type": "enabled", "budget_tokens": budget, "display": "summarized"}
	}
	if temperature := r.prompt.Options.Temperature; temperature.Exists() && r.level == "" &&
		!r.compat.SupportsMidConvoEffort && orTrue(r.compat.SupportsTemperature) {
		head["temperature"] = json.RawMessage(temperature)
	}
	if fallbacks := r.compat.AllowedFallbackModels; fallbacks != nil {
		head["fallbacks"] = fallbacks
	}
	head["max_tokens"] = cmp.Or(most, unlimited)
	return head
}

// claudeHead adds the system prompt and the tools as Claude Code sends them: a block for each section, which ends a part
// of the cache, and definitions with all of their fields.
func (r *request) claudeHead(head object) {
	var blocks, tools []object
	for _, p := range r.prompt.Parts {
		blocks = append(blocks, object{"type": "text", "text": clean(p.Text), "cache_control": r.cacheControl()})
	}
	for _, t := range r.prompt.Tools {
		f := t.Raw.All("name", "description", "parameters", "native")
		tool := object{"name": f[0].Text(), "description": f[1].Text(), "input_schema": raw(f[2])}
		for name, v := range f[3].Ordered {
			tool[name] = raw(v)
		}
		tools = append(tools, tool)
	}
	if blocks != nil {
		head["system"] = blocks
	}
	if tools != nil {
		head["tools"] = tools
	}
}

// disabled reports whether the model is asked not to think.
func (r *request) disabled() bool {
	off, named := r.model.Takes.Level("off")
	return r.level == "" && r.known && r.reasons() && (!named || off != "")
}

// anthropicEffort returns the level as the interface names it.
func (r *request) anthropicEffort() string {
	switch effort := r.effort(); effort {
	case "minimal": // not a level of this interface
		return "low"
	case "", "off":
		return "high"
	default:
		return effort
	}
}

// inPlaceTools reports whether tools that come later stand in the conversation.
func (r *request) inPlaceTools() bool {
	t := &r.transcript
	return t.inPlace && r.compat.SupportsMidConvoToolChanges && t.lead && len(t.updates[0].added) > 0
}

// anthropicTools returns the list of tools. One that is never used keeps what the provider says of tools
// that come later in the part of the prompt that the cache has.
func (r *request) anthropicTools() []object {
	cached := orTrue(r.compat.SupportsCacheControlOnTools)
	if !r.inPlaceTools() {
		return r.anthropicDefinitions(r.allTools(), cached)
	}
	return append(r.anthropicDefinitions(r.transcript.updates[0].added, cached), object{
		"name": "__pi_deferred_placeholder__", "description": "Reserved placeholder. Never available. Never call this.",
		"input_schema":  object{"type": "object", "properties": object{}, "required": []string{}},
		"defer_loading": true})
}

// allTools returns the tools at the point of the request, wherever they came.
func (r *request) allTools() []tool {
	if r.transcript.inPlace {
		return current(r.transcript.updates)
	}
	return r.transcript.tools
}

// anthropicDefinitions returns the definitions of tools, the last one with a mark for the cache.
func (r *request) anthropicDefinitions(tools []tool, cached bool) (all []object) {
	for _, t := range tools {
		parameters, strict := t.schema(r.compat.SupportsStrictTools, anthropicRefuses)
		definition := object{"name": t.name, "description": t.description, "input_schema": inputSchema(parameters, strict)}
		if strict {
			definition["strict"] = true
		}
		if orTrue(r.compat.SupportsEagerToolInputStreaming) {
			definition["eager_input_streaming"] = true
		}
		all = append(all, definition)
	}
	if cached && all != nil {
		all[len(all)-1]["cache_control"] = r.cacheControl()
	}
	return all
}

// anthropicRefuses reports whether a strict schema cannot have a keyword.
func anthropicRefuses(keyword string, v jsonl.Value) bool {
	switch keyword {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems", "uniqueItems",
		"minContains", "maxContains", "minProperties", "maxProperties":
		return true
	case "minItems":
		return string(v) != "0" && string(v) != "1"
	case "format":
		switch v.Text() {
		case "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid":
			return false
		}
		return true
	}
	return false
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

// inputSchema returns what the interface takes of a schema: of one that is not strict, other keywords at
// its root are refused.
func inputSchema(parameters json.RawMessage, strict bool) object {
	schema := object{}
	if strict {
		for name, v := range jsonl.Value(parameters).Ordered {
			schema[name] = json.RawMessage(v)
		}
	}
	schema["type"], schema["properties"], schema["required"] = "object", object{}, []string{}
	for _, name := range []string{"properties", "required", "additionalProperties", "$defs", "definitions"} {
		if v := jsonl.Value(parameters).Get(name); v.Exists() && (string(v) != "null" || name[0] != 'p' && name[0] != 'r') {
			schema[name] = json.RawMessage(v)
		}
	}
	return schema
}

func anthropicItems(r *request) iter.Seq2[any, error] {
	var results, images []object // in a row
	var systems []any            // until the next answer that is sent
	return r.each(func(m *message) []any {
		switch m.role {
		case jsonl.ToolResult:
			result, more := anthropicResult(m)
			results, images = append(results, result), append(images, more...)
			return nil
		case jsonl.System:
			systems = append(systems, said("system", r.anthropicUpdate(m.update))...)
			return nil
		case jsonl.Assistant:
			answer := said("assistant", anthropicContent(m, r.compat.AllowEmptySignature))
			if answer == nil {
				return nil
			}
			all := systems
			systems = nil
			if r.managed() && m.kindred && isEffort(m.level) {
				all = append(all, effortMessage(m.level))
			}
			return append(all, answer...)
		}
		return said(m.role.Role(), anthropicContent(m, false))
	}, func() []any {
		all := append(results, images...)
		results, images = nil, nil
		if all == nil {
			return nil
		}
		return said("user", all)
	}, func() []any { return systems })
}

// anthropicUpdate returns the content of a system message in place, nil if it says nothing.
func (r *request) anthropicUpdate(u *update) any {
	var blocks []object
	if text := u.change(); text != "" {
		blocks = append(blocks, object{"type": "text", "text": clean(text)})
	}
	if r.inPlaceTools() {
		for _, name := range u.gone() {
			blocks = append(blocks, object{"type": "tool_removal", "tool": object{"type": "tool_reference", "name": name}})
		}
		for _, definition := range r.anthropicDefinitions(u.added, false) {
			blocks = append(blocks, object{"type": "tool_addition",
				"tool": object{"type": "tool_definition", "definition": definition}})
		}
	}
	if blocks == nil {
		return nil
	}
	return blocks
}

// managed reports whether levels stand in the conversation.
func (r *request) managed() bool { return r.compat.SupportsMidConvoEffort && !r.disabled() }

// isEffort reports whether the interface has a level of that name.
func isEffort(level string) bool {
	return slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, level)
}

// effortMessage sets the level from there on.
func effortMessage(level string) object {
	return object{"role": "system", "content": []any{}, "output_config": object{"effort": level}}
}

// leveled adds the level of the request to the messages, where the model takes it there.
func (r *request) leveled(items iter.Seq2[any, error]) iter.Seq2[any, error] {
	if !r.managed() {
		return items
	}
	return func(yield func(any, error) bool) {
		sent := false
		for item, err := range items {
			sent = true
			if !yield(item, err) {
				return
			}
		}
		if sent {
			yield(effortMessage(r.anthropicEffort()), nil)
		}
	}
}

// said returns a message with a content, none without.
func said(role string, content any) []any {
	if content == nil {
		return nil
	}
	return []any{object{"role": role, "content": content}}
}

// anthropicContent returns the content of a message of the user or the model, nil if it is empty.
// unsigned keeps thinking without a signature, which others get as text.
func anthropicContent(m *message, unsigned bool) any {
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
		case blank(b.Text):
		case unsigned:
			blocks = append(blocks, object{"type": "thinking", "thinking": text, "signature": ""})
		default: // of an answer that was cut off
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

// marked asks for the cache after the last message, if it is the user's or the system's.
func (r *request) marked(items iter.Seq2[any, error]) iter.Seq2[any, error] {
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
		if err != nil || m["role"] != "user" && m["role"] != "system" {
			yield(last, err)
			return
		}
		if text, is := m["content"].(string); is {
			m["content"] = []any{object{"type": "text", "text": text}}
		}
		if blocks, is := m["content"].([]any); is && len(blocks) > 0 {
			blocks[len(blocks)-1].(object)["cache_control"] = r.cacheControl()
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
