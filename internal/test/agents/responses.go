package agents

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctxtool/internal/test/must"
)

// responsesAPI is the Responses API. Its requests for a summary get a sealed one, unless an answer is planned for
// their text.
var responsesAPI = api{
	name: "openai-responses", list: "input",
	answers: "resp_", calls: "call_",
	serves: func(path string) bool { return strings.Contains(path, "/responses") },
	asked: func(path string, body object) prompt {
		p := prompt{model: word(body, "model"), system: body["instructions"], tools: body["tools"],
			items: list(body, "input"), stream: body["stream"] == true}
		if text, ok := body["input"].(string); ok {
			p.items = []any{object{"role": "user", "content": text}}
		}
		for _, item := range p.items { // some models have tools in the history
			if item.(object)["type"] == "additional_tools" {
				p.tools = item.(object)["tools"]
			}
		}
		trigger := func(item any) bool { return item.(object)["type"] == "compaction_trigger" }
		if strings.HasSuffix(path, "/compact") || slices.ContainsFunc(p.items, trigger) {
			sealed := object{"type": "compaction",
				"encrypted_content": fmt.Sprintf("sealed-summary-of-%d-items", len(p.items))}
			p.unplanned = &Answer{Blocks: []json.RawMessage{must.Get(json.Marshal(sealed))}}
		}
		return p
	},
	whole: func(r *response) object {
		return r.response("completed", r.outputs())
	},
	stream: responseEvents,
	failed: openaiFailed,
	tokens: func(n int) object { return object{"object": "response.input_tokens", "input_tokens": n} },
}

// openaiFailed returns the body of an HTTP error.
func openaiFailed(status int, message string) object {
	codes := map[int]string{401: "invalid_api_key", 429: "rate_limit_exceeded", 500: "server_error",
		503: "server_is_overloaded"}
	typ := "invalid_request_error"
	if status == 429 || status >= 500 {
		typ = "server_error"
	}
	return object{"error": object{"message": message, "type": typ, "param": nil,
		"code": or(codes[status], "invalid_value")}}
}

// response returns an answer with items of output.
func (r *response) response(status string, output []object) object {
	u := r.usage
	return object{"id": r.q.Answer, "object": "response", "created_at": 1_700_000_000 + r.q.N, "model": r.model,
		"status": status, "error": nil, "incomplete_details": nil, "output": output, "parallel_tool_calls": true,
		"usage": object{"input_tokens": u.prompt(), "input_tokens_details": object{"cached_tokens": u.read},
			"output_tokens": u.output, "output_tokens_details": object{"reasoning_tokens": u.thought},
			"total_tokens": u.prompt() + u.output}}
}

// outputs returns the parts of an answer as items.
func (r *response) outputs() (all []object) {
	all = []object{}
	for k, p := range r.parts {
		all = append(all, r.item(k, p))
	}
	return all
}

func (r *response) item(k int, p part) object {
	id := fmt.Sprintf("%020d_%d", r.q.N, k)
	switch p.kind {
	case thinkingPart:
		item := object{"type": "reasoning", "id": "rs_" + id, "summary": []any{}}
		if p.text != "" {
			item["summary"] = []any{object{"type": "summary_text", "text": p.text}}
		}
		if slices.Contains(list(r.body, "include"), any("reasoning.encrypted_content")) {
			item["encrypted_content"] = p.sign
		}
		return item
	case textPart:
		return extend(object{"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": p.text, "annotations": []any{}}}}, r.Extra)
	case callPart:
		number := strings.TrimPrefix(p.id, "call_")
		item := object{"id": "fc_" + number, "call_id": p.id, "name": p.call.Name, "status": "completed"}
		if p.call.Namespace != "" {
			item["namespace"] = p.call.Namespace
		}
		var freeform string
		if p.call.Raw == nil && json.Unmarshal(p.call.Input, &freeform) == nil {
			item["type"], item["id"], item["input"] = "custom_tool_call", "ctc_"+number, freeform
		} else {
			item["type"], item["arguments"] = "function_call", p.call.arguments()
		}
		return item
	}
	return p.asIs
}

// responseEvents returns the events of an answer.
func responseEvents(r *response) (all []event, sent int) {
	add := func(typ string, data object) {
		data["type"], data["sequence_number"] = typ, len(all)
		all = append(all, event{typ, data})
	}
	begun := func() object {
		o := r.response("in_progress", []object{})
		o["usage"] = nil
		return o
	}
	add("response.created", object{"response": begun()})
	add("response.in_progress", object{"response": begun()})
	sent = len(all)
	output := r.outputs()
	for k, item := range output {
		itemEvents(k, item, add)
		sent = len(all)
		add("response.output_item.done", object{"output_index": k, "item": item})
	}
	switch full := r.response("completed", output); {
	case r.Failed != nil:
		full["status"], full["error"] = "failed", object{"code": r.Failed.Code, "message": r.Failed.Message}
		add("response.failed", object{"response": full})
	case r.Stop != "":
		full["status"], full["incomplete_details"] = "incomplete", object{"reason": r.Stop}
		add("response.incomplete", object{"response": full})
	default:
		add("response.completed", object{"response": full})
	}
	return all, sent
}

// A spelling is how the text of an item is streamed, or its list of texts: the field, the names of the events,
// and, of a list, what its parts and their numbers are.
type spelling struct{ field, text, part, index string }

// spellings are those of items, by type.
var spellings = map[string]spelling{
	"message":          {"content", "output_text", "content_part", "content_index"},
	"reasoning":        {"summary", "reasoning_summary_text", "reasoning_summary_part", "summary_index"},
	"function_call":    {"arguments", "function_call_arguments", "", ""},
	"custom_tool_call": {"input", "custom_tool_call_input", "", ""},
}

// itemEvents adds the events of an item up to its end.
func itemEvents(k int, item object, add func(typ string, data object)) {
	how, ok := spellings[word(item, "type")]
	if !ok { // one that stands in the script
		add("response.output_item.added", object{"output_index": k, "item": item})
		return
	}
	var blank any = ""
	if how.part != "" {
		blank = []any{}
	}
	begun := with(item, how.field, blank)
	if begun["status"] != nil {
		begun["status"] = "in_progress"
	}
	add("response.output_item.added", object{"output_index": k, "item": begun})
	at := object{"output_index": k, "item_id": item["id"]}
	// spelled sends a text by a delta, and as a whole.
	spelled := func(at object, field, text string) {
		add("response."+how.text+".delta", with(at, "delta", text))
		add("response."+how.text+".done", with(at, field, text))
	}
	if how.part == "" {
		spelled(at, how.field, word(item, how.field))
		return
	}
	for n, c := range contents(item[how.field]) {
		at := with(at, how.index, n)
		add("response."+how.part+".added", with(at, "part", with(c, "text", "")))
		spelled(at, "text", word(c, "text"))
		add("response."+how.part+".done", with(at, "part", c))
	}
}

// contents returns the objects of a list, of decoded JSON or not.
func contents(v any) (all []object) {
	must.Do(json.Unmarshal([]byte(encoded(v)), &all))
	return all
}

// with returns a copy of an object with another value of a field.
func with(o object, name string, v any) object {
	o = maps.Clone(o)
	o[name] = v
	return o
}

// encoded returns a value as JSON.
func encoded(v any) string { return string(must.Get(json.Marshal(v))) }
