package agents

import (
	"maps"
	"strings"
)

// chatAPI is the Chat Completions API.
var chatAPI = api{
	name:    "openai-chat",
	answers: "chatcmpl-", calls: "call_",
	serves: func(path string) bool { return strings.HasSuffix(path, "/chat/completions") },
	asked: func(_ string, body object) prompt {
		p := prompt{model: word(body, "model"), tools: body["tools"], items: list(body, "messages"),
			stream: body["stream"] == true}
		for len(p.items) > 0 {
			first, _ := p.items[0].(object)
			if role := first["role"]; role != "system" && role != "developer" {
				break
			}
			system, _ := p.system.([]any)
			p.system, p.items = append(system, first), p.items[1:]
		}
		return p
	},
	whole: func(r *response) object {
		said := object{"role": "assistant", "content": nil}
		var text strings.Builder
		var calls []object
		for _, p := range r.parts {
			switch p.kind {
			case thinkingPart:
				said["reasoning_content"] = p.text
			case textPart:
				text.WriteString(p.text)
				said["content"] = text.String()
			case callPart:
				calls = append(calls, p.toolCall())
			default:
				maps.Copy(said, p.asIs)
			}
		}
		if calls != nil {
			said["tool_calls"] = calls
		}
		whole := r.completion("chat.completion", object{"message": extend(said, r.Extra),
			"finish_reason": r.stop("stop", "tool_calls")})
		whole["usage"] = r.chatUsage()
		return whole
	},
	stream: chatEvents,
	failed: openaiFailed,
}

// completion returns a part of an answer, or the whole, with its only choice.
func (r *response) completion(kind string, choice object) object {
	choice["index"] = 0
	return object{"id": r.q.Answer, "object": kind, "created": 1_700_000_000 + r.q.N, "model": r.model,
		"choices": []any{choice}}
}

func (r *response) chatUsage() object {
	u := r.usage
	return object{"prompt_tokens": u.prompt(), "completion_tokens": u.output, "total_tokens": u.prompt() + u.output,
		"prompt_tokens_details":     object{"cached_tokens": u.read},
		"completion_tokens_details": object{"reasoning_tokens": u.thought}}
}

// toolCall returns a call of a tool.
func (p part) toolCall() object {
	return object{"id": p.id, "type": "function",
		"function": object{"name": p.call.Name, "arguments": p.call.arguments()}}
}

// chatEvents returns the events of an answer. Its usage is sent where it is asked for.
func chatEvents(r *response) (all []event, sent int) {
	add := func(delta object, finish any) {
		chunk := r.completion("chat.completion.chunk", object{"delta": delta, "finish_reason": finish})
		all = append(all, event{"", chunk})
	}
	add(extend(object{"role": "assistant", "content": ""}, r.Extra), nil)
	calls := 0
	for _, p := range r.parts {
		switch p.kind {
		case thinkingPart:
			add(object{"reasoning_content": p.text}, nil)
		case textPart:
			half := len([]rune(p.text)) / 2
			for _, text := range []string{string([]rune(p.text)[:half]), string([]rune(p.text)[half:])} {
				if text != "" {
					add(object{"content": text}, nil)
				}
			}
		case callPart:
			begun := p.toolCall()
			begun["index"], begun["function"] = calls, object{"name": p.call.Name, "arguments": ""}
			add(object{"tool_calls": []any{begun}}, nil)
			add(object{"tool_calls": []any{object{"index": calls,
				"function": object{"arguments": p.call.arguments()}}}}, nil)
			calls++
		default:
			add(p.asIs, nil)
		}
	}
	sent = len(all)
	if f := r.Failed; f != nil {
		return append(all, event{"", object{"error": object{"message": f.Message, "code": f.Code}}}), sent
	}
	add(extend(object{}, r.Delta), r.stop("stop", "tool_calls"))
	options, _ := r.body["stream_options"].(object)
	if options["include_usage"] == true {
		last := r.completion("chat.completion.chunk", object{})
		last["choices"], last["usage"] = []any{}, r.chatUsage()
		all = append(all, event{"", last})
	}
	return append(all, event{"", "[DONE]"}), sent
}
