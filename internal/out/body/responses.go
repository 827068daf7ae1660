package body

import (
	"ctxtool/sessionfmt/jsonl"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// codexAPI is the interface of ChatGPT's own backend in pi's sessions.
const codexAPI = "openai-codex-responses"

// inputList is the field of the items.
const inputList = "input"

// responses is OpenAI's Responses API.
var responses = Form{
	Name:  "openai-responses",
	About: "the request for OpenAI's Responses API",
	api:   "openai-responses",
	kin:   "openai-codex-responses",
	list:  "input",
	lead:  true,
	head:  responsesHead,
	items: responsesItems,
	placement: func(r *request) (bool, placement) {
		inPlace := r.compat.SupportsMidConvoSystemMessages
		switch {
		case inPlace && r.compat.SupportsAdditionalTools:
			return inPlace, changes
		case r.compat.SupportsToolSearch:
			return inPlace, additions
		}
		return inPlace, folded
	},
	callID: responsesID,
}

// responsesID returns an id for a call of another model: that of the call, and after | that of its
// item, which only an answer of this interface has.
func responsesID(r *request, id string, foreign bool) string {
	call, item, two := strings.Cut(id, "|")
	switch r.model.Provider {
	case "openai", "openai-codex", "opencode":
	default:
		return trimmedPart(id)
	}
	if !two {
		return trimmedPart(id)
	}
	item, _, _ = strings.Cut(item, "|")
	if foreign {
		item = "fc_" + shortHash(item)
	} else if item = trimmedPart(item); !strings.HasPrefix(item, "fc_") {
		item = trimmedPart("fc_" + item)
	}
	return trimmedPart(call) + "|" + item
}

// trimmedPart returns an idPart of at most 64 bytes that does not end in _.
func trimmedPart(id string) string { return strings.TrimRight(idPart(id, 64), "_") }

// ofCodex reports whether the request goes to ChatGPT's own interface, which is that of Codex.
func (r *request) ofCodex() bool { return r.api == codexAPI }

func responsesHead(r *request) object {
	head := object{"model": r.model.ID, "stream": true, "store": false}
	if mode := r.compat.PromptCacheKeyMode; mode != "disabled" {
		head["prompt_cache_key"] = r.cacheKey()
	}
	if r.most > 0 && orTrue(r.compat.SupportsMaxOutputTokens) {
		head["max_output_tokens"] = max(r.most, 16) // the least that the interface takes
	}
	if temperature := r.prompt.Options.Temperature; temperature.Exists() {
		head["temperature"] = json.RawMessage(temperature)
	}
	if tools := r.responsesTools(r.transcript.tools, false); tools != nil {
		head["tools"] = tools
	}
	switch effort := r.ownEffort(); {
	case effort == "":
	case r.level != "" || r.ofCodex():
		if r.inPlaceLevel() {
			effort = "medium" // the level stands in place
		}
		head["reasoning"] = object{"effort": effort, "summary": "auto"}
		head["include"] = []string{"reasoning.encrypted_content"}
	case r.model.Provider == "github-copilot":
	default:
		head["reasoning"] = object{"effort": effort}
	}
	if r.ofCodex() || r.model.Provider == "xai" && r.reasons() {
		head["include"] = []string{"reasoning.encrypted_content"}
	}
	if r.ofCodex() {
		head["text"] = object{"verbosity": "low"}
		head["tool_choice"], head["parallel_tool_calls"] = "auto", true
	}
	return head
}

// ownEffort returns the effort of a request, with the interface's own name for off.
func (r *request) ownEffort() string {
	effort := r.effort()
	if _, named := r.model.Takes.Level("off"); effort == "off" && !named {
		return "none"
	}
	return effort
}

// inPlaceLevel reports whether levels stand in the conversation: that of off too by the interface of Codex.
// Those who signed in with ChatGPT have them in the request: then the answer names none.
func (r *request) inPlaceLevel() bool {
	return r.compat.SupportsMidConvoEffort && (r.level != "" || r.ofCodex() && r.ownEffort() != "") &&
		(r.answer == nil || r.answer.Get("providerThinkingLevel").IsString())
}

// levelItem sets the level from there on.
func levelItem(level string) object {
	return object{"type": "configuration_update", "reasoning": object{"effort": level}}
}

// responsesTools returns the definitions of tools; found marks those in the result of a search.
func (r *request) responsesTools(tools []tool, found bool) (all []object) {
	for _, t := range tools {
		definition := object{"type": "function", "name": t.name, "description": t.description}
		if g, has := t.grammar(); has && r.compat.SupportsOpenAIGrammarTools {
			definition["type"] = "custom"
			definition["format"] = object{"type": "grammar", "syntax": g.syntax, "definition": g.definition}
		} else {
			able := is(r.compat.SupportsStrictMode) || r.ofCodex() && r.compat.SupportsStrictMode == nil
			parameters, strict := t.schema(able, nil)
			definition["parameters"] = parameters
			switch {
			case strict:
				definition["strict"] = true
			case able && r.ofCodex():
				definition["strict"] = nil
			case able:
				definition["strict"] = false
			}
		}
		if found {
			definition["defer_loading"] = true
		}
		all = append(all, definition)
	}
	return all
}

func responsesItems(r *request) iter.Seq2[any, error] {
	at := 0 // of the message in the request
	return r.each(func(m *message) []any {
		if m.role == jsonl.System {
			at++
			return r.responsesUpdate(m.update, m.nth, at-1)
		}
		items := responsesMessage(m, at)
		at += min(1, len(items))
		if m.own && m.level != "" && items != nil && r.inPlaceLevel() {
			items = append([]any{levelItem(m.level)}, items...)
		}
		return items
	}, nothing, func() []any {
		if r.inPlaceLevel() {
			return []any{levelItem(r.ownEffort())}
		}
		return nil
	})
}

// responsesUpdate returns the items of a system message, of that number, before a message at that place.
func (r *request) responsesUpdate(of *update, nth, at int) (items []any) {
	t, text := &r.transcript, of.change()
	if nth == 0 && t.lead {
		text = of.prompt()
	}
	if nth >= t.folded {
		items = r.additions(of.added, at)
		if gone := of.gone(); gone != nil {
			notice := "The following tools are no longer available. Do not call them:\n- " + strings.Join(gone, "\n- ")
			text = strings.TrimPrefix(text+"\n\n"+notice, "\n\n")
			for _, name := range gone {
				if !slices.Contains(t.gone, name) {
					t.gone = append(t.gone, name)
				}
			}
		}
	}
	if text != "" {
		items = append(items, object{"role": r.instructionRole(), "content": clean(text)})
	}
	return items
}

// additions returns the items that define tools.
func (r *request) additions(tools []tool, at int) (items []any) {
	if len(tools) == 0 {
		return nil
	}
	var names []string
	state := &r.transcript
	for _, t := range tools {
		names = append(names, t.name)
		state.gone = slices.DeleteFunc(state.gone, func(name string) bool { return name == t.name })
	}
	if state.folded > 0 {
		id := "pi_tool_load_" + shortHash(fmt.Sprintf("system:%d:%s", at, strings.Join(names, ",")))
		search := object{"type": "tool_search_call", "call_id": id, "execution": "client", "status": "completed",
			"arguments": object{"query": strings.Join(names, " "), "limit": len(names)}}
		return []any{search, object{"type": "tool_search_output", "call_id": id, "execution": "client",
			"status": "completed", "tools": r.responsesTools(tools, true)}}
	}
	if state.declared {
		notice := "This is an incremental tools update. Previously declared tools remain available unless explicitly " +
			"marked unavailable. A tool declared again here is available again, and its latest definition replaces " +
			"the earlier one."
		if len(state.gone) > 0 {
			notice += "\nStill unavailable: " + strings.Join(state.gone, ", ") + "."
		}
		items = append(items, object{"role": r.instructionRole(), "content": notice})
	}
	state.declared = true
	return append(items, object{"type": "additional_tools", "role": "developer", "tools": r.responsesTools(tools, false)})
}

func responsesMessage(m *message, at int) []any {
	switch m.role {
	case jsonl.User:
		content := responsesParts(m.Blocks)
		if content == nil {
			return nil
		}
		return []any{object{"role": "user", "content": content}}
	case jsonl.ToolResult:
		call, _, _ := strings.Cut(m.call, "|")
		kind := "function_call_output"
		if m.grammars[m.Tool.Text()] != "" {
			kind = "custom_tool_call_output"
		}
		out := object{"type": kind, "call_id": call, "output": resultText(m)}
		if images := m.images(); images != nil {
			var parts []object
			if text := m.texts("\n"); jsonl.TrimJS(text) != "" {
				parts = append(parts, object{"type": "input_text", "text": text})
			}
			out["output"] = append(parts, responsesParts(images)...)
		}
		return []any{out}
	}
	return responsesAnswer(m, at)
}

func responsesParts(blocks []jsonl.Block) (parts []object) {
	for _, b := range blocks {
		switch b.Kind {
		case jsonl.TextBlock:
			parts = append(parts, object{"type": "input_text", "text": textOf(b)})
		case jsonl.ImageBlock:
			parts = append(parts, object{"type": "input_image", "detail": "auto", "image_url": dataURL(b)})
		}
	}
	return parts
}

// responsesAnswer returns an item for each block of an answer: texts with the ids that they came
// with, and reasoning as it came.
func responsesAnswer(m *message, at int) (items []any) {
	texts := 0
	sibling := m.kindred && !m.own // the provider knows its ids with other reasoning
	for _, b := range m.Blocks {
		switch b.Kind {
		case jsonl.ThinkingBlock:
			if item := signature(b).Text(); json.Valid([]byte(item)) {
				items = append(items, json.RawMessage(item))
			}
		case jsonl.TextBlock:
			made := fmt.Sprintf("msg_pi_%d", at)
			if texts > 0 {
				made += fmt.Sprintf("_%d", texts)
			}
			texts++
			item := object{"type": "message", "role": "assistant", "status": "completed", "id": made}
			item["content"] = []object{{"type": "output_text", "text": textOf(b), "annotations": []any{}}}
			if m.own {
				sign(item, b.Raw.Get("textSignature").Text())
			}
			items = append(items, item)
		case jsonl.CallBlock:
			call, id, _ := strings.Cut(b.ID.Text(), "|")
			item, prefix := object{"call_id": call, "name": b.Name.Text()}, "fc_"
			if input := m.grammars[b.Name.Text()]; input != "" {
				prefix = "ctc_"
				item["type"], item["input"] = "custom_tool_call", clean(b.Args.Get(input).Exact())
			} else {
				item["type"], item["arguments"] = "function_call", string(raw(b.Args))
			}
			if strings.HasPrefix(id, prefix) && !sibling {
				item["id"], _, _ = strings.Cut(id, "|")
			}
			if namespace := b.Raw.Get("namespace"); m.own && namespace.IsString() {
				item["namespace"] = namespace.Text()
			}
			items = append(items, item)
		}
	}
	return items
}

// sign gives a text the id, and the phase, of its signature: a JSON object, or the id alone.
func sign(item object, signature string) {
	id := signature
	if v := jsonl.Value(signature); v.IsObject() && json.Valid(v) && v.Get("id").IsString() {
		id = v.Get("id").Text()
		if phase := v.Get("phase"); phase.Is("commentary") || phase.Is("final_answer") {
			item["phase"] = phase.Text()
		}
	}
	switch {
	case id == "":
	case len(id) > 64:
		item["id"] = "msg_" + shortHash(id)
	default:
		item["id"] = id
	}
}
