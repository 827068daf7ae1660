package body

import (
	"cmp"
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
	placement: func(r *request) (bool, placement) {
		inPlace := r.compat.SupportsMidConvoSystemMessages
		if inPlace && r.compat.SupportsMidConvoToolAdditions {
			return inPlace, additions
		}
		return inPlace, folded
	},
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

// shortHash returns the hash with which pi shortens ids.
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
	head := object{"model": r.model.ID, "stream": true}
	if r.chat.usage {
		head["stream_options"] = object{"include_usage": true}
	}
	if r.chat.store {
		head["store"] = false
	}
	if r.chat.cacheKey {
		head["prompt_cache_key"] = r.cacheKey()
	}
	if r.most > 0 {
		head[r.chat.most] = r.most
	}
	if temperature := r.prompt.Options.Temperature; temperature.Exists() {
		head["temperature"] = json.RawMessage(temperature)
	}
	if tools := r.chatTools(r.transcript.tools); tools != nil {
		head["tools"] = tools
		if r.chat.cached {
			tools[len(tools)-1]["cache_control"] = r.cacheControl()
		}
		if r.compat.ZaiToolStream {
			head["tool_stream"] = true
		}
	}
	r.chatThinking(head)
	return head
}

// chatThinking asks for the level as the host takes it.
func (r *request) chatThinking(head object) {
	effort, on := r.effort(), r.level != ""
	off, named := r.model.Takes.Level("off")
	can := !named || off != "" // the model can be asked not to think
	if !on {
		effort = off
	}
	if !r.reasons() || !on && !r.known {
		return
	}
	switch r.chat.thinking {
	case "zai":
		head["thinking"] = object{"type": "disabled"}
		if on {
			head["thinking"] = object{"type": "enabled", "clear_thinking": false}
		}
		on = on && effort != ""
	case "qwen":
		head["enable_thinking"] = on
	case "baseten":
		if args := jsonl.Value(r.compat.ChatTemplateArgs); args.IsObject() {
			head["chat_template_args"] = templateArgs(args, on)
		}
		if r.chat.effort && effort != "" {
			head["reasoning_effort"] = effort
		}
		return
	case "deepseek":
		switch {
		case on:
			head["thinking"] = object{"type": "enabled"}
		case can:
			head["thinking"] = object{"type": "disabled"}
		}
	case "openrouter":
		if on || can {
			head["reasoning"] = object{"effort": cmp.Or(effort, "none")}
		}
		return
	case "ant-ling":
		if name, _ := r.model.Takes.Level(r.level); on && name != "" {
			head["reasoning"] = object{"effort": name}
		}
		return
	case "together":
		head["reasoning"] = object{"enabled": on}
	default:
		on = on || effort != "" // the model has a name for off
	}
	if on && r.chat.effort {
		head["reasoning_effort"] = effort
	}
}

// templateArgs returns the arguments of a template: those that are variables have the value they name.
func templateArgs(args jsonl.Value, on bool) object {
	all := object{}
	for name, v := range args.Members {
		switch {
		case !v.IsObject():
			all[string(name)] = json.RawMessage(v)
		case v.Get("$var").Is("thinking.enabled"):
			all[string(name)] = on
		}
	}
	return all
}

// chatTools returns the definitions of tools.
func (r *request) chatTools(tools []tool) (all []object) {
	for _, t := range tools {
		if g, has := t.grammar(); has && r.compat.SupportsOpenAIGrammarTools {
			format := object{"type": "grammar", "grammar": object{"syntax": g.syntax, "definition": g.definition}}
			all = append(all, object{"type": "custom", "custom": object{"name": t.name, "description": t.description,
				"format": format}})
			continue
		}
		parameters, strict := t.schema(r.chat.strict, nil)
		function := object{"name": t.name, "description": t.description, "parameters": parameters}
		if r.chat.strict {
			function["strict"] = strict
		}
		all = append(all, object{"type": "function", "function": function})
	}
	return all
}

// cacheKey is by what OpenAI finds the cache of a session.
func (r *request) cacheKey() string {
	id := []rune(r.session)
	return string(id[:min(len(id), 64)])
}

// instructionRole returns the role of the system prompt.
func (r *request) instructionRole() string {
	if r.chat.developer && r.reasons() {
		return "developer"
	}
	return "system"
}

// opening returns the items before the conversation: the system prompt as a message, after the first tools
// where these stand in place.
func (r *request) opening() []any {
	if t := &r.transcript; r.form.list == inputList && t.lead && t.folded == 0 {
		return r.responsesUpdate(&t.updates[0], 0, 0)
	}
	text := clean(r.transcript.prompt)
	if text == "" {
		return nil
	}
	prompt := object{"role": r.instructionRole(), "content": text}
	if r.chat.cached && r.form.list != inputList {
		r.mark(prompt)
	}
	return []any{prompt}
}

