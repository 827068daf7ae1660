package agents

import (
	"maps"
	"strings"
)

// messagesAPI is the Messages API.
var messagesAPI = api{
	name: "anthropic", list: "messages",
	answers: "msg_", calls: "toolu_",
	serves: func(path string) bool { return strings.Contains(path, "/messages") },
	asked: func(_ string, body object) prompt {
		return prompt{model: word(body, "model"), system: body["system"], tools: body["tools"],
			items: list(body, "messages"), stream: body["stream"] == true}
	},
	whole: func(r *response) object {
		m, usage := r.message()
		usage["output_tokens"] = r.usage.output
		var content []object
		for _, p := range r.parts {
			content = append(content, p.block())
		}
		m["content"], m["stop_reason"] = content, r.stop("end_turn", "tool_use")
		return m
	},
	stream: messageEvents,
	failed: func(status int, message string) object {
		types := map[int]string{401: "authentication_error", 429: "rate_limit_error", 500: "api_error",
			529: "overloaded_error"}
		return object{"type": "error", "error": object{"type": or(types[status], "invalid_request_error"),
			"message": message}}
	},
	tokens: func(n int) object { return object{"input_tokens": n} },
}

// message returns an answer without its content.
func (r *response) message() (m, usage object) {
	u := r.usage
	usage = object{"input_tokens": u.input, "cache_read_input_tokens": u.read,
		"cache_creation_input_tokens": u.write, "output_tokens": 1,
		"cache_creation": object{"ephemeral_5m_input_tokens": u.write, "ephemeral_1h_input_tokens": 0},
		"service_tier":   "standard"}
	m = object{"id": r.q.Answer, "type": "message", "role": "assistant", "model": r.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
	return extend(m, r.Extra), usage
}

// block returns a part as a block of content.
func (p part) block() object {
	switch p.kind {
	case thinkingPart:
		return object{"type": "thinking", "thinking": p.text, "signature": p.sign}
	case textPart:
		return object{"type": "text", "text": p.text}
	case callPart:
		return object{"type": "tool_use", "id": p.id, "name": p.call.Name, "input": p.call.input()}
	}
	return p.asIs
}

// messageEvents returns the events of an answer.
func messageEvents(r *response) (all []event, sent int) {
	add := func(typ string, data object) {
		data["type"] = typ
		all = append(all, event{typ, data})
	}
	m, _ := r.message()
	add("message_start", object{"message": m})
	sent = len(all)
	for k, p := range r.parts {
		b := p.block()
		begun := maps.Clone(b)
		delta := func(typ, name string, v any) {
			add("content_block_delta", object{"index": k, "delta": object{"type": typ, name: v}})
		}
		switch b["type"] {
		case "text":
			begun["text"] = ""
		case "thinking":
			begun = object{"type": "thinking", "thinking": "", "signature": ""}
		case "tool_use":
			begun["input"] = object{}
		}
		add("content_block_start", object{"index": k, "content_block": begun})
		switch b["type"] {
		case "text":
			delta("text_delta", "text", b["text"])
		case "thinking":
			if b["thinking"] != "" {
				delta("thinking_delta", "thinking", b["thinking"])
			}
			delta("signature_delta", "signature", b["signature"])
		case "tool_use":
			args := p.call.arguments()
			if p.kind == rawPart {
				args = encoded(b["input"])
			}
			delta("input_json_delta", "partial_json", args)
		}
		sent = len(all)
		add("content_block_stop", object{"index": k})
	}
	if f := r.Failed; f != nil {
		add("error", object{"error": object{"type": f.Code, "message": f.Message}})
		return all, sent
	}
	end := extend(object{"stop_reason": r.stop("end_turn", "tool_use"), "stop_sequence": nil}, r.Delta)
	add("message_delta", object{"delta": end, "usage": object{"output_tokens": r.usage.output}})
	add("message_stop", object{})
	return all, sent
}
