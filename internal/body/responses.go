package body

import (
	"ctxtool/sessionfmt/jsonl"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
)

// responses is OpenAI's Responses API.
var responses = Form{
	Name:   "openai-responses",
	About:  "the request for OpenAI's Responses API",
	api:    "openai-responses",
	list:   "input",
	lead:   true,
	head:   responsesHead,
	items:  responsesItems,
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

// trimmedPart is an idPart of at most 64 bytes that does not end in _.
func trimmedPart(id string) string { return strings.TrimRight(idPart(id, 64), "_") }

func responsesHead(r *request) object {
	head := object{"model": r.model.ID, "stream": true, "store": false, "prompt_cache_key": r.cacheKey()}
	if r.most > 0 {
		head["max_output_tokens"] = max(r.most, 16) // the least that the interface takes
	}
	if temperature := r.prompt.Options.Temperature; temperature.Exists() {
		head["temperature"] = json.RawMessage(temperature)
	}
	tools := r.tools(func(name, description string, parameters json.RawMessage) object {
		return object{"type": "function", "name": name, "description": description, "parameters": parameters,
			"strict": false}
	})
	if len(tools) > 0 {
		head["tools"] = tools
	}
	switch effort := r.effort(); {
	case effort == "":
	case r.level != "":
		head["reasoning"] = object{"effort": effort, "summary": "auto"}
		head["include"] = []string{"reasoning.encrypted_content"}
	case effort == "off": // the interface's own name
		head["reasoning"] = object{"effort": "none"}
	default:
		head["reasoning"] = object{"effort": effort}
	}
	return head
}

func responsesItems(r *request) iter.Seq2[any, error] {
	at := 0 // of the message in the request
	return r.each(func(m *message) []any {
		items := responsesMessage(m, at)
		at += min(1, len(items))
		return items
	}, func() []any { return nil })
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
		out := object{"type": "function_call_output", "call_id": call, "output": resultText(m)}
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
			item := object{"type": "function_call", "call_id": call, "name": b.Name.Text(),
				"arguments": string(raw(b.Args))}
			if strings.HasPrefix(id, "fc_") && !sibling {
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