// hasText reports whether the content of a message has a text.
func hasText(content any) bool {
	switch content := content.(type) {
	case string:
		return content != ""
	case []object:
		return slices.ContainsFunc(content, func(part object) bool { return part["type"] == "text" })
	}
	return false
}

// mark asks for the cache after the last text of a message, and reports whether it has one.
func (r *request) mark(m object) bool {
	switch content := m["content"].(type) {
	case string:
		if content == "" {
			return false
		}
		m["content"] = []object{{"type": "text", "text": content, "cache_control": r.cacheControl()}}
		return true
	case []object:
		for _, part := range slices.Backward(content) {
			if part["type"] == "text" {
				part["cache_control"] = r.cacheControl()
				return true
			}
		}
	}
	return false
}

// chatMarked asks for the cache after the last message of the conversation that has a text.
func (r *request) chatMarked(items iter.Seq2[any, error]) iter.Seq2[any, error] {
	if !r.chat.cached {
		return items
	}
	return func(yield func(any, error) bool) {
		var held []any // the last message with a text, and those after it
		for item, err := range items {
			if err != nil {
				yield(nil, err)
				return
			}
			m, _ := item.(object)
			if m["role"] != "system" && m["role"] != "developer" && hasText(m["content"]) {
				for _, earlier := range held {
					if !yield(earlier, nil) {
						return
					}
				}
				held = held[:0]
			}
			held = append(held, item)
		}
		for k, item := range held {
			if m, is := item.(object); k == 0 && is {
				r.mark(m)
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

func chatItems(r *request) iter.Seq2[any, error] {
	var images []object // of results in a row
	return r.chatMarked(r.each(func(m *message) []any {
		switch m.role {
		case jsonl.System:
			return r.chatUpdate(m.update, m.nth)
		case jsonl.User:
			return said("user", chatPrompt(m))
		case jsonl.Assistant:
			if answer := chatAnswer(m, r.chat.reasoningContent && r.reasons()); answer != nil {
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
	}, nothing))
}

// chatUpdate returns the items of a system message in place, of that number.
func (r *request) chatUpdate(of *update, nth int) (items []any) {
	if tools := of.added; nth >= r.transcript.folded && tools != nil {
		items = append(items, object{"role": "system", "tools": r.chatTools(tools)})
	}
	if text := of.change(); text != "" {
		items = append(items, object{"role": r.instructionRole(), "content": clean(text)})
	}
	return items
}

// resultText returns a result as a text.
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

// chatCall returns a call of an answer.
func chatCall(m *message, b jsonl.Block) object {
	call := object{"id": b.ID.Text(), "type": "function"}
	if input := m.grammars[b.Name.Text()]; input != "" {
		call["type"] = "custom"
		call["custom"] = object{"name": b.Name.Text(), "input": clean(b.Args.Get(input).Exact())}
		return call
	}
	call["function"] = object{"name": b.Name.Text(), "arguments": string(raw(b.Args))}
	return call
}

// chatAnswer returns the message of an answer, nil if it is empty. Thinking goes back in the field
// that it came in; reasoned is set where each answer has one.
func chatAnswer(m *message, reasoned bool) object {
	out := object{"role": "assistant", "content": nil}
	var text, thinking []string
	var field string
	var details, sealed []jsonl.Value
	var calls []object
	for _, b := range m.Blocks {
		switch {
		case b.Kind == jsonl.TextBlock && !blank(b.Text):
			text = append(text, textOf(b))
		case b.Kind == jsonl.ThinkingBlock:
			name := signature(b).Text()
			if details == nil {
				details = reasoningDetails(name)
			}
			if !blank(b.Text) {
				if thinking == nil {
					field = name
				}
				thinking = append(thinking, b.Text.Text())
			}
		case b.Kind == jsonl.CallBlock:
			calls = append(calls, chatCall(m, b))
			if detail := jsonl.Value(b.Raw.Get("thoughtSignature").Text()); m.own && isSealed(detail) {
				sealed = append(sealed, detail)
			}
		}
	}
	if details == nil {
		details = sealed
	}
	switch {
	case text == nil && calls == nil:
		return nil
	case details != nil:
		out["reasoning_details"] = rawList(details)
	case thinking != nil && slices.Contains([]string{"reasoning", "reasoning_content", "reasoning_text"}, field):
		if field == "reasoning" && m.Provider.Is("opencode-go") {
			field = "reasoning_content"
		}
		out[field] = strings.Join(thinking, "\n")
	}
	if _, has := out["reasoning_content"]; reasoned && !has {
		out["reasoning_content"] = ""
	}
	if text != nil {
		out["content"] = strings.Join(text, "")
	}
	if calls != nil {
		out["tool_calls"] = calls
	}
	return out
}
